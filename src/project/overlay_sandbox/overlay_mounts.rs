//! Overlay file systems of the overlay sandbox: their folders, and their mounts before they are attached.

use super::overlay_spec::OverlaySpec;
use crate::project::rehearsal::{OUTSIDE_FOLDER, PENDING_FOLDER, UPPER, create_pending, is_inside, remove_folder};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Work folder that the kernel requires next to an upper folder.
const WORK_FOLDER: &str = "work";
/// Folder in which the root of the overlay sandbox is built.
pub const ROOT_FOLDER: &str = "root";
/// Maximum number of names in an in-memory file system. Each name takes kernel memory that no size limit counts.
const MAX_NAMES: u64 = 65_536;

/// Returns the kernel's work folder for the overlay of a place.
fn work_folder(layer: &Path, place: &Path) -> PathBuf {
    let name = format!("{:x}", Sha256::digest(place.as_os_str().as_bytes()));
    layer.join(OUTSIDE_FOLDER).join(WORK_FOLDER).join(&name[..16])
}

/// Creates the folders of all overlays.
pub fn create_overlay_folders(setting: &OverlaySpec) -> io::Result<()> {
    let like = |upper: &Path, work: &Path, real: &Path| -> io::Result<()> {
        // A work folder left by the last command marks the overlay as not synced; the kernel would refuse to mount it.
        remove_folder(work)?;
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
    let layer = &setting.overlay_folder;
    like(&layer.join(UPPER), &layer.join(WORK_FOLDER), &setting.folder)?;
    if !is_inside(&setting.folder, layer) {
        create_pending(&setting.folder, layer)?;
    }
    fs::create_dir_all(layer.join(ROOT_FOLDER))?;
    let mut places = setting.places.iter().map(|place| &place.path);
    places.try_for_each(|place| like(&OverlaySpec::place_upper(layer, place), &work_folder(layer, place), place))
}

/// Folders of an overlay outside the project, as open files, so that they can be used after something is mounted over
/// their paths.
pub struct OverlayFolders {
    upper: OwnedFd,
    work: OwnedFd,
}

/// Opens the overlay folders of a place.
pub fn open_overlay_folders(layer: &Path, place: &Path) -> io::Result<OverlayFolders> {
    Ok(OverlayFolders {
        upper: open_folder(&OverlaySpec::place_upper(layer, place))?,
        work: open_folder(&work_folder(layer, place))?,
    })
}

impl OverlayFolders {
    /// Mounts the overlay over a folder and returns the detached mount.
    pub fn mount_over(&self, lower: &Path) -> io::Result<OwnedFd> {
        mount_overlay(&[open_folder(lower)?], &self.upper, &self.work)
    }
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Mounts the project's overlay and returns the detached mount. The command's writes go to a separate folder on top of
/// the earlier changes.
pub fn mount_project(setting: &OverlaySpec) -> io::Result<OwnedFd> {
    let layer = &setting.overlay_folder;
    match is_inside(&setting.folder, layer) {
        true => mount_single(&setting.folder, layer),
        false => {
            let lower = [open_folder(&layer.join(UPPER))?, open_folder(&setting.folder)?];
            mount_overlay(&lower, &open_folder(&layer.join(PENDING_FOLDER))?, &open_folder(&layer.join(WORK_FOLDER))?)
        }
    }
}

/// Mounts an overlay over a folder without separating the changes of this command.
fn mount_single(folder: &Path, layer: &Path) -> io::Result<OwnedFd> {
    mount_overlay(&[open_folder(folder)?], &open_folder(&layer.join(UPPER))?, &open_folder(&layer.join(WORK_FOLDER))?)
}

/// Mounts an overlay over folders, the topmost first. Folders are passed as open files, so that no part of their names
/// can be read as an option.
fn mount_overlay(lower: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
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
pub fn mount_memory(bytes: u64, mode: u32) -> io::Result<OwnedFd> {
    let empty = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&empty, "size", bytes.to_string())?;
    fsconfig_set_string(&empty, "mode", format!("{mode:o}"))?;
    fsconfig_set_string(&empty, "nr_inodes", MAX_NAMES.to_string())?;
    fsconfig_create(&empty)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&empty, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Mounts the `/proc` of this process namespace and returns the detached mount.
pub fn mount_proc() -> io::Result<OwnedFd> {
    let own = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&own)?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&own, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
