//! Text of a terminal's output: colours stay, everything else that moves, draws or sets is removed as it arrives.

/// Maximum bytes of a sequence's parameters. A longer one is no sequence.
const MAX_PARAMETERS: usize = 64;
/// Maximum bytes of a string such as a title. After it the string counts as unterminated.
const MAX_STRING: usize = 1 << 20;
/// Modes that switch to the alternate screen, which full-screen programs use.
const ALTERNATE_MODES: [&[u8]; 3] = [b"47", b"1047", b"1049"];
/// Text in place of what was on the alternate screen.
const ALTERNATE_NOTE: &[u8] = b"[full-screen output not kept]\n";

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;
const CANCEL: u8 = 0x18;

/// Filters the output of a program. Sequences may be split between two calls.
#[derive(Debug, Default)]
pub struct TerminalFilter {
    state: State,
    /// Bytes of the sequence so far.
    sequence: Vec<u8>,
    /// Length of the string so far.
    string_length: usize,
    /// True if the last byte was a carriage return, which is not passed on yet.
    has_return: bool,
    /// True while the program shows the alternate screen.
    pub is_alternate: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After an escape character.
    Escape,
    /// In the parameters of a control sequence.
    Control,
    /// In a title or another string.
    String,
    /// After an escape character in a string.
    StringEscape,
}

impl TerminalFilter {
    /// Returns the text in the next bytes.
    pub fn filter(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.filter_byte(*byte, &mut text);
        }
        text
    }

    fn filter_byte(&mut self, byte: u8, text: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::Text, ESCAPE) => self.state = State::Escape,
            (State::Text, byte) => self.pass_text(byte, text),
            (State::Escape, b'[') => {
                self.sequence.clear();
                self.state = State::Control;
            }
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => {
                self.string_length = 0;
                self.state = State::String;
            }
            // Intermediate characters, such as those that select a character set: one more follows.
            (State::Escape, b' '..=b'/') => {}
            (State::Escape, ESCAPE) => {}
            (State::Escape, _) => self.state = State::Text,
            (State::Control, b'@'..=b'~') => {
                self.state = State::Text;
                self.end_sequence(byte, text);
            }
            (State::Control, ESCAPE) => self.state = State::Escape,
            (State::Control, b' '..=b'?') if self.sequence.len() < MAX_PARAMETERS => self.sequence.push(byte),
            (State::Control, _) => self.state = State::Text,
            (State::String, BELL | CANCEL) | (State::StringEscape, b'\\') => self.state = State::Text,
            (State::String, ESCAPE) => self.state = State::StringEscape,
            (State::StringEscape, _) => {
                self.state = State::Escape;
                self.filter_byte(byte, text);
            }
            (State::String, _) => {
                self.string_length += 1;
                if self.string_length > MAX_STRING {
                    self.state = State::Text;
                }
            }
        }
    }

    /// Passes on a character. A carriage return before a line feed is dropped, and a backspace removes a character.
    fn pass_text(&mut self, byte: u8, text: &mut Vec<u8>) {
        if self.is_alternate {
            return;
        }
        if std::mem::take(&mut self.has_return) && byte != b'\n' {
            text.push(b'\r');
        }
        match byte {
            b'\r' => self.has_return = true,
            BACKSPACE => {
                // A character before these bytes was already passed on and stays.
                text.pop_if(|last| matches!(last, b' '..=b'~'));
            }
            0 | BELL => {}
            byte => text.push(byte),
        }
    }

    /// Handles the control sequence that ends with this byte: passes on a colour, and follows the alternate screen.
    fn end_sequence(&mut self, last: u8, text: &mut Vec<u8>) {
        let is_color = last == b'm' && self.sequence.iter().all(|byte| matches!(byte, b'0'..=b';'));
        if is_color && !self.is_alternate {
            text.extend([ESCAPE, b'[']);
            text.extend(&self.sequence);
            text.push(b'm');
        }
        let Some(modes) = self.sequence.strip_prefix(b"?") else { return };
        if !modes.split(|byte| *byte == b';').any(|mode| ALTERNATE_MODES.contains(&mode)) {
            return;
        }
        match last {
            b'h' if !self.is_alternate => {
                self.is_alternate = true;
                text.extend(ALTERNATE_NOTE);
            }
            b'l' => self.is_alternate = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filters the text whole and byte by byte, which must be the same unless it has a backspace.
    #[track_caller]
    fn assert_filtered(output: &str, expected: &str) {
        let whole = TerminalFilter::default().filter(output.as_bytes());
        assert_eq!(String::from_utf8_lossy(&whole), expected);
        if !output.contains('\u{8}') {
            let mut filter = TerminalFilter::default();
            let pieces: Vec<u8> = output.bytes().flat_map(|byte| filter.filter(&[byte])).collect();
            assert_eq!(String::from_utf8_lossy(&pieces), expected);
        }
    }

    #[test]
    fn text_and_colors_stay() {
        assert_filtered("one\r\ntwo\n", "one\ntwo\n");
        assert_filtered("10%\r20%\r\n", "10%\r20%\n");
        assert_filtered("\u{1b}[1;31merror\u{1b}[0m: ü🙂\t.", "\u{1b}[1;31merror\u{1b}[0m: ü🙂\t.");
        assert_filtered("a|\u{8}/\u{8}-", "a-");
    }

    #[test]
    fn everything_that_draws_or_sets_is_removed() {
        for sequence in [
            "\u{1b}[2J",
            "\u{1b}[10;10H",
            "\u{1b}[?25l",
            "\u{1b}[?2004h",
            "\u{1b}[6n",
            "\u{1b}]0;title\u{7}",
            "\u{1b}]8;;http://x\u{1b}\\",
            "\u{1b}]52;c;aGk=\u{1b}\\",
            "\u{1b}Pq#0\n#1\u{1b}\\",
            "\u{1b}(B",
            "\u{1b}c",
            "\u{1b}[>4;2m",
            "\u{7}\u{0}",
        ] {
            assert_filtered(&format!("a{sequence}b"), "ab");
        }
    }

    #[test]
    fn a_broken_sequence_hides_little() {
        assert_filtered("a\u{1b}[31\nb", "ab");
        assert_filtered("a\u{1b}[31\u{1b}[1mb", "a\u{1b}[1mb");
        assert_filtered("a\u{1b}]0;x\u{1b}[1mb", "a\u{1b}[1mb");
        let long = format!("a\u{1b}[{}b", "1".repeat(100));
        assert!(TerminalFilter::default().filter(long.as_bytes()).ends_with(b"1b"));
    }

    #[test]
    fn the_alternate_screen_leaves_a_note() {
        assert_filtered(
            "a\r\n\u{1b}[?1049h\u{1b}[Hediting\r\n\u{1b}[31m~\u{1b}[?1049lb",
            "a\n[full-screen output not kept]\nb",
        );
        let mut filter = TerminalFilter::default();
        filter.filter(b"\x1b[?25;1049h");
        assert!(filter.is_alternate);
        filter.filter(b"\x1b[?1049l");
        assert!(!filter.is_alternate);
    }
}
