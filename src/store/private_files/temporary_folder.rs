//! A folder that gets its name once it is complete. On other systems than Linux all file systems are written to disk
//! for that, not only the one of the folder.

use super::{FILE_MODE, FOLDER_MODE, RANDOM_CHARS, create_folder, has_random_suffix, remove_others_access};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Prefix of the temporary name. It names the program, because the folder is next to those of the user, and an abandoned
/// one is removed with its content.
const PREFIX: &str = ".aye-export-";
/// Age from which a folder in use is locked: it is locked just after it is created.
const MIN_ABANDONED_AGE: Duration = Duration::from_secs(10);

/// A new folder with access for the owner only. It is removed when it is dropped; after a kill, by the next one in the
/// same parent.
pub struct TemporaryFolder {
    folder: TempDir,
    /// Locked for this process while open.
    handle: File,
}

impl TemporaryFolder {
    /// Creates the folder, and removes abandoned ones of killed processes.
    pub fn create_in(parent: &Path) -> io::Result<Self> {
        remove_abandoned_folders(parent);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(RANDOM_CHARS).permissions(Permissions::from_mode(FOLDER_MODE));
        let folder = builder.tempdir_in(parent)?;
        let handle = open_folder(folder.path())?;
        // On a file system without locks an abandoned folder remains.
        let _ = handle.try_lock();
        Ok(Self { folder, handle })
    }

    /// Writes a new file at this relative path, and the folders in which it is.
    pub fn write_file(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.path().join(path);
        if let Some(parent) = path.parent() {
            create_folder(parent)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
        remove_others_access(&file)?;
        file.write_all(bytes)
    }

    /// Renames the folder once its content is on disk. Of what exists at the new path, only an empty folder is replaced.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        sync(&self.handle)?;
        fs::rename(self.folder.path(), path)?;
        // Nothing has the temporary name any more.
        let _ = self.folder.keep();
        Ok(())
    }
}

/// Waits until the file system of the folder is on disk: faster than file by file.
fn sync(folder: &File) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    rustix::fs::syncfs(folder)?;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = folder;
        rustix::fs::sync();
    }
    Ok(())
}

fn open_folder(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::DIRECTORY).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Removes the folders of killed processes.
fn remove_abandoned_folders(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !has_random_suffix(&entry.file_name(), PREFIX) {
            continue;
        }
        let Ok(folder) = open_folder(&entry.path()) else { continue };
        if is_abandoned(&folder).unwrap_or(false) {
            // What remains is removed next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns whether no process uses the folder; it is locked then.
fn is_abandoned(folder: &File) -> io::Result<bool> {
    let metadata = folder.metadata()?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o777 == FOLDER_MODE;
    let is_old = metadata.modified()?.elapsed().is_ok_and(|age| age > MIN_ABANDONED_AGE);
    match is_own && is_old {
        true => folder.try_lock().map(|()| true).or_else(|error| match error {
            TryLockError::WouldBlock => Ok(false),
            TryLockError::Error(error) => Err(error),
        }),
        false => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn list_names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_appears_complete_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let folder = TemporaryFolder::create_in(home.path()).unwrap();
        folder.write_file("a/b/c", b"x").unwrap();
        assert_eq!(folder.write_file("a/b/c", b"y").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(list_names(home.path())[0].starts_with(PREFIX));
        folder.persist(&home.path().join("new")).unwrap();
        assert_eq!(list_names(home.path()), ["new"]);
        assert_eq!(fs::read(home.path().join("new/a/b/c")).unwrap(), b"x");
        for (path, mode) in [("new", 0o700), ("new/a", 0o700), ("new/a/b/c", 0o600)] {
            assert_eq!(fs::metadata(home.path().join(path)).unwrap().mode() & 0o777, mode, "{path}");
        }
        let folder = TemporaryFolder::create_in(home.path()).unwrap();
        folder.write_file("d", b"x").unwrap();
        assert!(folder.persist(&home.path().join("new")).is_err(), "it is not empty");
        assert_eq!(list_names(home.path()), ["new"]);
        assert_eq!(
            TemporaryFolder::create_in(&home.path().join("none")).err().unwrap().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn r56_removes_only_abandoned_temporary_folders() {
        let home = tempfile::tempdir().unwrap();
        let make_old = |path: &Path| {
            open_folder(path).unwrap().set_modified(SystemTime::now() - 2 * MIN_ABANDONED_AGE).unwrap();
        };
        let create_old_folder = |name: &str, mode: u32| {
            let path = home.path().join(name);
            fs::create_dir_all(path.join("files")).unwrap();
            fs::write(path.join("files/secret"), "x").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            make_old(&path);
            path
        };
        let in_use = TemporaryFolder::create_in(home.path()).unwrap();
        let recent = TemporaryFolder::create_in(home.path()).unwrap().folder.keep();
        let abandoned = create_old_folder(".aye-export-abcd1234", FOLDER_MODE);
        let others = [
            create_old_folder(".aye-export-abcd", FOLDER_MODE),
            create_old_folder(".aye-export-abcd123é", FOLDER_MODE),
            create_old_folder(".aye-export-abcdefgh", 0o755),
            create_old_folder(".half-abcd1234", FOLDER_MODE),
            create_old_folder("folder", FOLDER_MODE),
        ];
        let (link, file) = (home.path().join(".aye-export-abcd5678"), home.path().join(".aye-export-abcd9012"));
        std::os::unix::fs::symlink(&others[4], &link).unwrap();
        fs::write(&file, "x").unwrap();
        make_old(in_use.folder.path());
        remove_abandoned_folders(home.path());
        assert!(!abandoned.exists());
        assert!(in_use.folder.path().exists() && recent.exists() && link.is_symlink() && file.exists());
        assert!(others.iter().all(|path| path.join("files/secret").exists()));
        drop(in_use);
        make_old(&recent);
        TemporaryFolder::create_in(home.path()).unwrap();
        assert!(!recent.exists());
        remove_abandoned_folders(&home.path().join("none"));
    }
}
