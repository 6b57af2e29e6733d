//! Sandbox of commands that run without approval: they read the project and the system's programs, and change nothing.
//!
//! Landlock restricts files: paths that are not listed cannot even be read. Seccomp restricts everything else with a
//! list of allowed syscalls (`read_only_filter`). Root loses every capability except reading. Not restricted: sizes
//! and times of any file whose path is known (Landlock has no rule for them), and listing the project's folders.

use super::landlock_rules::{DEVICES, NEWEST_ABI, OLDEST_ABI, add_path_rule, enforce_rules};
use super::rule_paths::{open_without_links, paths_without};
use super::system_paths::{CLOSED_SUBFOLDERS, FILES, PROGRAMS};
use super::{ReadOnlySpec, SandboxError, SandboxSupport, read_only_filter, root_capabilities};
use crate::project::path::resolve_path;
use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, Scope,
};
use std::path::{Path, PathBuf};

impl ReadOnlySpec {
    /// Applies the sandbox to this thread and everything it starts. `private_folder` is the only writable folder.
    pub fn apply_to_thread(&self, private_folder: Option<&Path>) -> Result<(), SandboxError> {
        let SandboxSupport::Supported { signals, .. } = super::kernel_support() else {
            return Err(SandboxError::FileRules);
        };
        root_capabilities::drop_all_but_reading()?;
        self.apply_file_rules(private_folder)?;
        read_only_filter::apply_syscall_filters(signals)
    }

    fn apply_file_rules(&self, private_folder: Option<&Path>) -> Result<(), SandboxError> {
        let read_access = AccessFs::ReadFile | AccessFs::ReadDir;
        let mut rules = create_ruleset().map_err(|_| SandboxError::FileRules)?;
        for folder in PROGRAMS.map(Path::new) {
            let closed: Vec<PathBuf> =
                self.closed.iter().cloned().chain(CLOSED_SUBFOLDERS.map(PathBuf::from)).collect();
            // If a closed path, such as the project, contains this folder, the programs in the folder may still be
            // executed. `open_paths` decides which files of the project may also be read.
            if closed.iter().any(|closed| folder.starts_with(closed)) {
                rules = add_path_rule(rules, folder, AccessFs::Execute.into())?;
            }
            // Of the closed paths that contain this folder, such as the home, only the project keeps it closed.
            let closed_inside: Vec<PathBuf> =
                closed.into_iter().filter(|closed| !folder.starts_with(closed) || *closed == self.folder).collect();
            for path in paths_without(folder, &closed_inside) {
                rules = add_path_rule(rules, &path, read_access | AccessFs::Execute)?;
            }
        }
        for folder in &self.programs {
            rules = add_path_rule(rules, folder, read_access | AccessFs::Execute)?;
        }
        for file in FILES.map(Path::new) {
            // Some files are links to other listed or readable files.
            let real = resolve_path(file);
            if !self.closed.iter().any(|closed| real.starts_with(closed)) {
                rules = add_path_rule(rules, &real, AccessFs::ReadFile.into())?;
            }
        }
        for device in DEVICES.map(Path::new) {
            let write_access = if device == Path::new("/dev/null") { file_write_access() } else { BitFlags::EMPTY };
            rules = add_path_rule(rules, device, write_access | AccessFs::ReadFile)?;
        }
        open_without_links(&self.folder).map_err(|_| SandboxError::WritablePath)?;
        rules = add_path_rule(rules, &self.folder, AccessFs::ReadDir.into())?;
        for path in &self.open_paths {
            rules = add_path_rule(rules, path, read_access)?;
        }
        if let Some(folder) = private_folder {
            let permitted = !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::Execute);
            rules = add_path_rule(rules, folder, AccessFs::from_all(OLDEST_ABI) & permitted)?;
        }
        enforce_rules(rules)
    }
}

/// Returns the rights to write an existing file.
fn file_write_access() -> BitFlags<AccessFs> {
    AccessFs::WriteFile | AccessFs::Truncate
}

/// Creates the ruleset. All file rights are required; rights of newer kernels are used if available.
fn create_ruleset() -> Result<RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .handle_access(AccessNet::from_all(NEWEST_ABI))?
        .scope(Scope::from_all(NEWEST_ABI))?
        .create()
}
