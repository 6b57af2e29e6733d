//! What a demo is played in: variables of its process, and the files of its project.

use crate::demo::Script;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// Names the folder of a demo to the process that plays it. No command sees it.
pub(crate) const FOLDER: &str = "AYE_DEMO_FOLDER";
/// Lists the paths of the user's own aye, which no command of a demo may write.
pub(crate) const OWN_PATHS: &str = "AYE_OWN_PATHS";
/// Lists the files with the user's keys, which no command of a demo may read.
pub(crate) const KEY_FILES: &str = "AYE_KEY_FILES";
/// All of these variables.
pub(crate) const VARIABLES: [&str; 3] = [FOLDER, OWN_PATHS, KEY_FILES];

/// Returns the paths in a variable of the environment.
pub(super) fn listed_paths(variable: &str) -> Vec<PathBuf> {
    let list = std::env::var_os(variable).unwrap_or_default();
    std::env::split_paths(&list).filter(|path| path.is_absolute()).collect()
}

/// Writes the files of a script over earlier versions of them, and returns the folder with links resolved.
pub(crate) fn write_script_files(script: &Script, folder: &Path) -> Result<PathBuf> {
    let write_error = |path: &Path, error: std::io::Error| {
        let path = path.display();
        anyhow::anyhow!("Cannot write the project of the script: {path}: {error}. Set AYE_HOME to a writable folder.")
    };
    fs::create_dir_all(folder).map_err(|error| write_error(folder, error))?;
    for (path, text) in &script.files {
        let path = folder.join(path);
        let created = path.parent().map_or(Ok(()), fs::create_dir_all);
        created.and_then(|()| fs::write(&path, text)).map_err(|error| write_error(&path, error))?;
    }
    Ok(folder.canonicalize()?)
}
