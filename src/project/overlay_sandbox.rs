//! Runs the commands of a dry run in the overlay sandbox, in which they change nothing live and see nothing that a live
//! session would ask about.
//!
//! aye starts itself as `aye guard --stage …` (the `namespace_entry` module, which leaves the system's namespaces), and
//! that process starts aye again as `aye guard --on-stage …`: the first process of the new namespaces. It builds the
//! overlay sandbox and guards the command inside it. When it exits, the kernel kills all remaining processes and
//! removes all mounts.
//!
//! The overlay sandbox has its own root ([`View::Hidden`]). The root contains the project with the overlay mounted over
//! it, the system's programs and libraries, toolchains, the paths in `dry_run.read`, and nothing else: the home is an
//! empty folder, and project files that may hold secrets cannot be opened. `/tmp` starts empty and is kept for the
//! session. Paths in `shell.write` have an overlay. Writes anywhere else fail as they do live, or are kept as well if
//! `dry_run.outside` is set. After the user approved a call, the whole disk is visible, read-only ([`View::Live`]).
//! Both views have only their own loopback network, no terminal, no devices except harmless ones such as `/dev/null`,
//! and none of aye's own files. The sandbox of [`super::sandbox`] applies inside as well.
//!
//! Files written outside the project are kept in one tree by their absolute path: `outside/upper` in the overlay's
//! folder.

mod command_view;
mod git_identity;
mod git_secrets;
#[cfg(target_os = "linux")]
mod masks;
#[cfg(target_os = "linux")]
mod mount_calls;
#[cfg(target_os = "linux")]
pub mod namespace_entry;
#[cfg(target_os = "linux")]
mod namespace_mounts;
mod new_secret_check;
#[cfg(target_os = "linux")]
mod overlay_mounts;
mod overlay_spec;
#[cfg(target_os = "linux")]
mod resource_limits;
#[cfg(target_os = "linux")]
mod root_file_system;
pub(super) mod setup_error;
mod tool_settings;
mod toolchains;

pub use command_view::{DisclosedPaths, View};
pub use overlay_spec::{IN_OVERLAY_ARGUMENT, OVERLAY_ARGUMENT, OverlaySpec};
pub use setup_error::{SetupError, SetupStep};

use super::Error;
use super::environment::with_overlay_settings;
use super::guard::lifeline::{Report, send_report};
use super::output::CommandProgress;
use super::rehearsal::{Rehearsal, Snapshot};
use super::sandbox::{SandboxError, SandboxSpec};
use super::sensitive_files::{Withheld, is_only_name};
use super::shell::{CommandOutcome, Shell};
use crate::chat::CommandLine;
use new_secret_check::NewSecretCheck;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs commands in the overlay sandbox. It cannot run a command anywhere else: every command goes through an
/// `OverlaySpec`, and a guard that cannot set up the overlay sandbox runs nothing.
pub struct OverlayShell {
    shell: Arc<Shell>,
    rehearsal: Arc<Rehearsal>,
    disclosed: DisclosedPaths,
    memory: Option<u64>,
    /// Paths withheld from the last command.
    withheld: Mutex<Arc<[Withheld]>>,
    /// Held while a command runs: two mounts of one overlay would not see each other's changes. The value is the lock
    /// file of an overlay whose changes are all recorded together with the previous state of the project.
    running_command: tokio::sync::Mutex<Option<LockIdentity>>,
}

/// Device, inode and change time of the lock file. The change time is needed because inodes are reused at once.
type LockIdentity = (u64, u64, i64, i64);

/// Execution of the commands of a dry run.
#[derive(Clone)]
pub enum CommandRehearsal {
    /// They run in the overlay sandbox.
    Sandboxed(Arc<OverlayShell>),
    /// They do not run; their results are simulated. The value is the reason, a text that follows “no overlay sandbox:
    /// ”.
    Simulated(Arc<str>),
}

/// Bytes. A disk with less free space counts as full.
const MIN_FREE_BYTES: u64 = 64 << 10;
/// Time limit for testing the overlay sandbox. On a very busy machine a few milliseconds can become seconds.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

impl OverlayShell {
    /// Creates the runner for this rehearsal's overlay. `shell` supplies the environment of the commands and the paths
    /// closed to them.
    pub fn new(shell: Arc<Shell>, rehearsal: Arc<Rehearsal>) -> Self {
        let (disclosed, withheld) = (DisclosedPaths::default(), Mutex::new(Arc::from([])));
        Self { shell, rehearsal, disclosed, memory: None, withheld, running_command: tokio::sync::Mutex::default() }
    }

    /// Sets the paths outside the project that commands may read and write.
    pub fn with_disclosed(self, disclosed: DisclosedPaths) -> Self {
        Self { disclosed, ..self }
    }

    /// Limits the memory of a command and all processes it starts, in bytes.
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Runs a command to completion like `Shell::run_command`, but only in the overlay sandbox. Afterwards its
    /// changes to the project are in the overlay.
    pub async fn run_in_overlay(
        &self,
        line: &CommandLine,
        view: View,
        progress: &(dyn Fn(CommandProgress<'_>) + Send + Sync),
    ) -> Result<CommandOutcome, Error> {
        self.run_recorded(line, view, &[], progress).await
    }

    /// Runs a command with [`View::Hidden`] plus read access to these project files (relative paths), although they may
    /// hold secrets. A file that has other names or is a link stays closed.
    pub async fn run_with_open_files(
        &self,
        line: &CommandLine,
        files: &[PathBuf],
        progress: &(dyn Fn(CommandProgress<'_>) + Send + Sync),
    ) -> Result<CommandOutcome, Error> {
        self.run_recorded(line, View::Hidden, files, progress).await
    }

    async fn run_recorded(
        &self,
        line: &CommandLine,
        view: View,
        files: &[PathBuf],
        progress: &(dyn Fn(CommandProgress<'_>) + Send + Sync),
    ) -> Result<CommandOutcome, Error> {
        let mut turn = self.running_command.lock().await;
        let noted = turn.take();
        let noted = self.with_rehearsal(move |play| prepare_overlay(play, noted)).await.unwrap_or_default();
        self.record_view(line, view).await?;
        let ran = self.run_with_view(line, view, files, progress).await;
        // The overlay may have been discarded before the command started.
        let still_noted = self.record_view(line, view).await;
        let changed = self.with_rehearsal(move |play| merge_changes(play, noted)).await.map(|(noted, changed)| {
            *turn = noted;
            changed
        });
        match ran {
            // A full disk does not mean that there is no overlay sandbox: the next command may get one.
            Err(Error::OverlaySandboxFailed(why)) if why.is_disk_full() => Err(Error::OverlayFull(line.folder.clone())),
            Ok(ran) => still_noted.map(|()| CommandOutcome { changed_paths: changed.unwrap_or_default(), ..ran }),
            ran => ran,
        }
    }

    /// Records in the overlay that a command sees the whole disk, if `view` is [`View::Live`].
    async fn record_view(&self, line: &CommandLine, view: View) -> Result<(), Error> {
        if view != View::Live {
            return Ok(());
        }
        let crashed = || Err(std::io::Error::other("the record could not be written"));
        let noted = self.with_rehearsal(Rehearsal::record_live_view).await.unwrap_or_else(crashed);
        noted.map_err(|source| Error::in_overlay(&line.folder, source))
    }

    /// Accesses the overlay outside the async threads. Returns `None` if `look` panicked.
    async fn with_rehearsal<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Rehearsal) -> T + Send + 'static,
    ) -> Option<T> {
        let play = self.rehearsal.clone();
        tokio::task::spawn_blocking(move || look(&play)).await.ok()
    }

    /// Returns whether the disk that holds the overlay is full.
    pub fn is_full(&self) -> bool {
        let disk = rustix::fs::statvfs(self.rehearsal.overlay_folder());
        // File systems without a limit on the number of files report 0 files.
        let full = |disk: rustix::fs::StatVfs| {
            disk.f_bavail.saturating_mul(disk.f_frsize) < MIN_FREE_BYTES || (disk.f_files > 0 && disk.f_favail < 8)
        };
        disk.is_ok_and(full)
    }

    /// Runs the command with everything that `view` discloses.
    async fn run_with_view(
        &self,
        line: &CommandLine,
        view: View,
        files: &[PathBuf],
        progress: &(dyn Fn(CommandProgress<'_>) + Send + Sync),
    ) -> Result<CommandOutcome, Error> {
        let (shell, mut disclosed, seen) = (self.shell.clone(), self.disclosed.clone(), line.clone());
        let files = files.iter().map(|file| line.folder.join(file));
        disclosed.read.extend(files.filter(|file| is_only_name(file)));
        let layer = self.rehearsal.overlay_folder().to_owned();
        let determine = move || command_view::determine_view(&shell, &layer, &seen, view, &disclosed);
        let crashed = |error| Error::Io { path: line.folder.clone(), source: std::io::Error::other(error) };
        let command_view::CommandView { setting, environment, withheld, masked } =
            tokio::task::spawn_blocking(determine).await.map_err(crashed)?;
        *self.withheld.lock().unwrap_or_else(PoisonError::into_inner) = withheld.into();
        let (words, bytes) = OverlaySpec { memory: self.memory, ..setting }.to_arguments(OVERLAY_ARGUMENT);
        let (shell, play, folder) = (self.shell.clone(), self.rehearsal.clone(), line.folder.clone());
        let examination = masked.map(|masked| NewSecretCheck::start_check(masked, shell, play, folder));
        let ran = self
            .shell
            .with_environment(with_overlay_settings(environment))
            .run_guarded(line, words, std::future::ready(Ok(bytes)), progress)
            .await;
        let Some(examination) = examination else { return ran };
        match tokio::task::spawn_blocking(|| examination.finish_check()).await.map_err(crashed)? {
            None => ran,
            Some(found) => Err(found),
        }
    }

    /// Returns the paths withheld from the last command.
    pub fn last_withheld(&self) -> Arc<[Withheld]> {
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// State of the overlay before a command.
#[derive(Default)]
struct OverlayBefore {
    /// The overlay's lock file, if all changes in it are recorded.
    recorded: Option<LockIdentity>,
    /// Snapshot of the overlay, if the command writes in it directly.
    snapshot: Option<Snapshot>,
}

/// Creates the overlay, so that the original state of the project's folder is recorded, and merges the changes of an
/// earlier command. If that fails, setting up the overlay sandbox reports the reason. A killed command or an older
/// version may have left unrecorded changes, so everything is recorded unless `noted` shows that this was done.
fn prepare_overlay(play: &Rehearsal, noted: Option<LockIdentity>) -> OverlayBefore {
    let _ = play.prepare_overlay();
    play.take_changed();
    let lock = lock_identity(play);
    let is_noted = (noted.is_some() && noted == lock && !play.take_unrecorded()) || play.record_origins().is_ok();
    OverlayBefore { recorded: lock.filter(|_| is_noted), snapshot: play.snapshot_inside() }
}

/// Merges the changes of a command, records the previous state of the project at their paths, and returns the changed
/// paths. If the overlay's disk is full, this is tried again before the next command; a path that changed in the
/// project in the meantime is then a conflict.
fn merge_changes(play: &Rehearsal, before: OverlayBefore) -> (Option<LockIdentity>, Vec<PathBuf>) {
    let OverlayBefore { recorded: noted, snapshot: marks } = before;
    if let Some(marks) = marks {
        // Read the changes first: a file tool may write as soon as the command has ended.
        let changed = play.changed_since(&marks);
        return (noted.filter(|_| play.record_origins().is_ok()), changed);
    }
    let merged = play.merge_pending_soon();
    let is_noted = merged.is_ok() && !play.take_unrecorded() && lock_identity(play) == noted;
    (noted.filter(|_| is_noted), play.take_changed())
}

/// Returns the identity of the overlay's lock file.
fn lock_identity(play: &Rehearsal) -> Option<LockIdentity> {
    use std::os::unix::fs::MetadataExt;
    let meta = play.overlay_folder().join("lock").symlink_metadata().ok()?;
    Some((meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

/// Tests the overlay sandbox over `project` with a temporary overlay in `beside`, or in its nearest existing parent
/// folder, which is left unchanged. `program` is the path of aye. Blocks for about 20 ms.
///
/// # Errors
/// The reason why there is no overlay sandbox, as a text that follows “no overlay sandbox: ”.
pub fn test_overlay_sandbox(program: &Path, project: &Path, beside: &Path) -> Result<(), String> {
    let trial = || -> std::io::Result<Option<Report>> {
        let beside = beside.ancestors().find(|folder| folder.is_dir()).unwrap_or(beside);
        let layer = tempfile::Builder::new().prefix("trial-").tempdir_in(beside)?;
        let project = project.canonicalize()?;
        let at = layer.path().canonicalize()?;
        let line = CommandLine { folder: project.clone(), ..CommandLine::default() };
        let shell = Shell::new(program.to_owned());
        // The test command reads no project files, so nothing is masked.
        let setting = command_view::create_spec(&shell, &at, &line, View::Hidden, &DisclosedPaths::default());
        let (words, bytes) = setting.to_arguments(OVERLAY_ARGUMENT);
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(TEST_TIMEOUT))?;
        let mut command = Command::new(program);
        command.arg("guard").args(words).args(["--", "true"]).current_dir(project);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut usher = command.spawn()?;
        drop(command);
        // If the process has already exited, reading its report below notices that.
        let _ = ours.write_all(&bytes);
        let mut report_bytes = Vec::new();
        let read_result = ours.read_to_end(&mut report_bytes);
        let _ = ours.shutdown(Shutdown::Both);
        drop(ours);
        usher.wait()?;
        super::rehearsal::remove_overlay(layer.path())?;
        // A process that failed before it read the list resets the connection after it sent its report.
        Report::from_bytes(&report_bytes).map_or_else(|| read_result.map(|_| None), |report| Ok(Some(report)))
    };
    match trial() {
        Ok(Some(Report::Exit(0))) => Ok(()),
        Ok(Some(Report::OverlaySandboxFailed(why))) => Err(why.to_string()),
        Ok(Some(Report::SandboxFailed(_))) => Err("its inner sandbox could not be set up".to_owned()),
        Ok(Some(Report::Exit(_) | Report::Signal(_) | Report::Failed(_)) | None) => {
            Err("its test command did not finish".to_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(format!("its test command did not finish within {} s", TEST_TIMEOUT.as_secs()))
        }
        Err(error) => Err(format!("it could not be tested ({error})")),
    }
}

/// Sets up the overlay sandbox in the first process of its namespaces, and returns the limits of the command in it.
pub(super) fn set_up(setting: &OverlaySpec) -> Result<SandboxSpec, SetupError> {
    #[cfg(target_os = "linux")]
    return namespace_mounts::set_up_mounts(setting);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = setting;
        Err(SetupError { step: SetupStep::Namespaces, errno: 0 })
    }
}

/// Applies the sandbox inside the overlay sandbox to this thread.
pub(super) fn apply_sandbox(confines: &SandboxSpec) -> Result<(), SandboxError> {
    #[cfg(target_os = "linux")]
    return confines.apply_in_overlay();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = confines;
        Err(SandboxError::FileRules)
    }
}

/// Kills everything in the overlay sandbox as soon as it exceeds its limits, and appends the reason to the output.
pub(super) fn start_limit_watch(folder: PathBuf, memory: Option<u64>) {
    #[cfg(target_os = "linux")]
    std::thread::spawn(move || {
        let why = resource_limits::watch_limits(&folder, memory);
        let _ = writeln!(std::io::stdout(), "\n[stopped by the limits of the dry run: {why}]");
        send_report(Report::Signal(9));
        // When its first process exits, the namespace ends and the kernel kills everything in it.
        std::process::exit(137);
    });
    #[cfg(not(target_os = "linux"))]
    let _ = (folder, memory);
}
