//! Files and folders that nobody but their owner can read, whatever the umask says.

use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// The owner alone reads and writes.
const FILE: u32 = 0o600;
/// The owner alone looks inside.
const FOLDER: u32 = 0o700;

/// Makes the folder, and those above it where they are missing; one that others can look into is tightened.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)?;
    if fs::metadata(path)?.mode() & 0o777 != FOLDER {
        fs::set_permissions(path, Permissions::from_mode(FOLDER))?;
    }
    Ok(())
}

/// Opens a file for adding at its end. With `new` it must not exist yet; without, a missing one is an error. A
/// link in its place is never followed, and a pipe never waited for; a file that others can read is tightened.
pub fn open_append(path: &Path, new: bool) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(new)
        .mode(FILE)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    tighten(&file)?;
    Ok(file)
}

/// Opens a file to read it. A link in its place is never followed, and a pipe never waited for; nothing of the file
/// changes, not even its rights.
pub fn open_read(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    Ok(file)
}

/// Takes every right from everybody but the owner, where there are such rights.
pub fn tighten(file: &File) -> io::Result<()> {
    if file.metadata()?.mode() & 0o777 != FILE {
        file.set_permissions(Permissions::from_mode(FILE))?;
    }
    Ok(())
}

/// Writes the whole file, or leaves the old one as it was; it is on the disk when this returns.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, true)
}

/// The same without waiting for the disk: it outlives the program, but perhaps not a loss of power.
pub fn replace_soon(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, false)
}

/// Makes a file that was not there: whole once it is, and on the disk when this returns.
pub fn make(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = beside(path)?;
    write(file.as_file_mut())?;
    tighten(file.as_file())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// A file without a name that means anything, in the same folder.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let parent = path.parent().unwrap_or(Path::new("."));
    tempfile::Builder::new().permissions(Permissions::from_mode(FILE)).tempfile_in(parent)
}

fn put(path: &Path, bytes: &[u8], waits: bool) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(bytes)?;
    tighten(file.as_file())?;
    if waits {
        file.as_file().sync_all()?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn what_others_could_read_is_tightened() {
        let home = tempfile::tempdir().unwrap();
        let (inside, file) = (home.path().join("a/b"), home.path().join("a/b/file"));
        folder(&inside).unwrap();
        fs::set_permissions(&inside, Permissions::from_mode(0o755)).unwrap();
        folder(&inside).unwrap();
        assert_eq!(mode(&inside), 0o700);
        fs::write(&file, "x").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        open_append(&file, false).unwrap();
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        replace(&file, b"y").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o600, b"y".to_vec()));
    }

    #[test]
    fn a_pipe_in_place_of_a_file_is_refused_at_once() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(open_append(&pipe, false).unwrap_err().to_string(), "it is not a file");
    }

    #[test]
    fn a_link_in_place_of_a_file_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (target, link) = (home.path().join("target"), home.path().join("link"));
        fs::write(&target, "x").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(open_append(&link, false).is_err());
        assert!(open_append(&link, true).is_err());
    }
}
