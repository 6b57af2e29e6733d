//! Text files of a project, read without leaving the project.

use super::settings_file;
use crate::chat::sensitive_paths;
use std::path::{Path, PathBuf};

/// Maximum size of a project file in bytes. A larger file is ignored, even if it is trusted.
pub const MAX_FILE_BYTES: u64 = 256 << 10;

/// Reads a project file. Returns `None` if it does not exist, and an error text if it is not a regular text file inside
/// the project. Never blocks on a pipe.
pub fn read_project_text(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let Some(real) = resolve_in_project(folder, name)? else { return Ok(None) };
    read_text(&real)
}

/// Reads a text file by its real path, within the size limit. Returns `None` if it does not exist.
pub(super) fn read_text(real: &Path) -> Result<Option<String>, String> {
    match settings_file::read_bounded_text(real, MAX_FILE_BYTES)? {
        Some(text) if text.contains('\0') => Err("it is not a text file".to_owned()),
        text => Ok(text),
    }
}

/// Resolves a name in the project to its real path. Returns `None` if there is no such file.
pub(super) fn resolve_in_project(folder: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    resolve_in_folder(folder, "the project", Path::new(name))
}

/// Resolves a path relative to a folder to its real path, which must be inside that folder. `label` names the folder in
/// errors. Returns `None` if there is no such file.
pub(super) fn resolve_in_folder(folder: &Path, label: &str, name: &Path) -> Result<Option<PathBuf>, String> {
    let path = folder.join(name);
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if settings_file::is_missing(&error) && !is_link => return Ok(None),
        Err(_) if is_link => return Err("it is a broken symlink".to_owned()),
        Err(error) => return Err(format!("the file cannot be read ({error})")),
    };
    let project = folder.canonicalize().map_err(|error| format!("the folder cannot be read ({error})"))?;
    match real.strip_prefix(&project) {
        Err(_) => Err(format!("it is a symlink to a path outside {label}")),
        Ok(relative) if relative != name && sensitive_paths::is_sensitive(relative) => {
            Err(format!("it is a symlink to {}, which may hold secrets or affect other programs", relative.display()))
        }
        Ok(_) => Ok(Some(real)),
    }
}
