//! Detects changes of the rules: by another process, by the user in the file, or by a new day.

use super::{LoadedRules, PROJECT_RULES_FILE, ProjectSource};
use crate::policy::Rules;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Detects changes of the rule files before every call.
pub struct RuleWatcher {
    source: ProjectSource,
    cached: Mutex<Option<(FileState, LoadedRules)>>,
}

/// Device, inode, length and modification time (seconds and nanoseconds) of a file.
type FileStamp = (u64, u64, u64, i64, i64);

/// Date and metadata of the files. The rules are loaded again if it differs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    today: String,
    /// Stamp of each file; `None` if it is missing.
    files: [Option<FileStamp>; 3],
}

impl RuleWatcher {
    pub fn new(source: ProjectSource) -> Self {
        Self { source, cached: Mutex::new(None) }
    }

    /// Returns the rules and new notices if anything changed since the last call.
    pub fn reload_if_changed(&self) -> Option<(Arc<Rules>, Vec<String>)> {
        let state = self.file_state();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        // A deny rule for a symlink applies to its current target, so a changed target counts as a change too.
        let is_current = |(cached_state, loaded): &(FileState, LoadedRules)| {
            *cached_state == state && self.source.has_same_targets(loaded)
        };
        if cached.as_ref().is_some_and(is_current) {
            return None;
        }
        let loaded = self.source.load(&state.today);
        // At the start, the notice about an untrusted project file is part of the trust prompt.
        let known_notices = match &*cached {
            Some((_, previous)) => previous.notices(),
            None => loaded.untrusted_notice().into_iter().collect(),
        };
        let notices = loaded.notices().into_iter().filter(|notice| !known_notices.contains(notice)).collect();
        let rules = Arc::new(loaded.rules.clone());
        *cached = Some((state, loaded));
        Some((rules, notices))
    }

    fn file_state(&self) -> FileState {
        let project_file = self.source.folder.join(PROJECT_RULES_FILE);
        let file_stamp = |path: &Path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
        };
        let files = [&self.source.rules_file, &self.source.trust_file, &project_file].map(|path| file_stamp(path));
        FileState { today: super::today_date(), files }
    }
}
