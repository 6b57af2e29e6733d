//! Test fixture: a project with a rehearsal over it.

use super::disk::Disk;
use super::rehearsal::{Rehearsal, UPPER};
use super::{Reader, Writer};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

/// A rehearsal, and the temporary folder that contains it and its project.
pub(crate) struct RehearsedProject {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) disk: Arc<Disk>,
    pub(crate) rehearsal: Arc<Rehearsal>,
}

impl RehearsedProject {
    /// Creates a project with these files, all of mode 644.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let disk = Arc::new(Disk::new(&root).unwrap());
        let rehearsal = Arc::new(Rehearsal::new(disk.clone(), folder.path().join("layer")));
        Self { folder, disk, rehearsal }
    }

    /// Writes a file in the rehearsal, as a file tool does.
    pub(crate) fn rehearse_write(&self, path: &str, text: &str) {
        let location = self.rehearsal.locate(path).unwrap();
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write(&location, before.as_deref(), text.as_bytes()).unwrap();
    }

    /// Deletes a file in the overlay, as a command in the overlay sandbox does.
    pub(crate) fn rehearse_deletion(&self, path: &str) {
        let upper = self.overlay_path(path);
        fs::create_dir_all(upper.parent().unwrap()).unwrap();
        // In the overlay, a device 0:0 marks a deleted path.
        let kind = rustix::fs::FileType::CharacterDevice;
        rustix::fs::mknodat(rustix::fs::CWD, &upper, kind, 0o600.into(), 0).unwrap();
        self.rehearsal.record_origins().unwrap();
    }

    /// Returns a path in the overlay.
    pub(crate) fn overlay_path(&self, path: &str) -> PathBuf {
        let upper = self.folder.path().join("layer").join(UPPER);
        fs::create_dir_all(&upper).unwrap();
        upper.join(path)
    }

    /// Returns a path in the project.
    pub(crate) fn live_path(&self, path: &str) -> PathBuf {
        self.rehearsal.root().join(path)
    }

    /// Returns the text of a live file.
    pub(crate) fn live_text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.live_path(path)).ok()
    }
}
