//! The program `aye-reader` in the folder of aye, as it was when aye started.
//!
//! It runs without a sandbox, so a command of the model that may write its folder, such as the project that aye was built in, must
//! not be able to replace it. On Linux a program that this user can write is therefore run from a sealed copy in memory, and
//! only if it has not changed since the start. Other systems run it as it is, in the same case only if it has not changed.

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of the program.
pub(super) const READER: &str = "aye-reader";

/// The program when aye started.
static AT_START: OnceLock<Option<ReaderProgram>> = OnceLock::new();

/// Path and state of the program.
#[derive(Debug, Clone)]
struct ReaderProgram {
    path: PathBuf,
    /// `None` if it was missing.
    stamp: Option<Stamp>,
}

/// Identity of a file and the time of its last change, which no user can set. A new name for the same file changes it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

/// A program that can be started; an open copy lasts as long as this value.
pub(super) struct RunnableReader {
    /// What to execute.
    pub(super) path: PathBuf,
    /// Where it was found.
    pub(super) folder: String,
    _copy: Option<OwnedFd>,
}

/// Remembers the program as it is now. Called when aye starts; costs one look at the file.
pub fn remember_reader() {
    let _ = AT_START.set(ReaderProgram::find());
}

/// Returns the program if it is the one that was there when aye started.
///
/// # Errors
/// Why it cannot be started, worded to follow a colon.
pub(super) fn open_reader() -> Result<RunnableReader, String> {
    let at_start = AT_START.get_or_init(ReaderProgram::find).as_ref();
    at_start.ok_or_else(|| format!("the folder of the program {READER} is unknown"))?.open()
}

impl ReaderProgram {
    fn find() -> Option<Self> {
        let path = std::env::current_exe().ok()?.with_file_name(READER).with_extension(std::env::consts::EXE_EXTENSION);
        let stamp = path.metadata().ok().map(|metadata| Stamp::new(&metadata));
        Some(Self { path, stamp })
    }

    fn open(&self) -> Result<RunnableReader, String> {
        let folder = self.path.parent().unwrap_or(&self.path).display().to_string();
        let changed = || format!("the program {READER} in {folder} changed since aye started; start aye again");
        let unusable = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => format!("the program {READER} is missing in {folder}; install aye again"),
            _ => format!("the program {READER} cannot be started: {error}"),
        };
        let file = File::open(&self.path).map_err(unusable)?;
        let is_same = || file.metadata().is_ok_and(|metadata| Some(Stamp::new(&metadata)) == self.stamp);
        if !is_same() {
            return Err(changed());
        }
        if !may_write(&self.path) {
            return Ok(RunnableReader { path: self.path.clone(), folder, _copy: None });
        }
        let copy = copy_to_memory(&file).map_err(unusable)?;
        // Whoever wrote to it while it was copied changed its time too.
        if !is_same() {
            return Err(changed());
        }
        let path = match &copy {
            Some(copy) => Path::new("/proc/self/fd").join(copy.as_raw_fd().to_string()),
            None => self.path.clone(),
        };
        Ok(RunnableReader { path, folder, _copy: copy })
    }
}

impl Stamp {
    fn new(metadata: &std::fs::Metadata) -> Self {
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Self { device: metadata.dev(), inode: metadata.ino(), changed }
    }
}

/// Returns whether this user could replace or change the file.
fn may_write(path: &Path) -> bool {
    let may_write = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    may_write(path) || path.parent().is_some_and(may_write)
}

/// Copies a program to memory that cannot be written any more. `None` if the system has no such memory.
#[cfg(target_os = "linux")]
fn copy_to_memory(mut program: &File) -> std::io::Result<Option<OwnedFd>> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Linux before 6.3 does not know that programs must say what they execute.
    let memory = memfd_create(READER, flags | MemfdFlags::EXEC).or_else(|_| memfd_create(READER, flags))?;
    let mut copy = File::from(memory);
    std::io::copy(&mut program, &mut copy)?;
    fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(Some(copy.into()))
}

#[cfg(not(target_os = "linux"))]
fn copy_to_memory(_: &File) -> std::io::Result<Option<OwnedFd>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    fn write_program(path: &Path, word: &str) {
        std::fs::write(path, format!("#!/bin/sh\necho {word}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn remember(path: &Path) -> ReaderProgram {
        ReaderProgram { path: path.to_owned(), stamp: path.metadata().ok().map(|metadata| Stamp::new(&metadata)) }
    }

    #[test]
    fn a_program_that_changed_since_the_start_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(READER);
        let missing = remember(&path);
        assert!(missing.open().err().unwrap().contains("is missing in"));
        write_program(&path, "first");
        assert!(missing.open().err().unwrap().contains("changed since aye started"));
        let program = remember(&path);
        let opened = program.open().unwrap();
        assert_ne!(opened.path, path, "this user can write it, so a copy runs");
        // Written in place, with the old time of modification.
        let modified = path.metadata().unwrap().modified().unwrap();
        write_program(&path, "second");
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert!(program.open().err().unwrap().contains("changed since aye started"));
        // The copy keeps what was opened, and cannot be written.
        let copy = std::fs::read_to_string(&opened.path).unwrap();
        assert!(copy.contains("first"), "{copy}");
        assert!(std::fs::write(&opened.path, "third").is_err());
        // Replaced by another file.
        let program = remember(&path);
        write_program(&folder.path().join("other"), "third");
        std::fs::rename(folder.path().join("other"), &path).unwrap();
        assert!(program.open().err().unwrap().contains("changed since aye started"));
    }

    #[test]
    fn a_program_of_the_system_runs_as_it_is() {
        let path = Path::new("/bin/true").canonicalize().unwrap();
        if may_write(&path) {
            return;
        }
        let opened = remember(&path).open().unwrap();
        assert_eq!(opened.path, path);
        assert!(Command::new(&opened.path).status().unwrap().success());
    }
}
