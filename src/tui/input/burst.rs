//! Tells a hand from a paste that the terminal did not mark: letters faster than any hand are one.

use super::parse::Sent;
use crate::tui::event::Event;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// So many letters with no more than [`GAP`] between them are a paste.
const LETTERS: usize = 5;
/// No hand presses the next key sooner.
const GAP: Duration = Duration::from_millis(10);

/// What came lately. Letters are handed on at once; only an Enter or a Tab on the heels of one is kept back for a
/// moment, because in a paste it breaks the line and as a key it sends.
#[derive(Debug, Default)]
pub struct Bursts {
    last: Option<Instant>,
    /// Letters of the run so far.
    count: usize,
    /// The Enter or the Tab that waits.
    held: Option<KeyEvent>,
}

impl Bursts {
    /// Whether something is kept back. If nothing more comes for a moment, call [`settle`](Self::settle).
    pub fn is_waiting(&self) -> bool {
        self.held.is_some()
    }

    /// Nothing more came: what was kept back was a key.
    pub fn settle(&mut self) -> Vec<Event> {
        self.count = 0;
        self.held.take().map(Event::Key).into_iter().collect()
    }

    /// Takes what one read brought, and tells what happened.
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

    /// Hands letters on, as keys or as a paste. An Enter that ends them waits, and is a key if nothing follows, as
    /// in a terminal that is typed to by a program.
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
            // Nobody answers with the second of two keys that came at once, nor with the first.
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

/// What a key of a burst stands for in the text.
pub(super) fn letter(key: &KeyEvent) -> Option<char> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char(c) if plain => Some(c),
        // What a terminal sends for a line end of an unmarked paste.
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

    /// Plays reads, each with the milliseconds since the one before, and tells what happened in a few words.
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
    fn r05_letters_faster_than_a_hand_are_a_paste() {
        assert_eq!(typed(&[(0, "y\nfoo")]), [r#"paste "y\nfoo""#]);
        assert_eq!(typed(&[(0, "hello\r")]), [r#"paste "hello""#, "Enter"]);
        assert_eq!(
            typed(&[(0, "hello\r"), (2, "world\r")]),
            [r#"paste "hello""#, r#"paste "\nworld""#, "Enter"]
        );
    }

    #[test]
    fn r05_a_paste_that_comes_byte_by_byte_sends_nothing_in_its_middle() {
        assert_eq!(
            typed(&[(0, "a"), (1, "b"), (1, "\r"), (1, "c"), (1, "d"), (1, "e")]),
            ["a", "b", r#"paste "\nc""#, r#"paste "d""#, r#"paste "e""#]
        );
    }

    #[test]
    fn a_letter_waits_for_nothing() {
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
    fn a_few_letters_are_keys_and_none_is_lost() {
        assert_eq!(typed(&[(0, "yes")]), ["y", "e", "s"]);
        assert_eq!(typed(&[(0, "ab\x1b[Acd")]), ["a", "b", "Up", "c", "d"]);
        assert_eq!(typed(&[(0, "y\r")]), ["y", "Enter"]);
        assert_eq!(typed(&[(0, "y"), (3, "\r"), (40, "n")]), ["y", "Enter", "n"]);
    }

    #[test]
    fn r05_keys_that_come_at_once_are_told_to_be_no_answer() {
        let mut bursts = Bursts::default();
        let events = bursts.take(Parser::default().feed(b"y\r"), Instant::now());
        assert!(matches!(events.as_slice(), [Event::Hurried, Event::Key(_)]) && bursts.is_waiting());
    }
}
