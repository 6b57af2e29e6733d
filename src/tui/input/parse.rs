//! What a terminal sends, byte by byte, made into keys, pastes, mouse and focus.

use super::sequence;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};

/// Something the terminal sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    /// A key was pressed or repeats.
    Key(KeyEvent),
    /// Between the marks of a paste.
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal came to the front, or went behind.
    Focus(bool),
}

/// A sequence longer than this is none: it is dropped.
const SEQUENCE: usize = 256;
/// A paste is handed on in pieces of this size, so that memory is bounded.
const PASTE: usize = 4 * 1024 * 1024;
const PASTE_END: &[u8] = b"\x1b[201~";

/// Takes bytes in whatever pieces they come.
#[derive(Debug, Default)]
pub struct Parser {
    bytes: Vec<u8>,
    pasting: bool,
    /// Bytes of an unfinished paste that were searched for its end already.
    searched: usize,
}

impl Parser {
    /// Takes more bytes and tells what is whole.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Sent> {
        self.bytes.extend_from_slice(bytes);
        let mut sent = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            if self.pasting {
                match self.paste(at) {
                    Some((text, next)) => {
                        sent.push(Sent::Paste(text));
                        at = next;
                        continue;
                    }
                    None => break,
                }
            }
            match sequence::read(&self.bytes[at..]) {
                sequence::Read::Whole(length, what) => {
                    at += length;
                    match what {
                        Some(sequence::What::PasteBegins) => (self.pasting, self.searched) = (true, 0),
                        Some(sequence::What::Sent(one)) => sent.push(one),
                        None => {}
                    }
                }
                sequence::Read::More if self.bytes.len() - at > SEQUENCE => at = self.bytes.len(),
                sequence::Read::More => break,
            }
        }
        self.bytes.drain(..at);
        self.searched = self.searched.saturating_sub(at);
        sent
    }

    /// Whether something is begun and not whole. If nothing more comes for a moment, call [`settle`](Self::settle).
    pub fn is_waiting(&self) -> bool {
        self.pasting || !self.bytes.is_empty()
    }

    /// Whether a paste is begun, for which more patience is right.
    pub fn is_pasting(&self) -> bool {
        self.pasting
    }

    /// Nothing more came: an escape alone is the key, a paste without end is over, anything else is dropped. So the
    /// keyboard is never locked by something half sent.
    pub fn settle(&mut self) -> Vec<Sent> {
        let bytes = std::mem::take(&mut self.bytes);
        let key = |code, modifiers| vec![Sent::Key(KeyEvent::new(code, modifiers))];
        if std::mem::take(&mut self.pasting) {
            self.searched = 0;
            return vec![Sent::Paste(text(&bytes))];
        }
        match bytes.as_slice() {
            [0x1b] => key(KeyCode::Esc, KeyModifiers::NONE),
            // Twice, over a slow line.
            [0x1b, 0x1b] => {
                [key(KeyCode::Esc, KeyModifiers::NONE), key(KeyCode::Esc, KeyModifiers::NONE)].concat()
            }
            [0x1b, one @ (b'[' | b'O')] => key(KeyCode::Char(char::from(*one)), KeyModifiers::ALT),
            _ => Vec::new(),
        }
    }

    /// The paste that begins at `at`, if its end is there, and where it goes on.
    fn paste(&mut self, at: usize) -> Option<(String, usize)> {
        // The end mark may have come in two pieces.
        let from = at.max(self.searched.saturating_sub(PASTE_END.len()));
        let found = self.bytes[from..].windows(PASTE_END.len()).position(|window| window == PASTE_END);
        if let Some(found) = found {
            let end = from + found;
            (self.pasting, self.searched) = (false, 0);
            return Some((text(&self.bytes[at..end]), end + PASTE_END.len()));
        }
        self.searched = self.bytes.len();
        if self.bytes.len() - at > PASTE {
            let cut = self.bytes.len() - PASTE_END.len();
            return Some((text(&self.bytes[at..cut]), cut));
        }
        None
    }
}

/// Terminals send line ends of a paste as the Enter key does.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
