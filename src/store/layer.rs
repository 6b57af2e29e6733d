//! Copies what a dry run kept, in the form that the kernel's overlay has: devices that stand for what is gone, marked
//! folders, links and modes with the rest.

mod pair;

use super::private;
use pair::Pair;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is the kernel's own, or no other process's, beside a layer.
const LEFT: [&str; 3] = ["work", "lock", "unfinished"];

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
        if name == "places" && path.is_dir() {
            let to = new.join(&name);
            fs::create_dir(&to).map_err(failed)?;
            for place in fs::read_dir(&path).map_err(failed)? {
                let place = place.map_err(failed)?;
                copy(&place.path(), &to.join(place.file_name()))?;
            }
        } else {
            pair.copy(&name).map_err(|(inner, error)| (old.join(inner), error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
pub mod tests;
