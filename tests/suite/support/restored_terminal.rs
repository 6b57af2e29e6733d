//! The state in which the program leaves its terminal, read from every byte that it sent.

use super::program::Program;
use portable_pty::{MasterPty, PtySize, native_pty_system};
use std::collections::BTreeMap;

impl Program {
    /// Everything that is not as before the start: modes, keyboard, colors, scroll region, an open link, and the
    /// settings of the terminal device. Empty if all is restored.
    pub fn find_unrestored_modes(&mut self) -> Vec<String> {
        let mut left = Modes::read(&self.bytes()).list_unrestored();
        let modes = |master: &(dyn MasterPty + Send)| master.get_termios().map(|modes| format!("{modes:?}"));
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let untouched = native_pty_system().openpty(size).unwrap();
        // A disconnected terminal has no settings.
        if let Some(now) = self.master.as_ref().and_then(|master| modes(&**master))
            && Some(&now) != modes(&*untouched.master).as_ref()
        {
            left.push(format!("the settings of the terminal device differ: {now}"));
        }
        left
    }
}

/// The lasting state that was set in a terminal.
#[derive(Default)]
struct Modes {
    /// Private modes by number, and other modes by number and character.
    set: BTreeMap<String, bool>,
    /// Depth of the stack of keyboard modes.
    keyboard_depth: i64,
    /// Whether colors and attributes, the scroll region, or the cursor shape differ from the default.
    attributes: bool,
    scroll_region: bool,
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
            (Some(b'>'), b'u') => self.keyboard_depth += 1,
            (Some(b'<'), b'u') => self.keyboard_depth -= parameters[1..].parse().unwrap_or(1),
            (None | Some(b'0'..=b'9'), b'm') => self.attributes = !["", "0"].contains(&parameters),
            (None | Some(b'0'..=b'9'), b'r') => self.scroll_region = !parameters.is_empty(),
            (_, b'q') if parameters.ends_with(' ') => self.shape = !["0 ", " "].contains(&parameters),
            _ => {}
        }
    }

    fn list_unrestored(&self) -> Vec<String> {
        // Initially the cursor is visible, and bidirectional text is enabled.
        let is_initial = |mode: &str| ["?25", "8"].contains(&mode);
        let changed = self.set.iter().filter(|(mode, on)| **on != is_initial(mode));
        let mut left: Vec<String> = changed.map(|(mode, on)| format!("mode {mode} is {on}")).collect();
        if self.keyboard_depth != 0 {
            left.push(format!("{} keyboard modes", self.keyboard_depth));
        }
        let rest = [
            (self.attributes, "colors or attributes"),
            (self.scroll_region, "the scroll region"),
            (self.shape, "the cursor shape"),
            (self.link, "an open link"),
        ];
        left.extend(rest.iter().filter(|(is, _)| *is).map(|(_, what)| (*what).to_owned()));
        left
    }
}
