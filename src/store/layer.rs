//! Copies what a dry run kept, in the form that the kernel's overlay has: devices that stand for what is gone, marked
//! folders, links and modes with the rest.

mod pair;

use super::private;
use pair::Pair;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is the kernel's own, or no other process's, beside a layer.
const LEFT: [&str; 4] = ["work", "lock", "unfinished", "root"];

/// Copies the layers of a session, where there are some. Commands may have left folders in them that nobody may look into,
/// and some so deep that no path reaches them.
///
/// # Errors
/// With the path, in the old layer, of what could not be copied.
pub fn copy(old: &Path, new: &Path) -> Result<(), (PathBuf, io::Error)> {
    if !old.is_dir() {
        return Ok(());
    }
    let failed = |error| (old.to_owned(), error);
    private::folder(new).map_err(failed)?;
    let mut pair = Pair::open(old, new).map_err(failed)?;
    for entry in fs::read_dir(old).map_err(failed)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).map_err(failed)?;
        if LEFT.iter().any(|left| name == *left) {
            continue;
        }
        if name == "outside" && path.is_dir() {
            copy(&path, &new.join(&name))?;
        } else {
            pair.copy(&name).map_err(|(inner, error)| (old.join(inner), error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
pub mod tests;
