//! Looks up what the screen lists: sessions, files, link targets and the times of entries.

use super::{ScreenHost, describe_failure};
use crate::assemble::sandbox_setup;
use crate::assemble::session_builder::SessionBuilder;
use crate::chat::SessionId;
use crate::chat::image::{self, ImageSize};
use crate::project::disk::Disk;
use crate::project::file_names::collect_file_names;
use crate::project::{Reader, picture};
use crate::store::{Listed, local_time};
use crate::text::link::LinkTarget;
use crate::text::workspace_address::WorkspaceAddress;
use crate::tui::host::{HostReply, LinkStatus, ListState, SessionRow};
use crate::workspace::{StoredFile, Workspace};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum bytes of a picture in a workspace whose size is looked up.
const MAX_PICTURE_BYTES: u64 = 20_000_000;

/// Number of the latest request. An older request stops when it finds that it is not the latest.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestRequest(Arc<AtomicU64>);

impl LatestRequest {
    /// Starts a new request. Returns a function that tells whether it still is the latest.
    fn start_request(&self) -> impl Fn() -> bool + Send + 'static {
        let latest = self.0.clone();
        let number = latest.fetch_add(1, Ordering::Relaxed) + 1;
        move || latest.load(Ordering::Relaxed) == number
    }
}

impl ScreenHost {
    pub(super) fn list_sessions(&self) {
        let (sessions, folder) = (self.session_builder.stored_sessions(), self.session_builder.folder.clone());
        let replies = self.replies.clone();
        self.run_in_background(move || {
            Some(match sessions.list_by_project(&folder) {
                Ok(listed) => HostReply::Sessions(listed.into_iter().map(session_row).collect()),
                Err(error) => {
                    // The empty list ends the screen's wait for the list. The screen may be closed.
                    let _ = replies.blocking_send(HostReply::Sessions(Vec::new()));
                    HostReply::Notice(describe_failure("Cannot list the sessions", &error.into()))
                }
            })
        });
    }

    /// Searches the sessions of the project. A newer search stops this one. An empty query only stops the running
    /// search.
    pub(super) fn search_sessions(&self, query: String) {
        let is_latest = self.latest_search.start_request();
        if query.is_empty() {
            return;
        }
        let (sessions, folder) = (self.session_builder.stored_sessions(), self.session_builder.folder.clone());
        let replies = self.replies.clone();
        tokio::task::spawn_blocking(move || {
            sessions.search_project(&folder, &query, &is_latest, &mut |matches, is_complete| {
                let matches = matches.to_vec();
                // The screen may be closed.
                let _ = replies.blocking_send(HostReply::SearchResults { query: query.clone(), matches, is_complete });
            });
        });
    }

    /// Lists the files and folders of the project for `@`.
    pub(super) fn list_files(&self) {
        let is_latest = self.latest_file_list.start_request();
        let (session_builder, id, replies) = (self.session_builder.clone(), self.session.clone(), self.replies.clone());
        tokio::task::spawn_blocking(move || {
            let send = |names: Vec<String>, completeness| {
                // The screen may be closed.
                let _ = replies.blocking_send(HostReply::Files { names, completeness });
            };
            let collect = |project: Box<dyn Reader>| {
                collect_file_names(&*project, &is_latest, &mut |names| send(names.to_vec(), ListState::Scanning))
            };
            let found = session_builder.project_of_session(&id).map(collect).unwrap_or_default();
            if is_latest() {
                send(found.names, if found.is_truncated { ListState::Truncated } else { ListState::Complete });
            }
        });
    }

    pub(super) fn check_links(&self, targets: Vec<LinkTarget>) {
        let (session_builder, workspace) = (self.session_builder.clone(), self.workspace());
        self.run_in_background(move || {
            let disk = sandbox_setup::open_project(&session_builder.places, &session_builder.folder).ok()?;
            let check = |target: LinkTarget| {
                let status = check_link(&disk, &workspace, &target);
                (target, status)
            };
            Some(HostReply::LinkStatuses(targets.into_iter().map(check).collect()))
        });
    }

    /// Returns the workspace of the open session.
    pub(super) fn workspace(&self) -> Workspace {
        let SessionBuilder { places, workspace_limits, .. } = &self.session_builder;
        Workspace::new(places, self.session.clone(), *workspace_limits)
    }

    /// Makes the copy of a file of a workspace that the screen opens.
    pub(super) fn copy_workspace_file(&self, address: String) {
        let workspace = self.workspace();
        self.run_in_background(move || {
            Some(match copy_file(&workspace, &address) {
                Ok(path) => HostReply::WorkspaceFileCopied(path),
                Err(reason) => HostReply::Notice(format!("Cannot open {address}: {}.", reason.trim_end_matches('.'))),
            })
        });
    }

    pub(super) fn read_entry_times(&self, id: SessionId) {
        let sessions = self.session_builder.stored_sessions();
        self.run_in_background(move || {
            // A session that is not on disk has no times.
            let times = sessions.read(&id).ok()?.times.into_iter().map(local_time::format_entry_time).collect();
            Some(HostReply::EntryTimes(id, times))
        });
    }
}

/// Finds the file with a `workspace://` address, and the workspace that it is in.
fn find_file(workspace: &Workspace, address: &str) -> Result<(Option<Workspace>, StoredFile), String> {
    let target = address.parse::<WorkspaceAddress>().map_err(|error| error.to_string())?.target;
    let session = target.session().map(|id| SessionId(id.to_owned()));
    let other = session.filter(|session| session != workspace.session());
    let other = other.map(|session| workspace.of_session(&session)).transpose().map_err(|error| error.to_string())?;
    let file = other.as_ref().unwrap_or(workspace).find(&target).map_err(|error| error.to_string())?;
    Ok((other, file))
}

fn copy_file(workspace: &Workspace, address: &str) -> Result<PathBuf, String> {
    let (other, file) = find_file(workspace, address)?;
    other.as_ref().unwrap_or(workspace).copy_to_open(&file).map_err(|error| error.to_string())
}

/// Returns the size of a picture; `None` for other files and above [`MAX_PICTURE_BYTES`].
fn read_picture_size(workspace: &Workspace, file: &StoredFile) -> Option<ImageSize> {
    if !image::is_image_path(file.path.file_name()) || file.size > MAX_PICTURE_BYTES {
        return None;
    }
    let bytes = workspace.read(file).ok()?;
    Some(ImageSize { pixels: picture::parse_size(&bytes)?, bytes: file.size })
}

/// Checks the target of a link. For a picture in the project or a workspace, also reads its size.
fn check_link(disk: &Disk, workspace: &Workspace, target: &LinkTarget) -> LinkStatus {
    let path = match target {
        LinkTarget::File { path, .. } => path,
        LinkTarget::Web(_) => return LinkStatus::Exists,
        LinkTarget::Workspace(address) => {
            let Ok((other, file)) = find_file(workspace, address) else { return LinkStatus::Missing };
            let size = read_picture_size(other.as_ref().unwrap_or(workspace), &file);
            return size.map_or(LinkStatus::Exists, LinkStatus::Picture);
        }
    };
    match disk.locate(path) {
        Ok(location) if disk.exists(&location) => {
            picture::read_size(path, &location).map_or(LinkStatus::Exists, LinkStatus::Picture)
        }
        Ok(_) | Err(_) => LinkStatus::Missing,
    }
}

fn session_row(listed: Listed) -> SessionRow {
    let title = match (listed.problem, listed.title) {
        (Some(problem), _) => format!("cannot be read: {problem}"),
        (None, Some(title)) => title,
        (None, None) => "empty session".to_owned(),
    };
    SessionRow {
        id: listed.id,
        title,
        last_used: local_time::format_time(listed.modified),
        is_dry_run: listed.dry_run,
        is_copy: listed.from.is_some(),
        has_open_question: listed.has_open_prompt,
        parked_note: listed.parked_note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Places;
    use crate::text::workspace_address::WorkspacePath;
    use crate::workspace::{Limits, NewFile, Origin};

    #[test]
    fn web_link_always_exists_and_file_only_if_present() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::within(&folder.path().join("home"));
        let workspace = Workspace::new(&places, SessionId("01A".into()), Limits::default());
        std::fs::write(folder.path().join("a.rs"), "x").unwrap();
        let disk = Disk::new(folder.path()).unwrap();
        let file_link = |path: &str| LinkTarget::File { path: path.into(), line: None, end: None, column: None };
        assert_eq!(check_link(&disk, &workspace, &file_link("a.rs")), LinkStatus::Exists);
        assert_eq!(check_link(&disk, &workspace, &file_link("b.rs")), LinkStatus::Missing);
        assert_eq!(check_link(&disk, &workspace, &LinkTarget::Web("https://example.com".into())), LinkStatus::Exists);
        let path = WorkspacePath::parse("reports/q1.md").unwrap();
        let new_file = NewFile { path: &path, bytes: b"x", origin: Origin::default(), overwrite: false };
        let stored = workspace.write(&new_file).unwrap();
        for (address, expected) in [
            (format!("workspace://{}", stored.id), LinkStatus::Exists),
            (format!("workspace://{}@1#text/markdown", stored.id), LinkStatus::Exists),
            ("workspace:///reports/q1.md".to_owned(), LinkStatus::Exists),
            (format!("workspace://{}@2", stored.id), LinkStatus::Missing),
            ("workspace:///reports".to_owned(), LinkStatus::Missing),
            ("workspace:///sessions/01JDXA0000000000000000000Z/reports/q1.md".to_owned(), LinkStatus::Missing),
        ] {
            assert_eq!(check_link(&disk, &workspace, &LinkTarget::Workspace(address.clone())), expected, "{address}");
        }
        let copy = copy_file(&workspace, &format!("workspace://{}", stored.id)).unwrap();
        assert_eq!((copy.file_name().unwrap().to_str(), std::fs::read(&copy).unwrap()), (Some("q1.md"), b"x".to_vec()));
        assert!(std::fs::metadata(&copy).unwrap().permissions().readonly());
        assert_eq!(copy_file(&workspace, &format!("workspace://{}", stored.id)).unwrap(), copy);
    }

    #[test]
    fn newer_request_replaces_older_one() {
        let latest = LatestRequest::default();
        let is_first_latest = latest.start_request();
        assert!(is_first_latest());
        let is_second_latest = latest.start_request();
        assert!(!is_first_latest() && is_second_latest());
    }
}
