//! Size limit of a reply, which also limits what a session must store.

/// Maximum size of a reply in bytes as stored in a session file: text, reasoning and arguments as content of JSON
/// strings. The rest is not received.
pub const MAX_BYTES: usize = 64 << 20;

/// Returns the size of a text as content of a JSON string, in which control characters take up to six bytes.
pub fn json_string_bytes(text: &str) -> usize {
    text.bytes().map(json_byte_length).sum()
}

fn json_byte_length(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Size of a reply received so far, in bytes as stored in a session file (see [`MAX_BYTES`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplySize(usize);

impl ReplySize {
    /// Adds a part of the reply.
    pub fn add(&mut self, text: &str) {
        self.add_bytes(json_string_bytes(text));
    }

    pub fn add_bytes(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    /// Returns an error if the reply is too long.
    pub fn excess_error(self) -> Option<String> {
        let too_long = || format!("the reply is longer than {} MB and was cut off", MAX_BYTES >> 20);
        (self.0 > MAX_BYTES).then(too_long)
    }
}

#[cfg(test)]
impl ReplySize {
    /// Creates the size of a reply with this many bytes.
    pub fn of_bytes(bytes: usize) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_the_bytes_of_a_json_string(text in "[\\x00-\\x7f€😀]{0,200}") {
            // The JSON string also has two quotation marks.
            prop_assert_eq!(json_string_bytes(&text) + 2, serde_json::to_string(&text).unwrap().len());
        }
    }
}
