//! Leaves the system's namespaces and starts the first process of the new ones.

use super::overlay;
use super::refusal::{Step, Unstaged};
use super::setting::{ON_STAGE, Setting};
use crate::project::guard::Report;
use crate::project::rehearsal::hold;
use crate::project::sandbox::namespaces;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};

/// Namespaces of an overlay sandbox, except the user namespace.
const OWN: UnshareFlags = UnshareFlags::NEWNS
    .union(UnshareFlags::NEWPID)
    .union(UnshareFlags::NEWIPC)
    .union(UnshareFlags::NEWUTS)
    .union(UnshareFlags::NEWNET);

/// Runs `aye guard --stage`: like the guard of a command, but one process further out. `words` are all arguments after
/// `--stage`, including the command.
pub fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.collect();
    match usher(&words) {
        Ok(code) => code.into(),
        Err(why) => {
            crate::project::guard::tell(Report::Unstaged(why));
            127.into()
        }
    }
}

fn usher(words: &[OsString]) -> Result<u8, Unstaged> {
    let (spec_arguments, command) =
        words.split_at(words.iter().position(|word| word == "--").unwrap_or(words.len()));
    // The list of paths stays on the lifeline for the first process to read.
    let setting = Setting::read(spec_arguments.iter().cloned(), |_| Ok(Vec::new()))?;
    // Holds the lock on the overlay until this process exits, so that no other process writes in it.
    let _lock = hold(&setting.layer).map_err(Unstaged::at(Step::Layer))?;
    overlay::make_folders(&setting).map_err(Unstaged::at(Step::Layer))?;
    // Inherited open files must not lead out of the overlay sandbox.
    namespaces::keep_files_to_oneself().map_err(|errno| Unstaged::at(Step::Namespaces)(errno.into()))?;
    leave()?;
    let mut first_process = Command::new("/proc/self/exe");
    first_process.arg("guard").arg(ON_STAGE).args(spec_arguments).args(command);
    let ended = first_process.status().map_err(Unstaged::at(Step::First))?;
    let code = ended.code().unwrap_or_else(|| 128 + ended.signal().unwrap_or(0));
    Ok(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Creates the namespaces. Root can do this directly; another user becomes the only user of a new user namespace first.
fn leave() -> Result<(), Unstaged> {
    let namespaces = |errno: rustix::io::Errno| Unstaged::at(Step::Namespaces)(errno.into());
    let has = capabilities(None).map_err(namespaces)?;
    if has.effective.contains(CapabilitySet::SYS_ADMIN) {
        return namespaces::leave(OWN).map_err(namespaces);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    namespaces::leave(OWN | UnshareFlags::NEWUSER).map_err(namespaces)?;
    let write_map = |file: &str, words: String| fs::write(format!("/proc/self/{file}"), words);
    let map_user = || {
        write_map("setgroups", "deny".to_owned())?;
        write_map("uid_map", format!("{user} {user} 1"))?;
        write_map("gid_map", format!("{group} {group} 1"))?;
        keep_powers()
    };
    map_user().map_err(Unstaged::at(Step::Person))
}

/// Makes the capabilities of the namespace's only user survive the start of the next program.
fn keep_powers() -> io::Result<()> {
    let mut has = capabilities(None)?;
    has.inheritable = has.permitted;
    set_capabilities(None, has)?;
    for power in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        if has.permitted.contains(power) {
            configure_capability_in_ambient_set(power, true)?;
        }
    }
    Ok(())
}
