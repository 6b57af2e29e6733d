//! Sets the stage, from within: layers where commands may write, all else read-only, devices and processes of its own.

use super::bounds;
use super::overlay::{lay, lay_project, memory, of_place, processes};
use super::setting::{Setting, Step, Unstaged};
use crate::chat::Openings;
use crate::project::sandbox::Confines;
use crate::project::sandbox::namespaces::{Closed, close_mounts};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sendto, socket_with};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Devices that give and take nothing of anybody's.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// What programs look for beside them.
const LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// Bytes of memory that programs share by name, and of a folder for temporary files that no layer can be laid over.
const SHARED: u64 = 256 << 20;

/// Sets it, and says within which walls the command runs there. This process is the first of the new namespaces.
pub fn set(setting: &Setting) -> Result<Confines, Unstaged> {
    // The process that started this one holds the lock on the layer.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| Unstaged::at(Step::First)(errno.into()))?;
    whole(&setting.folder).map_err(Unstaged::at(Step::Project))?;
    let project = lay_project(setting).map_err(Unstaged::at(Step::Overlay))?;
    let places: Vec<(&Path, io::Result<OwnedFd>)> =
        setting.places.iter().map(|place| (place.as_path(), lay(place, &of_place(setting, place)))).collect();
    let devices = DEVICES.map(|name| (name, clone(&Path::new("/dev").join(name))));
    close(Path::new("/"), true, Closed::Still).map_err(Unstaged::at(Step::Closing))?;
    for (place, layer) in places {
        put_place(place, layer).map_err(Unstaged::at(Step::Places))?;
    }
    let (within, around): (Vec<&PathBuf>, Vec<&PathBuf>) =
        setting.keep.iter().partition(|own| own.starts_with(&setting.folder));
    let masks = |all: &[&PathBuf]| all.iter().try_for_each(|own| mask(own, setting));
    masks(&around).map_err(Unstaged::at(Step::Places))?;
    put(&project, &setting.folder).map_err(Unstaged::at(Step::Places))?;
    masks(&within).map_err(Unstaged::at(Step::Places))?;
    own_devices(devices).map_err(Unstaged::at(Step::Devices))?;
    let own = processes().map_err(Unstaged::at(Step::Processes))?;
    bounds::set(&own).map_err(Unstaged::at(Step::Bounds))?;
    put(&own, Path::new("/proc")).map_err(Unstaged::at(Step::Processes))?;
    close(Path::new("/proc"), false, Closed::Still).map_err(Unstaged::at(Step::Processes))?;
    // Without it programs reach not even themselves; nothing else depends on it.
    let _ = loopback();
    // The folder this process was started in is the real one.
    std::env::set_current_dir(&setting.folder).map_err(Unstaged::at(Step::Places))?;
    let mut write = setting.places.clone();
    write.push("/dev/shm".into());
    let reach = Openings { write, network: true, sockets: false };
    // aye's own folders are empty here: nothing in the places that may be written has to be kept.
    Ok(Confines { folder: setting.folder.clone(), reach, keep: Vec::new(), hide: setting.hide.clone() })
}

/// Refuses a project that is a file system's root or holds another file system: a layer shows one alone.
fn whole(folder: &Path) -> io::Result<()> {
    if folder.parent().is_none() {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::BUSY.raw_os_error()));
    }
    let inside = |mount: &PathBuf| mount.starts_with(folder) && mount != folder;
    if mounts()?.iter().any(inside) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::XDEV.raw_os_error()));
    }
    Ok(())
}

/// Where file systems are mounted.
fn mounts() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let field = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(unescaped);
    Ok(table.split(|byte| *byte == b'\n').filter_map(field).collect())
}

/// The kernel writes blanks, tabs, line ends and backslashes as `\040` and the like.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                path.push(byte);
                rest = &after[3..];
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&path))
}

/// Puts a mount into its place.
fn put(mount: &OwnedFd, at: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(mount, "", rustix::fs::CWD, at, flags)?)
}

fn clone(path: &Path) -> io::Result<OwnedFd> {
    Ok(open_tree(rustix::fs::CWD, path, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?)
}

fn close(path: &Path, all: bool, how: Closed) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    Ok(close_mounts(&path, all, how)?)
}

/// Where no layer can be laid over a folder for temporary files it is an empty one; any other place stays read-only.
fn put_place(place: &Path, layer: io::Result<OwnedFd>) -> io::Result<()> {
    let temporary =
        [Path::new("/tmp"), Path::new("/var/tmp")].contains(&place) || place == std::env::temp_dir();
    match layer {
        Ok(layer) => put(&layer, place),
        Err(_) if temporary => put(&memory(SHARED, 0o1777)?, place),
        Err(_) => Ok(()),
    }
}

/// Makes a folder of aye's own empty. Should the project lie in it, it stays reachable.
fn mask(own: &Path, setting: &Setting) -> io::Result<()> {
    if !own.is_dir() {
        // A file of aye's own is kept by the walls within.
        return Ok(());
    }
    put(&memory(1 << 20, 0o755)?, own)?;
    if setting.folder.starts_with(own) {
        fs::create_dir_all(&setting.folder)?;
    }
    close(own, false, Closed::Still)
}

/// A `/dev` with nothing in it that reaches anything.
fn own_devices<const N: usize>(devices: [(&str, io::Result<OwnedFd>); N]) -> io::Result<()> {
    let dev = Path::new("/dev");
    put(&memory(1 << 20, 0o755)?, dev)?;
    for (name, device) in devices {
        let at = dev.join(name);
        fs::write(&at, "")?;
        put(&device?, &at)?;
    }
    for (name, to) in LINKS {
        std::os::unix::fs::symlink(to, dev.join(name))?;
    }
    fs::create_dir(dev.join("shm"))?;
    // The devices are the system's own: read-only they still take and give, and keep their owner and mode.
    close(dev, true, Closed::Devices)?;
    put(&memory(SHARED, 0o1777)?, &dev.join("shm"))
}

/// Turns the new network's own loopback on: a message of 32 bytes to the kernel.
fn loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // Of any family; the first interface, which is the loopback; up, and nothing else changed.
    message.extend([0; 4]);
    message.extend(1i32.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_way_to_write_a_path_is_read() {
        assert_eq!(
            unescaped(b"/a\\040b\\012\\134c\\\xff"),
            Path::new(std::ffi::OsStr::from_bytes(b"/a b\n\\c\\\xff"))
        );
        assert_eq!(unescaped(b"/a\\04"), Path::new("/a\\04"));
    }
}
