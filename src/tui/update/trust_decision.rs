//! The trust prompt for files of the project: opened, answered, closed. Messages wait until it is settled.

use super::{agent_events, user_messages};
use crate::agent::Event;
use crate::chat::Instructions;
use crate::config::project_files::{ProjectFileKind, ProjectFiles};
use crate::config::rules::PROJECT_RULES_FILE;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, InspectionReason, TrustRequest};
use crate::tui::keys::Chord;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::toast::Kind;
use crate::tui::parts::trust_prompt::{KeyResult, describe_file};
use crate::tui::prompt::PromptKind;
use crate::tui::state::State;
use crossterm::event::KeyEvent;
use std::path::Path;
use std::sync::Arc;

/// Checks the project's files at the start of a session. The message `says` is sent once they are settled.
pub fn check_project_files(state: &mut State, says: String) -> Vec<Effect> {
    state.session.trust.first_message = says;
    vec![Effect::Request(HostRequest::Trust(TrustRequest::Inspect { asked: false }))]
}

/// Opens the trust prompt for the files that were found, if needed.
pub fn handle_project_files(state: &mut State, brought: ProjectFiles, why: InspectionReason) -> Vec<Effect> {
    // The session has moved to another folder since, which is checked separately.
    if brought.folder != state.settings.folder {
        return Vec::new();
    }
    state.session.trust.unused_files = brought.untrusted().map(describe_file).collect();
    let asks = brought.untrusted().next().is_some();
    let opens = match why {
        InspectionReason::SessionStarted => asks && !state.session.trust.was_refused(&brought),
        InspectionReason::UserRequest | InspectionReason::FilesChanged => brought.usable().next().is_some(),
    };
    if opens {
        state.session.trust.pending = Some((Arc::new(brought), why));
        return Vec::new();
    }
    for file in &brought.files {
        // Problems with rules were shown when the rules were read.
        let said = why == InspectionReason::SessionStarted && file.name == PROJECT_RULES_FILE;
        if let (ProjectFileKind::Unusable(why), false) = (&file.kind, said) {
            state.show_notice(&format!("{} of this project is not used: {why}", file.name), Kind::Warning);
        }
    }
    let words = match why {
        InspectionReason::UserRequest if brought.files.is_empty() => {
            "This project has no files that change how aye works: no AGENTS.md, no .aye/rules.toml"
        }
        InspectionReason::FilesChanged => "Nothing was trusted: the files have changed since you approved them",
        InspectionReason::SessionStarted | InspectionReason::UserRequest => "",
    };
    if !words.is_empty() {
        state.show_notice(words, Kind::Info);
    }
    finish_trust_check(state)
}

/// Passes a key to the trust prompt; `None` if it does not use it.
pub fn handle_trust_key(state: &mut State, key: &KeyEvent, listening: Listening) -> Option<Vec<Effect>> {
    let Some(PromptKind::Trust(card)) = state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) else {
        return None;
    };
    let reply = card.key(key, &state.keys, listening);
    let (brought, stands) = (card.files().clone(), card.is_trusted());
    match reply {
        KeyResult::PassedOn => return None,
        KeyResult::Handled => return Some(Vec::new()),
        KeyResult::Explained(words) => {
            return Some(super::key_explanations::set_prompt_message(state, words));
        }
        KeyResult::Trust | KeyResult::Refuse | KeyResult::Close => {}
    }
    state.input.recent_keys.record_answer(Chord::from(key), state.timing.now);
    let folder = brought.folder.clone();
    Some(match (reply, stands) {
        (KeyResult::Trust, _) => {
            mark_trust_storing(state);
            vec![Effect::Request(HostRequest::Trust(TrustRequest::Trust { folder, seen: brought.signature() }))]
        }
        (KeyResult::Refuse, true) => {
            mark_trust_storing(state);
            vec![Effect::Request(HostRequest::Trust(TrustRequest::Revoke(folder)))]
        }
        (KeyResult::Close, true) => finish_trust_check(state),
        (KeyResult::Refuse | KeyResult::Close, false) => skip_project_files(state).unwrap_or_default(),
        (KeyResult::PassedOn | KeyResult::Handled | KeyResult::Explained(_), _) => Vec::new(),
    })
}

fn mark_trust_storing(state: &mut State) {
    if let Some(PromptKind::Trust(card)) = state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        card.mark_storing();
    }
}

/// Continues without the files in the prompt; `None` if no trust prompt is open.
pub fn skip_project_files(state: &mut State) -> Option<Vec<Effect>> {
    let (brought, _) = state.session.trust.pending.clone()?;
    let names: Vec<String> = brought.untrusted().map(|file| file.name.clone()).collect();
    if !names.is_empty() {
        state.session.trust.record_refusal(&brought);
        state.show_notice(&format!("Not used: {} · /trust to decide again", names.join(", ")), Kind::Info);
    }
    Some(finish_trust_check(state))
}

/// Applies a change of trust: instructions reach the model with its next request, and rules apply or stop to apply.
pub fn apply_trust_change(
    state: &mut State,
    folder: &Path,
    instructions: Arc<Vec<Instructions>>,
    rules: Event,
) -> Vec<Effect> {
    if *folder != state.settings.folder {
        return Vec::new();
    }
    if let Some((brought, _)) = state.session.trust.pending.clone() {
        let all: Vec<String> = brought.usable().map(describe_file).collect();
        let was_trusted = brought.untrusted().next().is_none();
        let what = if was_trusted { "No longer trusted" } else { "Trusted" };
        state.show_notice(&format!("{what}: {}", all.join(", ")), Kind::Info);
        state.session.trust.unused_files = if was_trusted { all } else { Vec::new() };
        // Files that are no longer trusted do not open the prompt again at once.
        if was_trusted {
            state.session.trust.record_refusal(&brought);
        }
    }
    let mut effects = agent_events::handle_agent_event(state, Event::InstructionsChanged(instructions));
    effects.extend(agent_events::handle_agent_event(state, rules));
    effects.extend(finish_trust_check(state));
    effects
}

/// Shows that the decision could not be stored.
pub fn report_trust_failure(state: &mut State, words: &str) -> Vec<Effect> {
    state.show_notice(words, Kind::Warning);
    finish_trust_check(state)
}

/// Closes the prompt, if any, and sends the message that waited for it.
fn finish_trust_check(state: &mut State) -> Vec<Effect> {
    if state.session.trust.pending.take().is_some() {
        // A key typed ahead must not answer a prompt that becomes visible.
        state.input.recent_keys.record_other_press(state.timing.now);
    }
    match std::mem::take(&mut state.session.trust.first_message) {
        says if says.trim().is_empty() => Vec::new(),
        says => user_messages::send_message(state, says),
    }
}
