//! Limits of a workspace.

/// Limits of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum bytes of a file.
    pub file_bytes: u64,
    /// Maximum bytes of the latest versions of all files. A content that several files have counts once.
    pub session_bytes: u64,
    /// Maximum number of earlier versions of a file.
    pub old_versions: usize,
    /// Maximum bytes of all earlier versions and deleted files. A content that a file has counts for that file.
    pub old_bytes: u64,
}

impl Limits {
    /// Returns whether a version of this size is kept once it is replaced or deleted.
    pub fn keep_old_version(&self, bytes: u64) -> bool {
        self.old_versions > 0 && bytes <= self.old_bytes
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 100_000_000, session_bytes: 1_000_000_000, old_versions: 20, old_bytes: 200_000_000 }
    }
}
