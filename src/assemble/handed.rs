//! A file that is handed to the person: whole or not at all, for them alone, and never over another unasked.

use super::Mistake;
use crate::store::private;
use anyhow::Result;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Says what is wrong with a place before anything is done for it. `instead` is what to do where a file is there.
///
/// # Errors
/// A [`Mistake`].
pub(super) fn may_write(file: &Path, force: bool, instead: &str) -> Result<()> {
    match std::fs::symlink_metadata(file) {
        Ok(about) if !about.is_file() => {
            Err(Mistake(format!("{} is there and is no plain file", file.display())).into())
        }
        Ok(_) if !force => Err(Mistake(format!("{} is there already; {instead}", file.display())).into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Mistake(format!("{}: {error}", file.display())).into()),
    }
}

/// Writes it; one that came to be there meanwhile stays, unless it is to be written over.
///
/// # Errors
/// One sentence with the file's name.
pub(super) fn write(file: &Path, text: &str, force: bool) -> Result<()> {
    let written = std::path::absolute(file).and_then(|file| match force {
        true => private::replace(&file, text.as_bytes()),
        false => private::make(&file, |out| out.write_all(text.as_bytes())),
    });
    written.map_err(|error| anyhow::anyhow!("{} could not be written: {}", file.display(), why(&error)))
}

/// Why, without the name of a file that the person never saw.
fn why(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such folder".to_owned(),
        ErrorKind::PermissionDenied => "its folder cannot be written".to_owned(),
        ErrorKind::AlreadyExists => "it is there already".to_owned(),
        kind => kind.to_string(),
    }
}
