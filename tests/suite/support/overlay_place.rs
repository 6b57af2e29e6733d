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
pub struct Place {
    root: PathBuf,
    pub play: Arc<Rehearsal>,
    pub shell: OverlayShell,
}

impl Place {
    pub fn new(root: &Path, disclosed: DisclosedPaths) -> Self {
        Self::with_overlay(root, &root.join("layers/one"), disclosed)
    }

    /// Stores the overlay in this folder.
    pub fn with_overlay(root: &Path, overlay: &Path, disclosed: DisclosedPaths) -> Self {
        let own = root.join("home/.aye");
        let shell = Shell::new(super::program::program())
            .with_closed_paths(vec![own.clone()], vec![own.join("credentials.toml")]);
        let disk = Arc::new(Disk::new(&root.join("project")).unwrap());
        let play = Arc::new(Rehearsal::new(disk, overlay.to_owned()));
        let shell = OverlayShell::new(Arc::new(shell), play.clone()).with_disclosed(disclosed);
        Self { root: root.to_owned(), play, shell }
    }

    pub fn reading(root: &Path, read: &[&str]) -> Self {
        let read = read.iter().map(|path| root.join(path)).collect();
        Self::new(root, DisclosedPaths { read, is_writable: false })
    }

    pub async fn runs(&self, command: &str, view: View) -> CommandOutcome {
        let ran = self.shell.run_in_overlay(&command_line(command, &self.root.join("project")), view, &|_| {}).await;
        ran.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// The output of a command for which nothing is approved.
    pub async fn says(&self, command: &str) -> String {
        self.runs(command, View::Hidden).await.output
    }

    /// Returns whether a secret was copied into the overlay.
    pub fn has_copied(&self) -> bool {
        let found = Command::new("grep").arg("-rsq").arg(SECRET).arg(self.play.overlay_folder()).status().unwrap();
        found.success()
    }
}

pub fn write_file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
