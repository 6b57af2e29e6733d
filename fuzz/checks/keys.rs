//! What a terminal sends: however it is cut, the same keys come of it, and the keyboard is never locked.

use aye::tui::input::parse::{Parser, TerminalInput};
use aye::tui::keys::Chord;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Less than a sequence may be long: what is longer is dropped where it is read, so it depends on the cut.
const SHORT: usize = 200;

/// Bytes of a terminal.
pub fn check(bytes: &[u8]) {
    let mut whole = Parser::default();
    let mut sent = whole.parse_bytes(bytes);
    let waits = (whole.is_waiting(), whole.is_pasting());
    let rest = whole.end_wait();
    if bytes.len() <= SHORT {
        let mut cut = Parser::default();
        let pieces: Vec<TerminalInput> = bytes.iter().flat_map(|byte| cut.parse_bytes(&[*byte])).collect();
        assert_eq!(pieces, sent, "other keys come of it byte by byte");
        assert_eq!((cut.is_waiting(), cut.is_pasting()), waits);
        assert_eq!(cut.end_wait(), rest, "another rest byte by byte");
    }
    assert!(!whole.is_waiting(), "it waits for more after its time");
    let enter = TerminalInput::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
    assert_eq!(whole.parse_bytes(b"\r"), [enter], "the keyboard is locked");
    sent.extend(rest);
    for one in &sent {
        match one {
            TerminalInput::Key(key) => is_itself(key),
            TerminalInput::Paste(text) => {
                assert!(!text.contains('\r'), "a line end as it never comes from a paste")
            }
            TerminalInput::Mouse(_) | TerminalInput::Focus(_) => {}
        }
    }
}

/// What a key is called in the settings is no other key's name.
fn is_itself(key: &KeyEvent) {
    let chord = Chord::from(key);
    let word = chord.to_string();
    if let Ok(read) = word.parse::<Chord>() {
        assert_eq!(read, chord, "{key:?} is called {word:?}, which is another key");
    }
}
