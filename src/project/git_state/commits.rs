//! Describes the commits that a ref gains or loses, read from git's objects.

use super::{FileNode, Rehearsal, StateDescription};
use crate::project::Reader;
use flate2::read::ZlibDecoder;
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

/// Maximum number of commits that are read.
const MAX_READ: usize = 200;
/// Maximum number of commits that are listed.
const MAX_LISTED: usize = 20;
/// Bytes of a commit that are read.
const COMMIT_LIMIT: u64 = 64 * 1024;

/// Parsed part of a commit.
struct Commit {
    parents: Vec<String>,
    subject: String,
}

impl StateDescription<'_> {
    /// Describes a change of a ref: the commits it gains, and a warning if it may lose commits.
    pub(super) fn describe_ref_change(&mut self, name: &str, before: Option<&str>, after: Option<&str>) {
        match (before, after) {
            (before, None) => {
                self.destroys.push(format!("deletes {name} at {}", shorten_id(before.unwrap_or_default())));
                self.notes.push(format!("{name}: deleted"));
            }
            (None, Some(after)) => {
                self.notes.push(format!("{name}: new, at {}", shorten_id(after)));
                if is_object_id(after) {
                    self.list_gained_commits(after, None);
                }
            }
            (Some(before), Some(after)) => {
                self.notes.push(format!("{name}: {} → {}", shorten_id(before), shorten_id(after)));
                if is_object_id(before) && is_object_id(after) && !self.list_gained_commits(after, Some(before)) {
                    self.destroys.push(format!("moves {name} to a history without {}", shorten_id(before)));
                }
            }
        }
    }

    /// Lists the commits from `from` back to `until` that the live project does not have. Returns whether `until` was
    /// reached.
    fn list_gained_commits(&mut self, from: &str, until: Option<&str>) -> bool {
        let (mut pending, mut visited) = (vec![from.to_owned()], HashSet::new());
        let (mut lines, mut is_reached) = (Vec::new(), false);
        while let Some(id) = pending.pop() {
            if Some(id.as_str()) == until {
                is_reached = true;
                continue;
            }
            if visited.len() >= MAX_READ || !visited.insert(id.clone()) {
                continue;
            }
            let Some((commit, is_new)) = self.read_commit(&id) else { continue };
            if is_new {
                lines.push(format!("  {} {}", shorten_id(&id), commit.subject));
            }
            pending.extend(commit.parents);
        }
        let more = lines.len().saturating_sub(MAX_LISTED);
        self.notes.extend(lines.into_iter().take(MAX_LISTED));
        let commits = if more == 1 { "commit" } else { "commits" };
        self.notes.extend((more > 0).then(|| format!("  and {more} more {commits}")));
        is_reached
    }

    /// Reads a commit stored as a loose object. Returns it with true if the live project does not have it.
    fn read_commit(&self, id: &str) -> Option<(Commit, bool)> {
        let path = self.git.join("objects").join(id.get(..2)?).join(id.get(2..)?);
        let packed = read_rehearsed(self.rehearsal, &path)?;
        let mut bytes = Vec::new();
        ZlibDecoder::new(&packed[..]).take(COMMIT_LIMIT).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let body = text.strip_prefix("commit ")?.split_once('\0')?.1;
        let (header, message) = body.split_once("\n\n").unwrap_or((body, ""));
        // The header begins with `tree` and `parent` lines; all other lines follow them.
        let parents = header.lines().map_while(|line| match line.split_once(' ')? {
            ("tree", _) => Some(None),
            ("parent", id) => Some(Some(id.to_owned())),
            _ => None,
        });
        let commit = Commit {
            parents: parents.flatten().filter(|id| is_object_id(id)).collect(),
            subject: message.lines().next().unwrap_or_default().to_owned(),
        };
        Some((commit, self.rehearsal.live_node(&path) == FileNode::Nothing))
    }
}

fn is_object_id(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Shortens an object id; any other text is returned unchanged.
fn shorten_id(text: &str) -> String {
    if is_object_id(text) { text.chars().take(7).collect() } else { text.to_owned() }
}

/// Reads a file as the dry run sees it.
pub(super) fn read_rehearsed(rehearsal: &Rehearsal, path: &Path) -> Option<Vec<u8>> {
    let location = rehearsal.locate(rehearsal.root().join(path).to_str()?).ok()?;
    rehearsal.read(&location).ok()
}
