//! Keyboard focus: which part receives keys, shows the cursor and lists its bindings in key help.

use super::keys::Scope;
use super::overlay::Overlay;
use super::parts::listening::Listening;
use super::prompt::Card;
use super::state::State;

/// Part of the screen that has the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The overlay in front.
    Overlay,
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
pub fn focus(state: &State) -> Focus {
    if !state.overlays.is_empty() {
        Focus::Overlay
    } else if state.transcript.search.is_some() {
        Focus::Search
    } else if state.transcript.selected().is_some() {
        Focus::Transcript
    } else if state.listening() == Some(Listening::Yes) || state.writes_in_card() {
        Focus::Prompt
    } else {
        Focus::Composer
    }
}

/// Returns the scope of the open prompt's keys.
fn card_scope(state: &State) -> Option<Scope> {
    if state.waits.is_some() {
        return Some(Scope::Waits);
    }
    state.open_card().map(|prompt| match prompt.card {
        Card::Approval(ref card) if card.is_choosing() => Scope::Keep,
        Card::Approval(_) => Scope::Approval,
        Card::Question(_) => Scope::Question,
        Card::Trust(_) => Scope::Trust,
    })
}

/// Returns the scopes whose keys work now, the innermost first.
pub fn scopes(state: &State) -> Vec<Scope> {
    let mut scopes = match focus(state) {
        Focus::Overlay => match state.overlays.last() {
            Some(
                Overlay::Sessions(..)
                | Overlay::Themes(..)
                | Overlay::Commands(_)
                | Overlay::Models(..)
                | Overlay::Connect(..)
                | Overlay::Audit(..)
                | Overlay::Grants(..)
                | Overlay::Rehearsal(..)
                | Overlay::Modes(..)
                | Overlay::Leaving(..)
                | Overlay::Copies(..),
            ) => vec![Scope::List],
            Some(Overlay::Sure(..)) => vec![Scope::Approval],
            Some(Overlay::Key(_)) => vec![Scope::Line],
            Some(Overlay::Help(_) | Overlay::Reader(_) | Overlay::Links(_)) | None => vec![Scope::Page],
        },
        Focus::Search => vec![Scope::Line],
        Focus::Transcript => vec![Scope::Transcript],
        Focus::Prompt => card_scope(state).into_iter().collect(),
        Focus::Composer if state.complete.is_open() => vec![Scope::List, Scope::Composer],
        // A prompt that is not listening yet will be in a moment: key help shows its keys.
        Focus::Composer => card_scope(state).into_iter().chain([Scope::Composer]).collect(),
    };
    if state.writes_in_card() {
        scopes.insert(0, Scope::Line);
    }
    let again = state.can_ask_again() && !matches!(focus(state), Focus::Overlay | Focus::Search);
    // Users know the editing keys; the keys that open everything else come first.
    let at = scopes.iter().position(|scope| *scope == Scope::Composer).unwrap_or(scopes.len());
    scopes.splice(at..at, again.then_some(Scope::Again).into_iter().chain([Scope::Anywhere]));
    scopes
}
