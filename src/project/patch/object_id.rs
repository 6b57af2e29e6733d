//! Object ids that git computes for contents, which patches of binary files contain.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use std::fmt::Write as _;
use std::io::{self, Read};

/// Bytes that are hashed at a time.
const CHUNK: usize = 64 << 10;

/// Hash algorithm of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Sha1,
    Sha256,
}

impl Algorithm {
    /// Returns the all-zero id, which means that there is no object, in hexadecimal digits.
    pub fn null_id(self) -> String {
        let digits = match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        };
        "0".repeat(digits)
    }

    /// Returns the id of content of this size, in hexadecimal digits.
    ///
    /// # Errors
    /// If the content cannot be read or has another size.
    pub fn hash_blob(self, mut content: impl Read, size: u64) -> io::Result<String> {
        let mut context = Context::new(match self {
            Self::Sha1 => &SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &SHA256,
        });
        context.update(format!("blob {size}\0").as_bytes());
        let (mut chunk, mut total) = (vec![0; CHUNK], 0u64);
        loop {
            let length = content.read(&mut chunk)?;
            if length == 0 {
                break;
            }
            total += length as u64;
            context.update(&chunk[..length]);
        }
        if total != size {
            return Err(changed_error());
        }
        let mut digits = String::new();
        for byte in context.finish().as_ref() {
            let _ = write!(digits, "{byte:02x}");
        }
        Ok(digits)
    }
}

/// Returns the error for a file that changed after the patch was planned.
pub(super) fn changed_error() -> io::Error {
    io::Error::other("it changed while the patch was written. Run the command again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r30_computes_object_ids_like_git() {
        let hash_text =
            |algorithm: Algorithm, text: &str| algorithm.hash_blob(text.as_bytes(), text.len() as u64).unwrap();
        assert_eq!(hash_text(Algorithm::Sha1, ""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(hash_text(Algorithm::Sha1, "hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(
            hash_text(Algorithm::Sha256, ""),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
        assert!(Algorithm::Sha1.hash_blob(&b"more"[..], 3).is_err());
    }
}
