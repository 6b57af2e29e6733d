//! A demo runs in a process with an environment, a home folder and settings of its own, so that nothing of the user's is shown,
//! changed or needed, and every play is the same.

use super::{name_of, script_name};
use crate::assemble::demo_environment::{FOLDER, KEY_FILES, OWN_PATHS, write_script_files};
use crate::chat::Digest;
use crate::cli::bail_usage;
use crate::demo::Script;
use crate::project::guard::own_program;
use crate::project::parent_exit::end_with_parent;
use crate::project::rehearsal;
use crate::store::{Places, private_files};
use anyhow::{Context, Result};
use rustix::process::getppid;
use std::fs::{self, File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// File that marks the folder of a demo and is locked while it is played.
const LOCK: &str = "aye-demo.lock";
/// Variable with the process that waits for the end of this one.
const PARENT: &str = "AYE_DEMO_PARENT";
/// Variables that are kept: where programs are, and what the terminal can do.
const KEPT: [&str; 6] = ["PATH", "TERM", "COLORTERM", "TERM_PROGRAM", "USER", "LOGNAME"];
/// Variables that are the same in every demo. A commit gets the same id in each play.
const FIXED: [(&str, &str); 10] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("SHELL", "/bin/sh"),
    ("GIT_AUTHOR_NAME", "Demo"),
    ("GIT_AUTHOR_EMAIL", "demo@example.com"),
    ("GIT_AUTHOR_DATE", "2026-01-01T12:00:00Z"),
    ("GIT_COMMITTER_NAME", "Demo"),
    ("GIT_COMMITTER_EMAIL", "demo@example.com"),
    ("GIT_COMMITTER_DATE", "2026-01-01T12:00:00Z"),
];

/// The folder of a demo while it is played by this process.
pub(super) struct Isolation {
    folder: PathBuf,
    /// Locked while the demo is played.
    _lock: File,
}

impl Isolation {
    /// Returns the folder of the demo if this process was started to play it; otherwise `None`.
    ///
    /// # Errors
    /// A `UsageError` if another process plays the same demo.
    pub(super) fn enter(script: &Path) -> Result<Option<Self>> {
        let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return Ok(None) };
        if let Some(parent) = std::env::var_os(PARENT) {
            end_with_parent();
            // It may have ended before.
            let current = getppid().map(|parent| parent.as_raw_nonzero().to_string());
            if current.is_none_or(|current| *parent != *current) {
                bail_usage!("Cannot play {}: the program that started this one ended.", name_of(script));
            }
        }
        // The home folder in it will be removed. Only the process that started this one makes such a file.
        let path = folder.join(LOCK);
        let is_own =
            std::env::var_os("HOME").is_some_and(|own| Path::new(&own) == home(&folder)) && folder.is_absolute();
        let Some(lock) = private_files::open_read(&path).ok().filter(|_| is_own) else {
            bail_usage!("Cannot play {}: {FOLDER} is set to another folder. Remove the variable.", name_of(script));
        };
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            bail_usage!("Cannot play {}: another aye is playing it.", name_of(script));
        }
        Ok(Some(Self { folder, _lock: lock }))
    }

    /// Creates the project of a script in the home folder of the demo.
    pub(super) fn create_project(&self, script: &Script) -> Result<PathBuf> {
        write_script_files(script, &home(&self.folder).join(&script.folder))
    }

    /// Removes what an earlier play left in the home folder.
    pub(super) fn clear(&self) -> Result<()> {
        let home = home(&self.folder);
        remove_all(&home)?;
        private_files::create_folder(&home).with_context(|| format!("Cannot create {}", home.display()))
    }
}

fn home(folder: &Path) -> PathBuf {
    folder.join("home")
}

/// Replaces this process by one that plays the demo with the same arguments. Returns only if that fails.
pub(super) fn restart(script: &Path) -> Result<ExitCode> {
    let mut command = isolated_command(script)?;
    command.args(std::env::args_os().skip(1));
    Err(command.exec()).context("Cannot start the demo")
}

/// Checks each script by a process of its own. The exit code is the highest of them.
pub(super) fn check_each(scripts: &[PathBuf]) -> Result<ExitCode> {
    let mut highest = 0;
    for script in scripts {
        let status = child_command(script)?.args(["demo", "check", "--"]).arg(script).status();
        let status = status.with_context(|| format!("Cannot check {}", name_of(script)))?;
        highest = highest.max(status.code().unwrap_or(1));
    }
    Ok(ExitCode::from(u8::try_from(highest).unwrap_or(1)))
}

/// Removes a folder, whatever permissions the commands of a demo left in it. A link in its place is removed itself.
fn remove_all(folder: &Path) -> Result<()> {
    let removed = match folder.symlink_metadata() {
        Ok(metadata) if !metadata.is_dir() => fs::remove_file(folder),
        Ok(_) => rehearsal::remove_folder(folder),
        Err(_) => Ok(()),
    };
    removed.with_context(|| format!("Cannot remove {}", folder.display()))
}

/// Removes what a demo that is not played again left.
pub(super) fn remove(script: &Path) -> Result<()> {
    remove_all(&demo_folder(&Places::find(std::env::var_os("AYE_HOME"))?, script))
}

/// Records a script by a process of its own, which prints only what does not fit.
pub(super) fn record(script: &Path, file: &Path) -> Result<ExitStatus> {
    let mut command = child_command(script)?;
    command.args(["demo", "play", "--hidden", "--record"]).arg(file).arg("--").arg(script);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.status().with_context(|| format!("Cannot record {}", name_of(script)))
}

/// Returns this program with the environment of a demo. It ends with this process, however that happens.
fn child_command(script: &Path) -> Result<Command> {
    let mut command = isolated_command(script)?;
    command.env(PARENT, std::process::id().to_string());
    Ok(command)
}

/// Returns this program with the environment of a demo.
fn isolated_command(script: &Path) -> Result<Command> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let folder = demo_folder(&places, script);
    private_files::create_folder(&folder).with_context(|| format!("Cannot create {}", folder.display()))?;
    let lock = folder.join(LOCK);
    let created = private_files::open_or_create_append(&lock);
    created.with_context(|| format!("Cannot create {}", lock.display()))?;
    let mut command = Command::new(own_program());
    command.arg0("aye").env_clear();
    command.envs(KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(FIXED);
    command.env("HOME", home(&folder)).env(FOLDER, &folder);
    for (variable, paths) in [(OWN_PATHS, places.own_paths()), (KEY_FILES, places.key_files())] {
        let list = std::env::join_paths(paths).context("Cannot protect the settings of aye from the demo")?;
        command.env(variable, list);
    }
    Ok(command)
}

/// Returns the folder of a demo: always the same one for a script, because tools show its path.
fn demo_folder(places: &Places, script: &Path) -> PathBuf {
    let path = script.canonicalize().unwrap_or_else(|_| script.to_owned());
    let digest = Digest::of_bytes(path.as_os_str().as_bytes());
    places.demos().join(format!("{}-{}", script_name(script), digest.short_hex()))
}
