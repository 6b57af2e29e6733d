//! Detects pastes that the terminal did not mark: characters that arrive faster than a user types.

use crate::tui::event::Event;
use crossterm::event::{Event as TerminalInput, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// Minimum number of characters with at most `MAX_GAP` between them that count as a paste.
const MIN_BURST: usize = 5;
/// Maximum time between two characters of a paste. Two key presses of a user are further apart.
const MAX_GAP: Duration = Duration::from_millis(10);

/// Recent input. Characters are passed on at once. Only an Enter or Tab directly after a character is held back for a
/// moment: in a paste it is part of the text, while the Enter key sends the draft.
#[derive(Debug, Default)]
pub struct PasteDetector {
    last_input: Option<Instant>,
    /// Characters in the current run.
    run_length: usize,
    /// The Enter or Tab that is held back.
    held_key: Option<KeyEvent>,
}

impl PasteDetector {
    /// Returns whether a key is held back. If nothing more comes for a moment, call `end_wait`.
    pub fn is_waiting(&self) -> bool {
        self.held_key.is_some()
    }

    /// Ends the wait: the key held back was a key press.
    pub fn end_wait(&mut self) -> Vec<Event> {
        self.run_length = 0;
        self.held_key.take().map(Event::Key).into_iter().collect()
    }

    /// Takes the input of one read and returns its events.
    pub fn handle_input(&mut self, inputs: Vec<TerminalInput>, now: Instant) -> Vec<Event> {
        let mut events = Vec::new();
        if self.last_input.is_none_or(|last| now.saturating_duration_since(last) >= MAX_GAP) {
            events.extend(self.end_wait());
        }
        let mut characters = Vec::new();
        for input in inputs {
            match input {
                TerminalInput::Key(key) if key_character(&key).is_some() => characters.push(key),
                other => {
                    self.flush_characters(&mut characters, &mut events, now);
                    events.extend(self.end_wait());
                    events.push(Event::from(other));
                }
            }
        }
        self.flush_characters(&mut characters, &mut events, now);
        events
    }

    /// Passes characters on, as keys or as a paste. An Enter or Tab at their end is held back if it directly follows
    /// another character. If nothing follows it, [`Self::end_wait`] passes it on as a key, as when a program types into
    /// the terminal.
    fn flush_characters(&mut self, characters: &mut Vec<KeyEvent>, events: &mut Vec<Event>, now: Instant) {
        if characters.is_empty() {
            return;
        }
        self.last_input = Some(now);
        characters.splice(0..0, self.held_key.take());
        let continues_run = self.run_length > 0;
        self.run_length += characters.len();
        if continues_run || characters.len() > 1 {
            self.held_key = characters.pop_if(|key| matches!(key.code, KeyCode::Enter | KeyCode::Tab));
            // If two keys arrive at once, neither was pressed as an answer to a prompt.
            events.push(Event::TooFast);
        }
        // An Enter that continues a run and has a character after it is inside a paste, even in a short run.
        if self.run_length >= MIN_BURST || characters.iter().any(|key| key.code == KeyCode::Enter && continues_run) {
            self.run_length = self.run_length.max(MIN_BURST);
            let text: String = characters.drain(..).filter_map(|key| key_character(&key)).collect();
            if !text.is_empty() {
                events.push(Event::Pasted(text));
            }
        } else {
            events.extend(characters.drain(..).map(Event::Key));
        }
    }
}

impl From<TerminalInput> for Event {
    fn from(input: TerminalInput) -> Self {
        match input {
            TerminalInput::Key(key) => Event::Key(key),
            TerminalInput::Paste(text) => Event::Pasted(text),
            TerminalInput::Mouse(mouse) => Event::Mouse(mouse),
            TerminalInput::FocusGained => Event::Focused(true),
            TerminalInput::FocusLost => Event::Focused(false),
            TerminalInput::Resize(width, height) => Event::Resized(width, height),
        }
    }
}

/// Returns the character of a key in a burst.
pub(super) fn key_character(key: &KeyEvent) -> Option<char> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let is_unmodified = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char(c) if is_unmodified => Some(c),
        // Terminals send this for a line break in an unmarked paste.
        KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => Some('\n'),
        KeyCode::Enter if is_unmodified => Some('\n'),
        KeyCode::Tab if is_unmodified => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::Parser;
    use super::*;

    /// Simulates reads, each with the milliseconds since the one before, and describes the events.
    fn simulate_reads(reads: &[(u64, &str)]) -> Vec<String> {
        let (mut detector, mut now, mut events) = (PasteDetector::default(), Instant::now(), Vec::new());
        for (ms, bytes) in reads {
            // 5 ms is the `ENTER_DELAY` of the reader thread, after which it ends the wait.
            if *ms >= 5 && detector.is_waiting() {
                events.extend(detector.end_wait());
            }
            now += Duration::from_millis(*ms);
            events.extend(detector.handle_input(Parser::default().parse_bytes(bytes.as_bytes()), now));
        }
        events.extend(detector.end_wait());
        let describe = |event| match event {
            Event::Key(key) => Some(key.code.to_string()),
            Event::Pasted(text) => Some(format!("paste {text:?}")),
            Event::TooFast => None,
            _ => Some("other".to_owned()),
        };
        events.into_iter().filter_map(describe).collect()
    }

    #[test]
    fn r05_characters_faster_than_a_user_types_are_a_paste() {
        assert_eq!(simulate_reads(&[(0, "y\nfoo")]), [r#"paste "y\nfoo""#]);
        assert_eq!(simulate_reads(&[(0, "hello\r")]), [r#"paste "hello""#, "Enter"]);
        assert_eq!(
            simulate_reads(&[(0, "hello\r"), (2, "world\r")]),
            [r#"paste "hello""#, r#"paste "\nworld""#, "Enter"]
        );
    }

    #[test]
    fn r05_paste_arriving_byte_by_byte_sends_nothing_in_its_middle() {
        assert_eq!(
            simulate_reads(&[(0, "a"), (1, "b"), (1, "\r"), (1, "c"), (1, "d"), (1, "e")]),
            ["a", "b", r#"paste "\nc""#, r#"paste "d""#, r#"paste "e""#]
        );
    }

    #[test]
    fn single_character_is_not_delayed() {
        let mut detector = PasteDetector::default();
        let key = |code| vec![TerminalInput::Key(KeyEvent::new(code, KeyModifiers::NONE))];
        let mut now = Instant::now();
        for code in [KeyCode::Char('a'), KeyCode::Char(' '), KeyCode::Enter, KeyCode::Tab] {
            now += Duration::from_millis(15);
            let events = detector.handle_input(key(code), now);
            assert!(matches!(events.as_slice(), [Event::Key(_)]) && !detector.is_waiting(), "{code:?}");
        }
    }

    #[test]
    fn few_characters_are_keys_and_none_is_lost() {
        assert_eq!(simulate_reads(&[(0, "yes")]), ["y", "e", "s"]);
        assert_eq!(simulate_reads(&[(0, "ab\x1b[Acd")]), ["a", "b", "Up", "c", "d"]);
        assert_eq!(simulate_reads(&[(0, "y\r")]), ["y", "Enter"]);
        assert_eq!(simulate_reads(&[(0, "y"), (3, "\r"), (40, "n")]), ["y", "Enter", "n"]);
    }

    #[test]
    fn r05_keys_that_arrive_at_once_cannot_answer_a_prompt() {
        let mut detector = PasteDetector::default();
        let events = detector.handle_input(Parser::default().parse_bytes(b"y\r"), Instant::now());
        assert!(matches!(events.as_slice(), [Event::TooFast, Event::Key(_)]) && detector.is_waiting());
    }
}
