//! Lists and reads the files of the session's workspace for the screen.

use super::ScreenHost;
use super::links::copy_file;
use crate::project::picture_size;
use crate::store::local_time;
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::{AddressTarget, PathPrefix, WorkspaceAddress};
use crate::tui::HostReply;
use crate::tui::host::{WorkspaceReply, WorkspaceRequest};
use crate::tui::workspace_data::preview::{FileBeginning, MAX_PREVIEW_BYTES};
use crate::tui::workspace_data::{FilePreview, ListedFile, ListedVersion};
use crate::workspace::{StoredFile, Workspace};

impl ScreenHost {
    pub(super) fn answer_workspace_request(&self, request: WorkspaceRequest) {
        let workspace = self.workspace();
        self.run_in_background(move || {
            let reply = match request {
                WorkspaceRequest::Copy(address) => match copy_file(&workspace, &address) {
                    Ok(path) => WorkspaceReply::Copied(path),
                    Err(reason) => {
                        let reason = reason.trim_end_matches('.');
                        return Some(HostReply::Notice(format!("Cannot open {address}: {reason}.")));
                    }
                },
                WorkspaceRequest::StoreChangedCopies => return store_changed_copies(&workspace),
                WorkspaceRequest::List { seen_length } => list_files(&workspace, seen_length)?,
                WorkspaceRequest::ListVersions(id) => {
                    let versions = list_versions(&workspace, &id);
                    WorkspaceReply::Versions { id, versions }
                }
                WorkspaceRequest::Preview(target) => {
                    let preview = read_preview(&workspace, &target);
                    WorkspaceReply::Previewed { target, preview }
                }
            };
            Some(HostReply::Workspace(reply))
        });
    }
}

/// Stores what other programs saved in copies. Returns a notification about it, if there is anything to report.
fn store_changed_copies(workspace: &Workspace) -> Option<HostReply> {
    let copies = match workspace.store_changed_copies() {
        Ok(copies) => copies,
        Err(error) => return Some(HostReply::Notice(format!("Cannot store the changes of an opened file. {error}"))),
    };
    let failures: Vec<String> = copies
        .iter()
        .filter_map(|copy| {
            let error = copy.stored.as_ref().err()?;
            let (name, place) = (&copy.name, copy.copy.display());
            Some(format!("The changes of {name} are not stored. {error} They are in {place}."))
        })
        .collect();
    if !failures.is_empty() {
        return Some(HostReply::Notice(failures.join(" ")));
    }
    let stored = copies.iter().filter_map(|copy| copy.stored.as_ref().ok());
    let stored: Vec<String> = stored.map(|file| format!("{} is now version {}", file.path, file.version)).collect();
    (!stored.is_empty()).then(|| HostReply::Done(format!("Saved: {}", stored.join(", "))))
}

/// Lists the files; returns `None` if the index still has the length that the screen has seen.
fn list_files(workspace: &Workspace, seen_length: Option<u64>) -> Option<WorkspaceReply> {
    // Read first: a change during the listing is then found by the next request.
    let index_length = workspace.index_length();
    if seen_length == Some(index_length) {
        return None;
    }
    let files = workspace.list(&PathPrefix::default()).map_err(|error| error.to_string());
    let files = files.map(|files| files.into_iter().map(to_listed_file).collect());
    Some(WorkspaceReply::Listed { session: workspace.session().clone(), index_length, files })
}

fn to_listed_file(file: StoredFile) -> ListedFile {
    let StoredFile { id, path, version, size, time, .. } = file;
    ListedFile { id, path: path.to_string(), version, size, time: local_time::format_change_time(time) }
}

fn list_versions(workspace: &Workspace, id: &str) -> Result<Vec<ListedVersion>, String> {
    let target = AddressTarget::Id(id.to_owned(), None);
    let versions = workspace.list_versions(&target).map_err(|error| error.to_string())?;
    let to_listed = |(file, is_kept): (StoredFile, bool)| ListedVersion {
        number: file.version,
        size: file.size,
        time: local_time::format_change_time(file.time),
        tool: file.origin.tool,
        is_latest: file.is_latest,
        is_kept,
    };
    Ok(versions.into_iter().rev().map(to_listed).collect())
}

/// Reads the beginning of a file and prepares it for the screen.
pub(super) fn read_preview(workspace: &Workspace, target: &AddressTarget) -> Result<FilePreview, String> {
    let file = workspace.find(target).map_err(|error| error.to_string())?;
    let bytes = workspace.read_beginning(&file, MAX_PREVIEW_BYTES).map_err(|error| error.to_string())?;
    let (name, media_type, size) = (file.path.file_name(), file.media_type.as_str(), file.size);
    let (content, omission) = FileBeginning { name, media_type, size, bytes: &bytes }.prepare_content();
    let pixels = picture_size::parse_size(&bytes).map(|(width, height)| format!("{width} × {height}"));
    let version = match (file.version, file.is_latest) {
        (1, true) => String::new(),
        (number, true) => format!("version {number}"),
        (number, false) => format!("version {number}, not the latest"),
    };
    let source = file.origin.untrusted_source.as_ref().map(|source| format!("from {source}"));
    let tool = Some(&file.origin.tool).filter(|tool| !tool.is_empty()).map(|tool| format!("by {tool}"));
    let facts = [
        file.media_type.clone(),
        pixels.unwrap_or_default(),
        format_bytes(file.size),
        version,
        local_time::format_entry_time(file.time),
        tool.unwrap_or_default(),
        source.unwrap_or_default(),
        WorkspaceAddress { target: target.clone(), media_type: None }.to_string(),
    ];
    Ok(FilePreview { facts: facts.into_iter().filter(|fact| !fact.is_empty()).collect(), content, omission })
}
