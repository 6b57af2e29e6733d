//! The layers of a stage: their folders, and their mounts before these have a place.

use super::setting::Setting;
use crate::project::rehearsal::{PENDING, UPPER, empty, is_inside, prepare};
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

/// What the kernel needs beside an upper folder.
const WORK: &str = "work";
/// The folder of the layers that are thrown away.
const PLACES: &str = "places";

/// The layer of a place, which the next command finds again.
pub fn of_place(setting: &Setting, place: &Path) -> PathBuf {
    let name = format!("{:x}", Sha256::digest(place.as_os_str().as_bytes()));
    setting.layer.join(PLACES).join(&name[..16])
}

/// Makes the folders of all layers.
pub fn make_folders(setting: &Setting) -> io::Result<()> {
    let like = |folder: &Path, real: &Path| -> io::Result<()> {
        // What the kernel left there of the last command says that its layer was not synced, and would be refused.
        empty(&folder.join(WORK))?;
        fs::create_dir_all(folder.join(WORK))?;
        let upper = folder.join(UPPER);
        if !upper.is_dir() {
            fs::create_dir_all(&upper)?;
            // The folder that is seen has the upper one's mode: that of `/tmp` matters to programs.
            if let Ok(meta) = fs::metadata(real) {
                let _ = fs::set_permissions(&upper, meta.permissions());
            }
        }
        Ok(())
    };
    like(&setting.layer, &setting.folder)?;
    if !is_inside(&setting.folder, &setting.layer) {
        prepare(&setting.folder, &setting.layer)?;
    }
    setting.places.iter().try_for_each(|place| like(&of_place(setting, place), place))
}

/// The project's overlay, without a place yet. What the command changes lands in a folder of its own, over what was changed
/// before it.
pub fn lay_project(setting: &Setting) -> io::Result<OwnedFd> {
    let layer = &setting.layer;
    match is_inside(&setting.folder, layer) {
        true => lay(&setting.folder, layer),
        false => mount(&[&layer.join(UPPER), &setting.folder], &layer.join(PENDING), &layer.join(WORK)),
    }
}

/// The same over a place, of which it is not asked what changed.
pub fn lay(folder: &Path, layer: &Path) -> io::Result<OwnedFd> {
    mount(&[folder], &layer.join(UPPER), &layer.join(WORK))
}

/// An overlay over folders, the topmost first. The folders are named by their open files, so that no name of theirs is ever
/// read as an option.
fn mount(lower: &[&Path], upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    let held = |path: &Path| open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let lower: Vec<OwnedFd> = lower.iter().map(|path| held(path)).collect::<Result<_, _>>()?;
    let (upper, work) = (held(upper)?, held(work)?);
    let name = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let lower = lower.iter().map(name).collect::<Vec<_>>().join(":");
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&overlay, "source", "aye")?;
    fsconfig_set_string(&overlay, "lowerdir", lower)?;
    fsconfig_set_string(&overlay, "upperdir", name(&upper))?;
    fsconfig_set_string(&overlay, "workdir", name(&work))?;
    // The marks an ordinary person may set.
    fsconfig_set_flag(&overlay, "userxattr")?;
    // Without this the end of each command would sync the whole file system that the layer is on.
    fsconfig_set_flag(&overlay, "volatile")?;
    fsconfig_create(&overlay)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&overlay, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// An empty file system in memory, of so many bytes, without a place yet.
pub fn memory(bytes: u64, mode: u32) -> io::Result<OwnedFd> {
    let empty = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&empty, "size", bytes.to_string())?;
    fsconfig_set_string(&empty, "mode", format!("{mode:o}"))?;
    fsconfig_create(&empty)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&empty, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// The list of this namespace's processes, without a place yet.
pub fn processes() -> io::Result<OwnedFd> {
    let own = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&own)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&own, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
