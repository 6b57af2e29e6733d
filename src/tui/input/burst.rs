//! Detects pastes that the terminal did not mark: characters that arrive faster than a user types.

use super::parse::Sent;
use crate::tui::event::Event;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// Minimum number of characters with at most `MAX_GAP` between them that count as a paste.
const LETTERS: usize = 5;
/// Minimum time between two key presses of a user.
const GAP: Duration = Duration::from_millis(10);

/// Recent input. Characters are passed on at once; only an Enter or Tab directly after one is held back for a moment,
/// because it breaks the line in a paste but sends as a key.
#[derive(Debug, Default)]
pub struct Bursts {
    last: Option<Instant>,
    /// Characters in the current run.
    count: usize,
    /// The Enter or Tab that is held back.
    held: Option<KeyEvent>,
}

impl Bursts {
    /// Returns whether a key is held back. If nothing more comes for a moment, call `end_wait`.
    pub fn is_waiting(&self) -> bool {
        self.held.is_some()
    }

    /// Ends the wait: the key held back was a key press.
    pub fn settle(&mut self) -> Vec<Event> {
        self.count = 0;
        self.held.take().map(Event::Key).into_iter().collect()
    }

    /// Takes the input of one read and returns its events.
    pub fn take(&mut self, sent: Vec<Sent>, now: Instant) -> Vec<Event> {
        let mut events = Vec::new();
        if self.last.is_none_or(|last| now.saturating_duration_since(last) >= GAP) {
            events.extend(self.settle());
        }
        let mut letters = Vec::new();
        for one in sent {
            match one {
                Sent::Key(key) if letter(&key).is_some() => letters.push(key),
                other => {
                    self.flush(&mut letters, &mut events, now);
                    events.extend(self.settle());
                    events.push(Event::from(other));
                }
            }
        }
        self.flush(&mut letters, &mut events, now);
        events
    }

    /// Passes characters on, as keys or as a paste. A final Enter is held back, and is a key if nothing follows, as
    /// when a program types into the terminal.
    fn flush(&mut self, letters: &mut Vec<KeyEvent>, events: &mut Vec<Event>, now: Instant) {
        if letters.is_empty() {
            return;
        }
        self.last = Some(now);
        letters.splice(0..0, self.held.take());
        let goes_on = self.count > 0;
        self.count += letters.len();
        if goes_on || letters.len() > 1 {
            self.held = letters.pop_if(|key| matches!(key.code, KeyCode::Enter | KeyCode::Tab));
            // If two keys arrive at once, neither was pressed as an answer to a prompt.
            events.push(Event::Hurried);
        }
        if self.count >= LETTERS || letters.iter().any(|key| key.code == KeyCode::Enter && goes_on) {
            self.count = self.count.max(LETTERS);
            let text: String = letters.drain(..).filter_map(|key| letter(&key)).collect();
            if !text.is_empty() {
                events.push(Event::Pasted(text));
            }
        } else {
            events.extend(letters.drain(..).map(Event::Key));
        }
    }
}

impl From<Sent> for Event {
    fn from(sent: Sent) -> Self {
        match sent {
            Sent::Key(key) => Event::Key(key),
            Sent::Paste(text) => Event::Pasted(text),
            Sent::Mouse(mouse) => Event::Mouse(mouse),
            Sent::Focus(front) => Event::Focused(front),
        }
    }
}

/// Returns the character of a key in a burst.
pub(super) fn letter(key: &KeyEvent) -> Option<char> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char(c) if plain => Some(c),
        // Terminals send this for a line break in an unmarked paste.
        KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => Some('\n'),
        KeyCode::Enter if plain => Some('\n'),
        KeyCode::Tab if plain => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::Parser;
    use super::*;

    /// Simulates reads, each with the milliseconds since the one before, and describes the events.
    fn typed(reads: &[(u64, &str)]) -> Vec<String> {
        let (mut bursts, mut now, mut events) = (Bursts::default(), Instant::now(), Vec::new());
        for (ms, bytes) in reads {
            if *ms >= 5 && bursts.is_waiting() {
                events.extend(bursts.settle());
            }
            now += Duration::from_millis(*ms);
            events.extend(bursts.take(Parser::default().feed(bytes.as_bytes()), now));
        }
        events.extend(bursts.settle());
        let word = |event| match event {
            Event::Key(key) => Some(key.code.to_string()),
            Event::Pasted(text) => Some(format!("paste {text:?}")),
            Event::Hurried => None,
            _ => Some("other".to_owned()),
        };
        events.into_iter().filter_map(word).collect()
    }

    #[test]
    fn r05_characters_faster_than_a_user_types_are_a_paste() {
        assert_eq!(typed(&[(0, "y\nfoo")]), [r#"paste "y\nfoo""#]);
        assert_eq!(typed(&[(0, "hello\r")]), [r#"paste "hello""#, "Enter"]);
        assert_eq!(
            typed(&[(0, "hello\r"), (2, "world\r")]),
            [r#"paste "hello""#, r#"paste "\nworld""#, "Enter"]
        );
    }

    #[test]
    fn r05_paste_arriving_byte_by_byte_sends_nothing_in_its_middle() {
        assert_eq!(
            typed(&[(0, "a"), (1, "b"), (1, "\r"), (1, "c"), (1, "d"), (1, "e")]),
            ["a", "b", r#"paste "\nc""#, r#"paste "d""#, r#"paste "e""#]
        );
    }

    #[test]
    fn single_character_is_not_delayed() {
        let mut bursts = Bursts::default();
        let key = |code| vec![Sent::Key(KeyEvent::new(code, KeyModifiers::NONE))];
        let mut now = Instant::now();
        for code in [KeyCode::Char('a'), KeyCode::Char(' '), KeyCode::Enter, KeyCode::Tab] {
            now += Duration::from_millis(15);
            let events = bursts.take(key(code), now);
            assert!(matches!(events.as_slice(), [Event::Key(_)]) && !bursts.is_waiting(), "{code:?}");
        }
    }

    #[test]
    fn few_characters_are_keys_and_none_is_lost() {
        assert_eq!(typed(&[(0, "yes")]), ["y", "e", "s"]);
        assert_eq!(typed(&[(0, "ab\x1b[Acd")]), ["a", "b", "Up", "c", "d"]);
        assert_eq!(typed(&[(0, "y\r")]), ["y", "Enter"]);
        assert_eq!(typed(&[(0, "y"), (3, "\r"), (40, "n")]), ["y", "Enter", "n"]);
    }

    #[test]
    fn r05_keys_that_arrive_at_once_cannot_answer_a_prompt() {
        let mut bursts = Bursts::default();
        let events = bursts.take(Parser::default().feed(b"y\r"), Instant::now());
        assert!(matches!(events.as_slice(), [Event::Hurried, Event::Key(_)]) && bursts.is_waiting());
    }
}
