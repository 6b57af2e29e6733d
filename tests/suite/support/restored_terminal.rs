//! The state in which the program leaves its terminal, read from every byte that it sent.

use super::program::Program;
use portable_pty::{MasterPty, PtySize, native_pty_system};
use std::collections::BTreeMap;

impl Program {
    /// Everything that is not as before the start: modes, keyboard, colors, scroll region, an open link, and the
    /// settings of the terminal device. Empty if all is restored.
    pub fn find_unrestored_modes(&mut self) -> Vec<String> {
        let mut unrestored = Modes::read(&self.bytes()).list_unrestored();
        let read_settings = |master: &(dyn MasterPty + Send)| master.get_termios().map(|modes| format!("{modes:?}"));
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let new_terminal = native_pty_system().openpty(size).unwrap();
        // A disconnected terminal has no settings.
        if let Some(settings) = self.master.as_ref().and_then(|master| read_settings(&**master))
            && Some(&settings) != read_settings(&*new_terminal.master).as_ref()
        {
            unrestored.push(format!("the settings of the terminal device differ: {settings}"));
        }
        unrestored
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
        let mut position = 0;
        while position < bytes.len() {
            match &bytes[position..] {
                [0x1b, b'[', tail @ ..] => {
                    let length = tail.iter().position(|byte| (0x40..0x7f).contains(byte));
                    let Some(length) = length else { break };
                    modes.apply_sequence(&String::from_utf8_lossy(&tail[..length]), tail[length]);
                    position += 3 + length;
                }
                [0x1b, b']', tail @ ..] => {
                    let length = tail.iter().position(|byte| [0x07, 0x1b].contains(byte));
                    let text = String::from_utf8_lossy(&tail[..length.unwrap_or(tail.len())]).into_owned();
                    if let Some((_, address)) = text.strip_prefix("8;").and_then(|rest| rest.split_once(';')) {
                        modes.link = !address.is_empty();
                    }
                    position += 2 + text.len();
                }
                _ => position += 1,
            }
        }
        modes
    }

    fn apply_sequence(&mut self, parameters: &str, final_byte: u8) {
        match (parameters.as_bytes().first(), final_byte) {
            (Some(b'?'), b'h' | b'l') => {
                for mode in parameters[1..].split(';') {
                    self.set.insert(format!("?{mode}"), final_byte == b'h');
                }
            }
            (_, b'h' | b'l') => {
                self.set.insert(parameters.to_owned(), final_byte == b'h');
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
        // Initially the cursor is visible, lines wrap, and bidirectional text is enabled.
        let is_initial = |mode: &str| ["?25", "?7", "8"].contains(&mode);
        let changed = self.set.iter().filter(|(mode, on)| **on != is_initial(mode));
        let mut unrestored: Vec<String> = changed.map(|(mode, on)| format!("mode {mode} is {on}")).collect();
        if self.keyboard_depth != 0 {
            unrestored.push(format!("{} keyboard modes", self.keyboard_depth));
        }
        let others = [
            (self.attributes, "colors or attributes"),
            (self.scroll_region, "the scroll region"),
            (self.shape, "the cursor shape"),
            (self.link, "an open link"),
        ];
        unrestored
            .extend(others.iter().filter(|(is_set, _)| *is_set).map(|(_, description)| (*description).to_owned()));
        unrestored
    }
}
