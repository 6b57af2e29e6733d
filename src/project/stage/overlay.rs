//! Overlay file systems of the overlay sandbox: their folders, and their mounts before they are attached.

use super::setting::Setting;
use crate::project::rehearsal::{OUTSIDE, PENDING, UPPER, empty, is_inside, prepare};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Work folder that the kernel requires next to an upper folder.
const WORK: &str = "work";
/// Folder in which the root of the overlay sandbox is built.
pub const ROOT: &str = "root";
/// Maximum number of names in an in-memory file system. Each name takes kernel memory that no size limit counts.
const NAMES: u64 = 65_536;

/// Returns the kernel's work folder for the overlay of a place.
fn work_of(layer: &Path, place: &Path) -> PathBuf {
    let name = format!("{:x}", Sha256::digest(place.as_os_str().as_bytes()));
    layer.join(OUTSIDE).join(WORK).join(&name[..16])
}

/// Creates the folders of all overlays.
pub fn make_folders(setting: &Setting) -> io::Result<()> {
    let like = |upper: &Path, work: &Path, real: &Path| -> io::Result<()> {
        // A work folder left by the last command marks the overlay as not synced; the kernel would refuse to mount it.
        empty(work)?;
        fs::create_dir_all(work)?;
        if !upper.is_dir() {
            fs::create_dir_all(upper)?;
            // The merged folder has the mode of the upper one, and programs depend on the mode of `/tmp`.
            if let Ok(meta) = fs::metadata(real) {
                let _ = fs::set_permissions(upper, meta.permissions());
            }
        }
        Ok(())
    };
    let layer = &setting.layer;
    like(&layer.join(UPPER), &layer.join(WORK), &setting.folder)?;
    if !is_inside(&setting.folder, layer) {
        prepare(&setting.folder, layer)?;
    }
    fs::create_dir_all(layer.join(ROOT))?;
    let mut places = setting.places.iter().map(|place| &place.path);
    places.try_for_each(|place| like(&Setting::upper_of(layer, place), &work_of(layer, place), place))
}

/// Folders of an overlay outside the project, as open files, so that they can be used after something is mounted over
/// their paths.
pub struct Folders {
    upper: OwnedFd,
    work: OwnedFd,
}

/// Opens the overlay folders of a place.
pub fn folders_of(layer: &Path, place: &Path) -> io::Result<Folders> {
    Ok(Folders { upper: held(&Setting::upper_of(layer, place))?, work: held(&work_of(layer, place))? })
}

impl Folders {
    /// Mounts the overlay over a folder and returns the detached mount.
    pub fn lay_over(&self, lower: &Path) -> io::Result<OwnedFd> {
        mount(&[held(lower)?], &self.upper, &self.work)
    }
}

fn held(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Mounts the project's overlay and returns the detached mount. The command's writes go to a separate folder on top of
/// the earlier changes.
pub fn lay_project(setting: &Setting) -> io::Result<OwnedFd> {
    let layer = &setting.layer;
    match is_inside(&setting.folder, layer) {
        true => lay(&setting.folder, layer),
        false => {
            let lower = [held(&layer.join(UPPER))?, held(&setting.folder)?];
            mount(&lower, &held(&layer.join(PENDING))?, &held(&layer.join(WORK))?)
        }
    }
}

/// Mounts an overlay over a folder without separating the changes of this command.
fn lay(folder: &Path, layer: &Path) -> io::Result<OwnedFd> {
    mount(&[held(folder)?], &held(&layer.join(UPPER))?, &held(&layer.join(WORK))?)
}

/// Mounts an overlay over folders, the topmost first. Folders are passed as open files, so that no part of their names
/// can be read as an option.
fn mount(lower: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
    let name = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let lower = lower.iter().map(name).collect::<Vec<_>>().join(":");
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&overlay, "source", "aye")?;
    fsconfig_set_string(&overlay, "lowerdir", lower)?;
    fsconfig_set_string(&overlay, "upperdir", name(upper))?;
    fsconfig_set_string(&overlay, "workdir", name(work))?;
    // Overlay attributes in the namespace that unprivileged users may set.
    fsconfig_set_flag(&overlay, "userxattr")?;
    // Otherwise the end of each command would sync the whole file system that holds the overlay.
    fsconfig_set_flag(&overlay, "volatile")?;
    fsconfig_create(&overlay)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&overlay, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Creates an empty in-memory file system of this size and returns the detached mount.
pub fn memory(bytes: u64, mode: u32) -> io::Result<OwnedFd> {
    let empty = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&empty, "size", bytes.to_string())?;
    fsconfig_set_string(&empty, "mode", format!("{mode:o}"))?;
    fsconfig_set_string(&empty, "nr_inodes", NAMES.to_string())?;
    fsconfig_create(&empty)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&empty, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Mounts the `/proc` of this process namespace and returns the detached mount.
pub fn processes() -> io::Result<OwnedFd> {
    let own = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&own)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&own, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
