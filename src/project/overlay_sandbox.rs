//! Runs the commands of a dry run in the overlay sandbox, in which they change nothing live and see nothing that a live
//! session would ask about.
//!
//! aye starts itself as `aye guard --overlay-sandbox …` (the `namespace_entry` module, which leaves the system's
//! namespaces), and that process starts aye again as `aye guard --in-overlay-sandbox …`: the first process of the new
//! namespaces. It builds the overlay sandbox and guards the command inside it. When it exits, the kernel kills all
//! remaining processes and removes all mounts.
//!
//! The overlay sandbox has its own root ([`View::WithoutSecrets`]). The root contains the project with the overlay
//! mounted over it, the system's programs and libraries, toolchains, the paths in `dry_run.read`, and nothing else: the
//! home is an empty folder, and project files that may hold secrets cannot be opened. `/tmp` starts empty and is kept
//! for the session. Paths in `shell.write` have an overlay. Writes anywhere else fail as they do live, or are kept as
//! well if `dry_run.outside` is set. After the user approved a call, the whole disk is visible, read-only
//! ([`View::Live`]). All views have only their own loopback network, no terminal, no devices except harmless ones such
//! as `/dev/null`, and none of aye's own files. The sandbox of [`super::sandbox`] applies inside as well.
//!
//! Files written outside the project are kept in one tree by their absolute path: `outside/upper` in the overlay's
//! folder.
//!
//! On other systems the sandbox cannot be set up: commands of a dry run get a simulated result, and nothing is tried.

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
use super::output::OnProgress;
use super::rehearsal::{Rehearsal, Snapshot};
use super::sandbox::SandboxSpec;
use super::sensitive_files::WithheldPath;
use super::shell::{CommandOutcome, Shell};
use crate::chat::CommandLine;
use new_secret_check::NewSecretCheck;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
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
    /// Memory limit of a command in bytes, if set.
    memory: Option<u64>,
    /// Paths withheld from the last command.
    withheld: Mutex<Arc<[WithheldPath]>>,
    /// Held while a command runs: two mounts of one overlay would not see each other's changes. The value identifies
    /// the overlay by its lock file. It is set only if the project's previous state is recorded for every change in it.
    running_command: tokio::sync::Mutex<Option<LockIdentity>>,
}

/// Device, inode and change time of the lock file. The change time is needed because inodes are reused at once.
type LockIdentity = (u64, u64, i64, i64);

/// Execution of the commands of a dry run.
#[derive(Clone)]
pub enum CommandRehearsal {
    /// They run in the overlay sandbox.
    Sandboxed(Arc<OverlayShell>),
    /// They do not run; their results are simulated. The value is the reason, which messages show after “no overlay
    /// sandbox”.
    Simulated(Arc<str>),
}

/// Free space in bytes below which a disk counts as full.
const MIN_FREE_BYTES: u64 = 64 << 10;
/// Number of further files below which a disk counts as full.
const MIN_FREE_FILES: u64 = 8;
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
        progress: OnProgress<'_>,
    ) -> Result<CommandOutcome, Error> {
        let mut recorded_lock = self.running_command.lock().await;
        let recorded = recorded_lock.take();
        let overlay_before =
            self.with_rehearsal(move |rehearsal| prepare_overlay(rehearsal, recorded)).await.unwrap_or_default();
        self.record_view(line, &view).await?;
        let result = self.run_with_view(line, &view, progress).await;
        // The overlay may have been discarded, together with the first record, before the command started.
        let record_result = self.record_view(line, &view).await;
        let changed_paths = self.with_rehearsal(move |rehearsal| merge_changes(rehearsal, overlay_before)).await.map(
            |(recorded, paths)| {
                *recorded_lock = recorded;
                paths
            },
        );
        match result {
            // A full disk does not mean that there is no overlay sandbox: the next command may get one.
            Err(Error::OverlaySandboxFailed(error)) if error.is_disk_full() => {
                Err(Error::OverlayFull(line.folder.clone()))
            }
            Ok(outcome) => {
                record_result.map(|()| CommandOutcome { changed_paths: changed_paths.unwrap_or_default(), ..outcome })
            }
            error => error,
        }
    }

    /// Records in the overlay that a command sees the whole disk, if `view` is [`View::Live`].
    async fn record_view(&self, line: &CommandLine, view: &View) -> Result<(), Error> {
        if *view != View::Live {
            return Ok(());
        }
        let panic_error = || Err(std::io::Error::other("the record could not be written"));
        let recorded = self.with_rehearsal(Rehearsal::record_live_view).await.unwrap_or_else(panic_error);
        recorded.map_err(|source| Error::in_overlay(&line.folder, source))
    }

    /// Accesses the overlay outside the async threads. Returns `None` if `operation` panicked.
    async fn with_rehearsal<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Rehearsal) -> T + Send + 'static,
    ) -> Option<T> {
        let rehearsal = self.rehearsal.clone();
        tokio::task::spawn_blocking(move || operation(&rehearsal)).await.ok()
    }

    /// Returns whether the disk that holds the overlay is full.
    pub fn is_full(&self) -> bool {
        let disk = rustix::fs::statvfs(self.rehearsal.overlay_folder());
        // File systems without a limit on the number of files report 0 files.
        let is_nearly_full = |disk: rustix::fs::StatVfs| {
            disk.f_bavail.saturating_mul(disk.f_frsize) < MIN_FREE_BYTES
                || (disk.f_files > 0 && disk.f_favail < MIN_FREE_FILES)
        };
        disk.is_ok_and(is_nearly_full)
    }

    /// Runs the command with everything that `view` discloses.
    async fn run_with_view(
        &self,
        line: &CommandLine,
        view: &View,
        progress: OnProgress<'_>,
    ) -> Result<CommandOutcome, Error> {
        let (shell, disclosed) = (self.shell.clone(), self.disclosed.clone());
        let (owned_line, view) = (line.clone(), view.clone());
        let overlay_folder = self.rehearsal.overlay_folder().to_owned();
        let determine = move || command_view::determine_view(&shell, &overlay_folder, &owned_line, &view, &disclosed);
        let to_error = |error| Error::Io { path: line.folder.clone(), source: std::io::Error::other(error) };
        let command_view::CommandView { spec, environment, withheld, masked } =
            tokio::task::spawn_blocking(determine).await.map_err(to_error)?;
        *self.withheld.lock().unwrap_or_else(PoisonError::into_inner) = withheld.into();
        let (arguments, bytes) = OverlaySpec { memory: self.memory, ..spec }.to_arguments(OVERLAY_ARGUMENT);
        let (shell, rehearsal, folder) = (self.shell.clone(), self.rehearsal.clone(), line.folder.clone());
        let secret_check = masked.map(|masked| NewSecretCheck::start_check(masked, shell, rehearsal, folder));
        let result = self
            .shell
            .with_environment(with_overlay_settings(environment))
            .run_guarded(line, arguments, std::future::ready(Ok(bytes)), progress)
            .await;
        let Some(secret_check) = secret_check else { return result };
        match tokio::task::spawn_blocking(|| secret_check.finish_check()).await.map_err(to_error)? {
            None => result,
            Some(error) => Err(error),
        }
    }

    /// Returns the paths withheld from the last command.
    pub fn last_withheld(&self) -> Arc<[WithheldPath]> {
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
/// version may have left unrecorded changes, so everything is recorded unless `recorded` shows that this was done.
fn prepare_overlay(rehearsal: &Rehearsal, recorded: Option<LockIdentity>) -> OverlayBefore {
    let _ = rehearsal.prepare_overlay();
    // Forget the paths changed so far: `merge_changes` must return only those of the next command.
    rehearsal.take_changed();
    let lock = lock_identity(rehearsal);
    let is_recorded =
        (recorded.is_some() && recorded == lock && !rehearsal.take_unrecorded()) || rehearsal.record_origins().is_ok();
    OverlayBefore { recorded: lock.filter(|_| is_recorded), snapshot: rehearsal.snapshot_inside() }
}

/// Merges the changes of a command and records the previous state of the project at their paths. Returns the overlay's
/// lock file if everything is recorded, and the changed paths. If the overlay's disk is full, recording is tried again
/// before the next command; a path that changed in the project in the meantime is then a conflict.
fn merge_changes(rehearsal: &Rehearsal, before: OverlayBefore) -> (Option<LockIdentity>, Vec<PathBuf>) {
    let OverlayBefore { recorded: recorded_lock, snapshot } = before;
    if let Some(snapshot) = snapshot {
        // Read the changes first: a file tool may write as soon as the command has ended.
        let changed = rehearsal.changed_since(&snapshot);
        return (recorded_lock.filter(|_| rehearsal.record_origins().is_ok()), changed);
    }
    let merged = rehearsal.merge_pending_soon();
    let is_recorded = merged.is_ok() && !rehearsal.take_unrecorded() && lock_identity(rehearsal) == recorded_lock;
    (recorded_lock.filter(|_| is_recorded), rehearsal.take_changed())
}

/// Returns the identity of the overlay's lock file.
fn lock_identity(rehearsal: &Rehearsal) -> Option<LockIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = rehearsal.overlay_folder().join("lock").symlink_metadata().ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
}

/// Tests the overlay sandbox over `project` with a temporary overlay in `parent`, or in its nearest existing parent
/// folder, which is left unchanged. `program` is the path of aye. Blocks for about 20 ms.
///
/// # Errors
/// As [`test_overlay_in`].
pub fn test_overlay_sandbox(program: &Path, project: &Path, parent: &Path) -> Result<(), String> {
    let parent = parent.ancestors().find(|folder| folder.is_dir()).unwrap_or(parent);
    let overlay = tempfile::Builder::new().prefix("trial-").tempdir_in(parent);
    let overlay = overlay.map_err(|error| format!("it could not be tested ({error})"))?;
    test_overlay_in(program, project, overlay.path())
}

/// Tests the overlay sandbox over `project` with an overlay in an existing folder, which is removed afterwards. Blocks
/// for about 20 ms.
///
/// # Errors
/// The reason why there is no overlay sandbox, as a text that follows “no overlay sandbox: ”.
pub fn test_overlay_in(program: &Path, project: &Path, overlay_folder: &Path) -> Result<(), String> {
    let run_trial = || -> std::io::Result<Option<Report>> {
        let project = project.canonicalize()?;
        let overlay_path = overlay_folder.canonicalize()?;
        let line = CommandLine { folder: project.clone(), ..CommandLine::default() };
        let shell = Shell::new(program.to_owned());
        // The test command reads no project files, so nothing is masked.
        let spec =
            command_view::create_spec(&shell, &overlay_path, &line, &View::WithoutSecrets, &DisclosedPaths::default());
        let (arguments, bytes) = spec.to_arguments(OVERLAY_ARGUMENT);
        let (mut lifeline, child_end) = UnixStream::pair()?;
        lifeline.set_read_timeout(Some(TEST_TIMEOUT))?;
        let mut command = Command::new(program);
        command.arg("guard").args(arguments).args(["--", "true"]).current_dir(project);
        // A process group of its own: otherwise suspending aye also stops this process, and resuming only aye leaves it stopped.
        command.stdin(OwnedFd::from(child_end)).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut process = command.spawn()?;
        // `command` still holds `child_end`. While that is open, `read_to_end` below does not return.
        drop(command);
        // If the process has already exited, reading its report below notices that.
        let _ = lifeline.write_all(&bytes);
        let mut report_bytes = Vec::new();
        let read_result = lifeline.read_to_end(&mut report_bytes);
        let _ = lifeline.shutdown(Shutdown::Both);
        drop(lifeline);
        process.wait()?;
        super::rehearsal::remove_overlay(overlay_folder)?;
        // A process that failed before it read `bytes` resets the connection after it sent its report.
        Report::from_bytes(&report_bytes).map_or_else(|| read_result.map(|_| None), |report| Ok(Some(report)))
    };
    match run_trial() {
        Ok(Some(Report::Exit(0))) => Ok(()),
        Ok(Some(Report::OverlaySandboxFailed(error))) => Err(error.to_string()),
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

/// Sets up the overlay sandbox in the first process of its namespaces, and returns the sandbox that the command gets
/// inside it.
pub(super) fn set_up(spec: &OverlaySpec) -> Result<SandboxSpec, SetupError> {
    #[cfg(target_os = "linux")]
    return namespace_mounts::set_up_mounts(spec);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = spec;
        Err(SetupError { step: SetupStep::Namespaces, errno: 0 })
    }
}

/// Kills everything in the overlay sandbox as soon as it exceeds its limits, and appends the reason to the output.
pub(super) fn start_limit_watch(folder: PathBuf, memory: Option<u64>) {
    #[cfg(target_os = "linux")]
    std::thread::spawn(move || {
        let reason = resource_limits::watch_limits(&folder, memory);
        let _ = writeln!(std::io::stdout(), "\n[stopped by the limits of the dry run: {reason}]");
        send_report(Report::Signal(9));
        // When its first process exits, the namespace ends and the kernel kills everything in it.
        std::process::exit(137);
    });
    #[cfg(not(target_os = "linux"))]
    let _ = (folder, memory);
}
