//! The program `aye-reader` in the folder of aye, as it was when aye started.
//!
//! It runs without a sandbox, so a command of the model that may write its folder, such as the project that aye was built in, must
//! not be able to replace it. On Linux, a program that this user can write is therefore run from a sealed copy in memory, and
//! any program only if it has not changed since the start. Other systems run it by its path, if it has not changed.

use crate::chat::Digest;
use crate::project::change_times;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
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
    /// `None` if it was missing, or could not be read for its digest.
    stamp: Option<Stamp>,
    /// Digest of the content, if this user can write it and the stamp does not tell every change.
    digest: Option<Digest>,
}

/// Identity of a file and the time of its last change, which no user can set. A new name for the same file changes it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

/// A program that can be started as long as this value exists.
pub(super) struct RunnableReader {
    /// What to execute.
    pub(super) path: PathBuf,
    /// Where it was found.
    pub(super) folder: String,
    _opened: Option<OwnedFd>,
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
        Some(Self::remember(path))
    }

    fn remember(path: PathBuf) -> Self {
        let metadata = path.metadata().ok();
        // Other systems run it by its path, where a digest would not help.
        let needs_digest = cfg!(target_os = "linux")
            && metadata
                .as_ref()
                .is_some_and(|metadata| may_write(&path, metadata) && !change_times::tells_content(&path));
        let digest = if needs_digest { std::fs::read(&path).ok().map(|bytes| Digest::of_bytes(&bytes)) } else { None };
        // Without a digest that is needed, no program is the same.
        let stamp = metadata.filter(|_| digest.is_some() || !needs_digest).as_ref().map(Stamp::new);
        Self { stamp, digest, path }
    }

    fn open(&self) -> Result<RunnableReader, String> {
        let folder = self.path.parent().unwrap_or(&self.path).display().to_string();
        let changed = || format!("the program {READER} in {folder} changed since aye started; start aye again");
        let unusable = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => format!("the program {READER} is missing in {folder}; install aye again"),
            _ => format!("the program {READER} cannot be started: {error}"),
        };
        let is_same = |metadata: std::io::Result<Metadata>| {
            metadata.is_ok_and(|metadata| Some(Stamp::new(&metadata)) == self.stamp)
        };
        let metadata = self.path.metadata().map_err(unusable)?;
        if Some(Stamp::new(&metadata)) != self.stamp {
            return Err(changed());
        }
        // It may have been replaced by a pipe, which must not block.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut file = File::options().read(true).custom_flags(flags).open(&self.path).map_err(unusable)?;
        if !is_same(file.metadata()) {
            return Err(changed());
        }
        if cfg!(not(target_os = "linux")) {
            return Ok(RunnableReader { path: self.path.clone(), folder, _opened: None });
        }
        let opened = if may_write(&self.path, &metadata) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(unusable)?;
            // Whoever wrote to it while it was read changed its time too.
            let is_original = self.digest.as_ref().is_none_or(|digest| *digest == Digest::of_bytes(&bytes));
            if !is_same(file.metadata()) || !is_original {
                return Err(changed());
            }
            copy_to_memory(&bytes).map_err(|error| {
                format!(
                    "this system runs no program from memory ({error}), and {READER} in {folder} is not safe from changes; \
                     install aye where only the administrator can write"
                )
            })?
        } else {
            file.into()
        };
        let path = Path::new("/proc/self/fd").join(opened.as_raw_fd().to_string());
        Ok(RunnableReader { path, folder, _opened: Some(opened) })
    }
}

impl Stamp {
    fn new(metadata: &Metadata) -> Self {
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Self { device: metadata.dev(), inode: metadata.ino(), changed }
    }
}

/// Returns whether this user can replace or change the file, also after a change of its mode.
fn may_write(path: &Path, metadata: &Metadata) -> bool {
    let may_write = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    let owner = rustix::process::geteuid().as_raw();
    let is_owned = |folder: &Path| folder.metadata().is_ok_and(|folder| folder.uid() == owner);
    metadata.uid() == owner
        || may_write(path)
        || path.ancestors().skip(1).any(|folder| may_write(folder) || is_owned(folder))
}

/// Copies a program to memory that cannot be written any more.
#[cfg(target_os = "linux")]
fn copy_to_memory(program: &[u8]) -> std::io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::io::Write;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = match memfd_create(READER, flags | MemfdFlags::EXEC) {
        // Linux before 6.3 does not know the flag for memory that is executed.
        Err(rustix::io::Errno::INVAL) => memfd_create(READER, flags)?,
        memory => memory?,
    };
    let mut copy = File::from(memory);
    copy.write_all(program)?;
    fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(copy.into())
}

#[cfg(not(target_os = "linux"))]
fn copy_to_memory(_: &[u8]) -> std::io::Result<OwnedFd> {
    Err(ErrorKind::Unsupported.into())
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
        ReaderProgram::remember(path.to_owned())
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
    fn what_the_time_does_not_tell_the_digest_tells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(READER);
        write_program(&path, "first");
        let digest = Some(Digest::of_bytes(b"other content at the start"));
        let program = ReaderProgram { digest, ..remember(&path) };
        assert!(program.open().err().unwrap().contains("changed since aye started"));
    }

    #[test]
    fn a_pipe_in_its_place_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(READER);
        write_program(&path, "first");
        let program = remember(&path);
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(program.open().err().unwrap().contains("changed since aye started"));
    }

    #[test]
    fn a_program_runs_from_what_was_opened() {
        let program = remember(&Path::new("/bin/true").canonicalize().unwrap());
        let opened = program.open().unwrap();
        assert!(opened.path.starts_with("/proc/self/fd"), "{}", opened.path.display());
        assert!(Command::new(&opened.path).status().unwrap().success());
    }
}
