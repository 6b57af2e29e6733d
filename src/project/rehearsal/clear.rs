//! Throws a layer away: at once for whoever looks, whatever commands left in it, and not while one of them runs.

use super::lock;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// What the name of a layer begins with that is being taken away, so that an end in the middle leaves no half of one.
const THROWN: &str = ".aye-thrown-";

/// Takes a layer away, with everything in it; one that is not there is gone already. What an end in the middle left of
/// another goes too.
///
/// # Errors
/// [`io::ErrorKind::ResourceBusy`] while a command runs over it.
pub fn clear(layer: &Path) -> io::Result<()> {
    let lock = match lock::hold_now(layer) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        held => Some(held?),
    };
    let Some(beside) = layer.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    if lock.is_some() {
        let thrown = beside.join(format!("{THROWN}{}", ulid::Ulid::new()));
        fs::rename(layer, &thrown)?;
        empty(&thrown)?;
    }
    for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(THROWN.as_bytes()) {
            // Another process may be at it.
            let _ = empty(&entry.path());
        }
    }
    Ok(())
}

/// Takes a folder away with everything in it. Commands may have left folders that nobody may look into, and some so deep
/// that no path reaches them: whatever stands in a folder of this one is brought up into this one first.
pub fn empty(folder: &Path) -> io::Result<()> {
    let (all, mut count) = (ulid::Ulid::new(), 0u64);
    loop {
        let folders = match opened(folder)? {
            Some(entries) => entries,
            None => return Ok(()),
        };
        if folders.is_empty() {
            return gone(fs::remove_dir(folder));
        }
        for name in folders {
            let path = folder.join(name);
            for inner in opened(&path)?.unwrap_or_default() {
                let inner = path.join(inner);
                // A folder that is moved is written in.
                gone(open_up(&inner))?;
                count += 1;
                gone(fs::rename(&inner, folder.join(format!("{all}-{count}"))))?;
            }
            gone(fs::remove_dir(&path))?;
        }
    }
}

/// The folders in a folder, whose other entries are taken away; `None` where it is not there.
fn opened(folder: &Path) -> io::Result<Option<Vec<std::ffi::OsString>>> {
    if let Err(error) = open_up(folder) {
        return gone(Err(error)).map(|()| None);
    }
    let mut folders = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) => return gone(Err(error)).map(|()| None),
        Ok(entries) => entries,
    };
    for entry in entries {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => folders.push(entry.file_name()),
            false => gone(fs::remove_file(entry.path()))?,
        }
    }
    Ok(Some(folders))
}

/// Lets its owner look into a folder and change it. What a link leads to is none to be emptied.
fn open_up(folder: &Path) -> io::Result<()> {
    let meta = folder.symlink_metadata()?;
    if !meta.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if meta.mode() & 0o700 != 0o700 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Another process may take the same away.
fn gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
