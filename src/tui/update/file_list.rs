//! The files of the session's workspace as a list, the versions of a file, and the page that shows one.

mod tree_rows;

use super::{clipboard_copy, popup_stack, project_copies};
use crate::chat::pluralize;
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::{AddressTarget, WorkspaceAddress};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, WorkspaceReply, WorkspaceRequest};
use crate::tui::keys::{Action, Keymap};
use crate::tui::parts::file_page::FilePage;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{FileList, FileVersions, List, Popup, ReaderBody};
use crate::tui::state::State;
use crate::tui::workspace_data::{ListedFile, ListedVersion};
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks at a workspace that is shown, which another program may change.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Text of the list of an empty workspace.
const EMPTY_TEXT: &str = "No files yet. The model saves reports and long results here, outside the project. The command \
    “aye files put FILE” adds a file of yours.";

/// Opens the list. Its files follow when the host has read them.
pub fn open_file_list(state: &mut State) {
    let hint = action_hint(&state.keys, "enter read", true);
    let picker =
        Picker::new("Files of this session", "Loading…", Vec::new()).with_action_hint(hint).with_fold_keys(&state.keys);
    let next_check = state.timing.now;
    state.viewport.popups.push(Popup::List(picker, List::Files(FileList { next_check, ..FileList::default() })));
    store_changed_copies(state);
    check_for_changes(state);
}

/// Asks the host for the files while their list is in front, at once and then every two seconds.
pub fn check_for_changes(state: &mut State) {
    let now = state.timing.now;
    let Some(Popup::List(_, List::Files(list))) = state.viewport.popups.last_mut() else { return };
    if list.next_check <= now {
        list.next_check = now.saturating_add(CHECK_INTERVAL);
        let seen_length = list.index_length;
        state.send_request(HostRequest::Workspace(WorkspaceRequest::List { seen_length }));
    }
}

/// Stores what other programs saved in files of the workspace that were opened, also in an earlier run.
pub fn store_changed_copies(state: &mut State) {
    state.send_request(HostRequest::Workspace(WorkspaceRequest::StoreChangedCopies));
}

/// Shows what the host has read. A reply for something that has been closed is dropped.
pub fn handle_workspace_reply(state: &mut State, reply: WorkspaceReply) {
    match reply {
        WorkspaceReply::Listed { session, index_length, files } if session == state.session.id => {
            for popup in &mut state.viewport.popups {
                if let Popup::List(picker, List::Files(list)) = popup {
                    set_files(picker, list, index_length, &files);
                }
            }
        }
        WorkspaceReply::Listed { .. } => {}
        WorkspaceReply::Copied(file) => {
            state.push_effect(Effect::OpenFile { path: file.to_string_lossy().into_owned(), line: None });
            // An editor in the terminal has ended by then; of another program the change is found later.
            store_changed_copies(state);
        }
        WorkspaceReply::Versions { id, versions } => {
            for popup in &mut state.viewport.popups {
                if let Popup::List(picker, List::FileVersions(list)) = popup
                    && list.file.id == id
                {
                    set_versions(picker, list, &versions);
                }
            }
        }
        WorkspaceReply::Previewed { target, preview } => {
            let preview = Arc::new(preview);
            for popup in &mut state.viewport.popups {
                if let Popup::Reader(reader) = popup
                    && let ReaderBody::File(page) = &mut reader.body
                    && page.target == target
                {
                    page.set_preview(preview.clone());
                    reader.layout = LineCache::default();
                }
            }
        }
    }
}

fn set_files(picker: &mut Picker, list: &mut FileList, index_length: u64, files: &Result<Vec<ListedFile>, String>) {
    let files = match files {
        Ok(files) => files,
        // The index length stays, so that the next look lists the files again.
        Err(reason) => return picker.set_empty_text(reason),
    };
    let is_first = list.files.is_empty();
    list.index_length = Some(index_length);
    picker.set_empty_text(EMPTY_TEXT);
    list.files.clone_from(files);
    let bytes = list.files.iter().map(|file| file.size).sum();
    picker.set_count_text(format!("{} · {}", pluralize(list.files.len(), "file"), format_bytes(bytes)));
    let (rows, indexes) = tree_rows::tree_rows(&list.files);
    list.rows = indexes;
    picker.set_rows(rows);
    if is_first {
        // The file that changed last is the one that the user most likely looks for.
        picker.select(list.rows.iter().position(|file| *file == Some(0)).unwrap_or(0));
    }
}

fn set_versions(picker: &mut Picker, list: &mut FileVersions, versions: &Result<Vec<ListedVersion>, String>) {
    let versions = versions.as_ref().map_err(|reason| picker.set_empty_text(reason)).cloned();
    list.versions = versions.unwrap_or_default();
    let rows = list.versions.iter().map(|version| {
        let state = match (version.is_latest, version.is_kept) {
            (true, _) => "latest",
            (false, true) => "",
            (false, false) => "no longer kept",
        };
        let size = format_bytes(version.size);
        let tool = if version.tool.is_empty() { String::new() } else { format!("by {}", version.tool) };
        let facts = [&size, &tool, state].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>();
        Row::new(&format!("Version {}", version.number)).with_secondary(&facts.join(" · ")).with_detail(&version.time)
    });
    picker.set_rows(rows.collect());
    picker.set_count_text(pluralize(list.versions.len(), "version"));
}

/// Opens the page of the file in a row, or collapses or expands the folder in it. The list stays open below.
pub fn open_file_row(state: &mut State, mut picker: Picker, list: FileList, row: usize) {
    let file = list.rows.get(row).copied().flatten().and_then(|index| list.files.get(index)).cloned();
    picker.toggle_folder(row);
    state.viewport.popups.push(Popup::List(picker, List::Files(list)));
    if let Some(file) = file {
        open_file_page(state, file, None);
    }
}

/// Opens the page of a version. The list stays open below.
pub fn open_version_row(state: &mut State, picker: Picker, list: FileVersions, row: usize) {
    let (file, version) = (list.file.clone(), list.versions.get(row).map(|version| version.number));
    state.viewport.popups.push(Popup::List(picker, List::FileVersions(list)));
    if version.is_some() {
        open_file_page(state, file, version);
    }
}

fn open_file_page(state: &mut State, file: ListedFile, version: Option<u64>) {
    let title = match version {
        Some(version) => format!("{} · version {version}", file.path),
        None => file.path.clone(),
    };
    let target = AddressTarget::Id(file.id.clone(), version);
    let page = FilePage::new(file, target.clone());
    popup_stack::push_reader(state, &title, "".into(), ReaderBody::File(Box::new(page)));
    state.send_request(HostRequest::Workspace(WorkspaceRequest::Preview(target)));
}

/// Runs the action of a key on the selected file, on the selected version, or on the file that is shown.
pub fn run_file_action(state: &mut State, action: Action) {
    let Some((file, target)) = selected_file(state) else { return };
    let address = WorkspaceAddress { target: target.clone(), media_type: None }.to_string();
    match action {
        Action::OpenFile => state.send_request(HostRequest::Workspace(WorkspaceRequest::Copy(address))),
        Action::CopyAddress => clipboard_copy::copy_target(state, "address", &address),
        Action::CopyToProject => project_copies::open_project_copy(state, &file, target),
        Action::ListVersions => open_version_list(state, file),
        _ => {}
    }
}

fn selected_file(state: &State) -> Option<(ListedFile, AddressTarget)> {
    match state.viewport.popups.last()? {
        Popup::List(picker, List::Files(list)) => {
            let file = list.files.get((*list.rows.get(picker.selected_row()?)?)?)?.clone();
            let target = AddressTarget::Id(file.id.clone(), None);
            Some((file, target))
        }
        Popup::List(picker, List::FileVersions(list)) => {
            let version = Some(list.versions.get(picker.selected_row()?)?.number);
            Some((list.file.clone(), AddressTarget::Id(list.file.id.clone(), version)))
        }
        Popup::Reader(reader) => reader.file_page().map(|page| (page.file.clone(), page.target.clone())),
        _ => None,
    }
}

fn open_version_list(state: &mut State, file: ListedFile) {
    // The list of these versions may be below the page of one.
    let is_list = |popup: &Popup| matches!(popup, Popup::List(_, List::FileVersions(list)) if list.file.id == file.id);
    if state.viewport.popups.iter().any(is_list) {
        while !state.viewport.popups.last().is_some_and(is_list) {
            popup_stack::close_popup(state);
        }
        return;
    }
    let request = WorkspaceRequest::ListVersions(file.id.clone());
    let hint = action_hint(&state.keys, "enter read", false);
    let picker = Picker::new(&format!("Versions of {}", file.path), "Loading…", Vec::new()).with_action_hint(hint);
    let list = FileVersions { file, versions: Vec::new() };
    state.viewport.popups.push(Popup::List(picker, List::FileVersions(list)));
    state.send_request(HostRequest::Workspace(request));
}

/// Returns the key hints after what Enter does.
fn action_hint(keys: &Keymap, enter: &str, has_versions: bool) -> String {
    let key_hints = FilePage::key_hints(keys, has_versions);
    [enter].into_iter().chain(key_hints.iter().map(String::as_str)).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_again_after_an_error() {
        let (mut picker, mut list) = (Picker::new("Files", "Loading…", Vec::new()), FileList::default());
        let file = ListedFile { id: "01A".into(), path: "a/b.txt".into(), version: 1, size: 1, time: String::new() };
        let error = Err("Cannot use the workspace".to_owned());
        set_files(&mut picker, &mut list, 7, &error);
        assert_eq!((list.index_length, list.files.len()), (None, 0));
        set_files(&mut picker, &mut list, 7, &Ok(vec![file.clone()]));
        assert_eq!((list.index_length, picker.selected_row()), (Some(7), Some(1)));
        // What is shown stays.
        set_files(&mut picker, &mut list, 8, &error);
        assert_eq!((list.index_length, &list.files, &list.rows), (Some(7), &vec![file], &vec![None, Some(0)]));
        assert_eq!(picker.selected_row(), Some(1));
    }
}
