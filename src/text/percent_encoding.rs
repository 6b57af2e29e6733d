//! Percent-encoding of values in addresses.

/// Percent-encodes everything but ASCII letters, digits, `-`, `_`, `.` and `~`, the unreserved characters of RFC 3986.
pub fn percent_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_unreserved_characters() {
        assert_eq!(percent_encode("aZ09-_.~"), "aZ09-_.~");
        assert_eq!(percent_encode("a/b c%ü\n"), "a%2Fb%20c%25%C3%BC%0A");
    }
}
