//! API key of a provider. It is never printed.

use std::fmt;

/// Reason given for a key that no header can carry. It does not quote the key.
pub const UNSENDABLE: &str =
    "the key contains a line break or characters that cannot be sent. Nothing was sent. Correct the key";

/// API key of a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Creates a key from text, without surrounding whitespace.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Parses a key that the user entered.
    ///
    /// # Errors
    /// What is wrong with it, as part of a sentence. It does not quote the key.
    pub fn parse_entered(text: &str) -> Result<Self, &'static str> {
        let key = Self::new(text);
        if key.0.is_empty() {
            return Err("it is empty");
        }
        if !key.can_be_sent() || key.0.contains(' ') {
            return Err("it contains a space, a line break or characters that cannot be sent");
        }
        Ok(key)
    }

    /// Returns whether a header can carry the key: only printable ASCII characters and spaces.
    pub fn can_be_sent(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    }

    /// Returns the key itself, to send it, save it, or remove it from text. It must not be displayed.
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
    fn only_printable_ascii_can_be_sent() {
        for (key, can_be_sent) in [
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
            assert_eq!(Key::new(key).can_be_sent(), can_be_sent, "{key:?}");
        }
    }
}
