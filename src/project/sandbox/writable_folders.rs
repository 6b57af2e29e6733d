//! Folders outside the project that commands may write.

use std::path::{Path, PathBuf};

/// Shared memory, which parallel programs need.
const SHARED: &str = "/dev/shm";

/// Returns the folders for temporary data: the temporary folder, unless it contains one of the protected paths, and
/// shared memory.
pub fn temporary_folders(protected: &[PathBuf]) -> Vec<PathBuf> {
    let is_allowed = |folder: &PathBuf| folder.is_dir() && !protected.iter().any(|path| path.starts_with(folder));
    let temporary = std::env::temp_dir().canonicalize().ok().filter(is_allowed);
    temporary.into_iter().chain(Path::new(SHARED).canonicalize().ok()).collect()
}

/// Expands `~` in a path of the settings.
pub fn expand_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(relative), Some(home)) => Path::new(&home).join(relative),
        (Ok(_), None) | (Err(_), _) => path.to_owned(),
    }
}
