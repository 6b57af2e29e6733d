//! Writes a file for the user: atomically, readable only by them, and never over another file unless forced. What a file
//! and a folder of files have in common: the check of the path, and the reasons why it cannot be written.

use crate::cli::{UsageError, bail_usage};
use crate::store::private_files;
use anyhow::Result;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Checks the path before any work is done. `advice` tells the user what to do if the file exists.
///
/// # Errors
/// A `UsageError` if something other than a regular file has this path, if the path cannot be checked, or if the file
/// exists and `force` is false.
pub(super) fn check_target(file: &Path, force: bool, advice: &str) -> Result<()> {
    let refuse = |reason: &str, advice: &str| -> anyhow::Error {
        UsageError(format!("Cannot write {}: {reason}. {advice}", file.display())).into()
    };
    match std::fs::symlink_metadata(file) {
        Ok(metadata) if !metadata.is_file() => Err(refuse("it exists and is not a regular file", "Name another file.")),
        Ok(_) if !force => Err(refuse("it already exists", advice)),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(refuse(&error.to_string(), "Check the path.")),
    }
}

/// Checks that nothing has the path of a new folder.
///
/// # Errors
/// A `UsageError` if something exists there, also an empty folder, or the path cannot be checked.
pub(super) fn check_new_folder(folder: &Path) -> Result<()> {
    match std::fs::symlink_metadata(folder) {
        Ok(_) => bail_usage!(
            "Cannot write the folder {}: it already exists. Name a new folder; --force replaces no folder.",
            folder.display()
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => bail_usage!("Cannot write the folder {}: {error}. Check the path.", folder.display()),
    }
}

/// Writes the file. One that appeared meanwhile is kept unless `force` is set.
///
/// # Errors
/// One sentence with the file's name.
pub(super) fn write_file(file: &Path, content: impl AsRef<[u8]>, force: bool) -> Result<()> {
    let result = std::path::absolute(file).and_then(|file| match force {
        true => private_files::replace(&file, content.as_ref()),
        false => private_files::create_file(&file, |out| out.write_all(content.as_ref())),
    });
    result.map_err(|error| {
        anyhow::anyhow!(
            "Cannot write {}: {}. Name another file, or correct this.",
            file.display(),
            describe_write_error(&error)
        )
    })
}

/// Returns the reason without the temporary name.
pub(super) fn describe_write_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "its parent folder does not exist".to_owned(),
        ErrorKind::PermissionDenied => "its parent folder is not writable".to_owned(),
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => "it already exists".to_owned(),
        kind => kind.to_string(),
    }
}
