//! Determines the sandbox of commands on this machine from the settings.

use crate::chat::{CommandSandbox, SandboxAccess, SessionId};
use crate::config::{Config, DryRun, Network, OutsideWrites, Shell, WorkspaceSettings};
use crate::project::disk::Disk;
use crate::project::overlay_sandbox::DisclosedPaths;
use crate::project::rehearsal::Rehearsal;
use crate::project::sandbox::writable_folders::{expand_home, temporary_folders};
use crate::project::sandbox::{self, SandboxSupport};
use crate::project::{OwnFiles, Reader};
use crate::store::Places;
use crate::store::places::resolve_links;
use crate::tools::read_only_commands::EXACT_COMMANDS;
use crate::workspace::Limits;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sandbox, and the folders that it protects.
pub(crate) struct SandboxSetup {
    /// Sandbox of every command that does not request the network.
    pub(crate) sandbox: CommandSandbox,
    /// Folders and files that no command may write.
    pub(crate) write_protected: Vec<PathBuf>,
    /// Files that no command may read.
    pub(crate) read_protected: Vec<PathBuf>,
    /// Notices for the user, one sentence each.
    pub(crate) notices: Vec<String>,
    /// Notice if there is no sandbox: which commands then still run without approval.
    pub(crate) no_sandbox_notice: Option<String>,
}

/// Determines the sandbox.
pub(crate) fn setup_sandbox(shell: &Shell, places: &Places) -> SandboxSetup {
    let write_protected = places.own_paths();
    let read_protected = places.key_files();
    let unavailable = |reason: &str| CommandSandbox::Unavailable(reason.into());
    let mut notices = Vec::new();
    let sandbox = match (shell.sandbox, sandbox::kernel_support()) {
        (false, _) => unavailable("shell.sandbox is false in the settings"),
        (true, SandboxSupport::Unsupported(reason)) => unavailable(&reason),
        (true, SandboxSupport::Supported { .. }) => {
            // Commands may write to a temporary folder only if none of the protected folders is in it.
            let home = std::env::var_os("HOME").map(|home| resolve_links(Path::new(&home)));
            let protected: Vec<PathBuf> = write_protected.iter().cloned().chain(home).collect();
            let mut write = temporary_folders(&protected);
            for configured in &shell.write {
                match expand_home(configured).canonicalize() {
                    Ok(folder) => write.push(folder),
                    Err(_) => notices.push(format!(
                        "shell.write lists {}, which does not exist, so commands cannot write there.",
                        configured.display()
                    )),
                }
            }
            write.dedup();
            CommandSandbox::enforced(SandboxAccess {
                write,
                network: shell.network == Network::On,
                sockets: shell.sockets,
            })
        }
    };
    let no_sandbox_notice = match &sandbox {
        CommandSandbox::Unavailable(reason) => Some(format!(
            "No sandbox: {reason}. Only {} exact command lines run without approval; every other command asks. `aye doctor` lists them.",
            EXACT_COMMANDS.len()
        )),
        CommandSandbox::Unspecified | CommandSandbox::Enforced(_) => None,
    };
    SandboxSetup { sandbox, write_protected, read_protected, notices, no_sandbox_notice }
}

/// Returns what commands of a dry run can read and write outside the project.
pub(crate) fn rehearsal_access(settings: &DryRun) -> DisclosedPaths {
    DisclosedPaths {
        read: settings.read.iter().map(|path| expand_home(path)).collect(),
        is_writable: settings.outside == OutsideWrites::Overlay,
    }
}

/// Returns what trials of commands can read outside the project. They can write nothing there.
pub(crate) fn trial_access(readable: &[PathBuf]) -> DisclosedPaths {
    DisclosedPaths { read: readable.iter().map(|path| expand_home(path)).collect(), is_writable: false }
}

/// Returns the limits of workspaces.
pub(crate) fn workspace_limits(config: &Config) -> Limits {
    let WorkspaceSettings { file_mb, session_mb, old_versions, old_mb } = config.workspace;
    let [file_bytes, session_bytes, old_bytes] = [file_mb, session_mb, old_mb].map(|megabytes| megabytes * 1_000_000);
    Limits { file_bytes, session_bytes, old_versions, old_bytes }
}

/// Opens the working folder, with aye's own files protected.
pub(crate) fn open_project(places: &Places, folder: &Path) -> io::Result<Disk> {
    Ok(Disk::new(folder)?.with_own_files(OwnFiles::new(places.own_paths(), places.key_files())))
}

/// Opens a project as a session sees it: with its overlay, if it is a dry run.
pub(crate) fn project_with_overlay(places: &Places, folder: &Path, id: &SessionId) -> io::Result<Box<dyn Reader>> {
    let disk = open_project(places, folder)?;
    let overlay = places.rehearsal(id);
    match overlay.is_dir() {
        true => Ok(Box::new(Rehearsal::new(Arc::new(disk), overlay))),
        false => Ok(Box::new(disk)),
    }
}
