//! An overlay over a project, without a screen and without a model: runs commands in it and lists their changes.

use super::folder::Folder;
use super::program::program;
use aye::chat::CommandLine;
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::OverlayShell;
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::Shell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens an overlay over a project, stored in `overlay`.
pub fn open_overlay(project: &Path, overlay: PathBuf) -> (Arc<Rehearsal>, Arc<OverlayShell>) {
    let rehearsal = Arc::new(Rehearsal::new(Arc::new(Disk::new(project).unwrap()), overlay));
    let shell = Arc::new(OverlayShell::new(Arc::new(Shell::new(program())), rehearsal.clone()));
    (rehearsal, shell)
}

/// A command to run in this folder.
pub fn command_line(command: &str, folder: &Path) -> CommandLine {
    let (command, folder) = (command.to_owned(), folder.canonicalize().unwrap());
    CommandLine { command, folder, seconds: 60, ..CommandLine::default() }
}

/// The paths that differ from the project.
pub fn list_changed_paths(rehearsal: &Rehearsal) -> Vec<String> {
    rehearsal.list_changes().unwrap().iter().map(|change| change.path.display().to_string()).collect()
}

/// An empty project with an overlay, which is the only one in the folder `layers`.
pub struct EmptyProject {
    pub root: Folder,
    pub project: PathBuf,
    pub rehearsal: Arc<Rehearsal>,
    pub shell: Arc<OverlayShell>,
}

impl EmptyProject {
    pub fn new() -> Self {
        let root = Folder::new();
        let project = root.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let (rehearsal, shell) = open_overlay(&project, root.path().join("layers/one"));
        Self { root, project, rehearsal, shell }
    }
}

/// Removes an overlay. Tries again while its lock is held: a process that another test starts inherits the lock until
/// it executes its program.
pub async fn discard_overlay(overlay: &Path) {
    let mut tries = 0;
    while let Err(error) = aye::project::rehearsal::remove_overlay(overlay) {
        tries += 1;
        assert!(tries < 500, "{error}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
