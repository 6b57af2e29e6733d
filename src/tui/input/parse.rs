//! Parses the bytes of a terminal into keys, pastes, mouse events and focus changes.

use super::sequence;
use crate::tui::terminal_clipboard::{ClipboardAnswer, MAX_PACKET, PACKET_START, TerminalClipboard, is_packet_byte};
use crossterm::event::{Event as TerminalInput, KeyCode, KeyEvent, KeyModifiers};
use memchr::memmem;

/// Maximum length of an escape sequence; longer ones are dropped.
const MAX_SEQUENCE: usize = 256;
/// Size of the pieces of a paste, which bounds memory.
const PASTE_CHUNK: usize = 4 * 1024 * 1024;
const PASTE_END: &[u8] = b"\x1b[201~";

/// Incremental parser: accepts bytes in pieces of any size.
#[derive(Debug, Default)]
pub struct Parser {
    bytes: Vec<u8>,
    pasting: bool,
    /// Offset in `bytes` up to which the end of an unfinished paste was searched.
    searched: usize,
    clipboard: ClipboardAnswer,
    /// The last complete answer of the terminal about its clipboard.
    received_clipboard: Option<Result<TerminalClipboard, String>>,
    /// True while the rest of a packet is skipped whose beginning was dropped: its bytes are not keys.
    skips_packet: bool,
}

impl Parser {
    /// Takes more bytes and returns the complete inputs.
    pub fn parse_bytes(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
        self.bytes.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        let mut offset = 0;
        while offset < self.bytes.len() {
            if self.skips_packet {
                match self.skip_packet(offset) {
                    Some(next) => {
                        offset = next;
                        continue;
                    }
                    None => break,
                }
            }
            if self.pasting {
                match self.parse_paste(offset) {
                    Some((text, next)) => {
                        inputs.push(TerminalInput::Paste(text));
                        offset = next;
                        continue;
                    }
                    None => break,
                }
            }
            match sequence::parse_input(&self.bytes[offset..]) {
                sequence::ParsedInput::Complete(length, meaning) => {
                    let start = offset;
                    offset += length;
                    match meaning {
                        Some(sequence::Meaning::ClipboardPacket) => {
                            let answer = self.clipboard.take_packet(&self.bytes[start..offset]);
                            self.received_clipboard = answer.or(self.received_clipboard.take());
                        }
                        Some(sequence::Meaning::PasteStart) => (self.pasting, self.searched) = (true, 0),
                        Some(sequence::Meaning::Input(input)) => inputs.push(input),
                        None => {}
                    }
                }
                sequence::ParsedInput::Incomplete if self.bytes.len() - offset > max_length(&self.bytes[offset..]) => {
                    if begins_packet(&self.bytes[offset..]) {
                        self.lose_packet();
                    }
                    offset = self.bytes.len();
                }
                sequence::ParsedInput::Incomplete => break,
            }
        }
        self.bytes.drain(..offset);
        self.searched = self.searched.saturating_sub(offset);
        inputs
    }

    /// Returns whether an input is incomplete. If nothing more comes for a moment, call `end_wait`.
    pub fn is_waiting(&self) -> bool {
        self.pasting || !self.bytes.is_empty()
    }

    /// Returns whether a paste is incomplete, which justifies a longer wait.
    pub fn is_pasting(&self) -> bool {
        self.pasting
    }

    /// Returns whether a part of the terminal's clipboard is incomplete, which justifies a longer wait too.
    pub fn is_receiving_clipboard(&self) -> bool {
        begins_packet(&self.bytes)
    }

    /// Returns and removes what the terminal answered about its clipboard.
    pub fn take_clipboard(&mut self) -> Option<Result<TerminalClipboard, String>> {
        self.received_clipboard.take()
    }

    /// Drops a packet of the terminal's clipboard whose beginning was read, and with it the answer.
    fn lose_packet(&mut self) {
        self.clipboard.mark_damaged();
        self.skips_packet = true;
    }

    /// Skips the rest of a packet from `start` on. Returns the offset after it; `None` until its end has arrived. Any byte that
    /// a packet cannot contain ends the skip, so that only characters of a packet are lost, and Esc always arrives.
    fn skip_packet(&mut self, start: usize) -> Option<usize> {
        let rest = &self.bytes[start..];
        let length = rest.iter().take_while(|byte| is_packet_byte(**byte)).count();
        let end = match &rest[length..] {
            // What follows Esc decides.
            [] | [0x1b] => {
                self.bytes.drain(start..start + length);
                return None;
            }
            [0x1b, b'\\', ..] => 2,
            // The wait may have ended within the end of the packet.
            [0x07 | b'\\', ..] => 1,
            _ => 0,
        };
        self.skips_packet = false;
        Some(start + length + end)
    }

    /// Ends the wait: a single escape is the Esc key, a paste without end is complete, anything else is dropped. An
    /// incomplete input therefore never blocks the keyboard.
    pub fn end_wait(&mut self) -> Vec<TerminalInput> {
        let bytes = std::mem::take(&mut self.bytes);
        let key_input = |code, modifiers| vec![TerminalInput::Key(KeyEvent::new(code, modifiers))];
        if std::mem::take(&mut self.pasting) {
            self.searched = 0;
            return vec![TerminalInput::Paste(paste_text(&bytes))];
        }
        if begins_packet(&bytes) {
            self.lose_packet();
        } else if !bytes.is_empty() {
            self.skips_packet = false;
        }
        match bytes.as_slice() {
            [0x1b] => key_input(KeyCode::Esc, KeyModifiers::NONE),
            // Esc pressed twice, over a slow connection.
            [0x1b, 0x1b] => {
                [key_input(KeyCode::Esc, KeyModifiers::NONE), key_input(KeyCode::Esc, KeyModifiers::NONE)].concat()
            }
            [0x1b, byte @ (b'[' | b'O')] => key_input(KeyCode::Char(char::from(*byte)), KeyModifiers::ALT),
            _ => Vec::new(),
        }
    }

    /// Returns the text of the paste from `start` on and the offset after it; `None` until its end or a full chunk
    /// has arrived.
    fn parse_paste(&mut self, start: usize) -> Option<(String, usize)> {
        // The end marker may have arrived in two pieces.
        let search_start = start.max(self.searched.saturating_sub(PASTE_END.len()));
        let end_marker = memmem::find(&self.bytes[search_start..], PASTE_END);
        if let Some(end_offset) = end_marker {
            let end = search_start + end_offset;
            (self.pasting, self.searched) = (false, 0);
            return Some((paste_text(&self.bytes[start..end]), end + PASTE_END.len()));
        }
        self.searched = self.bytes.len();
        if self.bytes.len() - start > PASTE_CHUNK {
            let cut = self.find_cut(self.bytes.len() - PASTE_END.len());
            return Some((paste_text(&self.bytes[start..cut]), cut));
        }
        None
    }

    /// Returns the last offset up to `end` that cuts neither a character nor CRLF. Bytes that are not UTF-8 are cut
    /// anywhere.
    fn find_cut(&self, end: usize) -> usize {
        let is_inside = |cut: usize| {
            let is_continuation = self.bytes[cut] & 0xc0 == 0x80;
            is_continuation || self.bytes[cut - 1..=cut] == *b"\r\n"
        };
        (end - 3..=end).rev().find(|cut| !is_inside(*cut)).unwrap_or(end)
    }
}

/// Returns whether these bytes are an incomplete part of what the terminal answers about its clipboard. `ESC ]` alone may be a
/// key with Alt.
fn begins_packet(bytes: &[u8]) -> bool {
    bytes.starts_with(PACKET_START) || bytes.len() > 2 && PACKET_START.starts_with(bytes)
}

/// Returns the maximum length of the escape sequence that begins with these bytes.
fn max_length(bytes: &[u8]) -> usize {
    if bytes.starts_with(PACKET_START) { MAX_PACKET } else { MAX_SEQUENCE }
}

/// Converts a paste to text. Terminals send its line breaks as the Enter key does.
fn paste_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
