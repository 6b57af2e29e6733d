//! The private folder of a running browser: its profile, its home and its temporary files.

use rustix::process::getuid;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Beginning of the names of these folders.
const PREFIX: &str = "aye-browser-";
/// Name of the file that is locked while the folder is in use.
const LOCK_NAME: &str = "lock";
/// Attempts to remove the folder, and the time between them: the browser writes until it has ended.
const REMOVE_ATTEMPTS: u32 = 50;
const REMOVE_INTERVAL: Duration = Duration::from_millis(100);

/// A folder that only its user can open. Dropping it removes the folder, on a thread of its own.
pub struct ProfileFolder {
    path: PathBuf,
    /// Unlocked when this program ends, however it ends.
    lock: Option<File>,
}

impl ProfileFolder {
    /// Creates a folder in `parent`, and removes those that a killed program left there.
    pub fn create(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        let folder =
            tempfile::Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(parent)?;
        let lock = File::create(folder.path().join(LOCK_NAME))?;
        lock.lock()?;
        Ok(Self { path: folder.keep(), lock: Some(lock) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ProfileFolder {
    fn drop(&mut self) {
        let (path, lock) = (std::mem::take(&mut self.path), self.lock.take());
        // If no thread can be started, the next browser removes the folder.
        let _ = thread::Builder::new().name("profile removal".into()).spawn(move || {
            for _ in 0..REMOVE_ATTEMPTS {
                if matches!(fs::remove_dir_all(&path), Err(error) if error.kind() != io::ErrorKind::NotFound) {
                    thread::sleep(REMOVE_INTERVAL);
                } else if !path.exists() {
                    break;
                }
            }
            drop(lock);
        });
    }
}

/// Removes folders of this user that no program has locked.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            && entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == getuid().as_raw());
        if !is_ours {
            continue;
        }
        // A folder without the file is being created or removed.
        let Ok(lock) = File::open(entry.path().join(LOCK_NAME)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn removes_its_folder_and_those_of_killed_programs_only() {
        let parent = tempfile::tempdir().unwrap();
        let names = || {
            let entries = fs::read_dir(parent.path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let add_folder = |name: &str| {
            fs::create_dir(parent.path().join(name)).unwrap();
            File::create(parent.path().join(name).join(LOCK_NAME)).unwrap()
        };
        drop(add_folder("aye-browser-abandoned"));
        let used = add_folder("aye-browser-used");
        used.lock().unwrap();
        drop(add_folder("other"));
        let folder = ProfileFolder::create(parent.path()).unwrap();
        let own_name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(fs::metadata(folder.path()).unwrap().mode() & 0o777, 0o700);
        let mut expected = vec!["aye-browser-used".to_owned(), own_name, "other".to_owned()];
        expected.sort();
        assert_eq!(names(), expected);
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        drop(folder);
        let started = Instant::now();
        while names().len() > 2 && started.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        assert_eq!(names(), ["aye-browser-used", "other"]);
    }
}
