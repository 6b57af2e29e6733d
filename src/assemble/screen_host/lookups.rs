//! Looks up what the screen lists: sessions, files and the times of entries.

use super::{ScreenHost, describe_failure};
use crate::assemble::session_builder::SessionBuilder;
use crate::chat::SessionId;
use crate::chat::mention::write_mention;
use crate::project::file_names::visit_files;
use crate::project::{FileKind, Reader};
use crate::store::{Listed, local_time};
use crate::text::workspace_address::{PathPrefix, SCHEME};
use crate::tui::file_index::{FilterRequest, IndexBuilder};
use crate::tui::host::{HostReply, ListState, SessionRow};
use crate::workspace::Workspace;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Interval at which the files found so far are sent. Most projects are searched before the first.
const SEND_INTERVAL: Duration = Duration::from_millis(250);

/// Number of the latest request. An older request stops when it finds that it is not the latest.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestRequest(Arc<AtomicU64>);

impl LatestRequest {
    /// Starts a new request. Returns a function that tells whether it still is the latest.
    fn start_request(&self) -> impl Fn() -> bool + Send + Sync + 'static {
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

    /// Lists the files and folders of the project and the files of the workspace for `@`.
    pub(super) fn list_files(&self, used: Vec<String>) {
        let is_latest = self.latest_file_list.start_request();
        let (session_builder, id, replies) = (self.session_builder.clone(), self.session.clone(), self.replies.clone());
        let workspace = self.workspace();
        tokio::task::spawn_blocking(move || {
            let mut builder = IndexBuilder::new(used, SystemTime::now());
            for file in workspace.list(&PathPrefix::default()).unwrap_or_default() {
                builder.add_last(&format!("{SCHEME}/{}", file.path), file.size);
            }
            let send = |builder: &IndexBuilder, completeness| {
                // The screen may be closed.
                let _ = replies.blocking_send(HostReply::Files { index: Arc::new(builder.index()), completeness });
            };
            let mut last_sent = Instant::now();
            let has_more = session_builder.project_of_session(&id).is_some_and(|project| {
                visit_files(&*project, &mut |file| {
                    if !is_latest() {
                        return ControlFlow::Break(());
                    }
                    builder.add(&file.name, file.size, file.modified);
                    if last_sent.elapsed() > SEND_INTERVAL {
                        send(&builder, ListState::Scanning);
                        last_sent = Instant::now();
                    }
                    ControlFlow::Continue(())
                })
            });
            if is_latest() {
                send(&builder, if has_more { ListState::Truncated } else { ListState::Complete });
            }
        });
    }

    /// Filters files. A newer filter stops this one.
    pub(super) fn filter_files(&self, request: FilterRequest) {
        let is_latest = self.latest_filter.start_request();
        self.run_in_background(move || {
            let matches = request.run(&is_latest)?;
            Some(HostReply::FilesFiltered(request, matches))
        });
    }

    /// Looks for the files of pasted paths.
    pub(super) fn find_pasted_files(&self, readings: Vec<Vec<String>>) {
        let (session_builder, id) = (self.session_builder.clone(), self.session.clone());
        self.run_in_background(move || {
            let project = session_builder.project_of_session(&id)?;
            let find = |paths: &Vec<String>| paths.iter().map(|path| name_existing(&*project, path)).collect();
            let mentions = readings.iter().find_map(find);
            Some(HostReply::PastedFilesFound(readings, mentions))
        });
    }

    /// Returns the workspace of the open session.
    pub(super) fn workspace(&self) -> Workspace {
        let SessionBuilder { places, workspace_limits, .. } = &self.session_builder;
        Workspace::new(places, self.session.clone(), *workspace_limits)
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

/// Returns how a message names the file or folder at a path; `None` if there is none.
fn name_existing(project: &dyn Reader, path: &str) -> Option<String> {
    let location = project.locate(path).ok()?;
    let is_folder = match project.file_kind(&location)? {
        FileKind::Folder => true,
        FileKind::File(_) => false,
        FileKind::Other => return None,
    };
    let name = location.display_path.to_str().filter(|name| !name.is_empty())?;
    let slash = if is_folder && !name.ends_with('/') { "/" } else { "" };
    write_mention(&format!("{name}{slash}"))
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
    use crate::project::disk::Disk;
    use std::path::Path;

    #[test]
    fn a_pasted_path_is_named_as_the_picker_names_it() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path().join("a folder")).unwrap();
        std::fs::write(folder.path().join("a folder/x.rs"), "").unwrap();
        std::fs::write(outside.path().join("y.png"), "").unwrap();
        let disk = Disk::new(folder.path()).unwrap();
        let name = |path: &Path| name_existing(&disk, path.to_str().unwrap());
        assert_eq!(name(&folder.path().join("a folder/x.rs")).as_deref(), Some("@\"a folder/x.rs\""));
        assert_eq!(name(Path::new("a folder/../a folder")).as_deref(), Some("@\"a folder/\""));
        let outside = outside.path().canonicalize().unwrap().join("y.png");
        assert_eq!(name(&outside), Some(format!("@{}", outside.display())));
        assert_eq!(name(Path::new("a folder/none")), None);
        assert_eq!(name(Path::new("/dev/null")), None);
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
