//! Opens texts in the pager and closes the popup in front.

use crate::text::byte_size::format_bytes;
use crate::tui::host::HostRequest;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::popup::{List, Popup, Reader, ReaderBody};
use crate::tui::state::State;
use std::cell::Cell;
use std::sync::Arc;

/// Opens a text in the pager. `is_terminal_output` is true if the text was written for a terminal.
pub fn open_reader(state: &mut State, title: &str, text: &str, is_terminal_output: bool) {
    // Upper limit in bytes, because the whole text is laid out at once.
    const MAX_BYTES: usize = 2_000_000;
    let end = text.floor_char_boundary(MAX_BYTES);
    let truncation_note = match text.len() - end {
        0 => String::new(),
        truncated_bytes => format!("\n… {} truncated; copying includes them", format_bytes(truncated_bytes as u64)),
    };
    let text = format!("{}{truncation_note}", &text[..end]).into();
    let body = if is_terminal_output { ReaderBody::Terminal } else { ReaderBody::Plain };
    push_reader(state, title, text, body);
}

/// Opens a text of this kind in the pager.
pub fn push_reader(state: &mut State, title: &str, text: Arc<str>, body: ReaderBody) {
    let (title, top, layout) = (title.to_owned(), Cell::default(), LineCache::default());
    let reader = Reader { title, text, body, whole_text: None, search: None, top, layout };
    state.viewport.popups.push(Popup::Reader(reader));
}

/// Closes the popup in front. A theme that was only previewed is reverted.
pub fn close_popup(state: &mut State) {
    let closed = state.viewport.popups.pop();
    // A key typed ahead must not answer a prompt that becomes visible.
    state.input.recent_keys.record_other_press(state.timing.now);
    match closed {
        Some(Popup::List(_, List::Themes(previous_theme))) => state.theme = *previous_theme,
        Some(Popup::List(_, List::Sessions(search, _))) if !search.query.is_empty() => {
            // An empty search text ends the search.
            state.send_request(HostRequest::SearchSessions(String::new()));
        }
        _ => {}
    }
}
