//! Whether a command of this rehearsal saw the whole disk: it may have copied secrets to files of any name.

use super::Rehearsal;
use std::fs::{self, File};
use std::io;

/// The file in the overlay's folder that says so. Copies of the session have it too.
const FILE: &str = "live-view";

impl Rehearsal {
    /// Notes on disk that a command ran that saw the whole disk. From then on a new file counts as the rehearsal's own only if
    /// [`Writer::write_whole`](crate::project::Writer::write_whole) wrote what it holds. To be called before such a command.
    ///
    /// # Errors
    /// If the note cannot be written. The command must not run then.
    pub fn note_live_view(&self) -> io::Result<()> {
        fs::create_dir_all(&self.layer)?;
        File::options().create(true).append(true).open(self.layer.join(FILE))?.sync_all()
    }

    /// Whether that was noted, or cannot be known.
    pub(super) fn had_live_view(&self) -> bool {
        let noted = self.layer.join(FILE).symlink_metadata();
        !matches!(noted, Err(error) if error.kind() == io::ErrorKind::NotFound)
    }
}
