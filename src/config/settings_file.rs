//! Settings files that are replaced atomically and readable only by their owner.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// Read and write for the owner only.
const OWNER_ONLY: u32 = 0o600;

/// Reads a text file. A missing file is empty.
pub fn read_or_empty(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if is_missing(&error) => Ok(String::new()),
        read => read,
    }
}

/// Returns whether the file does not exist, or one of its parent directories is not a directory.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a text file of at most `longest` bytes. Returns `None` if it does not exist, and an error text if it cannot be
/// read, is longer, or is not a regular file. Never blocks on a pipe.
pub fn read_bounded_text(path: &Path, longest: u64) -> Result<Option<String>, String> {
    let unread = |error: io::Error| format!("the file cannot be read ({error})");
    let file = match File::options().read(true).custom_flags(NONBLOCK).open(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        opened => opened.map_err(unread)?,
    };
    let kind = file.metadata().map_err(unread)?;
    if !kind.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > longest {
        let most = if longest < 1 << 20 { format!("{} KiB", longest >> 10) } else { format!("{} MB", longest >> 20) };
        return Err(format!("the file is longer than {most}"));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("line {line} is not text in UTF-8")
    })
}

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// Restricts the permissions of a file to its owner. A missing file is ignored.
pub fn restrict_permissions(path: &Path) -> io::Result<()> {
    let file = match File::open(path) {
        Err(error) if is_missing(&error) => return Ok(()),
        opened => opened?,
    };
    if file.metadata()?.mode() & 0o777 != OWNER_ONLY {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    }
    Ok(())
}

/// Prefix and number of random characters of temporary file names. They match the temporary files of sessions, so that
/// a later start removes a file left behind by a killed process. Such a file may contain a key.
const TEMPORARY_NAME: (&str, usize) = (".half-", 8);

/// Replaces the file atomically. If the path is a symlink, as in dotfile repositories, its target is replaced and the
/// link is kept.
pub fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    replace_file_with(path, |file| file.write_all(text.as_bytes()))
}

/// Replaces the file with what `write` writes. If that fails, the old file stays unchanged and nothing else remains.
fn replace_file_with(path: &Path, write: impl FnOnce(&mut NamedTempFile) -> io::Result<()>) -> io::Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY_NAME.0)
        .rand_bytes(TEMPORARY_NAME.1)
        .permissions(Permissions::from_mode(OWNER_ONLY))
        .tempfile_in(folder)?;
    write(&mut file)?;
    file.as_file().set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    file.as_file().sync_all()?;
    file.persist(real)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn r24_a_full_disk_leaves_only_the_unchanged_old_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("rules.toml");
        replace_file(&path, "old").unwrap();
        let error = replace_file_with(&path, |file| {
            file.write_all(b"ne")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no temporary file remains");
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
