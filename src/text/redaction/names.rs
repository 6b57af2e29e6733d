//! Names of secrets, and values that are only placeholders for one.

/// Replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// Certainty that the value of a name is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameClass {
    /// Always.
    Password,
    /// In code the name may have other values too.
    Token,
    /// As `Token`, but a short value is taken for the name of a key.
    Key,
}

/// Suffixes of names of the class `Password`, in lower case, with `_` for `-`. `TOKENS` and `KEYS` are those of the
/// other classes.
#[rustfmt::skip]
const PASSWORDS: &[&str] = &[
    "password", "passwd", "passphrase", "_pass", "sshpass", "_pwd", "secret", "secret_key", "secretkey",
    "secret_access_key", "secretaccesskey", "credentials", "credential", "userpwd",
];
const TOKENS: &[&str] = &["token", "_auth", "_jwt"];
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "api_key", "apikey", "access_key", "accesskey", "private_key", "privatekey", "encryption_key", "signing_key",
    "account_key", "accountkey", "shared_key", "auth_key", "authkey", "master_key", "service_key",
];
/// Names that are classified only as a whole, not as a suffix.
const EXACT_NAMES: &[(&str, NameClass)] = &[
    ("pass", NameClass::Password),
    ("pwd", NameClass::Password),
    ("auth", NameClass::Key),
    ("key", NameClass::Key),
    ("jwt", NameClass::Token),
];
/// Maximum bytes at the end of a name that are examined.
const MAX_NAME_BYTES: usize = 64;

/// Returns whether the value of a field with this name is a secret, such as `client_secret`, `apiKey` or `DB_PASSWORD`.
pub fn is_secret_name(name: &str) -> bool {
    let normalized = name.to_ascii_lowercase().replace('-', "_");
    let parts = ["password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "credential"];
    // `key` and `auth` alone are too common.
    classify_name(name).is_some() && !matches!(normalized.as_str(), "key" | "auth")
        || parts.iter().any(|part| normalized.contains(part))
        || ["authorization", "proxy_authorization", "cookie", "set_cookie"].contains(&normalized.as_str())
}

/// Classifies a name; `None` if it is not that of a secret.
pub(super) fn classify_name(name: &str) -> Option<NameClass> {
    let start = name.floor_char_boundary(name.len().saturating_sub(MAX_NAME_BYTES));
    let suffix = &name[start..];
    let suffix = suffix.trim_end_matches(|c: char| c.is_ascii_digit());
    let normalized = suffix.to_ascii_lowercase().replace('-', "_");
    let ends_with_any = |suffixes: &[&str]| suffixes.iter().any(|suffix| normalized.ends_with(suffix));
    let is_capital_name = is_capital(name);
    if matches!(name, "PWD" | "OLDPWD") || normalized.starts_with("no_") {
        return None;
    }
    if ends_with_any(PASSWORDS) {
        return Some(NameClass::Password);
    }
    if ends_with_any(TOKENS) {
        return Some(NameClass::Token);
    }
    if ends_with_any(KEYS) || is_capital_name && normalized.ends_with("_key") {
        return Some(NameClass::Key);
    }
    let exact_name = normalized.trim_start_matches('_');
    EXACT_NAMES.iter().find(|(exact, _)| exact_name == *exact).map(|(_, class)| *class)
}

/// Returns whether a name is in capitals, as environment variables are.
pub(super) fn is_capital(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns whether a value is a placeholder: a variable, a name in brackets, masking characters.
pub(super) fn is_placeholder(value: &str) -> bool {
    let is_enclosed = |open: char, close: char| value.starts_with(open) && value[1..].contains(close);
    let is_variable = |sigil: char| {
        let name = value.strip_prefix(sigil).map(|name| name.strip_suffix('%').unwrap_or(name));
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    value == REDACTED
        || is_variable('$')
        || value.starts_with('%') && value.ends_with('%') && is_variable('%')
        || ["${", "$(", "{{"].iter().any(|prefix| value.starts_with(prefix))
        || is_enclosed('<', '>')
        || is_enclosed('{', '}')
        || is_enclosed('[', ']')
        || value.chars().all(|c| "*.xX•…_-".contains(c))
}

/// Words that name a kind of value, in code and documentation.
#[rustfmt::skip]
const VALUE_KINDS: &[&str] = &[
    "string", "str", "bool", "boolean", "int", "integer", "number", "float", "any", "null", "none", "nil", "true", "false",
    "undefined", "optional", "required", "text", "bytes", "object", "value", "self", "input", "char", "varchar", "unknown",
    "yes", "no", "secret", "token", "key", "password", "env", "file", "stdin", "prompt", "default", "type", "unset",
];

/// Words that follow the name of an option in a sentence.
#[rustfmt::skip]
const SENTENCE_WORDS: &[&str] = &[
    "a", "an", "the", "to", "for", "and", "or", "is", "in", "on", "with", "without", "if", "as", "from", "of", "when",
    "which", "that", "by", "was", "are", "be", "must", "should", "can", "cannot", "will", "not", "your", "you", "via",
    "instead", "option", "options", "flag", "flags", "argument", "parameter", "but", "it", "this", "has", "does", "may",
    "then", "than", "also", "only", "at", "because", "here", "mention", "mentions", "value", "takes", "sets", "so",
];

/// Returns whether a value is one of [`SENTENCE_WORDS`], apart from punctuation after it.
pub(super) fn is_word_of_sentence(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ':', ';', ')', '?', '!']);
    SENTENCE_WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns whether a value is a kind of value or a reference: `string`, `None`, `args.password`, `TOKEN`.
pub(super) fn is_reference(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let last_part = value.rsplit(['.', ':']).next().unwrap_or(value);
    VALUE_KINDS.contains(&lower.as_str())
        || value.starts_with('&')
        || is_name(value) && !has_digit(value) && (value.contains(['.', ':']) || classify_name(last_part).is_some())
}

/// Returns whether a value is an identifier or a path of fields.
pub(super) fn is_name(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-'))
}

/// Returns whether a value looks random: letters with digits, special characters, or mixed case.
pub(super) fn looks_random(value: &str) -> bool {
    let has_letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    value.len() >= 4
        && (has_letters && has_digit(value) || value.contains(['!', '@', '#', '%', '^', '*', '+', '=', '$']))
        || value.len() >= 10 && is_mixed_case(value)
}

pub(super) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether a value has letters of both cases.
pub(super) fn is_mixed_case(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_uppercase()) && value.bytes().any(|byte| byte.is_ascii_lowercase())
}
