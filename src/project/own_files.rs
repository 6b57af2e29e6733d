//! aye's own files (settings, rules, sessions, keys), recognised by identity as well as by path.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Kind of aye's own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFile {
    /// The file of keys. Tool calls can never read or write it.
    Credentials,
    /// Settings, rules or sessions. Tool calls can never write them.
    Settings,
}

/// The folders and files that are aye's own. Paths contain no links.
#[derive(Debug, Clone, Default)]
pub struct OwnFiles {
    paths: Vec<PathBuf>,
    credentials: Vec<PathBuf>,
}

/// Device and inode, the same for every name of a file or folder.
type FileIdentity = (u64, u64);

impl OwnFiles {
    /// Creates the list from all own `paths`; `credentials` are the files that hold keys.
    pub fn new(paths: Vec<PathBuf>, credentials: Vec<PathBuf>) -> Self {
        Self { paths, credentials }
    }

    /// Returns the kind of a real path: recognises it by path, by hard link, and by a parent folder that is one of
    /// aye's folders under another name (a bind mount, or a case-insensitive file system).
    pub fn kind_of(&self, real: &Path) -> Option<OwnFile> {
        if self.paths.is_empty() && self.credentials.is_empty() {
            return None;
        }
        self.kind_by_path(real).or_else(|| {
            let credential_identities = file_identities(&self.credentials);
            if file_identity(real).is_some_and(|file| credential_identities.contains(&file)) {
                return Some(OwnFile::Credentials);
            }
            let path_identities = file_identities(&self.paths);
            let is_own = real.ancestors().filter_map(file_identity).any(|ancestor| path_identities.contains(&ancestor));
            is_own.then_some(OwnFile::Settings)
        })
    }

    /// Like `kind_of`, for a file found by a walk, whose folder was checked before: only hard links are examined.
    pub fn kind_of_walked(&self, real: &Path) -> Option<OwnFile> {
        self.kind_by_path(real).or_else(|| {
            let has_links = real.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1);
            if has_links { self.kind_of(real) } else { None }
        })
    }

    pub(super) fn all_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.credentials)
    }

    fn kind_by_path(&self, real: &Path) -> Option<OwnFile> {
        if self.credentials.iter().any(|file| real == file) {
            return Some(OwnFile::Credentials);
        }
        self.paths.iter().any(|path| real.starts_with(path)).then_some(OwnFile::Settings)
    }
}

fn file_identity(path: &Path) -> Option<FileIdentity> {
    path.symlink_metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

fn file_identities(paths: &[PathBuf]) -> Vec<FileIdentity> {
    paths.iter().filter_map(|path| file_identity(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn r14_own_files_are_recognised_by_every_name() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let config = base.join("config");
        fs::create_dir_all(config.join("themes")).unwrap();
        fs::write(config.join("credentials.toml"), "key").unwrap();
        fs::write(config.join("config.toml"), "").unwrap();
        fs::create_dir(base.join("project")).unwrap();
        fs::hard_link(config.join("credentials.toml"), base.join("project/notes.txt")).unwrap();
        fs::hard_link(config.join("config.toml"), base.join("project/other.txt")).unwrap();
        fs::write(base.join("project/plain.txt"), "").unwrap();
        let own_files =
            OwnFiles::new(vec![config.clone(), config.join("config.toml")], vec![config.join("credentials.toml")]);
        for (path, expected) in [
            ("config", Some(OwnFile::Settings)),
            ("config/new/deep.toml", Some(OwnFile::Settings)),
            ("config/credentials.toml", Some(OwnFile::Credentials)),
            ("project/notes.txt", Some(OwnFile::Credentials)),
            ("project/other.txt", Some(OwnFile::Settings)),
            ("project/plain.txt", None),
            ("configuration", None),
            ("project", None),
        ] {
            assert_eq!(own_files.kind_of(&base.join(path)), expected, "{path}");
            assert_eq!(own_files.kind_of_walked(&base.join(path)), expected, "{path} on a walk");
        }
        assert_eq!(OwnFiles::default().kind_of(&config), None);
    }
}
