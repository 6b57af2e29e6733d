//! Check for sensitive files that were created or replaced in the project while a command of a dry run ran. Such a file
//! had no mask, so the command may have read it: its output is withheld, and its changes are not merged into the
//! overlay.

use super::tool_settings;
use crate::project::Error;
use crate::project::rehearsal::{Rehearsal, is_inside};
use crate::project::sensitive_files::{Listing, Reason, WithheldPath};
use crate::project::shell::Shell;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Project files that are masked from a command.
pub struct MaskedFiles {
    listing: Arc<Listing>,
    /// Device and inode of each masked file when the masks were made; `None` if it was not a regular file.
    files: HashMap<PathBuf, Option<(u64, u64)>>,
}

impl MaskedFiles {
    pub fn new(listing: Arc<Listing>) -> Self {
        let files = listing.withheld.iter().map(|entry| (entry.path.clone(), identity_of(&entry.path))).collect();
        Self { listing, files }
    }

    /// Returns a sensitive file that was created or replaced after the masks were made. Blocks while changed folders
    /// are read.
    fn find_new_secret(&self, shell: &Shell, folder: &Path) -> Option<PathBuf> {
        let listing = shell.sensitive_files_in(folder).current_listing();
        let is_own = |path: &Path| shell.protected.iter().any(|folder| path.starts_with(folder));
        let is_new = |entry: &&WithheldPath| match self.files.get(&entry.path) {
            Some(file) => *file != identity_of(&entry.path),
            None => self.listing.reason(&entry.path).is_none(),
        };
        // A pipe gets no mask, and neither does a file that is withheld only because of its neighbours.
        let is_masked = |entry: &&WithheldPath| !matches!(entry.reason, Reason::NotAFile | Reason::Crowded);
        let mut new = listing.withheld.iter().filter(is_masked).filter(is_new).map(|entry| &entry.path);
        new.find(|path| !is_own(path) && !tool_settings::is_visible_setting(folder, path)).cloned()
    }
}

/// Returns device and inode of a regular file, `None` for anything else.
fn identity_of(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.symlink_metadata().ok().filter(|metadata| metadata.is_file())?;
    Some((metadata.dev(), metadata.ino()))
}

/// Check of one command, created before the command starts. Until it is finished, the changes of the command are not
/// merged. If it is dropped unfinished because the command was stopped, it finishes on a separate thread.
pub struct NewSecretCheck(Option<CheckState>);

struct CheckState {
    masked: MaskedFiles,
    shell: Arc<Shell>,
    rehearsal: Arc<Rehearsal>,
    folder: PathBuf,
}

impl NewSecretCheck {
    /// Starts the check for a command in this project folder that has not started yet.
    pub fn start_check(masked: MaskedFiles, shell: Arc<Shell>, rehearsal: Arc<Rehearsal>, folder: PathBuf) -> Self {
        rehearsal.set_merge_blocked(true);
        Self(Some(CheckState { masked, shell, rehearsal, folder }))
    }

    /// Returns `Error::NewSensitiveFile` if a sensitive file was created or replaced. The changes of the command are then
    /// dropped, unless it wrote directly in the overlay, which happens if the overlay lies inside the project. Blocks.
    /// Call it after the command has ended.
    pub fn finish_check(mut self) -> Option<Error> {
        self.0.take().and_then(CheckState::run_check)
    }
}

impl CheckState {
    fn run_check(self) -> Option<Error> {
        let new_secret = self.masked.find_new_secret(&self.shell, &self.folder);
        let error = new_secret.map(|path| {
            let is_in_pending = !is_inside(&self.folder, self.rehearsal.overlay_folder());
            let is_dropped = is_in_pending && self.rehearsal.discard_pending().is_ok();
            if !is_dropped {
                // New files of the overlay no longer count as written by the model. If that cannot be recorded, the
                // returned error is sufficient.
                let _ = self.rehearsal.record_live_view();
            }
            Error::NewSensitiveFile { path: path.strip_prefix(&self.folder).unwrap_or(&path).to_owned(), is_dropped }
        });
        self.rehearsal.set_merge_blocked(false);
        error
    }
}

impl Drop for NewSecretCheck {
    fn drop(&mut self) {
        if let Some(check) = self.0.take() {
            std::thread::spawn(move || check.run_check());
        }
    }
}
