//! Mounts of the overlay sandbox, made from inside its namespaces: disk, devices and processes.

use super::mount_calls::{attach, clone_mount, mount_empty, restrict_mount};
use super::overlay_mounts::{mount_memory, mount_proc, mount_project, open_overlay_folders};
use super::overlay_spec::{OverlaySpec, WritablePlace};
use super::setup_error::{AtStep, SetupError, SetupStep};
use super::{masks, resource_limits, root_file_system};
use crate::chat::SandboxAccess;
use crate::project::network_namespace::bring_up_loopback;
use crate::project::sandbox::SandboxSpec;
use crate::project::sandbox::landlock_rules::DEVICES;
use crate::project::sandbox::namespaces::MountRestriction;
use crate::project::sensitive_files::mount_points::read_mounts;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Links in `/dev` that programs expect.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// Maximum size in bytes of `/dev/shm`, and of a temporary folder over which no overlay can be mounted.
const SHARED_MEMORY_LIMIT: u64 = 256 << 20;
/// Value of `is_recursive`: restricts a mount and those below it.
const RECURSIVE: bool = true;
/// Value of `is_recursive`: restricts only the mount itself.
const NOT_RECURSIVE: bool = false;

/// Sets up the overlay sandbox and returns the limits for the command in it. This process is the first one of the new
/// namespaces.
pub fn set_up_mounts(spec: &OverlaySpec) -> Result<SandboxSpec, SetupError> {
    // The parent process holds the lock on the overlay, so this process must not outlive it.
    set_parent_process_death_signal(Some(Signal::KILL)).at_step(SetupStep::FirstProcess)?;
    check_single_file_system(&spec.folder).at_step(SetupStep::Project)?;
    let project = mount_project(spec).at_step(SetupStep::Overlay)?;
    let devices = DEVICES.map(|device| (device, clone_mount(Path::new(device))));
    let null_device = clone_mount(Path::new("/dev/null")).at_step(SetupStep::Devices)?;
    let proc_mount = mount_proc().at_step(SetupStep::Processes)?;
    resource_limits::set_kernel_limits(&proc_mount).at_step(SetupStep::ResourceLimits)?;
    match spec.shows_whole_disk {
        true => mount_whole_disk(spec, &project, &proc_mount)?,
        false => root_file_system::build_root(spec, project, &proc_mount)?,
    }
    restrict_mount(Path::new("/proc"), NOT_RECURSIVE, MountRestriction::ReadOnly).at_step(SetupStep::Processes)?;
    mount_empty(Path::new("/dev"), 0o755).at_step(SetupStep::Devices)?;
    let own_files = spec.own_paths.iter().chain(&spec.unreadable).filter(|path| path.is_file());
    let masked: Vec<PathBuf> = spec.masked.iter().chain(own_files).cloned().collect();
    masks::mask_all(&masked, &null_device).at_step(SetupStep::Masks)?;
    mount_devices(devices).at_step(SetupStep::Devices)?;
    // Without the loopback interface, programs cannot connect even to themselves. Nothing else depends on it.
    let _ = bring_up_loopback();
    // The current folder is still the live one.
    std::env::set_current_dir(&spec.folder).at_step(SetupStep::OtherOverlays)?;
    let places = spec.places.iter().map(|place| place.path.clone());
    let write = places.chain(["/dev/shm".into()]).collect();
    let access = SandboxAccess { write, network: true, sockets: false };
    // aye's own folders are already empty here, so no path among the writable places needs to be closed.
    Ok(SandboxSpec { folder: spec.folder.clone(), access, protected: Vec::new(), unreadable: Vec::new() })
}

/// Shows the whole disk read-only, with the overlays mounted at their places.
fn mount_whole_disk(spec: &OverlaySpec, project: &OwnedFd, proc_mount: &OwnedFd) -> Result<(), SetupError> {
    let mount_place =
        |WritablePlace { path, .. }: &WritablePlace| open_overlay_folders(&spec.overlay_folder, path)?.mount_over(path);
    let overlays: Vec<(&Path, io::Result<OwnedFd>)> =
        spec.overlay_places().map(|place| (place.path.as_path(), mount_place(place))).collect();
    restrict_mount(Path::new("/"), RECURSIVE, MountRestriction::ReadOnly).at_step(SetupStep::ReadOnlyDisk)?;
    for (place, overlay) in overlays {
        attach_place_overlay(place, overlay, spec).at_step(SetupStep::OtherOverlays)?;
    }
    let (inside_project, outside_project): (Vec<&PathBuf>, Vec<&PathBuf>) =
        spec.own_paths.iter().partition(|path| path.starts_with(&spec.folder));
    let hide_all = |folders: &[&PathBuf]| folders.iter().try_for_each(|folder| hide_own_folder(folder, spec));
    hide_all(&outside_project).at_step(SetupStep::OtherOverlays)?;
    attach(project, &spec.folder).at_step(SetupStep::OtherOverlays)?;
    hide_all(&inside_project).at_step(SetupStep::OtherOverlays)?;
    attach(proc_mount, Path::new("/proc")).at_step(SetupStep::Processes)
}

/// Refuses `/` as the project, and a project that contains a mount point, because an overlay shows only one file
/// system.
fn check_single_file_system(folder: &Path) -> io::Result<()> {
    if folder.parent().is_none() {
        return Err(rustix::io::Errno::BUSY.into());
    }
    let is_nested = |(_, mount): &(PathBuf, PathBuf)| mount.starts_with(folder) && mount != folder;
    if read_mounts()?.iter().any(is_nested) {
        return Err(rustix::io::Errno::XDEV.into());
    }
    Ok(())
}

/// Mounts the overlay of a place. If that fails for a folder that starts empty, an in-memory folder is mounted instead;
/// any other place stays read-only.
fn attach_place_overlay(place: &Path, overlay: io::Result<OwnedFd>, spec: &OverlaySpec) -> io::Result<()> {
    let is_private = spec.places.iter().any(|other| other.path == place && !other.shows_disk);
    match overlay {
        Ok(overlay) => attach(&overlay, place)?,
        Err(_) if is_private => attach(&mount_memory(SHARED_MEMORY_LIMIT, 0o1777)?, place)?,
        Err(_) => return Ok(()),
    }
    // The overlay does not show file systems that are mounted below this place. Another place or the project may lie in
    // one of them: its folder is created in the overlay, so that it can be mounted there.
    let later_paths = spec.places.iter().map(|place| &place.path).chain([&spec.folder]);
    let mut missing = later_paths.filter(|path| path.starts_with(place) && !path.is_dir());
    missing.try_for_each(fs::create_dir_all)
}

/// Replaces one of aye's own folders with an empty one. A project inside it stays reachable.
fn hide_own_folder(folder: &Path, spec: &OverlaySpec) -> io::Result<()> {
    if !folder.is_dir() {
        // Single files are masked instead.
        return Ok(());
    }
    mount_empty(folder, 0o755)?;
    if spec.folder.starts_with(folder) {
        fs::create_dir_all(&spec.folder)?;
    }
    restrict_mount(folder, NOT_RECURSIVE, MountRestriction::ReadOnly)
}

/// Fills `/dev` with harmless devices and makes it read-only.
fn mount_devices<const N: usize>(devices: [(&str, io::Result<OwnedFd>); N]) -> io::Result<()> {
    let dev = Path::new("/dev");
    for (target, device) in devices {
        fs::write(target, "")?;
        attach(&device?, Path::new(target))?;
    }
    for (name, target) in DEVICE_LINKS {
        std::os::unix::fs::symlink(target, dev.join(name))?;
    }
    fs::create_dir(dev.join("shm"))?;
    // These are the system's own device nodes: a read-only mount does not stop reads and writes, and protects owner and
    // mode.
    restrict_mount(dev, RECURSIVE, MountRestriction::ReadOnlyDevices)?;
    attach(&mount_memory(SHARED_MEMORY_LIMIT, 0o1777)?, &dev.join("shm"))
}
