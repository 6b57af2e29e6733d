//! Keys by name, such as `Enter` or `Control+a`, as the browser's input commands describe them.

use serde_json::{Value, json};

/// Keys with a name: the name, the code of the key, its Windows key code, and the text it enters.
const NAMED_KEYS: [(&str, &str, u32, &str); 16] = [
    ("Enter", "Enter", 13, "\r"),
    ("Tab", "Tab", 9, ""),
    ("Escape", "Escape", 27, ""),
    ("Backspace", "Backspace", 8, ""),
    ("Delete", "Delete", 46, ""),
    ("Insert", "Insert", 45, ""),
    ("Space", "Space", 32, " "),
    ("Home", "Home", 36, ""),
    ("End", "End", 35, ""),
    ("PageUp", "PageUp", 33, ""),
    ("PageDown", "PageDown", 34, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("ContextMenu", "ContextMenu", 93, ""),
];

/// Modifiers and their bits.
const MODIFIERS: [(&str, u32); 5] = [("Alt", 1), ("Control", 2), ("Ctrl", 2), ("Meta", 4), ("Shift", 8)];

/// A key with its modifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keystroke {
    key: String,
    code: String,
    key_code: u32,
    text: String,
    modifiers: u32,
}

impl Keystroke {
    /// Parses a key: a name or a character, after modifiers such as `Control+Shift+`.
    ///
    /// # Errors
    /// One sentence for the model.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut modifiers, mut key) = (0, text);
        while let Some((name, rest)) = key.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
            let Some((_, bit)) = MODIFIERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
                return Err(format!("“{name}” is no modifier; expected Control, Shift, Alt or Meta."));
            };
            (modifiers, key) = (modifiers | bit, rest);
        }
        let has_text = modifiers & !8 == 0;
        let build = |key: &str, code: String, key_code, text: &str| Self {
            key: key.to_owned(),
            code,
            key_code,
            text: if has_text { text.to_owned() } else { String::new() },
            modifiers,
        };
        if let Some((name, code, key_code, text)) = NAMED_KEYS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(key))
        {
            let key = if *name == "Space" { " " } else { name };
            return Ok(build(key, (*code).to_owned(), *key_code, text));
        }
        let function_key = key.strip_prefix(['F', 'f']).and_then(|number| number.parse::<u32>().ok());
        if let Some(number) = function_key.filter(|number| (1..=12).contains(number)) {
            return Ok(build(&format!("F{number}"), format!("F{number}"), 111 + number, ""));
        }
        let mut characters = key.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) if !character.is_control() => {
                let upper = character.to_ascii_uppercase();
                let (code, key_code) = match upper {
                    'A'..='Z' => (format!("Key{upper}"), u32::from(upper)),
                    '0'..='9' => (format!("Digit{upper}"), u32::from(upper)),
                    _ => (String::new(), 0),
                };
                Ok(build(key, code, key_code, key))
            }
            _ => Err("The value is no key; expected a character or a name such as Enter, Tab or ArrowDown.".to_owned()),
        }
    }

    /// Returns the name of the key, which is the character that it enters if it has one.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the names of the modifiers.
    pub fn modifiers(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        MODIFIERS.into_iter().filter(|(name, bit)| self.modifiers & bit != 0 && *name != "Ctrl").map(|(name, _)| name)
    }

    /// Returns the parameters of the two events of the key: pressed and released.
    pub fn to_events(&self) -> [Value; 2] {
        let Self { key, code, key_code, text, modifiers } = self;
        let event = |kind: &str, text: &str| {
            let mut event = json!({
                "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": key_code, "modifiers": modifiers,
            });
            if !text.is_empty() {
                event["text"] = text.into();
            }
            event
        };
        [event(if text.is_empty() { "rawKeyDown" } else { "keyDown" }, text), event("keyUp", "")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_characters_and_modifiers() {
        let fields =
            |text: &str| Keystroke::parse(text).map(|key| (key.key, key.code, key.key_code, key.text, key.modifiers));
        let expect = |key: &str, code: &str, key_code, text: &str, modifiers| {
            Ok((key.to_owned(), code.to_owned(), key_code, text.to_owned(), modifiers))
        };
        assert_eq!(fields("Enter"), expect("Enter", "Enter", 13, "\r", 0));
        assert_eq!(fields("enter"), expect("Enter", "Enter", 13, "\r", 0));
        assert_eq!(fields("Control+a"), expect("a", "KeyA", 65, "", 2));
        assert_eq!(fields("ctrl+SHIFT+Home"), expect("Home", "Home", 36, "", 10));
        assert_eq!(fields("Shift+A"), expect("A", "KeyA", 65, "A", 8));
        assert_eq!(fields("+"), expect("+", "", 0, "+", 0));
        assert_eq!(fields("Control++"), expect("+", "", 0, "", 2));
        assert_eq!(fields("F5"), expect("F5", "F5", 116, "", 0));
        assert_eq!(fields("é"), expect("é", "", 0, "é", 0));
        assert_eq!(fields(" "), expect(" ", "", 0, " ", 0));
        for text in ["", "Enterr", "F13", "Hyper+a", "ab", "\n"] {
            assert!(Keystroke::parse(text).is_err(), "{text}");
        }
        let [pressed, released] = Keystroke::parse("Tab").unwrap().to_events();
        assert_eq!((&pressed["type"], &released["type"]), (&json!("rawKeyDown"), &json!("keyUp")));
    }
}
