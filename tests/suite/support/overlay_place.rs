//! A project with an overlay, and commands that run in its overlay sandbox.

use super::overlay_project::command_line;
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{DisclosedPaths, OverlayShell, View};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::{CommandOutcome, Shell};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The content of every secret file in these tests.
pub const SECRET: &str = "zq8-hunter-27xw";

/// A project, the home and the overlay.
pub struct OverlayFixture {
    root: PathBuf,
    pub rehearsal: Arc<Rehearsal>,
    pub shell: OverlayShell,
}

impl OverlayFixture {
    pub fn new(root: &Path, disclosed: DisclosedPaths) -> Self {
        Self::with_overlay(root, &root.join("layers/one"), disclosed)
    }

    /// Stores the overlay in this folder.
    pub fn with_overlay(root: &Path, overlay: &Path, disclosed: DisclosedPaths) -> Self {
        let aye_folder = root.join("home/.aye");
        let shell = Shell::new(super::program::program())
            .with_closed_paths(vec![aye_folder.clone()], vec![aye_folder.join("credentials.toml")]);
        let disk = Arc::new(Disk::new(&root.join("project")).unwrap());
        let rehearsal = Arc::new(Rehearsal::new(disk, overlay.to_owned()));
        let shell = OverlayShell::new(Arc::new(shell), rehearsal.clone()).with_disclosed(disclosed);
        Self { root: root.to_owned(), rehearsal, shell }
    }

    /// Lets commands read these paths, relative to `root`, as the setting `read` of `[dry_run]` does.
    pub fn with_readable(root: &Path, paths: &[&str]) -> Self {
        let read_paths = paths.iter().map(|path| root.join(path)).collect();
        Self::new(root, DisclosedPaths { read: read_paths, is_writable: false })
    }

    pub async fn run(&self, command: &str, view: View) -> CommandOutcome {
        let outcome =
            self.shell.run_in_overlay(&command_line(command, &self.root.join("project")), view, &|_| {}).await;
        outcome.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// The output of a command for which nothing is approved.
    pub async fn run_hidden(&self, command: &str) -> String {
        self.run(command, View::WithoutSecrets).await.output
    }

    /// Returns whether a secret was copied into the overlay.
    pub fn has_copied_secret(&self) -> bool {
        let status =
            Command::new("grep").arg("-rsq").arg(SECRET).arg(self.rehearsal.overlay_folder()).status().unwrap();
        status.success()
    }
}

pub fn write_file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
