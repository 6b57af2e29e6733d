//! The folder that a command works in.

use crate::cli::{FolderOptions, resolve_folder};
use crate::store::Places;
use anyhow::Result;
use std::path::PathBuf;

/// Returns aye's own folders, and the folder of a command: the named one, the tour's, or the current one.
pub(super) fn open_places(options: &FolderOptions) -> Result<(Places, PathBuf)> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let folder = if options.tour { places.tour() } else { resolve_folder(options.folder.as_deref())? };
    Ok((places, folder))
}
