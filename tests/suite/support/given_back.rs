//! What a program that has ended leaves behind in its terminal, read from every byte that it sent.

use super::program::Program;
use portable_pty::{MasterPty, PtySize, native_pty_system};
use std::collections::BTreeMap;

impl Program {
    /// Whatever is not as it was before the program began: modes, keyboard, pen, scrolling, a link that is open, and
    /// the terminal's own settings. Empty where all was given back.
    pub fn left_on(&mut self) -> Vec<String> {
        let mut left = Modes::read(&self.bytes()).left();
        let modes = |master: &(dyn MasterPty + Send)| master.get_termios().map(|modes| format!("{modes:?}"));
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let untouched = native_pty_system().openpty(size).unwrap();
        // A terminal that was lost has none.
        if let Some(now) = self.master.as_ref().and_then(|master| modes(&**master))
            && Some(&now) != modes(&*untouched.master).as_ref()
        {
            left.push(format!("the line is set otherwise: {now}"));
        }
        left
    }
}

/// What a terminal was told that lasts.
#[derive(Default)]
struct Modes {
    /// Private modes by their number, and others by their number and a letter.
    set: BTreeMap<String, bool>,
    /// How many kinds of keyboard lie on each other.
    keyboards: i64,
    /// Whether anything but resetting it was done to the pen, the rows that scroll, the cursor's shape.
    pen: bool,
    rows: bool,
    shape: bool,
    link: bool,
}

impl Modes {
    fn read(bytes: &[u8]) -> Self {
        let mut modes = Self::default();
        let mut at = 0;
        while at < bytes.len() {
            match &bytes[at..] {
                [0x1b, b'[', rest @ ..] => {
                    let length = rest.iter().position(|byte| (0x40..0x7f).contains(byte));
                    let Some(length) = length else { break };
                    modes.sequence(&String::from_utf8_lossy(&rest[..length]), rest[length]);
                    at += 3 + length;
                }
                [0x1b, b']', rest @ ..] => {
                    let length = rest.iter().position(|byte| [0x07, 0x1b].contains(byte));
                    let text = String::from_utf8_lossy(&rest[..length.unwrap_or(rest.len())]).into_owned();
                    if let Some((_, address)) = text.strip_prefix("8;").and_then(|rest| rest.split_once(';')) {
                        modes.link = !address.is_empty();
                    }
                    at += 2 + text.len();
                }
                _ => at += 1,
            }
        }
        modes
    }

    fn sequence(&mut self, parameters: &str, last: u8) {
        match (parameters.as_bytes().first(), last) {
            (Some(b'?'), b'h' | b'l') => {
                for mode in parameters[1..].split(';') {
                    self.set.insert(format!("?{mode}"), last == b'h');
                }
            }
            (_, b'h' | b'l') => {
                self.set.insert(parameters.to_owned(), last == b'h');
            }
            (Some(b'>'), b'u') => self.keyboards += 1,
            (Some(b'<'), b'u') => self.keyboards -= parameters[1..].parse().unwrap_or(1),
            (None | Some(b'0'..=b'9'), b'm') => self.pen = !["", "0"].contains(&parameters),
            (None | Some(b'0'..=b'9'), b'r') => self.rows = !parameters.is_empty(),
            (_, b'q') if parameters.ends_with(' ') => self.shape = !["0 ", " "].contains(&parameters),
            _ => {}
        }
    }

    fn left(&self) -> Vec<String> {
        // A terminal begins with a cursor, and with letters that may turn around.
        let begins = |mode: &str| ["?25", "8"].contains(&mode);
        let otherwise = self.set.iter().filter(|(mode, on)| **on != begins(mode));
        let mut left: Vec<String> = otherwise.map(|(mode, on)| format!("mode {mode} is {on}")).collect();
        if self.keyboards != 0 {
            left.push(format!("{} kinds of keyboard", self.keyboards));
        }
        let rest = [(self.pen, "the pen"), (self.rows, "the rows"), (self.shape, "the cursor"), (self.link, "a link")];
        left.extend(rest.iter().filter(|(is, _)| *is).map(|(_, what)| (*what).to_owned()));
        left
    }
}
