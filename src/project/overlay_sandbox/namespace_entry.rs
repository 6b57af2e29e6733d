//! Leaves the system's namespaces and starts the first process of the new ones.

use super::overlay_mounts;
use super::overlay_spec::{IN_OVERLAY_ARGUMENT, OverlaySpec};
use super::setup_error::{AtStep, SetupError, SetupStep};
use crate::project::guard::lifeline::{Report, send_report};
use crate::project::network_namespace::map_user;
use crate::project::rehearsal::lock_existing;
use crate::project::sandbox::namespaces;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};

/// Namespaces of an overlay sandbox, except the user namespace.
const NAMESPACES: UnshareFlags = UnshareFlags::NEWNS
    .union(UnshareFlags::NEWPID)
    .union(UnshareFlags::NEWIPC)
    .union(UnshareFlags::NEWUTS)
    .union(UnshareFlags::NEWNET);

/// Runs `aye guard --overlay-sandbox`, the parent process of the guard in the new namespaces. `arguments` are all
/// arguments after `--overlay-sandbox`, including the command.
pub fn run_namespace_entry(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    match enter_namespaces(&arguments) {
        Ok(code) => code.into(),
        Err(error) => {
            send_report(Report::OverlaySandboxFailed(error));
            127.into()
        }
    }
}

fn enter_namespaces(arguments: &[OsString]) -> Result<u8, SetupError> {
    // The argument lacks the visible and masked paths. The first process reads them from the lifeline.
    let spec = OverlaySpec::from_argument(arguments.first().cloned())?;
    // Holds the lock on the overlay until this process exits, so that no other process writes in it.
    let _lock = lock_existing(&spec.overlay_folder).at_step(SetupStep::OverlayFolders)?;
    overlay_mounts::create_overlay_folders(&spec).at_step(SetupStep::OverlayFolders)?;
    // Inherited open files must not lead out of the overlay sandbox.
    namespaces::close_files_on_exec().at_step(SetupStep::Namespaces)?;
    leave_namespaces()?;
    let mut first_process = Command::new("/proc/self/exe");
    first_process.arg("guard").arg(IN_OVERLAY_ARGUMENT).args(arguments);
    let status = first_process.status().at_step(SetupStep::FirstProcess)?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Creates the namespaces. Root can do this directly; another user becomes the only user of a new user namespace first.
fn leave_namespaces() -> Result<(), SetupError> {
    let current = capabilities(None).at_step(SetupStep::Namespaces)?;
    if current.effective.contains(CapabilitySet::SYS_ADMIN) {
        return namespaces::unshare_namespaces(NAMESPACES).at_step(SetupStep::Namespaces);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    namespaces::unshare_namespaces(NAMESPACES | UnshareFlags::NEWUSER).at_step(SetupStep::Namespaces)?;
    map_user(user, group).and_then(|()| keep_capabilities()).at_step(SetupStep::UserMapping)
}

/// Makes the capabilities of the namespace's only user survive the start of the next program.
fn keep_capabilities() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets)?;
    for capability in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        if sets.permitted.contains(capability) {
            configure_capability_in_ambient_set(capability, true)?;
        }
    }
    Ok(())
}
