//! A network of its own for this process and what it starts: only a loopback interface, which no other process can use.
//! On other systems there is none, and Firefox, which needs it, is not used.

use super::overlay_sandbox::setup_error::{AtStep, SetupError, SetupStep};
use super::sandbox::namespaces::unshare_namespaces;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sendto, socket_with};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use std::fs;
use std::io;

/// Moves this process into a new network with only its own loopback interface. The process must have one thread. Root can do
/// this directly; another user becomes the only user of a new user namespace first.
pub fn enter_own_network() -> Result<(), SetupError> {
    if capabilities(None).at_step(SetupStep::Namespaces)?.effective.contains(CapabilitySet::SYS_ADMIN) {
        unshare_namespaces(UnshareFlags::NEWNET).at_step(SetupStep::Namespaces)?;
    } else {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        unshare_namespaces(UnshareFlags::NEWNET | UnshareFlags::NEWUSER).at_step(SetupStep::Namespaces)?;
        map_user(user, group).at_step(SetupStep::UserMapping)?;
    }
    bring_up_loopback().at_step(SetupStep::Namespaces)
}

/// Maps this user to itself in a new user namespace.
pub(super) fn map_user(user: u32, group: u32) -> io::Result<()> {
    let write_map = |file: &str, mapping: String| fs::write(format!("/proc/self/{file}"), mapping);
    write_map("setgroups", "deny".to_owned())?;
    write_map("uid_map", format!("{user} {user} 1"))?;
    write_map("gid_map", format!("{group} {group} 1"))
}

/// Brings up the loopback of the new network namespace with a 32-byte netlink message.
pub(super) fn bring_up_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    // Sequence number and port of the message, both unused.
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
