//! A key to a service, which never shows itself.

use std::fmt;

/// What is said of a key that no header can carry, behind where it came from. It never quotes the key.
pub const UNSENDABLE: &str =
    "the key holds a line break or letters that cannot be sent, so nothing is sent; correct it";

/// A key to a service.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, without the blanks and line ends that came with it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Whether a header can carry it: nothing but letters, digits, signs and blanks of ASCII.
    pub fn can_be_sent(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    }

    /// The key itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_header_can_carry_can_be_sent() {
        for (key, can) in [
            (" sk-1\n", true),
            ("Basic abc=", true),
            ("", false),
            ("sk-1\nsk-2", false),
            ("sk\r1", false),
            ("sk-é", false),
            ("sk-\u{7f}", false),
            ("sk-\u{200b}1", false),
            ("\u{feff}sk-1", false),
            ("sk\t1", false),
        ] {
            assert_eq!(Key::new(key).can_be_sent(), can, "{key:?}");
        }
    }
}
