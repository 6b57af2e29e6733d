//! A secret such as an API key, which is kept out of messages and logs.

use std::fmt;

/// A secret. It has no `Display`, and its `Debug` output is masked.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret without surrounding whitespace.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Returns the secret itself, for a header or the key file. Must not be used for messages or logs.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Masks the secret in a text. A secret under four bytes is a placeholder (local servers accept any key) and is not
    /// masked.
    pub fn mask(&self, text: &str) -> String {
        if self.0.len() < 4 {
            return text.to_owned();
        }
        let text = text.replace(&self.0, "[key]");
        // A truncated text may end inside the secret.
        let Some(truncated) = text.strip_suffix('…') else { return text };
        let prefixes = (4..self.0.len()).rev().filter_map(|n| self.0.get(..n));
        match prefixes.into_iter().find_map(|prefix| truncated.strip_suffix(prefix)) {
            Some(before_secret) => format!("{before_secret}[key]…"),
            None => text,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([key])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r57_a_key_is_never_shown() {
        let key = Secret::new(" sk-12345\n");
        assert_eq!(key.reveal(), "sk-12345");
        assert_eq!(format!("{key:?}"), "Secret([key])");
        assert_eq!(key.mask("bad key sk-12345, sk-12345"), "bad key [key], [key]");
        assert_eq!(key.mask("bad key sk-12…"), "bad key [key]…");
        assert_eq!(key.mask("bad key…"), "bad key…");
        assert_eq!(Secret::new("x").mask("axe"), "axe");
    }
}
