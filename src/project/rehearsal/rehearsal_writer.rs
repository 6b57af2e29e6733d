//! Writes of the file tools in a dry run.

use super::overlay::{self, ROOT_PATH};
use super::{Fingerprint, Rehearsal, state_digest};
use crate::chat::Digest;
use crate::project::{Error, Location, Reader, Writer};
use std::path::Path;
use std::sync::PoisonError;

impl Writer for Rehearsal {
    fn write(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(relative) = self.path_below(location) else {
            let is_whole = false;
            return self.write_outside(location, before, after, is_whole);
        };
        let to_error = |source| Error::in_overlay(&location.display_path, source);
        // Fails unless the file still has the content `before`. With `checks_parents` it also fails if a parent is a
        // file.
        let check_previous = |checks_parents: bool| {
            let current = match self.read(location) {
                Ok(bytes) => Some(bytes),
                Err(Error::Missing(_)) => None,
                Err(error) => return Err(error),
            };
            if checks_parents {
                self.check_parents(location)?;
            }
            if current.as_deref() == before { Ok(()) } else { Err(Error::Changed(location.display_path.clone())) }
        };
        self.check_parents(location)?;
        check_previous(false)?;
        // Commands cannot write in the overlay while this lock is held.
        let _lock = self.lock_and_merge().map_err(to_error)?;
        check_previous(true)?;
        let old_metadata = self.visible_metadata(location);
        self.check_writable(relative, old_metadata.is_some()).map_err(to_error)?;
        let path_and_parents = || relative.ancestors().filter(|path| !path.as_os_str().is_empty());
        self.prepare_overlay_locked().and_then(|()| self.record_before_change(path_and_parents())).map_err(to_error)?;
        let result = overlay::write_file(&self.overlay_folder, self.root(), relative, after, old_metadata.as_ref());
        result.map_err(|error| {
            self.forget_origins(path_and_parents());
            to_error(error)
        })
    }

    fn write_whole(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(relative) = self.path_below(location) else {
            let is_whole = true;
            return self.write_outside(location, before, after, is_whole);
        };
        self.write(location, before, after)?;
        let mut whole_writes = self.whole_writes.lock().unwrap_or_else(PoisonError::into_inner);
        whole_writes.insert(relative.to_owned(), Digest::of_bytes(after));
        Ok(())
    }

    fn state_digest(&self) -> Digest {
        // If the merge fails, the digest is that of the overlay without the unmerged changes.
        let _ = self.merge_pending();
        let digest = state_digest::digest_overlay(&self.overlay_folder);
        match self.change_at(Path::new(ROOT_PATH)) {
            // `digest_overlay` leaves out the mode of the project folder itself. It counts if the dry run changed it.
            Ok(Some(change)) => {
                Digest::of_bytes(format!("{digest} {:?}", Fingerprint::from_node(&change.after)).as_bytes())
            }
            Ok(None) | Err(_) => digest,
        }
    }
}
