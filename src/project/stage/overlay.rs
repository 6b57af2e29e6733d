//! The layers of a stage: their folders, and their mounts before these have a place.

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

/// What the kernel needs beside an upper folder.
const WORK: &str = "work";
/// Where the root of the overlay sandbox is put together.
pub const ROOT: &str = "root";
/// Names in an empty file system in memory. Each takes a little of the kernel's own memory, which no size counts.
const NAMES: u64 = 65_536;

/// What the kernel keeps of the layer of a place.
fn work_of(layer: &Path, place: &Path) -> PathBuf {
    let name = format!("{:x}", Sha256::digest(place.as_os_str().as_bytes()));
    layer.join(OUTSIDE).join(WORK).join(&name[..16])
}

/// Makes the folders of all layers.
pub fn make_folders(setting: &Setting) -> io::Result<()> {
    let like = |upper: &Path, work: &Path, real: &Path| -> io::Result<()> {
        // What the kernel left there of the last command says that its layer was not synced, and would be refused.
        empty(work)?;
        fs::create_dir_all(work)?;
        if !upper.is_dir() {
            fs::create_dir_all(upper)?;
            // The folder that is seen has the upper one's mode: that of `/tmp` matters to programs.
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

/// The folders of a layer outside the project, as open files: they are found whatever is mounted over them later.
pub struct Folders {
    upper: OwnedFd,
    work: OwnedFd,
}

/// Opens those of a place.
pub fn folders_of(layer: &Path, place: &Path) -> io::Result<Folders> {
    Ok(Folders { upper: held(&Setting::upper_of(layer, place))?, work: held(&work_of(layer, place))? })
}

impl Folders {
    /// Lays the layer over a folder, without a place yet.
    pub fn lay_over(&self, lower: &Path) -> io::Result<OwnedFd> {
        mount(&[held(lower)?], &self.upper, &self.work)
    }
}

fn held(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// The project's overlay, without a place yet. What the command changes lands in a folder of its own, over what was changed
/// before it.
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

/// The same over a place, of which it is not asked what changed.
fn lay(folder: &Path, layer: &Path) -> io::Result<OwnedFd> {
    mount(&[held(folder)?], &held(&layer.join(UPPER))?, &held(&layer.join(WORK))?)
}

/// An overlay over folders, the topmost first. The folders are named by their open files, so that no name of theirs is ever
/// read as an option.
fn mount(lower: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
    let name = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let lower = lower.iter().map(name).collect::<Vec<_>>().join(":");
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&overlay, "source", "aye")?;
    fsconfig_set_string(&overlay, "lowerdir", lower)?;
    fsconfig_set_string(&overlay, "upperdir", name(upper))?;
    fsconfig_set_string(&overlay, "workdir", name(work))?;
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
    fsconfig_set_string(&empty, "nr_inodes", NAMES.to_string())?;
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
