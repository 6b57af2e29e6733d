//! The trust prompt for files of the project: opened, answered, closed. Messages wait until it is settled.

use super::{agent, writing};
use crate::agent::Event;
use crate::chat::Instructions;
use crate::config::brought::{Brought, What};
use crate::config::rules::OF_PROJECT;
use crate::tui::effect::Effect;
use crate::tui::host::{Why, Wish};
use crate::tui::keys::Chord;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::toast::Kind;
use crate::tui::parts::trust::{Reply, short};
use crate::tui::prompt::Card;
use crate::tui::state::State;
use crossterm::event::KeyEvent;
use std::path::Path;
use std::sync::Arc;

/// Checks the project's files at the start of a session. The message `says` is sent once they are settled.
pub fn look(state: &mut State, says: String) -> Vec<Effect> {
    state.trusting.says = says;
    vec![Effect::Ask(Wish::LookAtProject { asked: false })]
}

/// Opens the trust prompt for the files that were found, if needed.
pub fn brought(state: &mut State, brought: Brought, why: Why) -> Vec<Effect> {
    // The session has moved to another folder since, which is checked separately.
    if brought.folder != state.settings.folder {
        return Vec::new();
    }
    state.trusting.left_out = brought.untrusted().map(short).collect();
    let asks = brought.untrusted().next().is_some();
    let opens = match why {
        Why::Begun => asks && !state.trusting.was_refused(&brought),
        Why::Asked | Why::Changed => brought.usable().next().is_some(),
    };
    if opens {
        state.trusting.asks = Some((Arc::new(brought), why));
        return Vec::new();
    }
    for file in &brought.files {
        // Problems with rules were shown when the rules were read.
        let said = why == Why::Begun && file.name == OF_PROJECT;
        if let (What::Unread(why), false) = (&file.what, said) {
            state.notice(&format!("{} of this project is not used: {why}", file.name), Kind::Warning);
        }
    }
    let words = match why {
        Why::Asked if brought.files.is_empty() => {
            "This project has no files that change how aye works: no AGENTS.md, no .aye/rules.toml"
        }
        Why::Changed => "Nothing was trusted: the files have changed since you approved them",
        Why::Begun | Why::Asked => "",
    };
    if !words.is_empty() {
        state.notice(words, Kind::Info);
    }
    settled(state)
}

/// Passes a key to the trust prompt; `None` if it does not use it.
pub fn key(state: &mut State, key: &KeyEvent, listening: Listening) -> Option<Vec<Effect>> {
    let Some(Card::Trust(card)) = state.prompt.as_mut().map(|prompt| &mut prompt.card) else { return None };
    let reply = card.key(key, &state.keys, listening);
    let (brought, stands) = (card.brought().clone(), card.stands());
    match reply {
        Reply::Passed => return None,
        Reply::Nothing => return Some(Vec::new()),
        Reply::Says(words) => return Some(super::unheard::says(state, words)),
        Reply::Trusted | Reply::Refused | Reply::Closed => {}
    }
    state.presses.answered(Chord::from(key), state.now);
    let folder = brought.folder.clone();
    Some(match (reply, stands) {
        (Reply::Trusted, _) => {
            card_keeps(state);
            vec![Effect::Ask(Wish::Trust { folder, seen: brought.signature() })]
        }
        (Reply::Refused, true) => {
            card_keeps(state);
            vec![Effect::Ask(Wish::TrustNoLonger(folder))]
        }
        (Reply::Closed, true) => settled(state),
        (Reply::Refused | Reply::Closed, false) => put_off(state).unwrap_or_default(),
        (Reply::Passed | Reply::Nothing | Reply::Says(_), _) => Vec::new(),
    })
}

fn card_keeps(state: &mut State) {
    if let Some(Card::Trust(card)) = state.prompt.as_mut().map(|prompt| &mut prompt.card) {
        card.keep();
    }
}

/// Continues without the files in the prompt; `None` if no trust prompt is open.
pub fn put_off(state: &mut State) -> Option<Vec<Effect>> {
    let (brought, _) = state.trusting.asks.clone()?;
    let names: Vec<String> = brought.untrusted().map(|file| file.name.clone()).collect();
    if !names.is_empty() {
        state.trusting.refuse(&brought);
        state.notice(&format!("Not used: {} · /trust to decide again", names.join(", ")), Kind::Info);
    }
    Some(settled(state))
}

/// Applies a change of trust: instructions reach the model with its next request, and rules apply or stop to apply.
pub fn trusts(
    state: &mut State,
    folder: &Path,
    instructions: Arc<Vec<Instructions>>,
    rules: Event,
) -> Vec<Effect> {
    if *folder != state.settings.folder {
        return Vec::new();
    }
    if let Some((brought, _)) = state.trusting.asks.clone() {
        let all: Vec<String> = brought.usable().map(short).collect();
        let was_trusted = brought.untrusted().next().is_none();
        let what = if was_trusted { "No longer trusted" } else { "Trusted" };
        state.notice(&format!("{what}: {}", all.join(", ")), Kind::Info);
        state.trusting.left_out = if was_trusted { all } else { Vec::new() };
        // Files that are no longer trusted do not open the prompt again at once.
        if was_trusted {
            state.trusting.refuse(&brought);
        }
    }
    let mut effects = agent::happened(state, Event::Instructed(instructions));
    effects.extend(agent::happened(state, rules));
    effects.extend(settled(state));
    effects
}

/// Shows that the decision could not be stored.
pub fn failed(state: &mut State, words: &str) -> Vec<Effect> {
    state.notice(words, Kind::Warning);
    settled(state)
}

/// Closes the prompt, if any, and sends the message that waited for it.
fn settled(state: &mut State) -> Vec<Effect> {
    if state.trusting.asks.take().is_some() {
        // A key typed ahead must not answer a prompt that becomes visible.
        state.presses.elsewhere(state.now);
    }
    match std::mem::take(&mut state.trusting.says) {
        says if says.trim().is_empty() => Vec::new(),
        says => writing::say(state, says),
    }
}
