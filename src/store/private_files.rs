//! Files and folders that only their owner can read, independent of the umask.

pub mod temporary_folder;

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Read and write for the owner only.
const FILE_MODE: u32 = 0o600;
/// Access for the owner only.
const FOLDER_MODE: u32 = 0o700;

/// Creates a folder and missing parents; tightens an existing one.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
    if fs::metadata(path)?.mode() & 0o777 != FOLDER_MODE {
        fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))?;
    }
    Ok(())
}

/// Opens an existing file for reading and appending. Does not follow a link or wait for a pipe; permissions of others
/// are removed.
pub fn open_append(path: &Path) -> io::Result<File> {
    let file = open_file(OpenOptions::new().read(true).append(true), path)?;
    remove_others_access(&file)?;
    Ok(file)
}

/// Creates a file for reading and appending. Fails if the path exists.
pub fn create_append(path: &Path) -> io::Result<File> {
    let file = open_file(OpenOptions::new().read(true).append(true).create_new(true).mode(FILE_MODE), path)?;
    remove_others_access(&file)?;
    Ok(file)
}

/// Like [`open_append`], for a file that may be missing.
pub fn open_or_create_append(path: &Path) -> io::Result<File> {
    let file = open_file(OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE), path)?;
    remove_others_access(&file)?;
    Ok(file)
}

/// Opens a file for reading. Does not follow a link or wait for a pipe, and changes nothing, not even permissions.
pub fn open_read(path: &Path) -> io::Result<File> {
    open_file(OpenOptions::new().read(true), path)
}

/// Opens a regular file without following a link or waiting for a pipe.
fn open_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path).map_err(explain_error)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other(NO_FILE)) }
}

/// Error for a folder, a pipe or a device.
const NO_FILE: &str = "it is not a file";

/// Replaces the system's errors for a link ("too many links") and a socket ("no such device").
fn explain_error(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::other("it is a symbolic link, which is not followed"),
        Some(Errno::ISDIR | Errno::NXIO) => io::Error::other(NO_FILE),
        Some(_) | None => error,
    }
}

/// Returns the content of a regular file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_read(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the content of a file; empty if it does not exist, is unreadable or is not a regular file.
pub fn read_or_empty(path: &Path) -> Vec<u8> {
    read_file(path).unwrap_or_default()
}

/// Returns the paths of a folder's entries, in any order. A missing folder counts as empty.
pub fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => Ok(entries?.flatten().map(|entry| entry.path()).collect()),
    }
}

/// Sets the mode to read and write for the owner only, if it is another one.
pub fn remove_others_access(file: &File) -> io::Result<()> {
    if file.metadata()?.mode() & 0o777 != FILE_MODE {
        file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    }
    Ok(())
}

/// Replaces a file atomically; it is on disk when this returns.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = write_temporary(path, |file| file.write_all(bytes))?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Like [`replace`], without waiting for the disk: it survives a crash of the program, but maybe not a power failure.
/// The returned file is locked for this process while open.
pub fn replace_soon(path: &Path, bytes: &[u8]) -> io::Result<File> {
    Ok(write_temporary(path, |file| file.write_all(bytes))?.persist(path)?)
}

/// Creates a new file atomically; it is on disk when this returns.
pub fn create_file(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let file = write_temporary(path, write)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// Prefix of temporary file names.
const TEMPORARY_PREFIX: &str = ".half-";
/// Number of random characters after the prefix.
const RANDOM_CHARS: usize = 8;
/// Age after which a temporary file counts as abandoned.
const MAX_TEMPORARY_AGE: Duration = Duration::from_secs(3600);

/// Creates a locked temporary file in the same folder.
fn temporary_file(path: &Path) -> io::Result<NamedTempFile> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).rand_bytes(RANDOM_CHARS);
    // Unlike `tempfile_in`, this adds no path to an error: the user knows the file by its own name.
    let file = builder.make_in(parent, |path| {
        OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
    })?;
    // On a file system without locks, only the age shows whether the file is still being written.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes abandoned temporary files of killed processes from a folder.
pub fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !has_random_suffix(&entry.file_name(), TEMPORARY_PREFIX) {
            continue;
        }
        let Ok(file) = open_read(&entry.path()) else { continue };
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = modified.and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age > MAX_TEMPORARY_AGE) && file.try_lock().is_ok() {
            // Leftovers are harmless.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns whether a name consists of the prefix and [`RANDOM_CHARS`] random characters.
fn has_random_suffix(name: &OsStr, prefix: &str) -> bool {
    let suffix = name.to_str().and_then(|name| name.strip_prefix(prefix)).unwrap_or_default();
    suffix.len() == RANDOM_CHARS && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Writes a temporary file next to this path. It is removed when it is dropped, and after a kill by
/// [`remove_abandoned`].
pub fn write_temporary(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<NamedTempFile> {
    let mut file = temporary_file(path)?;
    write(file.as_file_mut())?;
    remove_others_access(file.as_file())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn removes_permissions_of_others() {
        let home = tempfile::tempdir().unwrap();
        let (inside, file) = (home.path().join("a/b"), home.path().join("a/b/file"));
        create_folder(&inside).unwrap();
        fs::set_permissions(&inside, Permissions::from_mode(0o755)).unwrap();
        create_folder(&inside).unwrap();
        assert_eq!(mode(&inside), 0o700);
        fs::write(&file, "x").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        open_append(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        replace(&file, b"y").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o600, b"y".to_vec()));
    }

    #[test]
    fn rejects_pipe_without_waiting() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for path in [&pipe, home.path()] {
            assert_eq!(open_append(path).unwrap_err().to_string(), "it is not a file");
            assert_eq!(open_read(path).unwrap_err().to_string(), "it is not a file");
            assert_eq!(read_or_empty(path), b"");
        }
    }

    #[test]
    fn r56_removes_only_abandoned_temporary_files() {
        let home = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * MAX_TEMPORARY_AGE;
        let create_old_file = |name: &str| {
            let path = home.path().join(name);
            fs::write(&path, "x").unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
            path
        };
        let locked = temporary_file(&home.path().join("x")).unwrap();
        locked.as_file().set_modified(old).unwrap();
        let recent = temporary_file(&home.path().join("x")).unwrap().keep().unwrap();
        let abandoned = create_old_file(".half-abcd1234");
        let others = [
            create_old_file(".half-abcd"),
            create_old_file(".half-abcd123é"),
            create_old_file("01J.jsonl"),
            create_old_file(".half-abcd1234.toml"),
        ];
        let link = home.path().join(".half-abcd5678");
        std::os::unix::fs::symlink(&others[2], &link).unwrap();
        remove_abandoned(home.path());
        assert!(!abandoned.exists() && locked.path().exists() && recent.1.exists() && link.is_symlink());
        assert!(others.iter().all(|path| path.exists()));
        remove_abandoned(&home.path().join("none"));
        let mut count_during_write = None;
        let result = create_file(&home.path().join("y"), |_| {
            count_during_write = Some(fs::read_dir(home.path()).unwrap().count());
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(result.is_err());
        assert_eq!(
            count_during_write,
            Some(1 + fs::read_dir(home.path()).unwrap().count()),
            "the temporary file is removed"
        );
    }

    #[test]
    fn r24_a_full_disk_leaves_only_the_unchanged_old_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("rules.toml");
        replace(&path, b"old").unwrap();
        let fail_midway = |file: &mut File| {
            file.write_all(b"ne")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert_eq!(write_temporary(&path, fail_midway).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no temporary file remains");
    }

    #[test]
    fn r53_an_error_names_no_temporary_file() {
        let home = tempfile::tempdir().unwrap();
        for error in [
            replace(&home.path().join("none/01J.jsonl"), b"x").unwrap_err(),
            replace_soon(&home.path().join("none/01J.json"), b"x").unwrap_err(),
            create_file(&home.path().join("none/01J.jsonl"), |_| Ok(())).unwrap_err(),
        ] {
            assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        }
    }

    #[test]
    fn does_not_follow_a_link() {
        let home = tempfile::tempdir().unwrap();
        let (target, link) = (home.path().join("target"), home.path().join("link"));
        fs::write(&target, "x").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let error = open_append(&link).unwrap_err().to_string();
        assert_eq!(error, "it is a symbolic link, which is not followed");
        assert_eq!(open_read(&link).unwrap_err().to_string(), error);
        assert!(create_append(&link).is_err());
        assert_eq!((read_or_empty(&link), read_or_empty(&target)), (vec![], b"x".to_vec()));
    }
}
