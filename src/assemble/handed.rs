//! Writes a file for the user: atomically, readable only by them, and never over another file unless forced.

use super::Mistake;
use crate::store::private;
use anyhow::Result;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Checks the path before any work is done. `instead` says what to do if the file exists.
///
/// # Errors
/// A `UsageError`.
pub(super) fn may_write(file: &Path, force: bool, instead: &str) -> Result<()> {
    match std::fs::symlink_metadata(file) {
        Ok(about) if !about.is_file() => {
            Err(Mistake(format!("{} exists and is not a regular file", file.display())).into())
        }
        Ok(_) if !force => Err(Mistake(format!("{} already exists; {instead}", file.display())).into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Mistake(format!("{}: {error}", file.display())).into()),
    }
}

/// Writes the file. One that appeared meanwhile is kept unless `force` is set.
///
/// # Errors
/// One sentence with the file's name.
pub(super) fn write(file: &Path, text: &str, force: bool) -> Result<()> {
    let written = std::path::absolute(file).and_then(|file| match force {
        true => private::replace(&file, text.as_bytes()),
        false => private::make(&file, |out| out.write_all(text.as_bytes())),
    });
    written.map_err(|error| anyhow::anyhow!("Cannot write {}: {}", file.display(), why(&error)))
}

/// Returns the reason without the name of the temporary file.
fn why(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "its folder does not exist".to_owned(),
        ErrorKind::PermissionDenied => "its folder is not writable".to_owned(),
        ErrorKind::AlreadyExists => "it already exists".to_owned(),
        kind => kind.to_string(),
    }
}
