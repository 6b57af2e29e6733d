//! Runs the commands of a dry run where they change nothing real and see nothing that a live session would ask about: the
//! overlay sandbox.
//!
//! aye starts itself as `aye guard --stage …` (the [`usher`](self), which leaves the system's namespaces) and that once
//! more as `aye guard --on-stage …`: the first process of the new ones, which makes the overlay sandbox and is the command's guard
//! there. When it ends the kernel ends whatever else is there, and all mounts are gone with it.
//!
//! In there is a root of its own ([`View::Hidden`]). It holds the project with the rehearsal's overlay over it, the system's programs
//! and libraries, toolchains, what `dry_run.read` names, and nothing else: the home is an empty folder, and files of the project that
//! may hold secrets cannot be opened. `/tmp` is empty at first and kept as long as the session; what `shell.write` names has an
//! overlay; what a command writes anywhere else is refused as it is live, or kept too with `dry_run.outside`. After the user approved
//! a call the whole disk is there, read-only ([`View::Live`]). In both there is no network but a loopback of its own, no terminal, no
//! device but those that hold nothing, and none of aye's own files. The sandbox of [`super::sandbox`] holds within as well.
//!
//! What is written outside the project is kept in one tree by its absolute path: `outside/upper` in the layer's folder.

#[cfg(target_os = "linux")]
mod bounds;
mod examination;
mod identity;
#[cfg(target_os = "linux")]
mod masks;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod overlay;
mod refusal;
mod repository;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod scenery;
mod setting;
mod tool_settings;
mod toolchains;
#[cfg(target_os = "linux")]
pub mod usher;
mod view;

pub use refusal::{Step, Unstaged};
pub use setting::{ON_STAGE, STAGE, Setting};
pub use view::{Disclosed, View};

use super::Error;
use super::environment::in_overlay;
use super::guard::Report;
use super::output::Shown;
use super::rehearsal::{Marks, Rehearsal};
use super::sandbox::{Confines, Refused};
use super::sensitive_files::{Withheld, is_only_name};
use super::shell::{Ran, Shell};
use crate::chat::CommandLine;
use examination::Examination;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs commands on the stage. It holds nothing that could run one elsewhere: whatever it is given goes through
/// [`Setting`], and a guard that cannot set the stage runs nothing.
pub struct StageShell {
    shell: Arc<Shell>,
    play: Arc<Rehearsal>,
    /// What the settings open outside the project.
    disclosed: Disclosed,
    memory: Option<u64>,
    /// What was withheld from the last command.
    withheld: Mutex<Arc<[Withheld]>>,
    /// One command at a time: two mounts of one layer would not see each other.
    /// The value is the lock file of an overlay of which all changes are noted with what the project held there.
    turn: tokio::sync::Mutex<Option<LockFile>>,
}

/// Device, inode and time of the last change of the file that is locked: inodes are used again at once.
type LockFile = (u64, u64, i64, i64);

/// How commands are rehearsed.
#[derive(Clone)]
pub enum Commands {
    /// They run on the stage.
    OnStage(Arc<StageShell>),
    /// They do not run; with why, in words that follow “no stage here: ”.
    Told(Arc<str>),
}

/// Bytes: what is less than this is no room.
const ROOM: u64 = 64 << 10;
/// How long the trial of a stage may take: on a machine that is busy to its limits some milliseconds become seconds.
const TRIAL: Duration = Duration::from_secs(30);

impl StageShell {
    /// Over this rehearsal's layer. `shell` says which environment a command gets and what is closed to it.
    pub fn new(shell: Arc<Shell>, play: Arc<Rehearsal>) -> Self {
        let (disclosed, withheld) = (Disclosed::default(), Mutex::new(Arc::from([])));
        Self { shell, play, disclosed, memory: None, withheld, turn: tokio::sync::Mutex::default() }
    }

    /// Lets commands read and write outside the project what these settings say.
    pub fn with_disclosed(self, disclosed: Disclosed) -> Self {
        Self { disclosed, ..self }
    }

    /// Lets everything that a command starts take so many bytes of memory together.
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Runs a command to its end, as [`Shell::run`] does, but in the overlay sandbox, or not at all. What it wrote in the project
    /// is in the rehearsal's layer afterwards.
    pub async fn run(
        &self,
        line: &CommandLine,
        view: View,
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        self.run_with(line, view, &[], progress).await
    }

    /// The same with [`View::Hidden`], but these files of the project, relative to it, can be read although they may hold secrets.
    /// One that has other names or is a link stays closed.
    pub async fn run_opening(
        &self,
        line: &CommandLine,
        files: &[PathBuf],
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        self.run_with(line, View::Hidden, files, progress).await
    }

    async fn run_with(
        &self,
        line: &CommandLine,
        view: View,
        files: &[PathBuf],
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        let mut turn = self.turn.lock().await;
        let noted = turn.take();
        let noted = self.look(move |play| before(play, noted)).await.unwrap_or_default();
        self.note_view(line, view).await?;
        let ran = self.run_seeing(line, view, files, progress).await;
        // Its overlay may have been thrown away before it began.
        let still_noted = self.note_view(line, view).await;
        let changed = self.look(move |play| after(play, noted)).await.map(|(noted, changed)| {
            *turn = noted;
            changed
        });
        match ran {
            // What does not fit is no missing stage: the next command may have one.
            Err(Error::Unstaged(why)) if why.is_full() => Err(Error::LayerFull(line.folder.clone())),
            Ok(ran) => still_noted.map(|()| Ran { changed: changed.unwrap_or_default(), ..ran }),
            ran => ran,
        }
    }

    /// Notes in the overlay that a command sees the whole disk, if it does.
    async fn note_view(&self, line: &CommandLine, view: View) -> Result<(), Error> {
        if view != View::Live {
            return Ok(());
        }
        let crashed = || Err(std::io::Error::other("it could not be noted"));
        let noted = self.look(Rehearsal::note_live_view).await.unwrap_or_else(crashed);
        noted.map_err(|source| Error::in_layer(&line.folder, source))
    }

    /// Looks at the layer, off the async threads; nothing where that crashed.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Rehearsal) -> T + Send + 'static,
    ) -> Option<T> {
        let play = self.play.clone();
        tokio::task::spawn_blocking(move || look(&play)).await.ok()
    }

    /// Whether no room is left on the disk that the layer is on.
    pub fn is_full(&self) -> bool {
        let disk = rustix::fs::statvfs(self.play.folder());
        // Some file systems have as many files as one likes, and say that there are none.
        let full = |disk: rustix::fs::StatVfs| {
            disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM || (disk.f_files > 0 && disk.f_favail < 8)
        };
        disk.is_ok_and(full)
    }

    /// Runs it with what the view shows.
    async fn run_seeing(
        &self,
        line: &CommandLine,
        view: View,
        files: &[PathBuf],
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        let (shell, mut disclosed, seen) = (self.shell.clone(), self.disclosed.clone(), line.clone());
        let files = files.iter().map(|file| line.folder.join(file));
        disclosed.read.extend(files.filter(|file| is_only_name(file)));
        let layer = self.play.folder().to_owned();
        let looked = move || view::look(&shell, &layer, &seen, view, &disclosed);
        let crashed = |error| Error::Io { path: line.folder.clone(), source: std::io::Error::other(error) };
        let view::Seen { setting, environment, withheld, masked } =
            tokio::task::spawn_blocking(looked).await.map_err(crashed)?;
        *self.withheld.lock().unwrap_or_else(PoisonError::into_inner) = withheld.into();
        let (words, bytes) = Setting { memory: self.memory, ..setting }.arguments(STAGE);
        let (shell, play, folder) = (self.shell.clone(), self.play.clone(), line.folder.clone());
        let examination = masked.map(|masked| Examination::begin(masked, shell, play, folder));
        let ran = self
            .shell
            .with_environment(in_overlay(environment))
            .run_guarded(line, words, std::future::ready(Ok(bytes)), progress)
            .await;
        let Some(examination) = examination else { return ran };
        match tokio::task::spawn_blocking(|| examination.finish()).await.map_err(crashed)? {
            None => ran,
            Some(found) => Err(found),
        }
    }

    /// What was withheld from the last command.
    pub fn withheld(&self) -> Arc<[Withheld]> {
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What is known of the layer before a command.
#[derive(Default)]
struct Before {
    /// Its lock file, if everything in it is noted.
    noted: Option<LockFile>,
    /// How it looks, if the command writes in it directly.
    marks: Option<Marks>,
}

/// Makes the layer, so that it is known what the project's own folder was, and merges what an earlier command left; where that
/// cannot be done the stage says why. A command that was stopped half-way, or an older version, may have left what is not
/// noted, so all is noted unless `noted` says that this was done.
fn before(play: &Rehearsal, noted: Option<LockFile>) -> Before {
    let _ = play.begin();
    play.take_changed();
    let lock = lock_of(play);
    let is_noted = (noted.is_some() && noted == lock && !play.take_unnoted()) || play.note_origins().is_ok();
    Before { noted: lock.filter(|_| is_noted), marks: play.marks_inside() }
}

/// Merges what a command changed, noted with what the project held there, and returns the changed paths. What cannot be merged
/// or noted, because the layer's disk is full, is tried again before the next command; what changed since is a conflict then.
fn after(play: &Rehearsal, before: Before) -> (Option<LockFile>, Vec<PathBuf>) {
    let Before { noted, marks } = before;
    if let Some(marks) = marks {
        // Looked at first: a file tool may write as soon as the command has ended.
        let changed = play.changed_since(&marks);
        return (noted.filter(|_| play.note_origins().is_ok()), changed);
    }
    let merged = play.settle_soon();
    let is_noted = merged.is_ok() && !play.take_unnoted() && lock_of(play) == noted;
    (noted.filter(|_| is_noted), play.take_changed())
}

/// The file that is locked in the layer's folder.
fn lock_of(play: &Rehearsal) -> Option<LockFile> {
    use std::os::unix::fs::MetadataExt;
    let meta = play.folder().join("lock").symlink_metadata().ok()?;
    Some((meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

/// Tries a stage over `project` with a layer in `beside` or, where that is not there, above it, which is left as it was; blocks for some 20 ms. `program` is aye
/// itself.
///
/// # Errors
/// What is in the way, in words that follow “no stage here: ”.
pub fn try_stage(program: &Path, project: &Path, beside: &Path) -> Result<(), String> {
    let trial = || -> std::io::Result<Option<Report>> {
        let beside = beside.ancestors().find(|folder| folder.is_dir()).unwrap_or(beside);
        let layer = tempfile::Builder::new().prefix("trial-").tempdir_in(beside)?;
        let project = project.canonicalize()?;
        let at = layer.path().canonicalize()?;
        let line = CommandLine { folder: project.clone(), ..CommandLine::default() };
        let shell = Shell::new(program.to_owned());
        // Nothing is read there, so nothing is masked.
        let setting = view::frame(&shell, &at, &line, View::Hidden, &Disclosed::default());
        let (words, bytes) = setting.arguments(STAGE);
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(TRIAL))?;
        let mut command = Command::new(program);
        command.arg("guard").args(words).args(["--", "true"]).current_dir(project);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut usher = command.spawn()?;
        drop(command);
        // One that is gone already is noticed right below.
        let _ = ours.write_all(&bytes);
        let mut told = Vec::new();
        let heard = ours.read_to_end(&mut told);
        let _ = ours.shutdown(Shutdown::Both);
        drop(ours);
        usher.wait()?;
        super::rehearsal::clear(layer.path())?;
        // One that failed before it read the list resets the connection, after it has reported.
        Report::read(&told).map_or_else(|| heard.map(|_| None), |report| Ok(Some(report)))
    };
    match trial() {
        Ok(Some(Report::Exit(0))) => Ok(()),
        Ok(Some(Report::Unstaged(why))) => Err(why.to_string()),
        Ok(Some(Report::Unwalled(_))) => Err("the walls within it could not be raised".to_owned()),
        Ok(Some(Report::Exit(_) | Report::Signal(_) | Report::Failed(_)) | None) => {
            Err("what was tried on it did not run to its end".to_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(format!("its trial did not end within {} s", TRIAL.as_secs()))
        }
        Err(error) => Err(format!("it could not be tried ({error})")),
    }
}

/// Sets the stage, in the first process of its namespaces; says within which walls the command runs there.
pub(super) fn set(setting: &Setting) -> Result<Confines, Unstaged> {
    #[cfg(target_os = "linux")]
    return scenery::set(setting);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = setting;
        Err(Unstaged { step: Step::Namespaces, errno: 0 })
    }
}

/// Raises the walls within a stage around this thread.
pub(super) fn raise(confines: &Confines) -> Result<(), Refused> {
    #[cfg(target_os = "linux")]
    return confines.raise_on_stage();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = confines;
        Err(Refused::Files)
    }
}

/// Ends the stage with everything on it as soon as it takes too much; the last line of the output says so.
pub(super) fn bound(folder: PathBuf, memory: Option<u64>) {
    #[cfg(target_os = "linux")]
    std::thread::spawn(move || {
        let why = bounds::watch(&folder, memory);
        let _ = writeln!(std::io::stdout(), "\n[stopped by the limits of the dry run: {why}]");
        super::guard::tell(Report::Signal(9));
        // With its first process the namespace ends, and everything in it.
        std::process::exit(137);
    });
    #[cfg(not(target_os = "linux"))]
    let _ = (folder, memory);
}
