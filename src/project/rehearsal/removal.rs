//! Removal of an overlay: visible at once, independent of the permissions that commands left in it, and never while a
//! command runs.

use super::lock;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Name prefix of an overlay that is being removed, so that an interrupted removal leaves no partial overlay.
const REMOVED_PREFIX: &str = ".aye-thrown-";

/// Removes an overlay with all its files. A missing overlay counts as removed. Remains of interrupted removals are
/// removed as well.
///
/// # Errors
/// [`io::ErrorKind::ResourceBusy`] while a command runs over it.
pub fn remove_overlay(overlay_folder: &Path) -> io::Result<()> {
    let lock = match lock::lock_patiently(overlay_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        result => Some(result?),
    };
    let Some(parent) = overlay_folder.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    if lock.is_some() {
        let removed = parent.join(format!("{REMOVED_PREFIX}{}", ulid::Ulid::new()));
        fs::rename(overlay_folder, &removed)?;
        remove_folder(&removed)?;
    }
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(REMOVED_PREFIX.as_bytes()) {
            // Another process may be removing it at the same time.
            let _ = remove_folder(&entry.path());
        }
    }
    Ok(())
}

/// Removes a folder with all its content. Commands may have left unreadable folders and folders nested deeper than any
/// path can reach, so nested folders are moved up into this folder first.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let (prefix, mut count) = (ulid::Ulid::new(), 0u64);
    loop {
        let Some(folders) = remove_files(folder)? else { return Ok(()) };
        if folders.is_empty() {
            return ignore_missing(fs::remove_dir(folder));
        }
        for name in folders {
            let path = folder.join(name);
            for inner in remove_files(&path)?.unwrap_or_default() {
                let inner = path.join(inner);
                // Moving a folder requires write permission on it.
                ignore_missing(grant_owner_access(&inner))?;
                count += 1;
                ignore_missing(fs::rename(&inner, folder.join(format!("{prefix}-{count}"))))?;
            }
            ignore_missing(fs::remove_dir(&path))?;
        }
    }
}

/// Removes the files in a folder and returns its subfolders. `None` if the folder does not exist.
fn remove_files(folder: &Path) -> io::Result<Option<Vec<std::ffi::OsString>>> {
    let mut folders = Vec::new();
    let entries = match grant_owner_access(folder).and_then(|()| fs::read_dir(folder)) {
        Err(error) => return ignore_missing(Err(error)).map(|()| None),
        Ok(entries) => entries,
    };
    for entry in entries {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => folders.push(entry.file_name()),
            false => ignore_missing(fs::remove_file(entry.path()))?,
        }
    }
    Ok(Some(folders))
}

/// Gives the owner full access to a folder. Fails for a link, so that its target is never emptied.
fn grant_owner_access(folder: &Path) -> io::Result<()> {
    let meta = folder.symlink_metadata()?;
    if !meta.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if meta.mode() & 0o700 != 0o700 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Ignores that another process removed the same entry.
pub(super) fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
