//! Explains why an open prompt rejected a key and which key would work. Only the message is set here; nothing is
//! decided.

use crate::tui::effect::Effect;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::listening::{Listening, Press};
use crate::tui::prompts::prompt::PromptKind;
use crate::tui::state::State;
use crossterm::event::{KeyCode, KeyEvent};

/// Reason the open prompt did not use a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectedKey {
    /// No explanation is needed.
    NoExplanation,
    /// The key answers the prompt, which does not accept answers yet.
    TooSoon,
    /// The key is Enter, which never answers this kind of prompt.
    Enter,
}

/// Returns why the open prompt did not use this key.
pub fn classify_rejected_key(state: &State, key: &KeyEvent) -> RejectedKey {
    let Some(prompt) = state.open_prompt().filter(|_| state.input.composer.is_empty()) else {
        return RejectedKey::NoExplanation;
    };
    let listening = state.prompt_listening();
    let scope = match (&state.prompts.open_queue, &prompt.kind) {
        (Some(_), _) => Scope::Queue,
        (None, PromptKind::Approval(_)) => Scope::Approval,
        (None, PromptKind::Question(_)) => Scope::Question,
        (None, PromptKind::Trust(_)) => Scope::Trust,
    };
    let is_option_number = scope == Scope::Question && matches!(key.code, KeyCode::Char('1'..='9'));
    match state.keys.lookup(scope, key) {
        Some(Action::SwitchFocus | Action::Close | Action::AnswerLater) => RejectedKey::NoExplanation,
        Some(_) if matches!(listening, Some(Listening::Until(_))) => RejectedKey::TooSoon,
        None if is_option_number && matches!(listening, Some(Listening::Until(_))) => RejectedKey::TooSoon,
        None if key.code == KeyCode::Enter && matches!(scope, Scope::Approval | Scope::Trust) => RejectedKey::Enter,
        Some(_) | None => RejectedKey::NoExplanation,
    }
}

/// Shows in the prompt why the key was rejected. Called after the key was routed.
pub fn explain_rejected_key(state: &mut State, key: &KeyEvent, rejection: RejectedKey) {
    let focus_key = state.keys.first_chord(Scope::Composer, Action::SwitchFocus);
    let approval_key = |action| state.keys.first_chord(Scope::Approval, action);
    let message = match rejection {
        RejectedKey::NoExplanation => return,
        RejectedKey::TooSoon if state.input.composer.is_empty() => "Too soon, not counted · press it again".to_owned(),
        RejectedKey::TooSoon => {
            format!("Too soon: {} went to your draft · {focus_key} to answer", Chord::from(key))
        }
        RejectedKey::Enter if state.session.trust.pending.is_some() => {
            let trust_key = |action| state.keys.first_chord(Scope::Trust, action);
            format!("Enter does not answer · {} approve, {} deny", trust_key(Action::Trust), trust_key(Action::Deny))
        }
        RejectedKey::Enter => {
            let is_destructive = match state.agent.waiting_call() {
                Some(crate::agent::WaitingCall::Approval { plan, .. }) => plan.destroys.is_some(),
                Some(crate::agent::WaitingCall::Answer { .. }) | None => false,
            };
            let approve_action = if is_destructive { Action::ApproveDestructive } else { Action::ApproveOnce };
            format!(
                "Enter does not answer · {} approve, {} deny",
                approval_key(approve_action),
                approval_key(Action::Deny)
            )
        }
    };
    set_prompt_message(state, message);
}

/// Explains that the key of the last answer is repeating or still held: it answers nothing until it is released.
pub fn explain_held_key(state: &mut State, key: &KeyEvent) {
    if state.open_prompt().is_some() && state.prompt_listening() != Some(Listening::Unseen) {
        set_prompt_message(state, format!("{} may still be held · release it, then press it again", Chord::from(key)));
    }
}

/// Explains that the key that sent the last message may still be held, because the prompt appeared right after it.
pub fn explain_possibly_held_key(state: &mut State, key: &KeyEvent, press: Press) {
    let chord = Chord::from(key);
    let message = match press {
        Press::Arms | Press::Deliberate => {
            format!("{chord} may still be held from sending · press it again to answer")
        }
        Press::Held => format!("{chord} may still be held · release it, then press it again"),
    };
    set_prompt_message(state, message);
}

/// Shows a message in the open prompt until the next key.
pub fn set_prompt_message(state: &mut State, message: String) -> Vec<Effect> {
    if let Some(prompt) = &mut state.prompts.current {
        prompt.key_message = message;
    }
    Vec::new()
}
