//! Words by which a field for a secret is recognized.

const WORDS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "mnemonic",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "pwd",
    "secret",
    "secrets",
    "ssn",
    "token",
    "totp",
];

/// Two words in a row.
const PAIRS: &[[&str; 2]] = &[
    ["access", "key"],
    ["api", "key"],
    ["card", "number"],
    ["pass", "phrase"],
    ["pass", "word"],
    ["private", "key"],
    ["recovery", "code"],
    ["recovery", "phrase"],
    ["security", "code"],
    ["seed", "phrase"],
    ["verification", "code"],
];

/// Returns whether a name such as `userPassword` or a text names a secret.
pub(super) fn names_secret(text: &str) -> bool {
    let words = split_words(text);
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| PAIRS.iter().any(|[first, second]| pair[0] == *first && pair[1] == *second))
}

/// Splits a text at characters that are neither letters nor digits, and at the words of camel case (`userPassword`,
/// `APIToken`). Invisible characters do not split.
fn split_words(text: &str) -> Vec<String> {
    let text = crate::text::hidden_chars::remove_hidden(text);
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut was_small, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        let begins_word = c.is_uppercase() && (was_small || chars.peek().is_some_and(|next| next.is_lowercase()));
        if (!c.is_alphanumeric() || begins_word) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_whole_words() {
        for text in [
            "password",
            "userPassword",
            "API_KEY",
            "api-key",
            "Your access key",
            "one-time PIN",
            "GitHub token",
            "pass\u{200B}word",
            "credit card number",
            "OTP",
            "privateKey",
            "APIKey",
        ] {
            assert!(names_secret(text), "{text}");
        }
        for text in ["max_tokens", "spinner", "project", "passenger", "Keyboard layout", "shipping", "secretary", "key"]
        {
            assert!(!names_secret(text), "{text}");
        }
    }
}
