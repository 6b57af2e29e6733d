//! Record that a command of this rehearsal saw the whole disk. Such a command may have copied secrets to files of any
//! name.

use super::Rehearsal;
use std::fs::{self, File};
use std::io;

/// Name of the empty marker file in the overlay's folder. It is copied with the session.
const LIVE_VIEW_FILE: &str = "live-view";

impl Rehearsal {
    /// Records on disk that a command sees the whole disk. From then on a new file counts as written by the model only
    /// if its content was written with [`Writer::write_whole`](crate::project::Writer::write_whole). Call this before
    /// the command runs.
    ///
    /// # Errors
    /// If the record cannot be written. The command must not run then.
    pub fn record_live_view(&self) -> io::Result<()> {
        fs::create_dir_all(&self.overlay_folder)?;
        File::options().create(true).append(true).open(self.overlay_folder.join(LIVE_VIEW_FILE))?.sync_all()
    }

    /// Returns whether a command of this rehearsal saw the whole disk; true if the record cannot be read.
    pub(super) fn had_live_view(&self) -> bool {
        let metadata = self.overlay_folder.join(LIVE_VIEW_FILE).symlink_metadata();
        !matches!(metadata, Err(error) if error.kind() == io::ErrorKind::NotFound)
    }
}
