//! Copies of files for other programs. What a program saves in the copy of a latest version becomes the next version.

use super::{NewFile, Workspace, find_record};
use crate::chat::Digest;
use crate::store::private_files;
use crate::text::workspace_address::AddressTarget;
use crate::workspace::{Error, Origin, StoredFile};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Name of the file beside a copy with the digest of the content that was last copied or stored.
const KNOWN_DIGEST: &str = ".known";
/// What wrote a version that was saved in a copy.
const ORIGIN: &str = "saved copy";

/// A file whose copy was changed, and the version that this became.
#[derive(Debug)]
pub struct ChangedCopy {
    /// Path in the workspace.
    pub name: String,
    /// Path of the copy.
    pub copy: PathBuf,
    pub stored: Result<StoredFile, Error>,
}

impl Workspace {
    /// Returns the path of a copy with the name of the file, for a program that opens it. It is removed by
    /// [`Self::prune`] and with the session. A copy with changes that are not stored yet stays as it is.
    ///
    /// # Errors
    /// If the content cannot be read, or the copy cannot be written.
    pub fn copy_to_open(&self, file: &StoredFile, is_writable: bool) -> Result<PathBuf, Error> {
        let folder = self.copies_folder().join(format!("{}-{}", file.id, file.version));
        let path = folder.join(file.path.file_name());
        if matches!(read_changed_copy(&folder, &path), Ok(Some(_))) {
            return Ok(path);
        }
        let bytes = self.read(file)?;
        let write = || -> io::Result<()> {
            private_files::create_folder(&folder)?;
            // Without a digest the copy does not count as changed while it is replaced.
            match fs::remove_file(folder.join(KNOWN_DIGEST)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            private_files::replace(&path, &bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(if is_writable { 0o600 } else { 0o400 }))?;
            private_files::replace(&folder.join(KNOWN_DIGEST), file.sha256.as_str().as_bytes())
        };
        write().map_err(Error::with_path(&folder))?;
        Ok(path)
    }

    /// Stores what other programs saved in copies since they were made or last stored: each becomes the latest version of its
    /// file. Costs one look at a folder, which does not exist unless a file was opened.
    ///
    /// # Errors
    /// If the copies cannot be listed or read.
    pub fn store_changed_copies(&self) -> Result<Vec<ChangedCopy>, Error> {
        let folder = self.copies_folder();
        let folders = private_files::list_folder(&folder).map_err(Error::with_path(&folder))?;
        let stored = folders.iter().map(|folder| self.store_changed_copy(folder));
        stored.filter_map(Result::transpose).collect()
    }

    fn store_changed_copy(&self, folder: &Path) -> Result<Option<ChangedCopy>, Error> {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((id, _)) = name.rsplit_once('-') else { return Ok(None) };
        let (workspace_path, untrusted_source) = {
            let loaded = self.refresh()?;
            let Ok((_, record)) = find_record(&loaded.index, &AddressTarget::Id(id.to_owned(), None)) else {
                return Ok(None);
            };
            // What a text from outside was changed to may still have its instructions.
            let source = record.versions.iter().rev().find_map(|version| version.origin.untrusted_source.clone());
            (record.path.clone(), source)
        };
        let copy = folder.join(workspace_path.file_name());
        let Some(bytes) = read_changed_copy(folder, &copy).map_err(Error::with_path(&copy))? else { return Ok(None) };
        let origin = Origin { tool: ORIGIN.to_owned(), untrusted_source, ..Origin::default() };
        let stored = self.write(&NewFile { path: &workspace_path, bytes: &bytes, origin, overwrite: true });
        if let Ok(stored) = &stored {
            let known = private_files::replace(&folder.join(KNOWN_DIGEST), stored.sha256.as_str().as_bytes());
            known.map_err(Error::with_path(folder))?;
        }
        Ok(Some(ChangedCopy { name: workspace_path.to_string(), copy, stored }))
    }

    /// Folder of the copies that other programs open.
    pub(super) fn copies_folder(&self) -> PathBuf {
        self.folder.join("open")
    }
}

/// Returns the content of a copy if it is not the one that is known; `None` also while there is no copy.
fn read_changed_copy(folder: &Path, copy: &Path) -> io::Result<Option<Vec<u8>>> {
    let known = private_files::read_or_empty(&folder.join(KNOWN_DIGEST));
    let Some(known) = std::str::from_utf8(&known).ok().and_then(Digest::parse) else { return Ok(None) };
    match private_files::read_file(copy) {
        // A program may be replacing it right now; the next look finds it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => Ok(read.map(|bytes| (Digest::of_bytes(&bytes) != known).then_some(bytes))?),
    }
}
