//! Reads the project's current branch from git's files, without running a program.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Size limit of a branch file in bytes. A larger file is ignored.
const SIZE_LIMIT: u64 = 4096;

/// Returns the branch checked out in the folder or its nearest parent that is a repository, or the first eight
/// characters of the commit on a detached HEAD. `None` outside a repository, or if git's files cannot be read.
pub fn current_branch(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let head = String::from_utf8(read_small_file(&git_folder(git)?.join("HEAD"))?).ok()?;
    let head = head.trim();
    let name = match head.strip_prefix("ref: ") {
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name),
        None => head.get(..8)?,
    };
    Some(name.to_owned())
}

/// Returns git's folder for the path of a `.git` entry. In a linked work tree or a submodule the entry is a file that
/// names the folder.
pub(super) fn git_folder(git: PathBuf) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git);
    }
    let content = read_small_file(&git)?;
    let target = content.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    // An absolute target replaces the parent.
    Some(git.parent()?.join(OsStr::from_bytes(target)))
}

/// Returns the folder with the settings that all work trees share, for git's folder of one of them.
pub(super) fn common_folder(git: &Path) -> PathBuf {
    let target = fs::read(git.join("commondir")).unwrap_or_default();
    git.join(OsStr::from_bytes(target.trim_ascii_end()))
}

fn read_small_file(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SIZE_LIMIT {
        return None;
    }
    fs::read(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_from_gits_own_files() {
        let temporary = tempfile::tempdir().unwrap();
        let write_file = |path: &str, text: &str| {
            let path = temporary.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write_file("a/.git/HEAD", "ref: refs/heads/fix/retry\n");
        write_file("a/src/x", "");
        write_file("b/.git/HEAD", "0123456789abcdef0123456789abcdef01234567\n");
        write_file("c/.git", "gitdir: ../a/.git\n");
        write_file("d/.git/HEAD", "");
        let branch = |folder: &str| current_branch(&temporary.path().join(folder));
        assert_eq!(branch("a").as_deref(), Some("fix/retry"));
        assert_eq!(branch("a/src").as_deref(), Some("fix/retry"), "from a subfolder");
        assert_eq!(branch("b").as_deref(), Some("01234567"));
        assert_eq!(branch("c").as_deref(), Some("fix/retry"), "a linked work tree");
        assert_eq!(branch("d"), None);
    }
}
