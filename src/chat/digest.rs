//! SHA-256 digests. Those of plans and questions are in `plan_digest`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};
use std::io;

/// A SHA-256 as 64 hexadecimal digits; empty if an older version recorded none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::from_hasher(Sha256::new_with_prefix(bytes))
    }

    /// Returns the digest of a call and the state of the overlay: of the JSON `[tool, arguments, overlay]`, the
    /// arguments with sorted keys.
    pub fn of_call(tool: &str, arguments: &Value, overlay: &Self) -> Self {
        let mut arguments = arguments.clone();
        arguments.sort_all_objects();
        Self::of_json(&(tool, arguments, overlay))
    }

    /// Parses 64 lower-case hexadecimal digits.
    pub fn parse(digits: &str) -> Option<Self> {
        let is_valid = digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_valid.then(|| Self(digits.to_owned()))
    }

    /// Returns whether no digest was recorded.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first digits, enough to compare by eye.
    pub fn short_hex(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    pub(super) fn of_json(value: &impl Serialize) -> Self {
        let mut hash = HashWriter(Sha256::new());
        // Serialization cannot fail: keys of maps are strings, and paths are written as strings.
        match serde_json::to_writer(&mut hash, value) {
            Ok(()) => Self::from_hasher(hash.0),
            Err(_) => Self::default(),
        }
    }

    fn from_hasher(hash: Sha256) -> Self {
        let mut digits = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        Self(digits)
    }
}

/// Hashes what is written to it.
struct HashWriter(Sha256);

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
