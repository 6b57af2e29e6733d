//! Which walls commands get on this machine, by the person's settings.

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

/// Memory that programs share by name: what they run in parallel needs it.
const SHARED: &str = "/dev/shm";

/// The walls, and what they are made from.
pub(super) struct Confined {
    /// What every command gets that does not ask for the network.
    pub(super) walls: Walls,
    /// Where none writes.
    pub(super) keep: Vec<PathBuf>,
    /// What none reads.
    pub(super) hide: Vec<PathBuf>,
    /// What the person should know: one sentence each.
    pub(super) notices: Vec<String>,
    /// What the user should know if there is no sandbox: how little then runs without approval.
    pub(super) reads_less: Option<String>,
}

/// Finds them.
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
                        "shell.write names {}, which is not there: commands cannot write in it.",
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
            "No sandbox: {why}. Without approval only {} exact command lines run; every other command asks. `aye doctor` lists them.",
            EXACT.len()
        )),
        Walls::Unsaid | Walls::Raised(_) => None,
    };
    Confined { walls, keep, hide, notices, reads_less }
}

/// aye's own folders, and where the files lead to that it obeys when they are links: a project of such files may be worked
/// in.
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

/// What commands of a dry run read and write outside the project.
pub(super) fn disclosed(settings: &DryRun) -> Disclosed {
    Disclosed {
        read: settings.read.iter().map(|path| expanded(path)).collect(),
        is_writable: settings.outside == Outside::Overlay,
    }
}

/// The folder that is worked in, with what is known of aye's own.
pub(super) fn disk(places: &Places, folder: &Path) -> io::Result<Disk> {
    let credentials = vec![real(&places.credentials())];
    Ok(Disk::new(folder)?.keeping(OwnFiles::new(own(places), credentials)))
}

/// The folder for temporary files: what commands are told it is. Not one that holds aye's own folders or the person's
/// home: it would be no folder for temporary files then.
fn temporary(keep: &[PathBuf]) -> Option<PathBuf> {
    let folder = std::env::temp_dir().canonicalize().ok()?;
    let home = std::env::var_os("HOME").map(|home| real(Path::new(&home)));
    let holds = |path: &PathBuf| path.starts_with(&folder);
    (folder.is_dir() && !keep.iter().chain(&home).any(holds)).then_some(folder)
}

/// A path with its links resolved, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let above = || Some(real(path.parent()?).join(path.file_name()?));
    path.canonicalize().ok().or_else(above).unwrap_or_else(|| path.to_owned())
}

/// A path of the settings, `~` being the person's home.
fn expanded(path: &Path) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match path.strip_prefix("~") {
        Ok(rest) => home().map_or_else(|| path.to_owned(), |home| home.join(rest)),
        Err(_) => path.to_owned(),
    }
}
