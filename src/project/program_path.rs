//! Folders of `PATH` that lie in a project, whose programs are not those of the system.

use super::path::resolve_path;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Returns whether `PATH` has a folder in this folder, directly or through links, or a relative one. A `PATH` that is
/// not set counts, because its default is not known.
pub fn has_path_inside(folder: &Path, path: Option<&OsStr>) -> bool {
    let Some(path) = path else { return true };
    let outside = paths_outside(folder, path);
    outside.as_deref() != Some(path)
}

/// Returns the absolute folders of `PATH` that do not lie in this folder, directly or through links.
pub fn paths_outside(folder: &Path, path: &OsStr) -> Option<OsString> {
    let is_outside = |path: &PathBuf| {
        let real = resolve_path(path);
        path.is_absolute() && !path.starts_with(folder) && !real.starts_with(folder)
    };
    let folders = std::env::split_paths(path).filter(is_outside);
    std::env::join_paths(folders).ok().filter(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_folders_of_the_project_in_path() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap().join("p");
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        let link = folder.with_file_name("link");
        std::os::unix::fs::symlink(folder.join("bin"), &link).unwrap();
        let is_inside = |path: &str| has_path_inside(&folder, Some(OsStr::new(path)));
        for path in
            [&format!("/usr/bin:{}/bin", folder.display()), link.to_str().unwrap(), "/bin:.", "/bin:", "bin", ""]
        {
            assert!(is_inside(path), "{path}");
        }
        assert!(has_path_inside(&folder, None));
        assert!(!is_inside("/usr/local/bin:/usr/bin:/bin"));
    }
}
