//! Overlay file systems of the overlay sandbox: their folders, and their mounts before they are attached.

use super::overlay_spec::OverlaySpec;
use crate::project::rehearsal::{OUTSIDE_FOLDER, PENDING_FOLDER, UPPER, create_pending, is_inside, remove_folder};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
};
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

/// Returns the kernel's work folder for the overlay of `place`, a folder outside the project that commands write in.
fn work_folder(overlay_folder: &Path, place: &Path) -> PathBuf {
    let name = crate::chat::Digest::of_bytes(place.as_os_str().as_bytes()).to_string();
    overlay_folder.join(OUTSIDE_FOLDER).join(WORK_FOLDER).join(&name[..16])
}

/// Creates a folder in the overlay's folder, and those between. The overlay's folder itself is not created: if it was
/// removed because aye was killed, nothing may appear in its place.
fn create_inside(overlay_folder: &Path, folder: &Path) -> io::Result<()> {
    match (fs::create_dir(folder), folder.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound && parent != overlay_folder => {
            create_inside(overlay_folder, parent)?;
            fs::create_dir(folder)
        }
        (Err(error), _) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        (created, _) => created,
    }
}

/// Creates the folders of all overlays in the overlay's folder, which exists.
pub fn create_overlay_folders(spec: &OverlaySpec) -> io::Result<()> {
    let overlay_folder = &spec.overlay_folder;
    let create_folders = |upper: &Path, work: &Path, original: &Path| -> io::Result<()> {
        // A work folder left by the last command marks the overlay as not synced; the kernel would refuse to mount it.
        remove_folder(work)?;
        create_inside(overlay_folder, work)?;
        if !upper.is_dir() {
            create_inside(overlay_folder, upper)?;
            // The merged folder has the mode of the upper one, and programs depend on the mode of `/tmp`.
            if let Ok(metadata) = fs::metadata(original) {
                let _ = fs::set_permissions(upper, metadata.permissions());
            }
        }
        Ok(())
    };
    create_folders(&overlay_folder.join(UPPER), &overlay_folder.join(WORK_FOLDER), &spec.folder)?;
    if !is_inside(&spec.folder, overlay_folder) {
        create_pending(&spec.folder, overlay_folder)?;
    }
    create_inside(overlay_folder, &overlay_folder.join(ROOT_FOLDER))?;
    let mut places = spec.places.iter().map(|place| &place.path);
    places.try_for_each(|place| {
        create_folders(&OverlaySpec::place_upper(overlay_folder, place), &work_folder(overlay_folder, place), place)
    })
}

/// Folders of an overlay outside the project, as open files, so that they can be used after something is mounted over
/// their paths.
pub struct OverlayFolders {
    upper: OwnedFd,
    work: OwnedFd,
}

/// Opens the overlay folders of a place.
pub fn open_overlay_folders(overlay_folder: &Path, place: &Path) -> io::Result<OverlayFolders> {
    Ok(OverlayFolders {
        upper: open_folder(&OverlaySpec::place_upper(overlay_folder, place))?,
        work: open_folder(&work_folder(overlay_folder, place))?,
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
/// the earlier changes, unless the overlay lies inside the project; see [`is_inside`] for the reason.
pub fn mount_project(spec: &OverlaySpec) -> io::Result<OwnedFd> {
    let open = |name: &str| open_folder(&spec.overlay_folder.join(name));
    let (project, upper, work) = (open_folder(&spec.folder)?, open(UPPER)?, open(WORK_FOLDER)?);
    match is_inside(&spec.folder, &spec.overlay_folder) {
        true => mount_overlay(&[project], &upper, &work),
        false => mount_overlay(&[upper, project], &open(PENDING_FOLDER)?, &work),
    }
}

/// Mounts an overlay over folders, the topmost first. Folders are passed as open files, so that no part of their names
/// can be read as an option.
fn mount_overlay(lower: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
    let fd_path = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let lower = lower.iter().map(fd_path).collect::<Vec<_>>().join(":");
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&overlay, "source", "aye")?;
    fsconfig_set_string(&overlay, "lowerdir", lower)?;
    fsconfig_set_string(&overlay, "upperdir", fd_path(upper))?;
    fsconfig_set_string(&overlay, "workdir", fd_path(work))?;
    // Stores the overlay's marks as `user.` attributes, which unprivileged users may set.
    fsconfig_set_flag(&overlay, "userxattr")?;
    // Otherwise the end of each command would sync the whole file system that holds the overlay.
    fsconfig_set_flag(&overlay, "volatile")?;
    mount_configured(&overlay, MountAttrFlags::empty())
}

/// Creates an empty in-memory file system of this size and returns the detached mount.
pub fn mount_memory(bytes: u64, mode: u32) -> io::Result<OwnedFd> {
    let tmpfs = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&tmpfs, "size", bytes.to_string())?;
    fsconfig_set_string(&tmpfs, "mode", format!("{mode:o}"))?;
    fsconfig_set_string(&tmpfs, "nr_inodes", MAX_NAMES.to_string())?;
    mount_configured(&tmpfs, MountAttrFlags::empty())
}

/// Mounts the `/proc` of this process namespace and returns the detached mount.
pub fn mount_proc() -> io::Result<OwnedFd> {
    mount_configured(&fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?, MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// Mounts a file system after its options were set. Neither devices nor set-user-id bits are in effect in it.
fn mount_configured(file_system: &OwnedFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(file_system)?;
    let attributes = attributes | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(file_system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
