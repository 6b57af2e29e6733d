//! Who gets the key: asked by update for routing, by the view for the cursor, and by the help for what works now.

use super::keys::Scope;
use super::overlay::Overlay;
use super::parts::listening::Listening;
use super::prompt::Card;
use super::state::State;

/// Where the keyboard is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// In the overlay in front.
    Overlay,
    /// In the words that are searched for.
    Search,
    /// In the card that waits; what it does not know goes on to the composer.
    Prompt,
    /// On the selected entry of the transcript.
    Transcript,
    /// In the composer.
    Composer,
}

/// Where the keyboard is now.
pub fn focus(state: &State) -> Focus {
    if !state.overlays.is_empty() {
        Focus::Overlay
    } else if state.transcript.search.is_some() {
        Focus::Search
    } else if state.transcript.selected().is_some() {
        Focus::Transcript
    } else if state.listening() == Some(Listening::Yes)
        || state.open_card().is_some_and(super::prompt::Prompt::is_writing)
    {
        Focus::Prompt
    } else {
        Focus::Composer
    }
}

/// The keys that work now, by scope, the nearest first.
pub fn scopes(state: &State) -> Vec<Scope> {
    let mut scopes = match focus(state) {
        Focus::Overlay => match state.overlays.last() {
            Some(
                Overlay::Sessions(..)
                | Overlay::Themes(..)
                | Overlay::Commands(_)
                | Overlay::Models(..)
                | Overlay::Connect(..)
                | Overlay::Copies(..),
            ) => vec![Scope::List],
            Some(Overlay::Key(_)) => vec![Scope::Line],
            Some(Overlay::Help(_) | Overlay::Reader(_) | Overlay::Links(_)) | None => vec![Scope::Page],
        },
        Focus::Search => vec![Scope::Line],
        Focus::Transcript => vec![Scope::Transcript],
        Focus::Prompt => match state.prompt.as_ref().map(|prompt| &prompt.card) {
            Some(Card::Approval(_)) => vec![Scope::Approval],
            Some(Card::Question(_)) | None => vec![Scope::Question],
        },
        Focus::Composer if state.complete.is_open() => vec![Scope::List, Scope::Composer],
        Focus::Composer => vec![Scope::Composer],
    };
    scopes.push(Scope::Anywhere);
    scopes
}
