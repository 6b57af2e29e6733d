//! State of the repository when a dry run began, recorded next to its overlay.

use super::git_index;
use crate::chat::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// File next to the overlay with the state of the repository when the dry run began.
const BASELINE_FILE: &str = "repository";

/// State of the project's repository when the dry run began.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// Content of the file `HEAD`.
    pub(super) head: Option<String>,
    /// The commit that `HEAD` resolves to.
    pub(super) commit: Option<String>,
    /// Digest of the staged content, without git's cached metadata.
    pub(super) index: Digest,
}

/// Records the state of the repository next to the overlay. Called before the dry run changes anything.
pub(super) fn record_baseline(root: &Path, overlay_folder: &Path) -> std::io::Result<()> {
    let git = root.join(".git");
    if !git.is_dir() {
        return Ok(());
    }
    let read = |path: &Path| fs::read(git.join(path)).ok();
    let index = read(Path::new("index")).unwrap_or_default();
    let baseline = Baseline {
        head: read(Path::new("HEAD")).and_then(|head| String::from_utf8(head).ok()),
        commit: resolve_head(&read),
        index: git_index::staged_digest(&index),
    };
    fs::create_dir_all(overlay_folder)?;
    fs::write(overlay_folder.join(BASELINE_FILE), serde_json::to_vec(&baseline)?)
}

/// Returns the id of the commit that `HEAD` resolves to. `read` reads a file by its path in the `.git` folder.
pub(super) fn resolve_head(read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Option<String> {
    let read_text = |path: &Path| read(path).and_then(|bytes| String::from_utf8(bytes).ok());
    let head = read_text(Path::new("HEAD"))?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return Some(head.trim().to_owned()) };
    let loose = read_text(Path::new(name)).map(|commit| commit.trim().to_owned());
    loose.or_else(|| parse_packed_refs(&read_text(Path::new("packed-refs"))?).get(name).cloned())
}

/// Parses a `packed-refs` file. Returns the object id of each ref, by the ref's name.
pub(super) fn parse_packed_refs(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    lines.filter_map(|line| line.split_once(' ')).map(|(id, name)| (name.into(), id.into())).collect()
}

/// Reads the state recorded next to the overlay, if any.
pub(super) fn read_baseline(overlay_folder: &Path) -> Option<Baseline> {
    serde_json::from_slice(&fs::read(overlay_folder.join(BASELINE_FILE)).ok()?).ok()
}
