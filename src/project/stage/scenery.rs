//! Mounts of the overlay sandbox, made from inside its namespaces: disk, devices and processes.

use super::mounts::{clone, close, mounted, put, put_empty};
use super::overlay::{folders_of, lay_project, memory, processes};
use super::refusal::{Step, Unstaged};
use super::setting::{Place, Setting};
use super::{bounds, masks, root};
use crate::chat::Openings;
use crate::project::sandbox::Confines;
use crate::project::sandbox::namespaces::Closed;
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
const LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// Maximum size in bytes of `/dev/shm`, and of a temporary folder over which no overlay can be mounted.
const SHARED: u64 = 256 << 20;

/// Sets up the overlay sandbox and returns the limits for the command in it. This process is the first one of the new
/// namespaces.
pub fn set(setting: &Setting) -> Result<Confines, Unstaged> {
    // The parent process holds the lock on the overlay, so this process must not outlive it.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| Unstaged::at(Step::First)(errno.into()))?;
    whole(&setting.folder).map_err(Unstaged::at(Step::Project))?;
    let project = lay_project(setting).map_err(Unstaged::at(Step::Overlay))?;
    let devices = DEVICES.map(|name| (name, clone(&Path::new("/dev").join(name))));
    let nothing = clone(Path::new("/dev/null")).map_err(Unstaged::at(Step::Devices))?;
    let own = processes().map_err(Unstaged::at(Step::Processes))?;
    bounds::set(&own).map_err(Unstaged::at(Step::Bounds))?;
    match setting.live {
        true => set_whole_disk(setting, &project, &own)?,
        false => root::set(setting, project, &own)?,
    }
    close(Path::new("/proc"), false, Closed::Still).map_err(Unstaged::at(Step::Processes))?;
    put_empty(Path::new("/dev"), 0o755).map_err(Unstaged::at(Step::Devices))?;
    let own_files = setting.keep.iter().chain(&setting.hide).filter(|own| own.is_file());
    let masked: Vec<PathBuf> = setting.masked.iter().chain(own_files).cloned().collect();
    masks::close_all(&masked, &nothing).map_err(Unstaged::at(Step::Masks))?;
    own_devices(devices).map_err(Unstaged::at(Step::Devices))?;
    // Without the loopback programs cannot connect even to themselves; nothing else depends on it.
    let _ = loopback();
    // The current folder is still the live one.
    std::env::set_current_dir(&setting.folder).map_err(Unstaged::at(Step::Places))?;
    let places = setting.places.iter().map(|place| place.path.clone());
    let write = places.chain(["/dev/shm".into()]).collect();
    let reach = Openings { write, network: true, sockets: false };
    // aye's own folders are already empty here, so no path among the writable places needs to be closed.
    Ok(Confines { folder: setting.folder.clone(), reach, keep: Vec::new(), hide: Vec::new() })
}

/// Shows the whole disk read-only, with the overlays mounted at their places.
fn set_whole_disk(setting: &Setting, project: &OwnedFd, processes: &OwnedFd) -> Result<(), Unstaged> {
    let lay_place = |Place { path, .. }: &Place| folders_of(&setting.layer, path)?.lay_over(path);
    let layers: Vec<(&Path, io::Result<OwnedFd>)> =
        setting.layers().map(|place| (place.path.as_path(), lay_place(place))).collect();
    close(Path::new("/"), true, Closed::Still).map_err(Unstaged::at(Step::Closing))?;
    for (place, layer) in layers {
        put_place(place, layer, setting).map_err(Unstaged::at(Step::Places))?;
    }
    let (within, around): (Vec<&PathBuf>, Vec<&PathBuf>) =
        setting.keep.iter().partition(|own| own.starts_with(&setting.folder));
    let hide_all = |all: &[&PathBuf]| all.iter().try_for_each(|own| hide(own, setting));
    hide_all(&around).map_err(Unstaged::at(Step::Places))?;
    put(project, &setting.folder).map_err(Unstaged::at(Step::Places))?;
    hide_all(&within).map_err(Unstaged::at(Step::Places))?;
    put(processes, Path::new("/proc")).map_err(Unstaged::at(Step::Processes))
}

/// Refuses a project that is the root of a file system or contains a mount point, because an overlay shows only one
/// file system.
fn whole(folder: &Path) -> io::Result<()> {
    if folder.parent().is_none() {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::BUSY.raw_os_error()));
    }
    let inside = |mount: &PathBuf| mount.starts_with(folder) && mount != folder;
    if mounted()?.iter().any(inside) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::XDEV.raw_os_error()));
    }
    Ok(())
}

/// Mounts the overlay of a place. If that fails for a folder that starts empty, an in-memory folder is mounted instead;
/// any other place stays read-only.
fn put_place(place: &Path, layer: io::Result<OwnedFd>, setting: &Setting) -> io::Result<()> {
    let is_private = setting.places.iter().any(|one| one.path == place && !one.shows_disk);
    match layer {
        Ok(layer) => put(&layer, place)?,
        Err(_) if is_private => put(&memory(SHARED, 0o1777)?, place)?,
        Err(_) => return Ok(()),
    }
    // Mount points for later mounts may have been on a file system mounted below this place, which the overlay does not
    // show.
    let later = setting.places.iter().map(|place| &place.path).chain([&setting.folder]);
    let mut inside = later.filter(|later| later.starts_with(place) && !later.is_dir());
    inside.try_for_each(fs::create_dir_all)
}

/// Replaces one of aye's own folders with an empty one. A project inside it stays reachable.
fn hide(own: &Path, setting: &Setting) -> io::Result<()> {
    if !own.is_dir() {
        // Single files are masked instead.
        return Ok(());
    }
    put_empty(own, 0o755)?;
    if setting.folder.starts_with(own) {
        fs::create_dir_all(&setting.folder)?;
    }
    close(own, false, Closed::Still)
}

/// Fills `/dev` with harmless devices and makes it read-only.
fn own_devices<const N: usize>(devices: [(&str, io::Result<OwnedFd>); N]) -> io::Result<()> {
    let dev = Path::new("/dev");
    for (name, device) in devices {
        let at = dev.join(name);
        fs::write(&at, "")?;
        put(&device?, &at)?;
    }
    for (name, to) in LINKS {
        std::os::unix::fs::symlink(to, dev.join(name))?;
    }
    fs::create_dir(dev.join("shm"))?;
    // These are the system's own device nodes: a read-only mount does not stop reads and writes, and protects owner and
    // mode.
    close(dev, true, Closed::Devices)?;
    put(&memory(SHARED, 0o1777)?, &dev.join("shm"))
}

/// Brings up the loopback of the new network namespace with a 32-byte netlink message.
fn loopback() -> io::Result<()> {
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
