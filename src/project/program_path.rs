//! Folders of `PATH` that lie in a project, whose programs are not those of the system.

use super::path::resolve_path;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the folders of `PATH` before the first one that is relative or in this folder, directly or through links. `None`
/// if it has none such. None come before it if `PATH` is not set, because its default is not known.
pub fn folders_before_project(folder: &Path, path: Option<&OsStr>) -> Option<Vec<PathBuf>> {
    let Some(path) = path else { return Some(Vec::new()) };
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let first_inside = folders.iter().position(|path| !is_outside(folder, path))?;
    Some(folders[..first_inside].to_vec())
}

/// Returns whether one of these folders has a program of this name that every user may run.
pub fn has_program(folders: &[PathBuf], name: &str) -> bool {
    let is_program = |folder: &PathBuf| {
        std::fs::metadata(folder.join(name)).is_ok_and(|file| file.is_file() && file.mode() & 0o111 == 0o111)
    };
    !name.contains('/') && folders.iter().any(is_program)
}

/// Returns the absolute folders of `PATH` that do not lie in this folder, directly or through links.
pub fn paths_outside(folder: &Path, path: &OsStr) -> Option<OsString> {
    let folders = std::env::split_paths(path).filter(|path| is_outside(folder, path));
    std::env::join_paths(folders).ok().filter(|list| !list.is_empty())
}

fn is_outside(folder: &Path, path: &Path) -> bool {
    path.is_absolute() && !path.starts_with(folder) && !resolve_path(path).starts_with(folder)
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
        let before = |path: &str| folders_before_project(&folder, Some(OsStr::new(path)));
        let inside = folder.join("bin").display().to_string();
        for (path, expected) in [
            (format!("/usr/bin:{inside}:/bin"), vec!["/usr/bin"]),
            (format!("/bin:{}", link.display()), vec!["/bin"]),
            (format!("{inside}:/bin"), vec![]),
            ("/bin:/usr/bin:.".to_owned(), vec!["/bin", "/usr/bin"]),
            ("/bin:".to_owned(), vec!["/bin"]),
            ("bin:/bin".to_owned(), vec![]),
            (String::new(), vec![]),
        ] {
            assert_eq!(before(&path), Some(expected.into_iter().map(PathBuf::from).collect()), "{path}");
        }
        assert_eq!(folders_before_project(&folder, None), Some(Vec::new()));
        assert_eq!(before("/usr/local/bin:/usr/bin:/bin"), None);
    }

    #[test]
    fn a_program_is_a_file_that_everybody_may_run() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("text"), "").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let folders = [PathBuf::from("/no-such"), folder.path().to_owned(), PathBuf::from("/bin")];
        for (name, expected) in
            [("sh", true), ("text", false), ("folder", false), ("no-such", false), ("../bin/sh", false)]
        {
            assert_eq!(has_program(&folders, name), expected, "{name}");
        }
    }
}
