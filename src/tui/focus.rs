//! Keyboard focus: which part receives keys, shows the cursor and lists its bindings in key help.

use super::keys::Scope;
use super::parts::listening::Listening;
use super::popup::{List, Popup};
use super::state::State;

/// Part of the screen that has the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The popup in front.
    Popup,
    /// The search field.
    Search,
    /// The open prompt; keys it does not use go to the composer.
    Prompt,
    /// The selected entry of the transcript.
    Transcript,
    /// The composer.
    Composer,
}

/// Returns the part that has the keyboard now.
pub fn current_focus(state: &State) -> Focus {
    if !state.viewport.popups.is_empty() {
        Focus::Popup
    } else if state.viewport.transcript.search.is_some() {
        Focus::Search
    } else if state.viewport.transcript.has_selection() {
        Focus::Transcript
    } else if state.prompt_listening() == Some(Listening::Ready) || state.is_typing_in_prompt() {
        Focus::Prompt
    } else {
        Focus::Composer
    }
}

/// Returns the scope of the open prompt's keys.
fn prompt_scope(state: &State) -> Option<Scope> {
    state.prompts.front().map(|prompt| prompt.help_scope())
}

/// Returns the scopes whose keys work now, in the order of key help: the innermost first, but the composer last.
pub fn active_scopes(state: &State) -> Vec<Scope> {
    let mut scopes = match current_focus(state) {
        Focus::Popup => match state.viewport.popups.last() {
            Some(Popup::List(_, List::Grants(_))) => vec![Scope::Grants, Scope::List],
            Some(Popup::List(_, List::Background)) => vec![Scope::Background, Scope::List],
            Some(Popup::List(picker, List::Files(_) | List::FileVersions(_))) => {
                let tree = picker.shows_folders().then_some(Scope::Tree);
                tree.into_iter().chain([Scope::Files, Scope::List]).collect()
            }
            Some(Popup::List(..)) => vec![Scope::List],
            Some(Popup::Reader(reader)) if reader.has_file_keys() => {
                let json = reader.json_view().map(|_| Scope::Json);
                json.into_iter().chain([Scope::Files, Scope::Page]).collect()
            }
            Some(Popup::Confirmation(..)) => vec![Scope::Approval],
            Some(Popup::ApiKey(_) | Popup::Credential(_) | Popup::RuleEdit(_) | Popup::ProjectCopy(_)) => {
                vec![Scope::TextField]
            }
            Some(Popup::Help(_) | Popup::Reader(_) | Popup::Links(_)) | None => vec![Scope::Page],
        },
        Focus::Search => vec![Scope::TextField],
        Focus::Transcript => vec![Scope::Transcript],
        Focus::Prompt => prompt_scope(state).into_iter().collect(),
        Focus::Composer if state.input.completion.is_open() => vec![Scope::List, Scope::Composer],
        // Key help lists the keys of a prompt even before the prompt accepts answers.
        Focus::Composer => prompt_scope(state).into_iter().chain([Scope::Composer]).collect(),
    };
    if state.is_typing_in_prompt() {
        scopes.insert(0, Scope::TextField);
    }
    let can_retry = state.can_retry() && !matches!(current_focus(state), Focus::Popup | Focus::Search);
    // Key help lists the global keys before the editing keys of the composer, because users know the editing keys.
    let insert_index = scopes.iter().position(|scope| *scope == Scope::Composer).unwrap_or(scopes.len());
    scopes.splice(
        insert_index..insert_index,
        can_retry.then_some(Scope::FailedRequest).into_iter().chain([Scope::Anywhere]),
    );
    scopes
}
