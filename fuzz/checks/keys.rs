//! Bytes from a terminal: they yield the same keys however they are split, and never lock the keyboard.

use aye::tui::input::parse::Parser;
use aye::tui::keys::Chord;
use crossterm::event::{Event as TerminalInput, KeyCode, KeyEvent, KeyModifiers};

/// Shorter than the longest sequence. Longer ones are dropped while they are read, which depends on the split.
const SHORT: usize = 200;

/// Checks these bytes as input from a terminal.
pub fn check(bytes: &[u8]) {
    let mut whole = Parser::default();
    let mut sent = whole.parse_bytes(bytes);
    let waiting = (whole.is_waiting(), whole.is_pasting());
    let rest = whole.end_wait();
    if bytes.len() <= SHORT {
        let mut split = Parser::default();
        let pieces: Vec<TerminalInput> = bytes.iter().flat_map(|byte| split.parse_bytes(&[*byte])).collect();
        assert_eq!(pieces, sent, "other keys byte by byte");
        assert_eq!((split.is_waiting(), split.is_pasting()), waiting);
        assert_eq!(split.end_wait(), rest, "another remainder byte by byte");
    }
    assert!(!whole.is_waiting(), "still waiting after the timeout");
    let enter = TerminalInput::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
    assert_eq!(whole.parse_bytes(b"\r"), [enter], "the keyboard is locked");
    sent.extend(rest);
    for input in &sent {
        match input {
            TerminalInput::Key(key) => check_name(key),
            TerminalInput::Paste(text) => {
                assert!(!text.contains('\r'), "a carriage return in a paste")
            }
            _ => {}
        }
    }
}

/// Checks that the name of a key in the settings is not the name of another key.
fn check_name(key: &KeyEvent) {
    let chord = Chord::from(key);
    let name = chord.to_string();
    if let Ok(read) = name.parse::<Chord>() {
        assert_eq!(read, chord, "{key:?} is called {name:?}, which is another key");
    }
}
