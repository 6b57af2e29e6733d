//! Copies the overlay of a dry run in the kernel's format: whiteout devices, opaque folders, links and modes. On other systems
//! than Linux device nodes are not copied: the overlay has none there.

mod tree_copier;

use super::private_files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tree_copier::TreeCopier;

/// Files and folders that are not copied: those of the kernel or of this process only, and discarded changes, which may
/// hold secrets.
const NOT_COPIED: [&str; 5] = ["work", "lock", "unfinished", "root", "discarded"];

/// Copies the overlays of a session, if any. Folders without permissions and folders nested too deep for a path are
/// copied too, because commands may have created such folders.
///
/// # Errors
/// Returns the path in the original that could not be copied.
pub fn copy_overlays(old: &Path, new: &Path) -> Result<(), (PathBuf, io::Error)> {
    if !old.is_dir() {
        return Ok(());
    }
    let to_error = |error| (old.to_owned(), error);
    private_files::create_folder(new).map_err(to_error)?;
    let mut copier = TreeCopier::open(old, new).map_err(to_error)?;
    for entry in fs::read_dir(old).map_err(to_error)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).map_err(to_error)?;
        if NOT_COPIED.iter().any(|excluded| name == *excluded) {
            continue;
        }
        // The overlay of changes outside the project has the same structure.
        if name == "outside" && path.is_dir() {
            copy_overlays(&path, &new.join(&name))?;
        } else {
            copier.copy(&name).map_err(|(inner, error)| (old.join(inner), error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
pub mod tests;
