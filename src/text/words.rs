//! Divides a line into words.

/// Divides a line into words as a POSIX shell does, without expanding anything. One with an unclosed quote is divided at blanks.
pub fn split_words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect())
}
