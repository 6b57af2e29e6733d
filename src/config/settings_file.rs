//! Settings files that are replaced atomically and readable only by their owner.

use super::problem::line_at;
use crate::store::private_files;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::string::FromUtf8Error;

/// Reads a text file. A missing file is empty.
pub fn read_or_empty(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if is_missing(&error) => Ok(String::new()),
        result => result,
    }
}

/// Returns whether the error means that the file does not exist, or that a parent in its path is not a directory.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a text file of at most `max_bytes`. Returns `None` if it does not exist, and an error text if it cannot be
/// read, is longer, or is not a regular file. Never blocks on a pipe.
pub fn read_bounded_text(path: &Path, max_bytes: u64) -> Result<Option<String>, String> {
    let read_error = |error: io::Error| format!("the file cannot be read ({error})");
    let file = match File::options().read(true).custom_flags(NONBLOCK).open(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        result => result.map_err(read_error)?,
    };
    let metadata = file.metadata().map_err(read_error)?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() as u64 > max_bytes {
        let limit =
            if max_bytes < 1 << 20 { format!("{} KiB", max_bytes >> 10) } else { format!("{} MB", max_bytes >> 20) };
        return Err(format!("the file is longer than {limit}"));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| format!("line {} is not text in UTF-8", invalid_line(&error)))
}

/// Returns the line, counted from 1, of the first byte that is not UTF-8.
pub(super) fn invalid_line(error: &FromUtf8Error) -> usize {
    line_at(error.as_bytes(), error.utf8_error().valid_up_to())
}

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// Restricts the permissions of a file to its owner. A missing file is ignored.
pub fn restrict_permissions(path: &Path) -> io::Result<()> {
    let file = match File::open(path) {
        Err(error) if is_missing(&error) => return Ok(()),
        result => result?,
    };
    private_files::remove_others_access(&file)
}

/// Replaces the file atomically. If the path is a symlink, as in dotfile repositories, its target is replaced and the
/// link is kept.
pub fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    private_files::replace(&target, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_symlinked_settings_file_stays_a_symlink() {
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real.toml"), home.path().join("config.toml"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace_file(&link, "new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_missing_file_is_empty_and_its_directory_is_created() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b.toml");
        assert_eq!(read_or_empty(&path).unwrap(), "");
        replace_file(&path, "x").unwrap();
        assert_eq!(read_or_empty(&path).unwrap(), "x");
    }
}
