//! A key with its modifiers, in the notation of the settings.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;
use std::str::FromStr;

/// A key and its modifiers, normalized so that two chords are equal if the user pressed the same keys, whatever the
/// terminal reports: `Y` instead of `shift-y`, `shift-tab` instead of back-tab, and `ctrl-_` for the `ctrl-/` that old
/// terminals report as `ctrl-7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Prefixes of modifiers, in the order in which they are written. With any of them except shift, a chord types no
/// character: `super-y` is not `y`. Few terminals report the last three.
const PREFIXES: [(&str, KeyModifiers); 6] = [
    ("ctrl-", KeyModifiers::CONTROL),
    ("alt-", KeyModifiers::ALT),
    ("shift-", KeyModifiers::SHIFT),
    ("super-", KeyModifiers::SUPER),
    ("hyper-", KeyModifiers::HYPER),
    ("meta-", KeyModifiers::META),
];

/// Names of keys that are not characters.
const KEY_NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("page-up", KeyCode::PageUp),
    ("page-down", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
    ("minus", KeyCode::Char('-')),
];

impl Chord {
    fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let mut modifiers = modifiers;
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(character) => KeyCode::Char(Self::normalize_character(character, &mut modifiers)),
            other => other,
        };
        Self { code, modifiers }
    }

    /// Returns the character with shift applied; with another modifier it is lowercase and shift stays a modifier.
    fn normalize_character(character: char, modifiers: &mut KeyModifiers) -> char {
        let has_command_modifier = !modifiers.difference(KeyModifiers::SHIFT).is_empty();
        if modifiers.contains(KeyModifiers::CONTROL) && matches!(character, '7' | '/' | '_') {
            modifiers.remove(KeyModifiers::SHIFT);
            return '_';
        }
        if has_command_modifier && character.is_alphabetic() {
            if character.is_uppercase() {
                modifiers.insert(KeyModifiers::SHIFT);
            }
            return character.to_lowercase().next().unwrap_or(character);
        }
        let is_shifted = modifiers.contains(KeyModifiers::SHIFT);
        modifiers.remove(KeyModifiers::SHIFT);
        if is_shifted { character.to_uppercase().next().unwrap_or(character) } else { character }
    }

    /// Returns the key press that a terminal reports for this chord.
    pub fn to_key_event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }

    /// Returns the character this chord types, if it is a character without modifiers.
    pub fn typed_character(self) -> Option<char> {
        match self.code {
            KeyCode::Char(character) if self.modifiers.is_empty() => Some(character),
            _ => None,
        }
    }
}

impl From<&KeyEvent> for Chord {
    fn from(key: &KeyEvent) -> Self {
        Self::new(key.code, key.modifiers)
    }
}

/// Formats the chord as written in the settings; [`Chord::from_str`] parses it.
impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (prefix, modifier) in PREFIXES {
            if self.modifiers.contains(modifier) {
                f.write_str(prefix)?;
            }
        }
        if let Some((name, _)) = KEY_NAMES.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(character) => write!(f, "{character}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            other => write!(f, "{}", other.to_string().to_lowercase().replace(' ', "-")),
        }
    }
}

/// Error of parsing a chord, as one sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "“{0}” is not a key. Use a character, f1 to f12, or one of enter, esc, tab, backspace, delete, insert, up, down, left, right, home, end, page-up, page-down, space, minus; optionally with ctrl-, alt-, shift-, super-, hyper- or meta- before it"
)]
pub struct ParseChordError(String);

impl FromStr for Chord {
    type Err = ParseChordError;

    fn from_str(text: &str) -> Result<Self, ParseChordError> {
        let parse_error = || ParseChordError(text.to_owned());
        let mut modifiers = KeyModifiers::empty();
        let mut rest = text.trim();
        while let Some((prefix, modifier)) = PREFIXES.into_iter().find(|(prefix, _)| {
            rest.len() > prefix.len()
                && rest.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        }) {
            modifiers |= modifier;
            rest = &rest[prefix.len()..];
        }
        let name = rest.to_lowercase();
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(character), None) if !character.is_control() => KeyCode::Char(character),
            _ => match KEY_NAMES.iter().find(|(known, _)| *known == name) {
                Some((_, code)) => *code,
                None => {
                    let number = name.strip_prefix('f').and_then(|number| number.parse().ok());
                    KeyCode::F(number.filter(|number| (1..=12).contains(number)).ok_or_else(parse_error)?)
                }
            },
        };
        Ok(Self::new(code, modifiers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_chord(code: KeyCode, modifiers: KeyModifiers, expected: &str) {
        let chord = Chord::from(&KeyEvent::new(code, modifiers));
        assert_eq!(chord.to_string(), expected);
        assert_eq!(expected.parse(), Ok(chord));
    }

    #[test]
    fn one_key_is_one_chord_in_every_terminal() {
        const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        assert_chord(KeyCode::Char('y'), SHIFT, "Y");
        assert_chord(KeyCode::Char('Y'), KeyModifiers::NONE, "Y");
        assert_chord(KeyCode::Char('Y'), SHIFT, "Y");
        assert_chord(KeyCode::Char('?'), SHIFT, "?");
        assert_chord(KeyCode::BackTab, KeyModifiers::NONE, "shift-tab");
        assert_chord(KeyCode::BackTab, SHIFT, "shift-tab");
        assert_chord(KeyCode::Tab, SHIFT, "shift-tab");
        assert_chord(KeyCode::Char('7'), CONTROL, "ctrl-_");
        assert_chord(KeyCode::Char('/'), CONTROL, "ctrl-_");
        assert_chord(KeyCode::Char('_'), CONTROL | SHIFT, "ctrl-_");
        assert_chord(KeyCode::Char('O'), CONTROL, "ctrl-shift-o");
        assert_chord(KeyCode::Char('y'), KeyModifiers::SUPER, "super-y");
        assert_chord(KeyCode::Char('Y'), KeyModifiers::META, "shift-meta-y");
    }

    #[test]
    fn similar_keys_are_different_chords() {
        assert_chord(KeyCode::Char('j'), KeyModifiers::CONTROL, "ctrl-j");
        assert_chord(KeyCode::Enter, KeyModifiers::NONE, "enter");
        assert_chord(KeyCode::Enter, KeyModifiers::SHIFT, "shift-enter");
        assert_chord(KeyCode::Char('h'), KeyModifiers::CONTROL, "ctrl-h");
        assert_chord(KeyCode::Backspace, KeyModifiers::NONE, "backspace");
    }

    #[test]
    fn printed_chord_parses_to_itself() {
        for text in ["ctrl-o", "alt-s", "f1", "?", "y", "Y", "ctrl-up", "alt-minus", "space", "ctrl-alt-x", "super-y"] {
            assert_eq!(text.parse::<Chord>().map(|chord| chord.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("Ctrl-O".parse::<Chord>(), "ctrl-shift-o".parse());
        for invalid in ["", "ctrl-", "f13", "command-x", "enterr", "\n"] {
            assert!(invalid.parse::<Chord>().is_err(), "{invalid:?}");
        }
    }
}
