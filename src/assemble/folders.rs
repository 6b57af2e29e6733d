//! The folder that a run works in.

use super::usage_error::UsageError;
use crate::cli::FolderOptions;
use crate::store::Places;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Returns the folder of a command: the named one, the tour's, or the current one.
pub(crate) fn command_folder(place: &FolderOptions, places: &Places) -> Result<PathBuf> {
    if place.tour { Ok(places.tour()) } else { resolve_folder(place.folder.as_deref()) }
}

/// Returns the working folder with its links resolved.
pub(crate) fn resolve_folder(named: Option<&Path>) -> Result<PathBuf> {
    let folder = match named {
        Some(folder) => folder.to_owned(),
        None => std::env::current_dir().map_err(|_| UsageError("the current folder no longer exists".to_owned()))?,
    };
    let real = folder.canonicalize().map_err(|error| UsageError(format!("{}: {error}", folder.display())))?;
    if !real.is_dir() {
        return Err(UsageError(format!("{} is not a folder", folder.display())).into());
    }
    Ok(real)
}

/// Returns the tour's project, with its files reset.
pub(super) fn tour_folder(places: &Places) -> Result<PathBuf> {
    let folder = places.tour();
    for (path, text) in crate::llm::tour::FILES {
        let path = folder.join(path);
        let write = || {
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            std::fs::write(&path, text)
        };
        write()
            .with_context(|| format!("the tour needs a writable folder; set AYE_HOME to one: {}", path.display()))?;
    }
    Ok(folder.canonicalize()?)
}
