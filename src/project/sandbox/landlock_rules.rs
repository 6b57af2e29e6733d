//! Landlock part of the sandbox: writable paths, visible devices, and reachable processes.

use super::rule_paths::{open_without_links, paths_without};
use super::{SandboxError, SandboxSpec, SandboxSupport};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use std::path::{Path, PathBuf};

/// Oldest supported version of Landlock's rules: earlier ones cannot prevent truncation of files.
pub(super) const OLDEST_ABI: ABI = ABI::V3;
/// Newest version that this program was written for and tested with.
pub(super) const NEWEST_ABI: ABI = ABI::V6;

/// Devices that share no data with other processes. Terminals are excluded: reading one receives key presses, and
/// writing to one draws on the screen.
pub(in crate::project) const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Queries the kernel's support of Landlock.
pub fn landlock_support() -> SandboxSupport {
    let is_supported = |abi: ABI| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let files = ruleset.handle_access(AccessFs::from_all(abi));
        let complete = match abi {
            ABI::V4 | ABI::V5 => files.and_then(|files| files.handle_access(AccessNet::from_all(abi))),
            ABI::V6 => files.and_then(|files| files.scope(Scope::from_all(abi))),
            _ => files,
        };
        complete.and_then(Ruleset::create).is_ok()
    };
    support_by([ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1].into_iter().find(|abi| is_supported(*abi)))
}

/// Returns the sandbox support of a kernel whose newest Landlock version is `newest`, or that has no Landlock (`None`).
fn support_by(newest: Option<ABI>) -> SandboxSupport {
    match newest {
        None => {
            SandboxSupport::Unsupported(format!("this kernel{} has no Landlock, or it is disabled", kernel_release()))
        }
        Some(abi) if abi < OLDEST_ABI => SandboxSupport::Unsupported(format!(
            "this kernel{} is too old; Linux 6.2 or newer is required",
            kernel_release()
        )),
        Some(abi) => SandboxSupport::Supported { landlock: abi as u8, signals: abi >= ABI::V6 },
    }
}

/// Returns the kernel's version in parentheses, with a leading space; empty if unknown.
fn kernel_release() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_+".contains(*c);
    let release: String = release.chars().take_while(is_plain).take(40).collect();
    if release.is_empty() { release } else { format!(" ({release})") }
}

/// Returns all kinds of write access except the creation of devices.
fn write_access() -> BitFlags<AccessFs> {
    AccessFs::from_write(OLDEST_ABI) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// Applies the rules to this thread.
pub fn apply_file_rules(spec: &SandboxSpec) -> Result<(), SandboxError> {
    let SandboxSupport::Supported { .. } = landlock_support() else { return Err(SandboxError::FileRules) };
    let mut rules = create_ruleset(spec).map_err(|_| SandboxError::FileRules)?;
    for path in paths_without(Path::new("/"), &unreadable_paths(spec)) {
        rules = add_path_rule(rules, &path, AccessFs::ReadFile.into())?;
    }
    for device in DEVICES {
        rules = add_path_rule(rules, Path::new(device), write_access() | AccessFs::ReadFile | AccessFs::IoctlDev)?;
    }
    let read_write = write_access() | AccessFs::ReadFile;
    open_without_links(&spec.folder).map_err(|_| SandboxError::WritablePath)?;
    for path in &spec.access.write {
        open_without_links(path).map_err(|_| SandboxError::WritablePath)?;
    }
    for path in paths_without(&spec.folder, &spec.protected) {
        rules = add_path_rule(rules, &path, read_write)?;
    }
    // A path listed by the user may be a device.
    for path in spec.access.write.iter().flat_map(|path| paths_without(path, &spec.protected)) {
        rules = add_path_rule(rules, &path, read_write | AccessFs::IoctlDev)?;
    }
    enforce_rules(rules)
}

/// Applies a ruleset to this thread. Fails if the kernel does not enforce it.
pub(super) fn enforce_rules(rules: RulesetCreated) -> Result<(), SandboxError> {
    let status = rules.restrict_self().map_err(|_| SandboxError::FileRules)?;
    let is_enforced = status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs;
    if is_enforced { Ok(()) } else { Err(SandboxError::FileRules) }
}

/// Returns the paths that are not readable like the rest of the disk: devices, and aye's keys.
fn unreadable_paths(spec: &SandboxSpec) -> Vec<PathBuf> {
    let existing = spec.unreadable.iter().filter(|file| file.exists()).cloned();
    existing.chain(["/dev".into()]).collect()
}

/// Creates the ruleset. File rights are required. Rules for devices, signals, sockets and the network are used if the
/// kernel supports them.
fn create_ruleset(spec: &SandboxSpec) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(OLDEST_ABI) | AccessFs::ReadFile)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::Signal)?;
    if !spec.access.sockets {
        rules = rules.scope(Scope::AbstractUnixSocket)?;
    }
    if !spec.access.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST_ABI))?;
    }
    rules.create()
}

/// Adds a rule for one path. A path that no longer exists or was replaced by a link stays closed.
pub(super) fn add_path_rule(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    let Ok((opened, is_folder)) = open_without_links(path) else { return Ok(rules) };
    let access = if is_folder { access } else { access & AccessFs::from_file(ABI::V5) };
    rules.add_rule(PathBeneath::new(opened, access)).map_err(|_| SandboxError::FileRules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_without_signal_rules_still_has_a_sandbox() {
        for (abi, expected) in [(ABI::V3, false), (ABI::V4, false), (ABI::V5, false), (ABI::V6, true)] {
            let SandboxSupport::Supported { landlock, signals } = support_by(Some(abi)) else { panic!("{abi:?}") };
            assert_eq!((landlock, signals), (abi as u8, expected));
        }
        for abi in [None, Some(ABI::V1), Some(ABI::V2)] {
            assert!(matches!(support_by(abi), SandboxSupport::Unsupported(_)), "{abi:?}");
        }
    }
}
