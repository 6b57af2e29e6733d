//! Pasted paths become files that the message names. Dropping files on the terminal pastes their paths.

use super::clipboard_requests::ask_terminal;
use super::composer_input;
use crate::chat::SessionId;
use crate::chat::pasted_paths::parse_pasted_paths;
use crate::tui::host::{HostRequest, PastedContent};
use crate::tui::state::State;
use crate::tui::terminal_clipboard::TerminalClipboard;
use crate::tui::user_input::{Clipboard, PastedPaths};

/// Pastes into the draft, and asks the host whether the text consists of paths of existing files.
pub(super) fn paste_text(state: &mut State, text: &str) {
    let composer = &mut state.input.composer;
    let readings = match composer.is_searching() || composer.is_command() {
        true => Vec::new(),
        false => parse_pasted_paths(text),
    };
    if readings.is_empty() {
        return composer.paste(text);
    }
    let (before, start) = composer.folded_text();
    composer.paste(text);
    let (after, end) = composer.folded_text();
    // Text around the paste would belong to the name.
    let is_word = before[..start].chars().next_back().is_none_or(char::is_whitespace)
        && before[start..].chars().next().is_none_or(char::is_whitespace);
    let Some(pasted) = after.get(start..end).filter(|_| is_word) else { return };
    state.input.pasted_paths = Some(PastedPaths { start, text: pasted.to_owned(), readings: readings.clone() });
    state.send_request(HostRequest::FindPastedFiles(readings));
}

/// Handles what the terminal answered about its clipboard. What was not asked for, or for another session, is dropped.
pub(super) fn take_terminal_clipboard(state: &mut State, content: Result<TerminalClipboard, String>) {
    let is_awaited = (Clipboard::Terminal, state.session.id.clone());
    let Some((_, session)) = state.input.awaited_clipboard.take_if(|awaited| *awaited == is_awaited) else { return };
    match content {
        Ok(TerminalClipboard::Picture(png)) => {
            state.send_request(HostRequest::PasteClipboard(Some(png)));
        }
        Ok(TerminalClipboard::Text(text)) => insert_clipboard(state, &session, Ok(PastedContent::Text(text))),
        Err(reason) => {
            state.show_warning(&format!("Cannot read the clipboard: {reason}. Paste text with the terminal's own key."))
        }
    }
}

/// Inserts what was on the clipboard into the draft, whatever has the focus by now: the name of a picture, or text as if the
/// terminal had pasted it. What arrives after another session was opened is dropped.
pub(super) fn insert_clipboard(state: &mut State, session: &SessionId, content: Result<PastedContent, String>) {
    let awaited = state.input.awaited_clipboard.take_if(|(_, for_session)| for_session == session);
    if *session != state.session.id {
        return;
    }
    match content {
        Ok(PastedContent::Text(text)) => {
            paste_text(state, &text);
            composer_input::update_completion(state);
        }
        Ok(PastedContent::Picture(address)) => {
            let (text, cursor) = state.input.composer.folded_text();
            let is_word_before = text[..cursor].chars().next_back().is_some_and(|c| !c.is_whitespace());
            let blank = if is_word_before { " " } else { "" };
            state.input.composer.insert(&format!("{blank}@{address} "));
            composer_input::update_completion(state);
        }
        // The terminal may have one where the system has none, as over SSH without its variables.
        Err(_)
            if state.settings.reads_terminal_clipboard
                && awaited.is_some_and(|(clipboard, _)| clipboard == Clipboard::System) =>
        {
            ask_terminal(state);
        }
        Err(reason) => state.show_warning(&reason),
    }
}

/// Replaces a paste by the names of its files, unless the draft was changed there.
pub(super) fn replace_paste(state: &mut State, readings: &[Vec<String>], mentions: Option<Vec<String>>) {
    let Some(pasted) = state.input.pasted_paths.take_if(|pasted| pasted.readings == readings) else { return };
    let Some(mentions) = mentions else { return };
    let range = pasted.start..pasted.start + pasted.text.len();
    let (text, cursor) = state.input.composer.folded_text();
    if text.get(range.clone()) != Some(&pasted.text) {
        return;
    }
    let blank = if cursor == range.end { " " } else { "" };
    state.input.composer.replace_in_one_step(range, &format!("{}{blank}", mentions.join(" ")));
    composer_input::update_completion(state);
}
