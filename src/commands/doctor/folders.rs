//! Checks aye's folders and their permissions, and the sessions.

use super::finding::Finding;
use crate::store::{Places, Sessions};
use rustix::fs::{Access, access};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Less free space than this, in bytes, is reported.
const MIN_FREE_BYTES: u64 = 64 << 20;

/// Returns the permission bits of aye's folders and of the files with secrets. `None`: missing or not accessible. Must be
/// called before these files are loaded, which restricts their permissions.
pub(super) fn read_permissions(places: &Places) -> Vec<(PathBuf, Option<u32>)> {
    let [config, data] = places.own_folders();
    let paths = [config.to_owned(), data.to_owned(), places.credentials(), places.tool_credentials()];
    let mode = |path: &PathBuf| std::fs::metadata(path).ok().map(|metadata| metadata.mode() & 0o777);
    paths.into_iter().map(|path| (path.clone(), mode(&path))).collect()
}

/// Checks that aye's folders are writable and private, and that their disk has free space.
pub(super) fn check_folders(places: &Places, permissions: &[(PathBuf, Option<u32>)]) -> Vec<Finding> {
    let area = "folders";
    let mut findings = Vec::new();
    for folder in places.own_folders() {
        let mode = permissions.iter().find(|(path, _)| path == folder).and_then(|(_, mode)| *mode);
        let shown_path = folder.display();
        findings.push(match mode {
            None if folder.exists() => Finding::problem(
                area,
                format!("{shown_path} is not accessible"),
                "make it yours again: chown, chmod 700",
            ),
            None => Finding::note(area, format!("{shown_path} does not exist yet"), "the first run creates it"),
            Some(_) if !folder.is_dir() => Finding::problem(
                area,
                format!("{shown_path} is not a folder"),
                "move it away; the folder is created again",
            ),
            Some(_) if access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err() => {
                let message = format!("{shown_path} is not writable, so nothing is saved");
                Finding::problem(area, message, "make it yours again: chown, chmod 700")
            }
            Some(mode) if mode & 0o077 != 0 => {
                let message = format!("{shown_path} is accessible to others ({mode:03o})");
                Finding::note(area, message, "the next run fixes it, or run chmod 700")
            }
            Some(mode) => Finding::ok(area, format!("{shown_path} ({mode:03o})")),
        });
    }
    let [_, data] = places.own_folders();
    if let Some(free) = free_bytes(data)
        && free < MIN_FREE_BYTES
    {
        let message = format!("only {} MB free for sessions", free >> 20);
        findings.push(Finding::problem(
            "folders",
            message,
            "free disk space: an unsaved session is lost when aye exits",
        ));
    }
    findings
}

/// Returns the free bytes on the disk of this folder.
fn free_bytes(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|folder| folder.exists())?;
    let stats = rustix::fs::statvfs(existing).ok()?;
    Some(stats.f_bavail.saturating_mul(stats.f_frsize))
}

/// Checks the sessions, and which are open in another process.
pub(super) fn check_sessions(places: &Places) -> Vec<Finding> {
    let area = "sessions";
    let sessions = Sessions::new(places.sessions());
    let listed = match sessions.list_all() {
        Ok(listed) => listed,
        Err(error) => {
            return vec![Finding::problem(area, error.to_string(), "no session can be continued")];
        }
    };
    let (count, bytes) = (listed.len(), listed.iter().map(|listed| listed.bytes).sum::<u64>());
    let open = sessions.open_elsewhere();
    let waiting_count = listed.iter().filter(|listed| listed.has_open_prompt).count();
    let mut summary = format!("{count} saved, {} KB", bytes.div_ceil(1024));
    if waiting_count > 0 {
        summary.push_str(&format!(" · {waiting_count} waiting for you"));
    }
    if !open.is_empty() {
        let names: Vec<&str> = open.iter().map(|id| id.0.as_str()).collect();
        summary.push_str(&format!(" · open in another aye: {}", names.join(", ")));
    }
    let mut findings = vec![Finding::ok(area, summary)];
    findings.extend(listed.iter().filter_map(|listed| {
        let problem = listed.problem.as_ref()?;
        let advice = "its readable part is shown when it is opened; nothing is deleted";
        Some(Finding::problem(area, format!("{}: {problem}", listed.id), advice))
    }));
    findings
}
