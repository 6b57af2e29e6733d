//! Determines the sandbox of commands on this machine from the settings.

use crate::chat::{CommandSandbox, SandboxAccess};
use crate::config::{DryRun, OutsideWrites};
use crate::config::{Network, Shell};
use crate::project::OwnFiles;
use crate::project::disk::Disk;
use crate::project::overlay_sandbox::DisclosedPaths;
use crate::project::sandbox::{self, SandboxSupport};
use crate::store::Places;
use crate::tools::read_only_commands::EXACT_COMMANDS;
use std::io;
use std::path::{Path, PathBuf};

/// Shared memory, which parallel programs need.
const SHARED: &str = "/dev/shm";

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
    let write_protected = own_paths(places);
    let read_protected = vec![resolve_links(&places.credentials())];
    let unavailable = |reason: &str| CommandSandbox::Unavailable(reason.into());
    let mut notices = Vec::new();
    let sandbox = match (shell.sandbox, sandbox::kernel_support()) {
        (false, _) => unavailable("shell.sandbox is false in the settings"),
        (true, SandboxSupport::Unsupported(reason)) => unavailable(&reason),
        (true, SandboxSupport::Supported { .. }) => {
            let shared = Path::new(SHARED).canonicalize().ok();
            let mut write: Vec<PathBuf> = temporary_folder(&write_protected).into_iter().chain(shared).collect();
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

/// Returns aye's own folders, and the targets of its settings files if they are links: the project may be a repository
/// of such files.
pub(crate) fn own_paths(places: &Places) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = places.own_folders().into_iter().map(resolve_links).collect();
    for file in [places.settings(), places.rules(), places.trusted(), places.credentials()] {
        let file = resolve_links(&file);
        if !paths.iter().any(|folder| file.starts_with(folder)) {
            paths.push(file);
        }
    }
    paths
}

/// Returns what commands of a dry run can read and write outside the project.
pub(crate) fn rehearsal_access(settings: &DryRun) -> DisclosedPaths {
    DisclosedPaths {
        read: settings.read.iter().map(|path| expand_home(path)).collect(),
        is_writable: settings.outside == OutsideWrites::Overlay,
    }
}

/// Opens the working folder, with aye's own files protected.
pub(crate) fn open_project(places: &Places, folder: &Path) -> io::Result<Disk> {
    let credentials = vec![resolve_links(&places.credentials())];
    Ok(Disk::new(folder)?.with_own_files(OwnFiles::new(own_paths(places), credentials)))
}

/// Returns the temporary folder of commands. `None` if it contains aye's own folders or the home folder.
fn temporary_folder(protected: &[PathBuf]) -> Option<PathBuf> {
    let folder = std::env::temp_dir().canonicalize().ok()?;
    let home = std::env::var_os("HOME").map(|home| resolve_links(Path::new(&home)));
    let is_inside = |path: &PathBuf| path.starts_with(&folder);
    (folder.is_dir() && !protected.iter().chain(&home).any(is_inside)).then_some(folder)
}

/// Resolves the links of a path as far as it exists.
fn resolve_links(path: &Path) -> PathBuf {
    let resolve_parent = || Some(resolve_links(path.parent()?).join(path.file_name()?));
    path.canonicalize().ok().or_else(resolve_parent).unwrap_or_else(|| path.to_owned())
}

/// Expands `~` in a path of the settings.
fn expand_home(path: &Path) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match path.strip_prefix("~") {
        Ok(relative) => home().map_or_else(|| path.to_owned(), |home| home.join(relative)),
        Err(_) => path.to_owned(),
    }
}
