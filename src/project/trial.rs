//! Trials: a command runs in a throwaway overlay sandbox over the project as it is, so that its effects can be judged
//! before any of them is real.
//!
//! Each trial has its own folder with the overlay, next to those of other trials. While a process needs a trial it
//! holds the lock of that folder. If the process is killed, the next one removes the folder; if the trial was being
//! kept, it completes that first ([`finish_interrupted_trials`]).
//!
//! On other systems than Linux there is no overlay sandbox, so no trial starts.

mod changes;
mod leftovers;

pub use leftovers::{FinishedTrial, finish_interrupted_trials};

use super::checkpoints::{CallRecorder, record_kept};
use super::disk::Disk;
use super::groups::GroupClassifier;
use super::output::OnProgress;
use super::overlay_sandbox::{DisclosedPaths, OverlayShell, View, test_overlay_in};
use super::rehearsal::keep::{Baseline, FileTime, Unkept, keep_changes};
use super::rehearsal::{Rehearsal, UPPER, digest_overlay, lock_overlay, remove_overlay};
use super::sensitive_files::WithheldPath;
use super::shell::{CommandOutcome, Shell};
use super::{Error, Reader};
use crate::chat::{CommandLine, Digest, Group, TrialChange};
use leftovers::{KeepRecord, remove_trial};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Lock file of a trial. Its holder is the process that needs the trial.
const OWNER_FILE: &str = "owner";

/// Creates a folder in the folder of all trials, and holds its lock.
fn create_trial_folder(folder: &Path) -> io::Result<(PathBuf, File)> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let folder = folder.canonicalize()?;
    loop {
        let overlay_folder = folder.join(ulid::Ulid::new().to_string());
        fs::DirBuilder::new().mode(0o700).create(&overlay_folder)?;
        let owner_file = overlay_folder.join(OWNER_FILE);
        let owner = File::options().create_new(true).append(true).open(&owner_file)?;
        match flock(&owner, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if owner_file.exists() => return Ok((overlay_folder, owner)),
            // A process that is starting saw the folder before its lock was held, and removes it.
            Ok(()) | Err(Errno::WOULDBLOCK) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Tests the overlay sandbox over `project` as a trial in the folder of all trials: if aye is killed meanwhile, the next
/// process removes what the test left. `program` is the path of aye. Blocks for about 20 ms.
///
/// # Errors
/// The reason why there is no overlay sandbox, as a text that follows “no overlay sandbox: ”.
pub fn test_sandbox_as_trial(program: &Path, project: &Path, folder: &Path) -> Result<(), String> {
    let created = create_trial_folder(folder).map_err(|error| format!("it could not be tested ({error})"));
    let (overlay_folder, owner) = created?;
    let result = test_overlay_in(program, project, &overlay_folder);
    remove_trial(&overlay_folder, owner);
    result
}

/// Returns whether files can be moved from one of two folders to the other. The kernel moves none between two mounts, even
/// of one file system, nor between two subvolumes of one mount, which have numbers of their own.
fn is_same_mount(one: &Path, other: &Path) -> io::Result<bool> {
    if fs::metadata(one)?.dev() != fs::metadata(other)?.dev() {
        return Ok(false);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
        let mount = |folder| statx(CWD, folder, AtFlags::empty(), StatxFlags::MNT_ID).map(|stat| stat.stx_mnt_id);
        Ok(mount(one)? == mount(other)?)
    }
    #[cfg(not(target_os = "linux"))]
    Ok(true)
}

/// Runs trials of commands.
pub struct TrialRunner {
    disk: Arc<Disk>,
    shell: Arc<Shell>,
    disclosed: DisclosedPaths,
    /// Path of aye.
    program: PathBuf,
    /// Folder of all trials.
    folder: PathBuf,
    /// Result of the check whether trials are possible. The error is the reason why not.
    support: OnceLock<Result<(), Arc<str>>>,
}

/// A command that ran on trial. Dropping it removes everything it wrote.
pub struct Trial {
    disk: Arc<Disk>,
    overlay_folder: PathBuf,
    /// Holds the lock of the trial's folder.
    owner: Option<File>,
    baseline: Baseline,
    pub outcome: CommandOutcome,
    /// Paths that the command could not open.
    pub withheld: Arc<[WithheldPath]>,
    /// True if the disk that holds the trial is full.
    pub is_disk_full: bool,
    pub effects: TrialEffects,
}

/// Everything that a trial changed.
#[derive(Debug, Default)]
pub struct TrialEffects {
    /// Changes of the project, sorted by path.
    pub changes: Vec<TrialChange>,
    /// Changed paths outside the project, except those in folders for temporary files.
    pub outside: Vec<PathBuf>,
    /// Number of files left in folders for temporary files.
    pub temporary_files: usize,
    /// Changes that cannot be kept, with the reason.
    pub unkeepable: Vec<(PathBuf, String)>,
    /// Digest of everything that the command wrote.
    pub digest: Digest,
}

/// Reason why nothing of a trial was kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// These paths of the project changed since the trial.
    #[error("the project changed since the trial")]
    Conflicts(Vec<PathBuf>),
    /// What the trial wrote is no longer what was shown.
    #[error("the files of the trial changed after they were shown")]
    Altered,
    /// The disk failed. Some changes may have been made; the next start of aye makes the others.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl TrialRunner {
    /// Creates the runner. `folder` is the folder of all trials, which need not exist; `program` is the path of aye.
    /// `disclosed` is what commands read and write outside the project.
    pub fn new(
        disk: Arc<Disk>,
        shell: Arc<Shell>,
        disclosed: DisclosedPaths,
        program: PathBuf,
        folder: PathBuf,
    ) -> Self {
        Self { disk, shell, disclosed, program, folder, support: OnceLock::new() }
    }

    /// Checks whether trials are possible and can be kept. The first call blocks for about 20 ms.
    ///
    /// # Errors
    /// The reason why not, as part of a sentence.
    pub fn check_support(&self) -> Result<(), Arc<str>> {
        let test = || {
            let tested = test_sandbox_as_trial(&self.program, self.disk.root(), &self.folder);
            tested.map_err(|reason| Arc::from(format!("no overlay sandbox: {reason}")))?;
            match is_same_mount(self.disk.root(), &self.folder) {
                Ok(true) => Ok(()),
                Ok(false) => Err("the project and the data folder of aye are on different file systems".into()),
                Err(error) => Err(error.to_string().into()),
            }
        };
        self.support.get_or_init(test).clone()
    }

    /// Runs a command to completion on trial. Dropping the future kills the command and removes what it wrote.
    ///
    /// # Errors
    /// If the sandbox cannot be set up or the disk fails.
    pub async fn run_trial(
        self: &Arc<Self>,
        line: &CommandLine,
        view: View,
        progress: OnProgress<'_>,
    ) -> Result<Trial, Error> {
        let runner = self.clone();
        let (mut trial, started) = run_blocking(line, move || runner.create_trial()).await?;
        let rehearsal = Arc::new(Rehearsal::new(self.disk.clone(), trial.overlay_folder.clone()));
        let shell = OverlayShell::new(self.shell.clone(), rehearsal.clone()).with_disclosed(self.disclosed.clone());
        trial.outcome = shell.run_in_overlay(line, view, progress).await?;
        trial.withheld = shell.last_withheld();
        trial.is_disk_full = shell.is_full();
        let disk = self.disk.clone();
        run_blocking(line, move || {
            rehearsal.merge_pending()?;
            let upper = trial.overlay_folder.join(UPPER);
            trial.baseline = Baseline::read(trial.disk.root(), &upper, started)?;
            trial.effects = changes::list_effects(&rehearsal, disk)?;
            Ok(trial)
        })
        .await
    }

    /// Creates the folder of a trial. Returns it with the time at which the trial began, by the clock of its file
    /// system.
    fn create_trial(&self) -> io::Result<(Trial, FileTime)> {
        let (overlay_folder, owner) = create_trial_folder(&self.folder)?;
        let metadata = owner.metadata()?;
        let trial = Trial {
            disk: self.disk.clone(),
            overlay_folder,
            owner: Some(owner),
            baseline: Baseline::default(),
            outcome: CommandOutcome::default(),
            withheld: Arc::from([]),
            is_disk_full: false,
            effects: TrialEffects::default(),
        };
        Ok((trial, (metadata.ctime(), metadata.ctime_nsec())))
    }
}

impl Trial {
    /// Makes the changes of the trial real, exactly as they were shown: each path whole or not at all, and recorded
    /// before. Returns the changes that were not made because the project changed at that moment. Blocks.
    ///
    /// # Errors
    /// If nothing may be kept, or the disk fails.
    pub fn keep(mut self, recorder: &CallRecorder) -> Result<Unkept, KeepError> {
        let lock = lock_overlay(&self.overlay_folder)?;
        if digest_overlay(&self.overlay_folder) != self.effects.digest {
            return Err(KeepError::Altered);
        }
        let current = Baseline::read(self.disk.root(), &self.overlay_folder.join(UPPER), (i64::MAX, 0))?;
        let conflicts = self.baseline.conflicts(&current);
        if !conflicts.is_empty() {
            return Err(KeepError::Conflicts(conflicts));
        }
        self.record_changes(recorder);
        let root = self.disk.root().to_owned();
        let record = KeepRecord { root, baseline: std::mem::take(&mut self.baseline) };
        record.write(&self.overlay_folder)?;
        match keep_changes(&record.root, &self.overlay_folder, &record.baseline) {
            Ok(unkept) => {
                drop(lock);
                Ok(unkept)
            }
            Err(error) => {
                // The folder stays, so that the next start completes it.
                self.owner = None;
                Err(error.into())
            }
        }
    }
}

impl Trial {
    /// Records what will be changed. Files that git ignores are counted only.
    fn record_changes(&self, recorder: &CallRecorder) {
        // As in the list of effects, the ignore files of the project apply.
        let live = Rehearsal::new(self.disk.clone(), self.overlay_folder.join("empty"));
        let mut groups = GroupClassifier::new(&live);
        let mut is_ignored = |path: &Path, is_folder: bool| groups.classify(path, is_folder) == Group::Ignored;
        record_kept(recorder, &self.overlay_folder, &mut is_ignored);
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        let overlay_folder = std::mem::take(&mut self.overlay_folder);
        // A command that was just killed may hold the overlay's lock a little longer.
        std::thread::spawn(move || leftovers::remove_trial(&overlay_folder, owner));
    }
}

/// Runs file access on a thread that may block.
async fn run_blocking<T: Send + 'static>(
    line: &CommandLine,
    operation: impl FnOnce() -> Result<T, io::Error> + Send + 'static,
) -> Result<T, Error> {
    let result = tokio::task::spawn_blocking(operation).await.unwrap_or_else(|error| Err(io::Error::other(error)));
    result.map_err(|source| Error::in_overlay(&line.folder, source))
}
