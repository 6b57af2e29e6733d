//! Determines the sandbox of commands on this machine from the settings.

use crate::chat::{Openings, Walls};
use crate::config::dry_run::{DryRun, Outside};
use crate::config::{Network, Shell};
use crate::project::OwnFiles;
use crate::project::disk::Disk;
use crate::project::sandbox::{self, Kernel};
use crate::project::stage::Disclosed;
use crate::store::Places;
use crate::tools::read_only::EXACT;
use std::io;
use std::path::{Path, PathBuf};

/// Shared memory, which parallel programs need.
const SHARED: &str = "/dev/shm";

/// The sandbox, and the folders that it protects.
pub(super) struct Confined {
    /// Sandbox of every command that does not request the network.
    pub(super) walls: Walls,
    /// Folders that no command may write.
    pub(super) keep: Vec<PathBuf>,
    /// Files that no command may read.
    pub(super) hide: Vec<PathBuf>,
    /// Notices for the user, one sentence each.
    pub(super) notices: Vec<String>,
    /// Notice if there is no sandbox: which commands then still run without approval.
    pub(super) reads_less: Option<String>,
}

/// Determines the sandbox.
pub(super) fn confined(shell: &Shell, places: &Places) -> Confined {
    let keep = own(places);
    let hide = vec![real(&places.credentials())];
    let absent = |why: &str| Walls::Absent(why.into());
    let mut notices = Vec::new();
    let walls = match (shell.sandbox, sandbox::kernel()) {
        (false, _) => absent("shell.sandbox is false in the settings"),
        (true, Kernel::Unable(why)) => absent(&why),
        (true, Kernel::Able { .. }) => {
            let shared = Path::new(SHARED).canonicalize().ok();
            let mut write: Vec<PathBuf> = temporary(&keep).into_iter().chain(shared).collect();
            for named in &shell.write {
                match expanded(named).canonicalize() {
                    Ok(place) => write.push(place),
                    Err(_) => notices.push(format!(
                        "shell.write lists {}, which does not exist, so commands cannot write there.",
                        named.display()
                    )),
                }
            }
            write.dedup();
            Walls::raised(Openings { write, network: shell.network == Network::On, sockets: shell.sockets })
        }
    };
    let reads_less = match &walls {
        Walls::Absent(why) => Some(format!(
            "No sandbox: {why}. Only {} exact command lines run without approval; every other command asks. `aye doctor` lists them.",
            EXACT.len()
        )),
        Walls::Unsaid | Walls::Raised(_) => None,
    };
    Confined { walls, keep, hide, notices, reads_less }
}

/// Returns aye's own folders, and the targets of its settings files if they are links: the project may be a repository
/// of such files.
pub(super) fn own(places: &Places) -> Vec<PathBuf> {
    let mut own: Vec<PathBuf> = places.own().into_iter().map(real).collect();
    for file in [places.settings(), places.rules(), places.trusted(), places.credentials()] {
        let file = real(&file);
        if !own.iter().any(|folder| file.starts_with(folder)) {
            own.push(file);
        }
    }
    own
}

/// Returns what commands of a dry run can read and write outside the project.
pub(super) fn disclosed(settings: &DryRun) -> Disclosed {
    Disclosed {
        read: settings.read.iter().map(|path| expanded(path)).collect(),
        is_writable: settings.outside == Outside::Overlay,
    }
}

/// Opens the working folder, with aye's own files protected.
pub(super) fn disk(places: &Places, folder: &Path) -> io::Result<Disk> {
    let credentials = vec![real(&places.credentials())];
    Ok(Disk::new(folder)?.keeping(OwnFiles::new(own(places), credentials)))
}

/// Returns the temporary folder of commands. `None` if it contains aye's own folders or the home folder.
fn temporary(keep: &[PathBuf]) -> Option<PathBuf> {
    let folder = std::env::temp_dir().canonicalize().ok()?;
    let home = std::env::var_os("HOME").map(|home| real(Path::new(&home)));
    let holds = |path: &PathBuf| path.starts_with(&folder);
    (folder.is_dir() && !keep.iter().chain(&home).any(holds)).then_some(folder)
}

/// Resolves the links of a path as far as it exists.
fn real(path: &Path) -> PathBuf {
    let above = || Some(real(path.parent()?).join(path.file_name()?));
    path.canonicalize().ok().or_else(above).unwrap_or_else(|| path.to_owned())
}

/// Expands `~` in a path of the settings.
fn expanded(path: &Path) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match path.strip_prefix("~") {
        Ok(rest) => home().map_or_else(|| path.to_owned(), |home| home.join(rest)),
        Err(_) => path.to_owned(),
    }
}
