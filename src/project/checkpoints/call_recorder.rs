//! Records the changes of one call.

use super::change_log::{ChangeLine, Checkpoints, PathChange};
use super::path_state::{FileContent, FileStamp, FileState, PathState};
use crate::chat::batch::Group;
use crate::chat::{CallId, Digest, SessionId};
use crate::project::disk::Disk;
use crate::project::groups::GroupClassifier;
use crate::project::rehearsal::{FileNode, Rehearsal};
use crate::text::escaped_path::escape_path;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The checkpoints of a project as the changes of one session are recorded in them.
#[derive(Clone)]
pub struct SessionCheckpoints {
    pub checkpoints: Arc<Checkpoints>,
    pub session: SessionId,
    /// Root of the project.
    pub root: PathBuf,
}

/// Records what a call changes, before it does.
pub struct CallRecorder {
    /// `None`: nothing is recorded.
    target: Option<Target>,
    /// First reason why a change could not be recorded.
    failure: Mutex<Option<String>>,
}

struct Target {
    session: SessionCheckpoints,
    call: CallId,
    tool: String,
    undoes: Vec<CallId>,
}

/// Stores a content and returns its digest.
pub type StoreContent<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<Digest>;

impl SessionCheckpoints {
    /// Returns the recorder of a call.
    pub fn recorder(&self, call: &CallId, tool: &str) -> CallRecorder {
        let target = Target { session: self.clone(), call: call.clone(), tool: tool.to_owned(), undoes: Vec::new() };
        CallRecorder { target: Some(target), failure: Mutex::default() }
    }
}

impl CallRecorder {
    /// Returns a recorder that records nothing: for a project whose checkpoints are turned off.
    pub fn disabled() -> Self {
        Self { target: None, failure: Mutex::default() }
    }

    /// Returns a recorder of the same call that restores the changes of these calls.
    #[must_use]
    pub fn with_undone(&self, undoes: Vec<CallId>) -> Self {
        let target = self.target.as_ref().map(|target| Target {
            session: target.session.clone(),
            call: target.call.clone(),
            tool: target.tool.clone(),
            undoes,
        });
        Self { target, failure: Mutex::default() }
    }

    /// Returns the checkpoints and the root of the project; `None` if nothing is recorded.
    pub(super) fn target(&self) -> Option<(&Checkpoints, &Path)> {
        let session = &self.target.as_ref()?.session;
        Some((&session.checkpoints, &session.root))
    }

    /// Returns the path as it is recorded: relative to the project if it is inside.
    pub(super) fn recorded_path(root: &Path, real: &Path) -> PathBuf {
        real.strip_prefix(root).unwrap_or(real).to_owned()
    }

    /// Returns a line of this call.
    pub(super) fn new_line(&self, id: String, paths: Vec<PathChange>, not_stored: Vec<String>) -> Option<ChangeLine> {
        let Target { session, call, tool, undoes } = self.target.as_ref()?;
        let (session, call, tool, undoes) = (session.session.clone(), call.clone(), tool.clone(), undoes.clone());
        Some(ChangeLine { id, session, call, tool, undoes, paths, not_stored, ignored: Vec::new(), is_open: false })
    }

    /// Records changes that are about to be made. A change that cannot be recorded is made all the same: the failure is
    /// kept for the outcome of the call.
    pub(super) fn record(&self, collect_paths: impl FnOnce(StoreContent<'_>) -> io::Result<Vec<PathChange>>) {
        let Some((checkpoints, root)) = self.target() else { return };
        let result = checkpoints.append(root, |store| {
            let paths = collect_paths(store)?;
            self.new_line(new_id(), paths, Vec::new()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
        });
        if let Err(error) = result {
            self.keep_failure(&error);
        }
    }

    /// Records an effect that cannot be restored, worded to follow “Not restored: ”. Blocks.
    pub fn record_effect(&self, effect: String) {
        let Some((checkpoints, root)) = self.target() else { return };
        let result = checkpoints.append(root, |_| {
            self.new_line(new_id(), Vec::new(), vec![effect]).ok_or_else(|| io::ErrorKind::InvalidInput.into())
        });
        if let Err(error) = result {
            self.keep_failure(&error);
        }
    }

    /// Records only the name of a path that git ignores and that is about to be changed: such files often hold secrets.
    /// Returns false if git does not ignore it.
    fn record_ignored(&self, real: &Path, is_folder: bool) -> bool {
        let Some((checkpoints, root)) = self.target() else { return false };
        let Some(path) = real.strip_prefix(root).ok().filter(|path| is_ignored(checkpoints, root, path, is_folder))
        else {
            return false;
        };
        let result = checkpoints.append(root, |_| {
            let line = self.new_line(new_id(), Vec::new(), Vec::new()).ok_or(io::ErrorKind::InvalidInput)?;
            Ok(ChangeLine { ignored: vec![escape_path(path)], ..line })
        });
        if let Err(error) = result {
            self.keep_failure(&error);
        }
        true
    }

    pub(super) fn keep_failure(&self, error: &io::Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| error.to_string());
    }

    /// Records a change of one path with known contents. `real` is an absolute path without links.
    pub fn record_change(&self, real: &Path, before: &FileNode, after: &FileNode) {
        let Some((_, root)) = self.target() else { return };
        if self.record_ignored(real, before.is_folder() || after.is_folder()) {
            return;
        }
        self.record(|store| {
            let mut paths = if *after == FileNode::Nothing { Vec::new() } else { new_parents(root, real) };
            let before = stored_state(before, real, store)?;
            paths.push(PathChange::new(Self::recorded_path(root, real), before, PathState::from_node(after)));
            Ok(paths)
        });
    }

    /// Records that a file is replaced, or created if `before` is `None`. A write keeps the mode of the file.
    pub fn record_write(&self, real: &Path, before: Option<&[u8]>, after: &[u8]) {
        let Some((_, root)) = self.target() else { return };
        let is_folder = false;
        if self.record_ignored(real, is_folder) {
            return;
        }
        let metadata = real.symlink_metadata().ok().filter(std::fs::Metadata::is_file);
        let mode = metadata.as_ref().map(|metadata| metadata.mode() & 0o7777);
        self.record(|store| {
            let after = FileState { sha256: Some(Digest::of_bytes(after)), mode, ..FileState::default() };
            let before = match before {
                None => PathState::Nothing,
                Some(bytes) => PathState::File(FileState {
                    sha256: Some(store(bytes)?),
                    mode,
                    stamp: metadata.as_ref().map(FileStamp::from_metadata),
                    content: FileContent::Object,
                }),
            };
            let mut paths = new_parents(root, real);
            paths.push(PathChange::new(Self::recorded_path(root, real), before, PathState::File(after)));
            Ok(paths)
        });
    }

    /// Returns the reason why a change could not be recorded, if so.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns whether git ignores a path of the project at `root`, as for the groups of a dry run. Reads the ignore files each
/// time, because calls change them, and git's index only if they name the path.
fn is_ignored(checkpoints: &Checkpoints, root: &Path, path: &Path, is_folder: bool) -> bool {
    let Ok(disk) = Disk::new(root) else { return false };
    let live = Rehearsal::new(Arc::new(disk), checkpoints.no_overlay());
    GroupClassifier::new(&live).classify(path, is_folder) == Group::Ignored
}

/// Returns a new ID. Those of one process sort by time.
pub(super) fn new_id() -> String {
    static GENERATOR: Mutex<Option<ulid::Generator>> = Mutex::new(None);
    let mut generator = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let id = generator.get_or_insert_with(ulid::Generator::new).generate();
    id.unwrap_or_else(|_| ulid::Ulid::new()).to_string()
}

/// Stores the content of a node that is at `real` now, and returns its state.
fn stored_state(node: &FileNode, real: &Path, store: StoreContent<'_>) -> io::Result<PathState> {
    let FileNode::File { bytes, mode } = node else { return Ok(PathState::from_node(node)) };
    let stamp = real.symlink_metadata().ok().filter(std::fs::Metadata::is_file);
    Ok(PathState::File(FileState {
        sha256: Some(store(bytes)?),
        mode: Some(*mode),
        stamp: stamp.map(|metadata| FileStamp::from_metadata(&metadata)),
        content: FileContent::Object,
    }))
}

/// Returns the changes of the folders that are created along with an entry at `real`.
pub(super) fn new_parents(root: &Path, real: &Path) -> Vec<PathChange> {
    let is_missing = |folder: &&Path| folder.symlink_metadata().is_err();
    let missing: Vec<&Path> = real.ancestors().skip(1).take_while(is_missing).collect();
    let to_change = |folder: &Path| {
        let path = CallRecorder::recorded_path(root, folder);
        PathChange::new(path, PathState::Nothing, PathState::Folder { mode: None })
    };
    missing.into_iter().rev().map(to_change).collect()
}
