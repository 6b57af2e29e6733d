//! Secrets that the program has loaded, such as keys and tokens, removed from text wherever they occur.

use super::percent_encoding::percent_encode;
use super::redaction::REDACTED;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Shorter secrets are placeholders, such as the keys of local servers, and are not removed.
const MIN_SECRET_BYTES: usize = 4;

/// Secrets that are known in this run. Clones share them.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<RwLock<BTreeSet<String>>>);

impl KnownSecrets {
    /// Adds a secret, also in the form that a URL or JSON gives it.
    pub fn add(&self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < MIN_SECRET_BYTES {
            return;
        }
        let mut secrets = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let json = serde_json::Value::from(secret).to_string();
        for form in [secret, json.trim_matches('"'), &percent_encode(secret)] {
            if !secrets.contains(form) {
                secrets.insert(form.to_owned());
            }
        }
    }

    /// Returns all of them, also in the forms of URLs and JSON.
    pub fn to_vec(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Replaces every known secret in a text.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<&String> = secrets.iter().filter(|secret| text.contains(secret.as_str())).collect();
        // The longest first, because one may be part of another.
        found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        found.into_iter().fold(Cow::Borrowed(text), |text, secret| Cow::Owned(text.replace(secret.as_str(), REDACTED)))
    }
}

impl<T: AsRef<str>> FromIterator<T> for KnownSecrets {
    fn from_iter<I: IntoIterator<Item = T>>(secrets: I) -> Self {
        let known = Self::default();
        secrets.into_iter().for_each(|secret| known.add(secret.as_ref()));
        known
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownSecrets(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r57_every_known_secret_is_replaced() {
        let known: KnownSecrets = ["sk-1234", "sk-1234-longer", "x", "", "a\"b/c\\d"].into_iter().collect();
        known.clone().add(" later-added\n");
        for (text, masked) in [
            ("sk-1234-longer, sk-1234", "[redacted], [redacted]"),
            ("x axe", "x axe"),
            ("later-added", "[redacted]"),
            ("{\"k\":\"a\\\"b/c\\\\d\"}", "{\"k\":\"[redacted]\"}"),
            ("?k=a%22b%2Fc%5Cd", "?k=[redacted]"),
            ("", ""),
        ] {
            assert_eq!(known.mask(text), masked);
        }
        assert!(!format!("{known:?}").contains("sk-"));
    }

    proptest! {
        #[test]
        fn r57_no_text_around_a_secret_keeps_it(before in ".{0,20}", secret in "[!-~]{4,30}", other in "[!-~]{4,30}", after in ".{0,20}") {
            let known: KnownSecrets = [&secret, &other].into_iter().collect();
            let text = format!("{before}{secret}{other}{secret}{after}");
            let masked = known.mask(&text);
            // The replacement itself may contain a short secret.
            prop_assume!(!REDACTED.contains(&secret) && !format!("{before}{REDACTED}{REDACTED}{REDACTED}{after}").contains(&secret));
            prop_assert!(!masked.contains(&secret), "{}", masked);
        }
    }
}
