//! Every setting there is, and what it takes.

use std::ops::RangeInclusive;
use toml::Value;

/// What stands for any name in a path.
pub const ANY: &str = "*";

/// What a setting takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Takes {
    /// `true` or `false`.
    Switch,
    /// Any text but an empty one.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number.
    Whole(RangeInclusive<i64>),
    /// A number that is not negative.
    Price,
    /// Where a service is.
    Address,
    /// The name of a variable of the environment.
    Variable,
    /// Names with a text each. They may hold secrets and are never shown.
    Headers,
    /// Names with anything.
    Anything,
    /// One chord or several.
    Chords,
}

/// Every setting, by section and name.
pub const SETTINGS: &[(&str, &str, Takes)] = &[
    ("model", "profile", Takes::Text),
    ("profiles.*", "base_url", Takes::Address),
    ("profiles.*", "key_env", Takes::Variable),
    ("profiles.*", "model", Takes::Text),
    ("profiles.*", "headers", Takes::Headers),
    ("profiles.*", "idle_seconds", Takes::Whole(1..=3600)),
    ("profiles.*", "context_window", Takes::Whole(1..=100_000_000)),
    ("profiles.*", "price_input", Takes::Price),
    ("profiles.*", "price_output", Takes::Price),
    ("profiles.*", "parameters", Takes::Anything),
    ("approval", "mode", Takes::Word(&["ask", "plan"])),
    ("shell", "timeout", Takes::Whole(1..=3600)),
    ("shell", "max_timeout", Takes::Whole(1..=3600)),
    ("screen", "theme", Takes::Text),
    ("screen", "theme_light", Takes::Text),
    ("screen", "theme_dark", Takes::Text),
    ("screen", "color", Takes::Switch),
    ("screen", "mouse", Takes::Switch),
    ("screen", "links", Takes::Word(&["auto", "on", "off"])),
    ("screen", "bell", Takes::Switch),
    ("screen", "editor", Takes::Text),
    ("keys", ANY, Takes::Chords),
];

/// The sections, as they are written.
pub const SECTIONS: &[&str] = &["model", "profiles", "approval", "shell", "screen", "keys"];

/// The settings of a section; a profile's is `profiles.*`.
pub fn in_section(section: &str) -> impl Iterator<Item = (&'static str, &'static Takes)> {
    SETTINGS.iter().filter(move |(of, ..)| *of == section).map(|(_, name, takes)| (*name, takes))
}

impl Takes {
    /// Whether a value is one of those.
    pub fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Switch => value.is_bool(),
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Whole(range) => value.as_integer().is_some_and(|number| range.contains(&number)),
            Self::Price => match value {
                Value::Integer(number) => *number >= 0,
                Value::Float(number) => number.is_finite() && *number >= 0.0,
                _ => false,
            },
            Self::Address => value.as_str().is_some_and(|text| super::connection::address(text).is_some()),
            Self::Variable => value.as_str().is_some_and(|text| {
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                text.chars().all(plain) && text.starts_with(|c: char| !c.is_ascii_digit())
            }),
            Self::Headers => value.as_table().is_some_and(|table| table.values().all(Value::is_str)),
            Self::Anything => value.is_table(),
            Self::Chords => match value {
                Value::String(_) => true,
                Value::Array(list) => list.iter().all(Value::is_str),
                _ => false,
            },
        }
    }

    /// What is allowed, behind "it takes".
    pub fn words(&self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Text => "a text in quotes".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match words.split_last() {
                    Some((last, [])) => last.clone(),
                    Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
                    None => String::new(),
                }
            }
            Self::Whole(range) => format!("a whole number from {} to {}", range.start(), range.end()),
            Self::Price => "a number, such as 0.25, for a million tokens".to_owned(),
            Self::Address => "an address such as \"https://example.com/v1\"".to_owned(),
            Self::Variable => {
                "the name of a variable, such as \"OPENAI_API_KEY\", and never the key itself".to_owned()
            }
            Self::Headers => "names with a text each, such as { X-Title = \"aye\" }".to_owned(),
            Self::Anything => "names with values, such as { temperature = 0.2 }".to_owned(),
            Self::Chords => "a chord such as \"ctrl-k\", or a list of them".to_owned(),
        }
    }

    /// Whether what was found may be shown: not where it may be a secret.
    pub fn may_be_shown(&self) -> bool {
        !matches!(self, Self::Headers | Self::Variable | Self::Anything | Self::Address)
    }
}
