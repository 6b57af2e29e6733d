//! Contents of files under their digests. A content is written whole or not at all.

use crate::chat::Digest;
use std::collections::HashSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Digits of a digest that name the folder of an object.
const FOLDER_DIGITS: usize = 2;
/// Prefix of a file that is being written.
const NEW_PREFIX: &str = "new-";

/// Folder of contents. Changed only under the lock of its checkpoints.
pub struct ObjectStore {
    folder: PathBuf,
}

/// Creates a folder and its parents for the owner only.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

impl ObjectStore {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let (folder, name) = digest.as_str().split_at_checked(FOLDER_DIGITS).unwrap_or(("", digest.as_str()));
        self.folder.join(folder).join(name)
    }

    /// Stores a content. Returns its digest, and the bytes that it takes: 0 if it was stored before. It survives a
    /// crash of the program, but maybe not a power failure.
    pub fn store(&self, content: &[u8]) -> io::Result<(Digest, u64)> {
        let digest = Digest::of_bytes(content);
        let path = self.path(&digest);
        // A crash of the system may have left it shorter.
        if path.metadata().is_ok_and(|metadata| metadata.len() == content.len() as u64) {
            return Ok((digest, 0));
        }
        let folder = path.parent().unwrap_or(&self.folder);
        create_private_folder(folder)?;
        let new_path = folder.join(format!("{NEW_PREFIX}{}", ulid::Ulid::new()));
        let write_object = || -> io::Result<()> {
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new_path)?;
            file.write_all(content)?;
            fs::rename(&new_path, &path)
        };
        match write_object() {
            Ok(()) => Ok((digest, content.len() as u64)),
            Err(error) => {
                let _ = fs::remove_file(&new_path);
                Err(error)
            }
        }
    }

    /// Returns a content.
    ///
    /// # Errors
    /// A reason that follows “its content”: `is no longer stored`.
    pub fn load(&self, digest: &Digest) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        match File::open(self.path(digest)).and_then(|mut file| file.read_to_end(&mut content)) {
            Ok(_) if Digest::of_bytes(&content) == *digest => Ok(content),
            Ok(_) => Err("is damaged in aye's data folder".to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err("is no longer stored".to_owned()),
            Err(error) => Err(format!("cannot be read ({error})")),
        }
    }

    /// Returns the size of each object in bytes, and the remains of interrupted writes.
    pub fn list(&self) -> (Vec<(Digest, u64)>, Vec<PathBuf>) {
        let (mut objects, mut remains) = (Vec::new(), Vec::new());
        for folder in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let first_digits = folder.file_name();
            for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let digits = format!("{}{}", first_digits.to_string_lossy(), name.to_string_lossy());
                match Digest::parse(&digits) {
                    Some(digest) => objects.push((digest, entry.metadata().map_or(0, |metadata| metadata.len()))),
                    None if name.to_string_lossy().starts_with(NEW_PREFIX) => remains.push(entry.path()),
                    None => {}
                }
            }
        }
        (objects, remains)
    }

    /// Removes all objects except these, and the remains of interrupted writes. Returns the bytes that are left.
    pub fn keep_only(&self, kept: &HashSet<Digest>) -> u64 {
        let (objects, remains) = self.list();
        remains.iter().for_each(|path| drop(fs::remove_file(path)));
        let mut left = 0;
        for (digest, size) in objects {
            if kept.contains(&digest) || fs::remove_file(self.path(&digest)).is_err() {
                left += size;
            }
        }
        left
    }
}
