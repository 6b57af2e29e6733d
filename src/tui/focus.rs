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
    } else if state.listening() == Some(Listening::Yes) || state.writes_in_card() {
        Focus::Prompt
    } else {
        Focus::Composer
    }
}

/// The keys of the card that is open.
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
        // A card that is open listens again in a moment: who asks for help wants to know its keys.
        Focus::Composer => card_scope(state).into_iter().chain([Scope::Composer]).collect(),
    };
    if state.writes_in_card() {
        scopes.insert(0, Scope::Line);
    }
    let again = state.can_ask_again() && !matches!(focus(state), Focus::Overlay | Focus::Search);
    // Who writes knows the keys of writing from everywhere else; what opens everything else stands first.
    let at = scopes.iter().position(|scope| *scope == Scope::Composer).unwrap_or(scopes.len());
    scopes.splice(at..at, again.then_some(Scope::Again).into_iter().chain([Scope::Anywhere]));
    scopes
}
