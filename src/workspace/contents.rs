//! Contents of files, each under its digest. A content never changes, and is stored as a whole or not at all.

use crate::chat::Digest;
use crate::store::private_files;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Folder of contents.
pub(super) struct Contents {
    folder: PathBuf,
}

/// A content on disk that has no name yet. Dropping it removes it.
pub(super) struct PreparedContent {
    file: NamedTempFile,
    digest: Digest,
}

impl PreparedContent {
    pub fn digest(&self) -> &Digest {
        &self.digest
    }
}

impl Contents {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(digest.as_str())
    }

    /// Writes a content under a temporary name, and waits for the disk.
    pub fn prepare(&self, bytes: &[u8]) -> io::Result<PreparedContent> {
        private_files::create_folder(&self.folder)?;
        let file = private_files::write_temporary(&self.folder.join("content"), |file| file.write_all(bytes))?;
        file.as_file().sync_all()?;
        Ok(PreparedContent { file, digest: Digest::of_bytes(bytes) })
    }

    /// Gives a prepared content its name; replaces one of the same name, which may be damaged.
    pub fn add(&self, prepared: PreparedContent) -> io::Result<()> {
        prepared.file.persist(self.path(&prepared.digest))?;
        sync_folder(&self.folder)
    }

    /// Returns a content, or `None` if its bytes do not match the digest.
    pub fn read(&self, digest: &Digest) -> io::Result<Option<Vec<u8>>> {
        let bytes = private_files::read_file(&self.path(digest))?;
        Ok((Digest::of_bytes(&bytes) == *digest).then_some(bytes))
    }

    /// Returns the first bytes of a content, which are not compared with the digest.
    pub fn read_beginning(&self, digest: &Digest, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        private_files::open_read(&self.path(digest))?.take(max_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the digests of all contents, in any order.
    pub fn list(&self) -> Vec<Digest> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Digest::parse(entry.file_name().to_str()?)).collect()
    }

    /// Removes a content. A leftover is removed by [`Self::keep_only`].
    pub fn remove(&self, digest: &Digest) {
        let _ = fs::remove_file(self.path(digest));
    }

    /// Removes all contents but these, and what killed programs left.
    pub fn keep_only(&self, kept: &HashSet<&Digest>) {
        private_files::remove_abandoned(&self.folder);
        self.list().iter().filter(|digest| !kept.contains(digest)).for_each(|digest| self.remove(digest));
    }
}

/// Waits until new names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
