//! The limit of a reply: how much of it is received, and so how much a session may have to hold.

/// Longest reply, in bytes as a session's file holds it: text, reasoning and arguments as the content of JSON strings. What a
/// provider sends beyond that is not received.
pub const MAX_BYTES: usize = 64 << 20;

/// Returns how many bytes a text has as the content of a JSON string, in which control characters take up to six.
pub fn written_bytes(text: &str) -> usize {
    text.bytes().map(written_byte).sum()
}

fn written_byte(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// How much of a reply was received, in the bytes of [`MAX_BYTES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplySize(usize);

impl ReplySize {
    /// Counts more of the reply.
    pub fn add(&mut self, text: &str) {
        self.0 = self.0.saturating_add(written_bytes(text));
    }

    /// Explains that the reply is too long, if it is.
    pub fn excess(self) -> Option<String> {
        let too_long = || format!("the reply is longer than {} MB, so it was broken off", MAX_BYTES >> 20);
        (self.0 > MAX_BYTES).then(too_long)
    }
}

#[cfg(test)]
impl ReplySize {
    /// Of a reply of which so many bytes were received.
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
        fn counts_what_is_written(text in "[\\x00-\\x7f€😀]{0,200}") {
            prop_assert_eq!(written_bytes(&text) + 2, serde_json::to_string(&text).unwrap().len());
        }
    }
}
