//! Temporary folders that are removed at the end of a test, whatever it left in them.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread::{panicking, sleep};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process that a test started may keep writing after the test.
const LAST_WRITES: Duration = Duration::from_secs(10);

/// A temporary folder that is removed on drop.
///
/// Unlike [`TempDir`] it also removes folders without permissions, such as those of overlayfs, and mounts of the test,
/// and waits for processes that still write. A folder that cannot be removed fails the test.
#[derive(Debug)]
pub struct Folder(Option<TempDir>);

impl Folder {
    /// Creates a folder in the system's temporary folder, accessible only to its owner.
    pub fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// Creates a folder in another folder.
    pub fn within(parent: &Path) -> Self {
        Self(Some(tempfile::tempdir_in(parent).unwrap()))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.0.as_ref().expect("it is taken on drop alone").path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let Some(folder) = self.0.take() else { return };
        let path = folder.keep();
        if let Err(error) = remove_patiently(&path) {
            assert!(panicking(), "this test leaves {} behind: {error}", path.display());
        }
    }
}

/// Removes a folder in which processes may still be writing.
pub fn remove_patiently(folder: &Path) -> io::Result<()> {
    let deadline = Instant::now() + LAST_WRITES;
    loop {
        match remove_folder(folder) {
            Err(_) if Instant::now() < deadline => sleep(Duration::from_millis(20)),
            result => return result,
        }
    }
}

/// Removes a folder with everything in it. A missing folder counts as removed.
fn remove_folder(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    unmount(folder)?;
    allow_access(folder)?;
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Unmounts everything that this process mounted in a folder, the newest mount first.
#[cfg(target_os = "linux")]
fn unmount(folder: &Path) -> io::Result<()> {
    use rustix::mount::UnmountFlags;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    // The fifth field of a line is the mount point.
    let mount_points = mounts.lines().filter_map(|mount| mount.split(' ').nth(4));
    for mount_point in
        mount_points.collect::<Vec<_>>().into_iter().rev().filter(|place| Path::new(place).starts_with(folder))
    {
        // A mount of another process makes the removal of its folder fail.
        let _ = rustix::mount::unmount(mount_point, UnmountFlags::DETACH);
    }
    Ok(())
}

/// Gives the owner every permission on a folder and all folders in it.
fn allow_access(folder: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)?.flatten() {
        // The entry may be gone by now.
        let _ = allow_access(&entry.path());
    }
    Ok(())
}

#[test]
fn a_folder_is_removed_whatever_was_left_in_it() {
    let folder = Folder::new();
    let path = folder.path().to_owned();
    fs::create_dir_all(path.join("locked/deep")).unwrap();
    fs::write(path.join("locked/deep/file"), "").unwrap();
    for locked in ["locked/deep", "locked"] {
        fs::set_permissions(path.join(locked), Permissions::from_mode(0o000)).unwrap();
    }
    let busy = path.join("busy");
    let deadline = Instant::now() + Duration::from_millis(200);
    let writer = std::thread::spawn(move || {
        while Instant::now() < deadline {
            let _ = fs::create_dir(&busy);
            let _ = fs::write(busy.join("file"), "");
        }
    });
    drop(folder);
    writer.join().unwrap();
    assert!(!path.exists());
}
