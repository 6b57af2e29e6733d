//! Explains why an open prompt rejected a key and which key would work. Only the message is set here; nothing is
//! decided.

use crate::tui::effect::Effect;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::listening::{Listening, Press};
use crate::tui::prompt::Card;
use crate::tui::state::State;
use crossterm::event::{KeyCode, KeyEvent};

/// Meaning that a key would have had to the open prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// Nothing that needs an explanation.
    Nothing,
    /// An answer before the prompt accepted answers.
    TooSoon,
    /// Enter, which answers other prompts, but never this one.
    Enter,
}

/// Returns the meaning that a key passed on by the prompt would have had to it.
pub fn meant(state: &State, key: &KeyEvent) -> Meant {
    let Some(prompt) = state.open_card().filter(|_| state.composer.is_empty()) else { return Meant::Nothing };
    let listening = state.listening();
    let scope = match (&state.waits, &prompt.card) {
        (Some(_), _) => Scope::Waits,
        (None, Card::Approval(_)) => Scope::Approval,
        (None, Card::Question(_)) => Scope::Question,
        (None, Card::Trust(_)) => Scope::Trust,
    };
    let digit = scope == Scope::Question && matches!(key.code, KeyCode::Char('1'..='9'));
    match state.keys.lookup(scope, key) {
        Some(Action::SwitchKeyboard | Action::Close | Action::Park) => Meant::Nothing,
        Some(_) if matches!(listening, Some(Listening::Until(_))) => Meant::TooSoon,
        None if digit && matches!(listening, Some(Listening::Until(_))) => Meant::TooSoon,
        None if key.code == KeyCode::Enter && matches!(scope, Scope::Approval | Scope::Trust) => Meant::Enter,
        Some(_) | None => Meant::Nothing,
    }
}

/// Explains why the key did nothing. Called once the key has been routed.
pub fn say(state: &mut State, key: &KeyEvent, meant: Meant) {
    let tab = state.keys.hint(Scope::Composer, Action::SwitchKeyboard);
    let key_of = |action| state.keys.hint(Scope::Approval, action);
    let words = match meant {
        Meant::Nothing => return,
        Meant::TooSoon if state.composer.is_empty() => "Too soon, not counted · press it again".to_owned(),
        Meant::TooSoon => {
            format!("Too soon: {} went to your draft · {tab} to answer", Chord::from(key))
        }
        Meant::Enter if state.trusting.asks.is_some() => {
            let key_of = |action| state.keys.hint(Scope::Trust, action);
            format!(
                "Enter does not answer · {} approve, {} deny",
                key_of(Action::Trust),
                key_of(Action::Refuse)
            )
        }
        Meant::Enter => {
            let destroys = match state.agent.waiting() {
                Some(crate::agent::Waiting::Approval { plan, .. }) => plan.destroys.is_some(),
                Some(crate::agent::Waiting::Answer { .. }) | None => false,
            };
            let yes = if destroys { Action::ApproveDestroying } else { Action::ApproveOnce };
            format!("Enter does not answer · {} approve, {} deny", key_of(yes), key_of(Action::Refuse))
        }
    };
    says(state, words);
}

/// Explains that the key of the last answer is repeated or still held: it answers nothing until it is released.
pub fn held_on(state: &mut State, key: &KeyEvent) {
    if state.open_card().is_some() && state.listening() != Some(Listening::Unseen) {
        says(state, format!("{} may still be held · release it, then press it again", Chord::from(key)));
    }
}

/// Explains that the key that sent the last message may still be held, because the prompt appeared right after it.
pub fn may_be_held(state: &mut State, key: &KeyEvent, press: Press) {
    let key = Chord::from(key);
    let words = match press {
        Press::Arms | Press::Deliberate => {
            format!("{key} may still be held from sending · press it again to answer")
        }
        Press::Held => format!("{key} may still be held · release it, then press it again"),
    };
    says(state, words);
}

/// Shows a message in the open prompt until the next key.
pub fn says(state: &mut State, words: String) -> Vec<Effect> {
    if let Some(prompt) = &mut state.prompt {
        prompt.says = words;
    }
    Vec::new()
}
