//! Mounts of the overlay sandbox, made from inside its namespaces: disk, devices and processes.

use super::mount_calls::{attach, clone_mount, mount_empty, mount_points, restrict_mount};
use super::overlay_mounts::{mount_memory, mount_proc, mount_project, open_overlay_folders};
use super::overlay_spec::{OverlaySpec, WritablePlace};
use super::setup_error::{SetupError, SetupStep};
use super::{masks, resource_limits, root_file_system};
use crate::chat::SandboxAccess;
use crate::project::sandbox::SandboxSpec;
use crate::project::sandbox::namespaces::MountRestriction;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sendto, socket_with};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Devices that share no data with other processes.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Links in `/dev` that programs expect.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// Maximum size in bytes of `/dev/shm`, and of a temporary folder over which no overlay can be mounted.
const SHARED_MEMORY_LIMIT: u64 = 256 << 20;

/// Sets up the overlay sandbox and returns the limits for the command in it. This process is the first one of the new
/// namespaces.
pub fn set_up_mounts(setting: &OverlaySpec) -> Result<SandboxSpec, SetupError> {
    // The parent process holds the lock on the overlay, so this process must not outlive it.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| SetupError::at_step(SetupStep::FirstProcess)(errno.into()))?;
    check_single_file_system(&setting.folder).map_err(SetupError::at_step(SetupStep::Project))?;
    let project = mount_project(setting).map_err(SetupError::at_step(SetupStep::Overlay))?;
    let devices = DEVICES.map(|name| (name, clone_mount(&Path::new("/dev").join(name))));
    let nothing = clone_mount(Path::new("/dev/null")).map_err(SetupError::at_step(SetupStep::Devices))?;
    let own = mount_proc().map_err(SetupError::at_step(SetupStep::Processes))?;
    resource_limits::set_kernel_limits(&own).map_err(SetupError::at_step(SetupStep::ResourceLimits))?;
    match setting.shows_whole_disk {
        true => mount_whole_disk(setting, &project, &own)?,
        false => root_file_system::build_root(setting, project, &own)?,
    }
    restrict_mount(Path::new("/proc"), false, MountRestriction::ReadOnly)
        .map_err(SetupError::at_step(SetupStep::Processes))?;
    mount_empty(Path::new("/dev"), 0o755).map_err(SetupError::at_step(SetupStep::Devices))?;
    let own_files = setting.own_paths.iter().chain(&setting.unreadable).filter(|own| own.is_file());
    let masked: Vec<PathBuf> = setting.masked.iter().chain(own_files).cloned().collect();
    masks::mask_all(&masked, &nothing).map_err(SetupError::at_step(SetupStep::Masks))?;
    mount_devices(devices).map_err(SetupError::at_step(SetupStep::Devices))?;
    // Without the loopback programs cannot connect even to themselves; nothing else depends on it.
    let _ = bring_up_loopback();
    // The current folder is still the live one.
    std::env::set_current_dir(&setting.folder).map_err(SetupError::at_step(SetupStep::OtherOverlays))?;
    let places = setting.places.iter().map(|place| place.path.clone());
    let write = places.chain(["/dev/shm".into()]).collect();
    let reach = SandboxAccess { write, network: true, sockets: false };
    // aye's own folders are already empty here, so no path among the writable places needs to be closed.
    Ok(SandboxSpec { folder: setting.folder.clone(), openings: reach, protected: Vec::new(), unreadable: Vec::new() })
}

/// Shows the whole disk read-only, with the overlays mounted at their places.
fn mount_whole_disk(setting: &OverlaySpec, project: &OwnedFd, processes: &OwnedFd) -> Result<(), SetupError> {
    let lay_place = |WritablePlace { path, .. }: &WritablePlace| {
        open_overlay_folders(&setting.overlay_folder, path)?.mount_over(path)
    };
    let layers: Vec<(&Path, io::Result<OwnedFd>)> =
        setting.overlay_places().map(|place| (place.path.as_path(), lay_place(place))).collect();
    restrict_mount(Path::new("/"), true, MountRestriction::ReadOnly)
        .map_err(SetupError::at_step(SetupStep::ReadOnlyDisk))?;
    for (place, layer) in layers {
        attach_place_overlay(place, layer, setting).map_err(SetupError::at_step(SetupStep::OtherOverlays))?;
    }
    let (within, around): (Vec<&PathBuf>, Vec<&PathBuf>) =
        setting.own_paths.iter().partition(|own| own.starts_with(&setting.folder));
    let hide_all = |all: &[&PathBuf]| all.iter().try_for_each(|own| hide_own_folder(own, setting));
    hide_all(&around).map_err(SetupError::at_step(SetupStep::OtherOverlays))?;
    attach(project, &setting.folder).map_err(SetupError::at_step(SetupStep::OtherOverlays))?;
    hide_all(&within).map_err(SetupError::at_step(SetupStep::OtherOverlays))?;
    attach(processes, Path::new("/proc")).map_err(SetupError::at_step(SetupStep::Processes))
}

/// Refuses a project that is the root of a file system or contains a mount point, because an overlay shows only one
/// file system.
fn check_single_file_system(folder: &Path) -> io::Result<()> {
    if folder.parent().is_none() {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::BUSY.raw_os_error()));
    }
    let inside = |mount: &PathBuf| mount.starts_with(folder) && mount != folder;
    if mount_points()?.iter().any(inside) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::XDEV.raw_os_error()));
    }
    Ok(())
}

/// Mounts the overlay of a place. If that fails for a folder that starts empty, an in-memory folder is mounted instead;
/// any other place stays read-only.
fn attach_place_overlay(place: &Path, layer: io::Result<OwnedFd>, setting: &OverlaySpec) -> io::Result<()> {
    let is_private = setting.places.iter().any(|one| one.path == place && !one.shows_disk);
    match layer {
        Ok(layer) => attach(&layer, place)?,
        Err(_) if is_private => attach(&mount_memory(SHARED_MEMORY_LIMIT, 0o1777)?, place)?,
        Err(_) => return Ok(()),
    }
    // Mount points for later mounts may have been on a file system mounted below this place, which the overlay does not
    // show.
    let later = setting.places.iter().map(|place| &place.path).chain([&setting.folder]);
    let mut inside = later.filter(|later| later.starts_with(place) && !later.is_dir());
    inside.try_for_each(fs::create_dir_all)
}

/// Replaces one of aye's own folders with an empty one. A project inside it stays reachable.
fn hide_own_folder(own: &Path, setting: &OverlaySpec) -> io::Result<()> {
    if !own.is_dir() {
        // Single files are masked instead.
        return Ok(());
    }
    mount_empty(own, 0o755)?;
    if setting.folder.starts_with(own) {
        fs::create_dir_all(&setting.folder)?;
    }
    restrict_mount(own, false, MountRestriction::ReadOnly)
}

/// Fills `/dev` with harmless devices and makes it read-only.
fn mount_devices<const N: usize>(devices: [(&str, io::Result<OwnedFd>); N]) -> io::Result<()> {
    let dev = Path::new("/dev");
    for (name, device) in devices {
        let at = dev.join(name);
        fs::write(&at, "")?;
        attach(&device?, &at)?;
    }
    for (name, to) in DEVICE_LINKS {
        std::os::unix::fs::symlink(to, dev.join(name))?;
    }
    fs::create_dir(dev.join("shm"))?;
    // These are the system's own device nodes: a read-only mount does not stop reads and writes, and protects owner and
    // mode.
    restrict_mount(dev, true, MountRestriction::ReadOnlyDevices)?;
    attach(&mount_memory(SHARED_MEMORY_LIMIT, 0o1777)?, &dev.join("shm"))
}

/// Brings up the loopback of the new network namespace with a 32-byte netlink message.
fn bring_up_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // Any family; interface 1, which is the loopback; set the flag UP and change nothing else.
    message.extend([0; 4]);
    message.extend(1i32.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}
