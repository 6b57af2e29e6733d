//! Landlock part of the sandbox: writable paths, visible devices, and reachable processes.

use super::places::{open_as_it_is, without};
use super::{Confines, Kernel, Refused};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use std::path::{Path, PathBuf};

/// Oldest supported version of Landlock's rules: earlier ones cannot prevent truncation of files.
pub(super) const LEAST: ABI = ABI::V3;
/// Newest version that this program was written for and tested with.
pub(super) const NEWEST: ABI = ABI::V6;

/// Devices that share no data with other processes. Terminals are excluded: reading one receives key presses, and
/// writing to one draws on the screen.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Queries the kernel's support.
pub fn kernel() -> Kernel {
    let knows = |abi: ABI| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let files = ruleset.handle_access(AccessFs::from_all(abi));
        let all = match abi {
            ABI::V4 | ABI::V5 => files.and_then(|files| files.handle_access(AccessNet::from_all(abi))),
            ABI::V6 => files.and_then(|files| files.scope(Scope::from_all(abi))),
            _ => files,
        };
        all.and_then(Ruleset::create).is_ok()
    };
    let newest = [ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1].into_iter().find(|abi| knows(*abi));
    match newest {
        None => Kernel::Unable(format!("this kernel{} has no Landlock, or it is disabled", release())),
        Some(abi) if abi < LEAST => {
            Kernel::Unable(format!("this kernel{} is too old; Linux 6.2 or newer is required", release()))
        }
        Some(abi) => Kernel::Able { landlock: abi as u8, signals: abi >= ABI::V6 },
    }
}

/// Returns the kernel's version in parentheses, with a leading blank.
fn release() -> String {
    let known = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric() || ".-_+".contains(*c);
    let known: String = known.chars().take_while(plain).take(40).collect();
    if known.is_empty() { known } else { format!(" ({known})") }
}

/// Returns all kinds of write access except the creation of devices.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(LEAST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// Applies the rules to this thread.
pub fn wall(confines: &Confines) -> Result<(), Refused> {
    let Kernel::Able { .. } = kernel() else { return Err(Refused::Files) };
    let mut rules = ruleset(confines).map_err(|_| Refused::Files)?;
    for place in without(Path::new("/"), &unread(confines)) {
        rules = named(rules, &place, AccessFs::ReadFile.into())?;
    }
    for device in DEVICES {
        rules = named(rules, Path::new(device), writing() | AccessFs::ReadFile | AccessFs::IoctlDev)?;
    }
    let reads = writing() | AccessFs::ReadFile;
    open_as_it_is(&confines.folder).map_err(|_| Refused::Place)?;
    for place in &confines.reach.write {
        open_as_it_is(place).map_err(|_| Refused::Place)?;
    }
    for place in without(&confines.folder, &confines.keep) {
        rules = named(rules, &place, reads)?;
    }
    // A path listed by the user may be a device.
    for place in confines.reach.write.iter().flat_map(|place| without(place, &confines.keep)) {
        rules = named(rules, &place, reads | AccessFs::IoctlDev)?;
    }
    let status = rules.restrict_self().map_err(|_| Refused::Files)?;
    let holds = status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs;
    if holds { Ok(()) } else { Err(Refused::Files) }
}

/// Returns the paths that are not readable like the rest of the disk: devices, and aye's keys.
fn unread(confines: &Confines) -> Vec<PathBuf> {
    let there = confines.hide.iter().filter(|file| file.exists()).cloned();
    there.chain(["/dev".into()]).collect()
}

/// Creates the ruleset. Access rights shown in the approval prompt are required; those of newer kernels are used if
/// available.
fn ruleset(confines: &Confines) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(LEAST) | AccessFs::ReadFile)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::Signal)?;
    if !confines.reach.sockets {
        rules = rules.scope(Scope::AbstractUnixSocket)?;
    }
    if !confines.reach.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    rules.create()
}

/// Adds a rule for one path. A path that no longer exists or was replaced by a link stays closed.
pub(super) fn named(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Refused> {
    let Ok((opened, folder)) = open_as_it_is(path) else { return Ok(rules) };
    let access = if folder { access } else { access & AccessFs::from_file(ABI::V5) };
    rules.add_rule(PathBeneath::new(opened, access)).map_err(|_| Refused::Files)
}
