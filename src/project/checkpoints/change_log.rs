//! The log of all checkpoints of a project, with its lock and its limit.

use super::object_store::{ObjectStore, create_private_folder};
use super::path_state::{FileContent, PathState};
use crate::chat::{CallId, Checkpoint, Digest, SessionId, join_first};
use crate::project::rehearsal::records::{append_records, path_bytes, read_records};
use crate::text::escaped_path::escape_path;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const LOG_FILE: &str = "changes";
const LOCK_FILE: &str = "lock";
/// File with the path of the project, for a user who looks into the folder.
const PROJECT_FILE: &str = "project";
/// The log may take this part of the limit.
const LOG_SHARE: u64 = 16;
/// The limit is checked each time that new content exceeds this part of it.
const CHECK_SHARE: u64 = 16;
/// Number of ignored paths that are named.
const MAX_NAMED_IGNORED: usize = 3;

/// The checkpoints of one project.
pub struct Checkpoints {
    folder: PathBuf,
    objects: ObjectStore,
    /// Maximum bytes of all checkpoints.
    limit: u64,
    /// Bytes stored by this process since the limit was last checked.
    added: AtomicU64,
}

/// A line of the log: changes of one call. A call may have several.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChangeLine {
    /// Sorts by time.
    pub id: String,
    pub session: SessionId,
    pub call: CallId,
    pub tool: String,
    /// Calls whose changes this call restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<CallId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathChange>,
    /// Effects that cannot be restored, each worded to follow “Not restored: ”.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_stored: Vec<String>,
    /// Changed paths that git ignores, escaped for display. Nothing else is known of their changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// True for the first of two lines of a command. The second one, with the states after it, has the same ID.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_open: bool,
}

/// Recorded change of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathChange {
    /// Relative to the project, or absolute if outside it.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    pub before: PathState,
    pub after: PathState,
    /// Number of its line: calls may change files at the same time.
    #[serde(skip)]
    pub position: usize,
}

/// All that one call changed, from all its lines.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// ID of its first line.
    pub id: String,
    pub session: SessionId,
    pub call: CallId,
    pub tool: String,
    pub undoes: Vec<CallId>,
    /// In the order in which they were made.
    pub paths: Vec<PathChange>,
    pub not_stored: Vec<String>,
    pub ignored: Vec<String>,
}

impl PathChange {
    pub fn new(path: PathBuf, before: PathState, after: PathState) -> Self {
        Self { path, before, after, position: 0 }
    }
}

impl RecordedCall {
    /// Returns what sessions and commands list of it.
    pub fn summary(&self) -> Checkpoint {
        let is_listed = |change: &&PathChange| !(change.before.is_folder() || change.after.is_folder());
        let files: BTreeSet<&Path> = self.paths.iter().filter(is_listed).map(|change| change.path.as_path()).collect();
        Checkpoint {
            id: self.id.clone(),
            session: self.session.clone(),
            call: self.call.clone(),
            tool: self.tool.clone(),
            seconds: ulid::Ulid::from_string(&self.id).map_or(0, |id| id.timestamp_ms() / 1000),
            files: files.into_iter().map(escape_path).collect(),
            undoes: self.undoes.clone(),
            not_stored: self.not_stored.iter().cloned().chain(describe_ignored(&self.ignored)).collect(),
        }
    }
}

/// Returns these paths, which git ignores, as an effect that cannot be restored; `None` if there are none.
pub(super) fn describe_ignored<T: AsRef<str>>(paths: &[T]) -> Option<String> {
    let names: BTreeSet<&str> = paths.iter().map(AsRef::as_ref).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| format!("{} (ignored by git)", join_first(&names, MAX_NAMED_IGNORED)))
}

impl Checkpoints {
    /// Opens the checkpoints in this folder, which is created at the first change. `limit` is in bytes.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        let objects = ObjectStore::new(folder.join("objects"));
        // The first change checks the limit, which may have been lowered.
        Self { objects, folder, limit, added: AtomicU64::new(limit) }
    }

    /// Returns the folder of all their files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a path at which there is no overlay, to see the project as it is on the disk.
    pub(super) fn no_overlay(&self) -> PathBuf {
        self.folder.join("overlay")
    }

    /// Returns the maximum bytes of all checkpoints.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn objects(&self) -> &ObjectStore {
        &self.objects
    }

    /// Takes the lock of the checkpoints, for every change of them. Other processes wait.
    fn lock(&self) -> io::Result<File> {
        create_private_folder(&self.folder)?;
        let lock = create_private_file(&self.folder.join(LOCK_FILE))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// Stores what `build_line` stores and appends its line, so that no other process removes the contents in between.
    ///
    /// # Errors
    /// If the disk fails or is full. Nothing is recorded then.
    pub(super) fn append(
        &self,
        root: &Path,
        build_line: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<Digest>) -> io::Result<ChangeLine>,
    ) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut stored = 0;
        let mut store = |content: &[u8]| -> io::Result<Digest> {
            let (digest, size) = self.objects.store(content)?;
            stored += size;
            Ok(digest)
        };
        let line = build_line(&mut store)?;
        let log = self.folder.join(LOG_FILE);
        if !log.exists() {
            create_private_file(&self.folder.join(PROJECT_FILE))?.write_all(root.as_os_str().as_bytes())?;
            create_private_file(&log)?;
        }
        append_records(&log, &[line])?;
        let added = self.added.fetch_add(stored, Ordering::Relaxed) + stored;
        if added >= self.limit / CHECK_SHARE {
            self.added.store(0, Ordering::Relaxed);
            // What cannot be removed now is removed later.
            if let Ok(0) = self.remove_oldest() {
                return Err(io::Error::other("it exceeds undo.max_mb"));
            }
        }
        Ok(())
    }

    /// Returns everything recorded, one item per call, in the order of their first changes.
    pub fn read_calls(&self) -> Vec<RecordedCall> {
        let lines: Vec<ChangeLine> = read_records(&self.folder.join(LOG_FILE));
        // A line of a finished command replaces the one from before it.
        let finished: HashSet<String> = lines.iter().filter(|line| !line.is_open).map(|line| line.id.clone()).collect();
        let mut positions: HashMap<(SessionId, CallId), usize> = HashMap::new();
        let mut calls: Vec<RecordedCall> = Vec::new();
        for (line_number, mut line) in lines.into_iter().enumerate() {
            line.paths.iter_mut().for_each(|change| change.position = line_number);
            if line.is_open && finished.contains(&line.id) {
                continue;
            }
            let ChangeLine { id, session, call, tool, undoes, paths, not_stored, ignored, is_open: _ } = line;
            let position = *positions.entry((session.clone(), call.clone())).or_insert(calls.len());
            match calls.get_mut(position) {
                None => calls.push(RecordedCall { id, session, call, tool, undoes, paths, not_stored, ignored }),
                Some(recorded) => {
                    recorded.paths.extend(paths);
                    recorded.undoes = undoes;
                    recorded.not_stored.extend(not_stored);
                    recorded.ignored.extend(ignored);
                }
            }
        }
        calls
    }

    /// Removes the oldest lines until everything fits into the limit, then the contents that no line needs. Returns the
    /// number of lines that are left. The caller holds the lock.
    fn remove_oldest(&self) -> io::Result<usize> {
        let log = self.folder.join(LOG_FILE);
        let lines: Vec<ChangeLine> = read_records(&log);
        let line_count = lines.len();
        let sizes: HashMap<Digest, u64> = self.objects.list().0.into_iter().collect();
        let mut kept = HashSet::new();
        let (mut total, mut log_bytes, mut kept_lines) = (0, 0, Vec::new());
        // Newest first: a content that a newer line needs stays.
        for line in lines.into_iter().rev() {
            let new_contents: HashSet<Digest> =
                line_contents(&line).into_iter().filter(|digest| !kept.contains(digest)).collect();
            let content_bytes: u64 = new_contents.iter().filter_map(|digest| sizes.get(digest)).sum();
            let line_bytes = serde_json::to_vec(&line)?.len() as u64 + 2;
            if total + content_bytes > self.limit || log_bytes + line_bytes > self.limit / LOG_SHARE {
                break;
            }
            total += content_bytes;
            log_bytes += line_bytes;
            kept.extend(new_contents);
            kept_lines.push(line);
        }
        kept_lines.reverse();
        // Contents that no line needs are left by kills; they count too.
        if kept_lines.len() < line_count || sizes.values().sum::<u64>() > self.limit {
            self.rewrite(&kept_lines)?;
            self.objects.keep_only(&kept);
        }
        Ok(kept_lines.len())
    }

    /// Replaces the log if these are not all its lines.
    fn rewrite(&self, lines: &[ChangeLine]) -> io::Result<()> {
        let log = self.folder.join(LOG_FILE);
        let all: Vec<ChangeLine> = read_records(&log);
        if all.len() == lines.len() {
            return Ok(());
        }
        let new_log = self.folder.join("changes-new");
        let _ = fs::remove_file(&new_log);
        create_private_file(&new_log)?;
        append_records(&new_log, lines)?;
        fs::rename(new_log, log)
    }

    /// Removes the checkpoints of these sessions, and the contents that no other one needs.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn remove_sessions(&self, sessions: &[SessionId]) -> io::Result<()> {
        if !self.folder.join(LOG_FILE).exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let mut lines: Vec<ChangeLine> = read_records(&self.folder.join(LOG_FILE));
        lines.retain(|line| !sessions.contains(&line.session));
        self.rewrite(&lines)?;
        self.objects.keep_only(&lines.iter().flat_map(line_contents).collect());
        Ok(())
    }
}

/// Opens a file for appending, and creates it for the owner only if needed.
fn create_private_file(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).mode(0o600).open(path)
}

/// Returns the digests of the contents that a line needs.
fn line_contents(line: &ChangeLine) -> Vec<Digest> {
    let states = line.paths.iter().map(|change| &change.before);
    let contents = states.filter_map(|state| match state {
        PathState::File(file) if file.content == FileContent::Object => file.sha256.clone(),
        _ => None,
    });
    contents.collect()
}
