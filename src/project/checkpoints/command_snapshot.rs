//! Records what a live command changes, with what git has stored: the state of all files that git does not ignore, before
//! the command and after it.
//!
//! A file that git has stored is not copied. Of a changed or untracked file the content is stored before the command
//! runs, if the file is small.

use super::call_recorder::{CallRecorder, new_id};
use super::change_log::PathChange;
use super::kept_changes::store_file;
use super::path_state::{FileContent, FileState, PathState};
use crate::chat::{CommandLine, CommandSandbox, Digest};
use crate::project::branch::git_folder;
use crate::project::disk::Disk;
use crate::project::git_index::{IndexEntry, parse_index};
use crate::project::groups::GroupClassifier;
use crate::project::rehearsal::Rehearsal;
use crate::project::sandbox::writable_folders::temporary_folders;
use crate::text::escaped_path::escape_path;
use crate::text::truncation::truncate_end;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of a project up to which its commands are recorded.
const MAX_FILES: usize = 50_000;
/// Size of the largest content that is stored before a command, and of all together, in bytes.
const MAX_STORED_BYTES: u64 = 256 << 10;
const MAX_TOTAL_BYTES: u64 = 8 << 20;
/// Number of contents stored before a command, and of new contents read after it.
const MAX_STORED: usize = 200;
/// Number of paths that git ignores whose states are compared. Folders of build outputs often have more.
pub(super) const MAX_IGNORED: usize = 1000;
/// Characters of a command in a text.
const MAX_COMMAND_CHARS: usize = 60;

/// State of a project before a command.
pub struct CommandSnapshot {
    recorder: Arc<CallRecorder>,
    root: PathBuf,
    /// ID of the line in the log that the states after the command replace.
    line: String,
    command: String,
    not_stored: Vec<String>,
    /// `None` if the command cannot be recorded; the reason is in `not_stored`.
    before: Option<Scan>,
}

/// Returns what a command may do outside the project, each worded to follow “Not restored: ”. What it leaves in temporary
/// folders is not named.
fn outside_effects(line: &CommandLine, command: &str) -> Vec<String> {
    let mut effects = Vec::new();
    let CommandSandbox::Enforced(access) = &line.sandbox else {
        if line.network.is_some() {
            effects.push(format!("network effects of “{command}”"));
        }
        effects.push(format!("effects of “{command}” outside the project, because it ran without a sandbox"));
        return effects;
    };
    if access.network || line.network.is_some() {
        effects.push(format!("network effects of “{command}”"));
    }
    if access.sockets {
        effects.push(format!("what other programs did for “{command}”, because it may use their sockets"));
    }
    let temporary = temporary_folders(&[]);
    let places: Vec<String> =
        access.write.iter().filter(|folder| !temporary.contains(folder)).map(|folder| escape_path(folder)).collect();
    if !places.is_empty() {
        effects.push(format!("changes of “{command}” in {}, which it may write", places.join(", ")));
    }
    effects
}

/// All files and folders of a project that git does not ignore, and the first ones that it ignores.
struct Scan {
    /// By path relative to the project. The path is no `Path`, which is slow to compare.
    files: BTreeMap<OsString, PathState>,
    folders: HashSet<PathBuf>,
    /// The tracked files, by path relative to the project.
    tracked: Arc<HashMap<OsString, IndexEntry>>,
    /// Files that git ignores, by path relative to the project, each with the path that a rule names: its own or that of a
    /// folder, with `/`. Only the latter is recorded if they change.
    ignored: BTreeMap<OsString, (PathState, String)>,
    /// True if there are more of them.
    has_more_ignored: bool,
    /// States of the files of the repository that each commit and checkout changes.
    repository: Vec<PathState>,
}

impl CommandSnapshot {
    /// Records the state before a command. Returns `None` if nothing is recorded. Blocks; about 2 µs per file.
    pub fn take(recorder: Arc<CallRecorder>, line: &CommandLine) -> Option<Self> {
        let root = recorder.target()?.1.to_owned();
        let command = truncate_end(line.command.lines().next().unwrap_or_default(), MAX_COMMAND_CHARS);
        let mut not_stored = outside_effects(line, &command);
        let before = match scan_project(&root, None) {
            Ok(scan) => Some(scan),
            Err(reason) => {
                not_stored.push(format!("changes of “{command}”: {reason}"));
                None
            }
        };
        let mut snapshot = Self { recorder, root, line: new_id(), command, not_stored, before };
        if let Err(error) = snapshot.record_before() {
            snapshot.recorder.keep_failure(&error);
            return None;
        }
        Some(snapshot)
    }

    /// Stores the contents that git has not stored, and records that a command starts.
    fn record_before(&mut self) -> io::Result<()> {
        let Self { recorder, root, line, command, not_stored, before } = self;
        let Some((checkpoints, _)) = recorder.target() else { return Ok(()) };
        checkpoints.append(root, |store| {
            let (mut bytes_left, mut count, mut paths) = (MAX_TOTAL_BYTES, 0, Vec::new());
            for (path, state) in before.iter_mut().flat_map(|scan| &mut scan.files) {
                let PathState::File(file) = state else { continue };
                if matches!(file.content, FileContent::Blob(_)) {
                    continue;
                }
                let real = root.join(path);
                let metadata = real.symlink_metadata()?;
                *state = if metadata.len() > MAX_STORED_BYTES || count >= MAX_STORED {
                    let content = FileContent::Missing("it was not in git, and too large to copy".to_owned());
                    PathState::File(FileState { content, ..file.clone() })
                } else {
                    count += 1;
                    store_file(&real, &metadata, file.clone(), &mut bytes_left, store)?
                };
                paths.push(PathChange::new(path.into(), state.clone(), PathState::Unknown));
            }
            let killed = format!("changes of “{command}”, which is still running or was killed together with aye");
            let texts = not_stored.iter().cloned().chain([killed]).collect();
            let line = recorder.new_line(line.clone(), paths, texts).ok_or(io::ErrorKind::InvalidInput)?;
            Ok(super::change_log::ChangeLine { is_open: true, ..line })
        })
    }

    /// Records what the command changed. Blocks like [`Self::take`].
    pub fn finish(self) {
        let Self { recorder, root, line, command, mut not_stored, before } = self;
        let Some((checkpoints, _)) = recorder.target() else { return };
        let (mut paths, mut ignored) = (Vec::new(), Vec::new());
        if let Some(before) = before {
            match scan_project(&root, Some(&before.tracked)) {
                Ok(after) => {
                    if after.repository != before.repository {
                        not_stored.push(format!("commits and other changes in .git of “{command}”"));
                    }
                    ignored = list_ignored_changes(&before, &after);
                    let has_more_ignored = before.has_more_ignored || after.has_more_ignored;
                    paths = list_changes(&root, &before, after);
                    if has_more_ignored && !paths.is_empty() {
                        not_stored.push(format!("what “{command}” changed in other files that git ignores"));
                    }
                }
                Err(reason) => not_stored.push(format!("changes of “{command}”: {reason}")),
            }
        }
        let result = checkpoints.append(&root, |_| {
            let line = recorder.new_line(line, paths, not_stored).ok_or(io::ErrorKind::InvalidInput)?;
            Ok(super::change_log::ChangeLine { ignored, ..line })
        });
        if let Err(error) = result {
            recorder.keep_failure(&error);
        }
    }
}

/// Compares two scans.
fn list_changes(root: &Path, before: &Scan, after: Scan) -> Vec<PathChange> {
    let mut paths = Vec::new();
    let folder = PathState::Folder { mode: None };
    for path in after.folders.difference(&before.folders) {
        paths.push(PathChange::new(path.clone(), PathState::Nothing, folder.clone()));
    }
    for path in before.folders.difference(&after.folders) {
        paths.push(PathChange::new(path.clone(), folder.clone(), PathState::Nothing));
    }
    let mut hashed = 0;
    for (path, state) in &after.files {
        let old = before.files.get(path);
        if old.is_some_and(|old| is_unchanged(old, state)) {
            continue;
        }
        let state = match state {
            PathState::File(file) if hashed < MAX_STORED => {
                hashed += 1;
                let is_small = file.stamp.is_some_and(|stamp| stamp.size <= MAX_STORED_BYTES);
                let bytes = if is_small { fs::read(root.join(path)).ok() } else { None };
                let sha256 = bytes.map(|bytes| Digest::of_bytes(&bytes));
                PathState::File(FileState { sha256, content: FileContent::Unneeded, ..file.clone() })
            }
            PathState::File(file) => PathState::File(FileState { content: FileContent::Unneeded, ..file.clone() }),
            state => state.clone(),
        };
        paths.push(PathChange::new(path.into(), old.cloned().unwrap_or(PathState::Nothing), state));
    }
    for (path, state) in before.files.iter().filter(|(path, _)| !after.files.contains_key(*path)) {
        // It may exist and count as ignored now.
        let present = PathState::read_metadata(&root.join(path));
        if !is_unchanged(state, &present) {
            paths.push(PathChange::new(path.into(), state.clone(), present));
        }
    }
    paths
}

/// Returns the paths of ignored files and folders that differ, escaped for display.
fn list_ignored_changes(before: &Scan, after: &Scan) -> Vec<String> {
    let mut changed = BTreeSet::new();
    for (path, (state, name)) in &after.ignored {
        let is_new = match before.ignored.get(path) {
            Some((old, _)) => !is_unchanged(old, state),
            None => !before.has_more_ignored,
        };
        changed.extend(is_new.then_some(name));
    }
    for (path, (_, name)) in &before.ignored {
        let is_gone = !after.ignored.contains_key(path) && !after.has_more_ignored;
        changed.extend(is_gone.then_some(name));
    }
    changed.into_iter().cloned().collect()
}

/// Returns whether a path has the same state, judged by metadata.
fn is_unchanged(old: &PathState, new: &PathState) -> bool {
    match (old, new) {
        (PathState::File(old), PathState::File(new)) => (old.stamp, old.mode) == (new.stamp, new.mode),
        (old, new) => old == new,
    }
}

/// Lists the files of the project at `root` that git does not ignore. Those in `tracked` count as tracked too.
///
/// # Errors
/// The reason why its commands cannot be recorded.
fn scan_project(root: &Path, tracked: Option<&Arc<HashMap<OsString, IndexEntry>>>) -> Result<Scan, String> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists());
    let git = top.and_then(|top| git_folder(top.join(".git")));
    let (Some(top), Some(git)) = (top, git) else { return Err("the project is not under git".to_owned()) };
    let failed = |error: io::Error| format!("the project could not be read ({error})");
    let index = git.join("index");
    let index_time = index.metadata().and_then(|metadata| metadata.modified()).ok();
    let tracked = match tracked {
        Some(tracked) => tracked.clone(),
        None => {
            let entries = fs::read(&index).map_or_else(|_| Some(Vec::new()), |bytes| parse_index(&bytes));
            let entries = entries.ok_or("its git index cannot be read")?;
            let project = root.strip_prefix(top).unwrap_or(Path::new(""));
            let below =
                |entry: IndexEntry| Some((entry.path.strip_prefix(project).ok()?.as_os_str().to_owned(), entry));
            Arc::new(entries.into_iter().filter_map(below).collect())
        }
    };
    let mut tracked_folders: HashSet<&OsStr> = HashSet::new();
    for path in tracked.keys() {
        // The folders above a known folder are known.
        for folder in Path::new(path).ancestors().skip(1) {
            if !tracked_folders.insert(folder.as_os_str()) {
                break;
            }
        }
    }
    let disk = Arc::new(Disk::new(root).map_err(failed)?);
    let live = Rehearsal::new(disk, git.join("aye-has-no-overlay-here"));
    let mut groups = GroupClassifier::for_untracked_paths(&live);
    let (mut files, mut folders) = (BTreeMap::new(), HashSet::new());
    let (mut ignored, mut has_more_ignored) = (BTreeMap::new(), false);
    let mut pending = vec![(PathBuf::new(), None)];
    while let Some((folder, ignored_folder)) = pending.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let path = folder.join(&name);
            if name == ".git" {
                continue;
            }
            let is_tracked = match kind.is_dir() {
                true => tracked_folders.contains(path.as_os_str()),
                false => tracked.contains_key(path.as_os_str()),
            };
            if !is_tracked && (ignored_folder.is_some() || groups.is_ignored(&path, kind.is_dir())) {
                let end = if kind.is_dir() { "/" } else { "" };
                let name = ignored_folder.clone().unwrap_or_else(|| escape_path(&path) + end);
                if ignored.len() >= MAX_IGNORED {
                    has_more_ignored = true;
                } else if kind.is_dir() {
                    // After all others, so that files that are ignored one by one are compared first.
                    pending.insert(0, (path, Some(name)));
                } else if let Ok(metadata) = entry.metadata() {
                    let state = PathState::from_metadata(&entry.path(), &metadata);
                    ignored.insert(path.into_os_string(), (state, name));
                }
                continue;
            }
            if kind.is_dir() {
                folders.insert(path.clone());
                pending.push((path, None));
                continue;
            }
            if files.len() >= MAX_FILES {
                return Err(format!("the project has more than {MAX_FILES} files"));
            }
            let Ok(metadata) = entry.metadata() else { continue };
            let state = match PathState::from_metadata(&entry.path(), &metadata) {
                PathState::File(file) => {
                    let stored = tracked.get(path.as_os_str()).filter(|entry| entry.is_clean(&metadata, index_time));
                    let blob = stored.map(|entry| FileContent::Blob(entry.object_id()));
                    PathState::File(FileState { content: blob.unwrap_or_default(), ..file })
                }
                state => state,
            };
            files.insert(path.into_os_string(), state);
        }
    }
    let repository = ["HEAD", "logs/HEAD", "packed-refs"].map(|name| PathState::read_metadata(&git.join(name)));
    Ok(Scan { files, folders, tracked, ignored, has_more_ignored, repository: repository.into() })
}

/// Reads a content from git's object store, without any filter or hook. `size` is that of the file.
///
/// # Errors
/// A reason that follows “its content”.
pub fn read_blob(root: &Path, id: &str, size: Option<u64>) -> Result<Vec<u8>, String> {
    let environment: Vec<_> = std::env::vars_os().collect();
    let mut git = std::process::Command::new("git");
    git.env_clear().envs(crate::project::environment::read_only_environment(root, &environment));
    // The repository may be above the project.
    git.env_remove("GIT_CEILING_DIRECTORIES").current_dir(root).args(["cat-file", "blob", id]);
    let output = git.stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot be read from git ({error})"))?;
    match output.status.success() {
        false => Err("is no longer stored in git".to_owned()),
        true if size.is_some_and(|size| size != output.stdout.len() as u64) => {
            Err("is stored in git in another form".to_owned())
        }
        true => Ok(output.stdout),
    }
}
