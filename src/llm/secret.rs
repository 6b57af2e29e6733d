//! A key, kept out of every text but the one header it is for.

use std::fmt;

/// A key. It has no `Display`, and its `Debug` tells nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key; blanks around it, as pasting leaves them, are cut off.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for a header or for the file it is kept in. Never for a message or a log.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text without the key, should someone have repeated it there. A key under four letters is a placeholder
    /// (local servers take anything) and hides nothing.
    pub fn mask(&self, text: &str) -> String {
        if self.0.len() < 4 {
            return text.to_owned();
        }
        let text = text.replace(&self.0, "[key]");
        // A text that was shortened may end in the middle of the key.
        let Some(short) = text.strip_suffix('…') else { return text };
        let begun = (4..self.0.len()).rev().filter_map(|n| self.0.get(..n));
        match begun.into_iter().find_map(|start| short.strip_suffix(start)) {
            Some(rest) => format!("{rest}[key]…"),
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
