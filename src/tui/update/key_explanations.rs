//! Explains why an open prompt rejected a key and which key would work. Sets only the message of the prompt.

use crate::text::width;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::listening::{Listening, Press, TOO_SOON};
use crate::tui::state::State;
use crossterm::event::{KeyCode, KeyEvent};

/// Columns of the bottom border that a message does not use: a corner, a line and a blank at each side.
const MESSAGE_MARGIN: usize = 6;

/// Reason the open prompt did not use a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectedKey {
    /// No explanation is needed.
    NoExplanation,
    /// The key answers the prompt, which does not accept answers yet.
    TooSoon,
    /// The key is Enter, which never answers this kind of prompt. Holds a message that names the keys that do.
    Enter(String),
}

/// Returns why the open prompt did not use this key.
pub fn classify_rejected_key(state: &State, key: &KeyEvent) -> RejectedKey {
    let is_character = Chord::from(key).typed_character().is_some();
    // With a draft in the composer, only a character typed into it instead of into the prompt needs an explanation.
    let expects_answer = state.input.composer.is_empty() || state.prompts.has_keyboard && is_character;
    let Some(prompt) = state.prompts.front().filter(|_| expects_answer) else {
        return RejectedKey::NoExplanation;
    };
    let is_early = matches!(state.prompt_listening(), Some(Listening::Until(_)));
    let is_option_number = prompt.is_question() && matches!(key.code, KeyCode::Char('1'..='9'));
    let is_text = prompt.is_writing() && is_character;
    match state.keys.lookup(prompt.scope(), key) {
        Some(Action::SwitchFocus | Action::Close | Action::AnswerLater) => RejectedKey::NoExplanation,
        Some(_) if is_early => RejectedKey::TooSoon,
        None if (is_option_number || is_text) && is_early => RejectedKey::TooSoon,
        // The explanation needs neither the listening state nor the message.
        None if key.code == KeyCode::Enter => {
            explain_enter(state, key).map_or(RejectedKey::NoExplanation, RejectedKey::Enter)
        }
        Some(_) | None => RejectedKey::NoExplanation,
    }
}

/// Returns why Enter does not answer the open prompt; `None` if it may, or for another key.
fn explain_enter(state: &State, key: &KeyEvent) -> Option<String> {
    let prompt = state.prompts.front().filter(|_| key.code == KeyCode::Enter)?;
    prompt.explain_enter(&state.prompt_facts(Listening::Unseen, ""))
}

/// Explains why the key did nothing. Called once the key has been routed.
pub fn explain_rejected_key(state: &mut State, key: &KeyEvent, rejection: RejectedKey) {
    let message = match rejection {
        RejectedKey::NoExplanation => return,
        RejectedKey::TooSoon if state.input.composer.is_empty() => TOO_SOON.to_owned(),
        RejectedKey::TooSoon => explain_typed_key(state, key),
        RejectedKey::Enter(explanation) => explanation,
    };
    set_prompt_message(state, message);
}

/// Explains that a key pressed too early is now part of the draft. Of two parts that do not both fit, a prompt shows only
/// the second, so a narrow screen gets only the first: as soon as the next key is typed, the prompt shows the second.
fn explain_typed_key(state: &State, key: &KeyEvent) -> String {
    let reason = format!("Too fast: “{}” was typed into your message", Chord::from(key));
    let focus_key = state.keys.first_chord(Scope::Composer, Action::SwitchFocus);
    let message = format!("{reason} · {focus_key} to answer");
    let fits = width::text_width(&message) + MESSAGE_MARGIN <= usize::from(state.viewport.size.0);
    if focus_key.is_empty() || !fits { reason } else { message }
}

/// Explains that the key of the last answer is repeating or still held: it answers nothing until it is released.
pub fn explain_held_key(state: &mut State, key: &KeyEvent) {
    if state.prompts.front().is_some() && state.prompt_listening() != Some(Listening::Unseen) {
        set_prompt_message(state, format!("{} may still be held · release it, then press it again", Chord::from(key)));
    }
}

/// Explains that the key that sent the last message may still be held, because the prompt appeared right after it.
pub fn explain_possibly_held_key(state: &mut State, key: &KeyEvent, press: Press) {
    let chord = Chord::from(key);
    let message = match press {
        // In some prompts Enter answers nothing, however it is pressed.
        Press::Arms | Press::Deliberate => explain_enter(state, key)
            .unwrap_or_else(|| format!("{chord} may still be held from sending · press it again to answer")),
        Press::Held => format!("{chord} may still be held · release it, then press it again"),
    };
    set_prompt_message(state, message);
}

/// Shows a message in the open prompt until the next key.
pub fn set_prompt_message(state: &mut State, message: String) {
    if state.prompts.current.is_some() {
        state.prompts.key_message = message;
    }
}
