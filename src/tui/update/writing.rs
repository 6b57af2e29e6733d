//! Text input: keys and pastes for the composer, completion, and sending.

use super::{agent, card, commands, key, overlay, search};
use crate::agent::Event;
use crate::chat::hidden::without_hidden;
use crate::chat::{escape, picture};
use crate::config::problem::nearest;
use crate::tui::command::{COMMANDS, parse, unknown};
use crate::tui::effect::Effect;
use crate::tui::host::Wish;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::complete::{Candidate, Completed, Kind};
use crate::tui::parts::composer::Pressed;
use crate::tui::parts::toast;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;
use crossterm::event::KeyEvent;

/// Handles a key for the composer. A key it does not use has its global meaning.
pub fn key(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    let completed = match state.composer.is_searching() {
        // While searching the history, keys belong to the search, even if a word could be completed.
        true => Completed::Passed,
        false => state.complete.key(&key, &state.keys),
    };
    match completed {
        Completed::Used => return Vec::new(),
        Completed::Replace(range, text) => {
            state.composer.replace(range, &text);
            return follow(state);
        }
        Completed::Passed => {}
    }
    let effects = match state.composer.key(&key, &state.keys) {
        Pressed::Used => {
            state.transcript.deselect();
            Vec::new()
        }
        Pressed::Send => send(state, cache),
        Pressed::Passed => match state.keys.lookup(Scope::Composer, &key) {
            Some(Action::DeleteOrQuit) => key::quit(state),
            Some(
                action @ (Action::HelpWhenEmpty | Action::OpenEditor | Action::ChangeMode | Action::TakeBack),
            ) => key::act(state, cache, action),
            Some(Action::Send) if is_left_waiting(state) => {
                state.transcript.follow();
                state.presses.sender.note_sent(state.now);
                agent::happened(state, Event::Said(String::new()))
            }
            Some(_) | None => key::anywhere(state, cache, key),
        },
    };
    effects.into_iter().chain(follow(state)).collect()
}

/// Handles pasted text, which is never an answer.
pub fn pasted(state: &mut State, cache: &mut Cache, text: &str) -> Vec<Effect> {
    if !state.overlays.is_empty() {
        return overlay::pasted(state, cache, text);
    }
    if state.transcript.search.is_some() {
        return search::pasted(state, cache, text);
    }
    if state.open_card().is_some() && card::pasted(state, text) {
        return Vec::new();
    }
    state.presses.elsewhere(state.now);
    state.composer.paste(text);
    state.transcript.deselect();
    follow(state)
}

/// Inserts text typed before the first picture was drawn. An Enter in it sends nothing, because the user could not see
/// what it would send and to which model. A leading Enter is dropped.
pub fn early(state: &mut State, text: &str) -> Vec<Effect> {
    let text = if state.composer.is_empty() { text.trim_start_matches('\n') } else { text };
    if text.is_empty() {
        return Vec::new();
    }
    state.presses.elsewhere(state.now);
    state.composer.insert(&without_hidden(&escape::strip(text)));
    if text.contains('\n') {
        let enter = state.keys.hint(Scope::Composer, Action::Send);
        let words = format!("Typed before the screen was ready, not sent yet · {enter} to send");
        state.notice(&words, toast::Kind::Info);
    }
    follow(state)
}

/// True if a turn ended and messages typed during it still wait in the queue.
fn is_left_waiting(state: &State) -> bool {
    state.agent.is_idle() && !state.agent.queue.is_empty() && state.prompt.is_none()
}

/// Moves queued messages back into the composer.
pub fn take_back(state: &mut State) -> Vec<Effect> {
    if state.agent.queue.is_empty() {
        return Vec::new();
    }
    let mut text = state.agent.queue.join("\n\n");
    if !state.composer.is_empty() {
        text.push_str("\n\n");
        text.push_str(&state.composer.text());
    }
    state.composer.set(&text);
    agent::happened(state, Event::TakenBack)
}

/// Updates the completion for the text at the cursor. Files are requested when the first is needed.
fn follow(state: &mut State) -> Vec<Effect> {
    let (text, cursor) = state.composer.written();
    match state.complete.follow(&text, cursor) {
        Some(Kind::File) if !state.asked_files => {
            state.asked_files = true;
            vec![Effect::Ask(Wish::Files)]
        }
        Some(Kind::File | Kind::Command) => Vec::new(),
        None => {
            // Files come and go, so they are requested again for the next word.
            state.asked_files = false;
            Vec::new()
        }
    }
}

/// Returns the commands that can be completed after a slash.
pub fn commands() -> Vec<Candidate> {
    COMMANDS.iter().map(|row| Candidate::new(row.names[0], row.help)).collect()
}

fn send(state: &mut State, cache: &mut Cache) -> Vec<Effect> {
    let text = state.composer.text();
    if let Some((command, words)) = parse(text.trim()) {
        let words = words.to_owned();
        state.composer.take();
        return commands::run(state, cache, command, &words);
    }
    if let Some(name) = unknown(&text) {
        let near = nearest(name, COMMANDS.iter().flat_map(|row| row.names).copied());
        let near = near.map(|near| format!(" (did you mean /{near}?)")).unwrap_or_default();
        let words = format!("Unknown command /{name}{near}. Start with a space to send it as a message");
        state.notice(&words, toast::Kind::Info);
        return Vec::new();
    }
    if state.prompt.is_some() {
        let key = state.keys.hint(Scope::Composer, Action::SwitchKeyboard);
        let words = format!("Not sent: answer the prompt first. {key} moves to the prompt");
        state.notice(&words, toast::Kind::Info);
        return Vec::new();
    }
    state.composer.take();
    state.presses.sender.note_sent(state.now);
    say(state, text)
}

/// Sends a user message.
pub fn say(state: &mut State, text: String) -> Vec<Effect> {
    state.composer.remember(&text);
    if !state.connection.images && !state.connection.tour && !picture::named(&text).is_empty() {
        let words = "Only the picture's name is sent: the profile does not set images = true";
        state.notice(words, toast::Kind::Warning);
    }
    state.transcript.follow();
    let mut effects = agent::happened(state, Event::Said(text.clone()));
    effects.push(Effect::Ask(Wish::Remember(text)));
    effects
}
