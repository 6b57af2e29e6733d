//! The folder that a command works in.

use crate::cli::{FolderOptions, UsageError, resolve_folder};
use crate::store::Places;
use std::path::PathBuf;

/// Returns the folder of a command: the named one, the tour's, or the current one.
pub(super) fn command_folder(place: &FolderOptions, places: &Places) -> Result<PathBuf, UsageError> {
    if place.tour { Ok(places.tour()) } else { resolve_folder(place.folder.as_deref()) }
}
