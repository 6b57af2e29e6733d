//! Routes a key press to the part of the screen with the focus. A key that is not used there has its global meaning.

use super::{
    agent_events, clipboard_copy, composer_input, key_explanations, link_letters, overlay_input, prompt_keys,
    provider_list, search_input, session_list, slash_commands,
};
use crate::chat::session::CallState;
use crate::chat::{Entry, ResultOrigin};
use crate::tui::effect::Effect;
use crate::tui::focus::{Focus, current_focus};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::overlay::{Overlay, PickedAction};
use crate::tui::parts::listening::{Listening, Press};
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::{call_layout, entry_layout, layout_cache::LayoutCache};
use crate::tui::prompt::PromptKind;
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::time::Duration;

/// Two presses within this time count as a double press.
const DOUBLE_PRESS: Duration = Duration::from_secs(1);

/// Handles a press, repeat or release of a key.
pub fn handle_key_event(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        state.recent_keys.send_key.note_release(Chord::from(&key));
        return Vec::new();
    }
    state.toasts.dismiss_read_errors(state.now);
    if let Some(prompt) = &mut state.prompt {
        prompt.key_message.clear();
    }
    // The key that stops and quits works in every state.
    if state.keys.lookup(Scope::Anywhere, &key) == Some(Action::StopOrQuit) {
        state.held_key = None;
        return stop_or_quit(state);
    }
    let writes = is_text_key(&key);
    let mut effects = match state.held_key.take() {
        // These are the first characters of a paste, so none of them was an answer.
        Some((held, _)) if writes => write_held_key(state, cache, held),
        Some((held, _)) => dispatch_key(state, cache, held),
        None => Vec::new(),
    };
    if state.recent_keys.goes_on(Chord::from(&key), state.now) {
        key_explanations::explain_held_key(state, &key);
        return effects;
    }
    let in_a_line = state.is_typing_in_prompt();
    let answers = current_focus(state) == Focus::Prompt && state.prompt_listening() == Some(Listening::Ready);
    let may_answer = answers && !in_a_line && state.open_queue.is_none();
    let seen = state.open_prompt().filter(|_| may_answer).and_then(|prompt| prompt.first_drawn());
    match state.recent_keys.send_key.classify_press(Chord::from(&key), seen, state.now) {
        Press::Deliberate => {}
        press @ (Press::Arms | Press::Held) => {
            key_explanations::explain_possibly_held_key(state, &key, press);
            return effects;
        }
    }
    if writes && !in_a_line && (answers || state.confirmation_listening() == Some(Listening::Ready)) {
        state.held_key = Some((key, state.now));
        return effects;
    }
    effects.extend(dispatch_key(state, cache, key));
    effects
}

/// Handles input that arrives at the speed of a paste: the key that was held back was its first character and is
/// written.
pub fn handle_fast_input(state: &mut State, cache: &mut LayoutCache) -> Vec<Effect> {
    state.recent_keys.record_fast_input(state.now);
    match state.held_key.take() {
        Some((key, _)) => write_held_key(state, cache, key),
        None => Vec::new(),
    }
}

/// Writes a key that was held back and turned out to be part of a paste, if something can be written to.
fn write_held_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) -> Vec<Effect> {
    if state.overlays.is_empty() {
        return handle_key_beyond_prompt(state, cache, key);
    }
    state.recent_keys.record_fast_input(state.now);
    Vec::new()
}

/// Routes the key that was held back once its time is over and no other key is pending.
pub fn release_held_key(state: &mut State, cache: &mut LayoutCache) -> Vec<Effect> {
    if state.held_key_deadline().is_none_or(|until| state.now < until) {
        return Vec::new();
    }
    state.held_key.take().map_or_else(Vec::new, |(key, _)| dispatch_key(state, cache, key))
}

/// True if the key could be a character of pasted text.
fn is_text_key(key: &KeyEvent) -> bool {
    Chord::from(key).typed_character().is_some() || matches!(key.code, KeyCode::Enter | KeyCode::Tab)
}

/// Routes a key to the focus.
fn dispatch_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) -> Vec<Effect> {
    let focus = current_focus(state);
    if !matches!(focus, Focus::Prompt | Focus::Composer) && state.confirmation_listening().is_none() {
        // A key typed there must not answer a prompt that gets the focus next.
        state.recent_keys.record_other_press(state.now);
    }
    match focus {
        Focus::Overlay => overlay_input::handle_overlay_key(state, cache, key),
        Focus::Search => search_input::handle_search_key(state, cache, key),
        Focus::Transcript => match state.keys.lookup(Scope::Transcript, &key) {
            Some(Action::ReadWhole) => open_selected_entry(state),
            Some(action) => run_transcript_action(state, cache, action),
            None => match Chord::from(&key).typed_character() {
                // Typed characters go to the composer.
                Some(_) => {
                    state.transcript.clear_selection();
                    composer_input::handle_composer_key(state, cache, key)
                }
                None => handle_global_key(state, cache, key),
            },
        },
        Focus::Prompt | Focus::Composer => match prompt_keys::handle_prompt_key(state, key) {
            Some(effects) => effects,
            None => {
                let before = key_explanations::classify_rejected_key(state, &key);
                let effects = handle_key_beyond_prompt(state, cache, key);
                key_explanations::explain_rejected_key(state, &key, before);
                effects
            }
        },
    }
}

/// Handles a key that answers nothing. While a prompt is open, it delays the prompt.
fn handle_key_beyond_prompt(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) -> Vec<Effect> {
    let switches = state.keys.lookup(Scope::Composer, &key) == Some(Action::SwitchKeyboard);
    if switches
        && !state.completion.is_open()
        && let Some(prompt) = state.prompt.as_mut().filter(|prompt| !prompt.is_parked())
    {
        prompt.has_keyboard = !prompt.has_keyboard;
        return Vec::new();
    }
    state.recent_keys.record_other_press(state.now);
    composer_input::handle_composer_key(state, cache, key)
}

/// Runs the action that a key has everywhere.
pub fn handle_global_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) -> Vec<Effect> {
    let again = state.keys.lookup(Scope::FailedRequest, &key).filter(|_| state.can_retry());
    match again.or_else(|| state.keys.lookup(Scope::Anywhere, &key)) {
        Some(action) => run_action(state, cache, action),
        None => Vec::new(),
    }
}

/// Runs the action of a key or command, independent of the focus.
pub fn run_action(state: &mut State, cache: &mut LayoutCache, action: Action) -> Vec<Effect> {
    match action {
        Action::ScrollUp
        | Action::ScrollDown
        | Action::ScrollTop
        | Action::ScrollBottom
        | Action::PreviousSaid
        | Action::NextSaid
        | Action::SelectPrevious
        | Action::SelectNext => run_transcript_action(state, cache, action),
        Action::SearchTranscript => {
            search_input::open_transcript_search(state);
            Vec::new()
        }
        Action::OpenLink => link_letters::show_link_letters(state, cache),
        Action::Copy => clipboard_copy::offer_copy(state),
        Action::Palette => slash_commands::open_palette(state),
        Action::Sessions => session_list::open_session_list(state, PickedAction::Open),
        Action::Themes => slash_commands::open_themes(state),
        Action::Models => super::model_list::open_model_list(state),
        Action::Connect => provider_list::open_provider_list(state),
        Action::BringQuestion => {
            prompt_keys::reopen_question(state);
            Vec::new()
        }
        Action::DeclineQuestion => prompt_keys::decline_parked_question(state),
        Action::Help | Action::HelpWhenEmpty => slash_commands::open_help(state),
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::RetryNow => agent_events::retry_request(state),
        Action::Stop => stop_turn(state),
        Action::StopOrQuit => stop_or_quit(state),
        Action::OpenEditor => vec![Effect::EditText(state.composer.text())],
        Action::ChangeMode => super::mode_list::toggle_mode(state),
        Action::TakeBack => composer_input::take_back_queue(state),
        _ => Vec::new(),
    }
}

/// Runs an action that moves within the transcript.
fn run_transcript_action(state: &mut State, cache: &mut LayoutCache, action: Action) -> Vec<Effect> {
    let height = layout::transcript_height(state);
    let mut seen = std::mem::take(&mut state.transcript);
    let ground = state.layout_context();
    let page = height.saturating_sub(2).max(1) as isize;
    match action {
        Action::ScrollUp => seen.scroll_by(&ground, cache, height, -page),
        Action::ScrollDown => seen.scroll_by(&ground, cache, height, page),
        Action::ScrollTop => seen.scroll_to_top(&ground, cache, height),
        Action::ScrollBottom => seen.follow_end(),
        Action::PreviousSaid => seen.jump_to_message(&ground, cache, height, true),
        Action::NextSaid => seen.jump_to_message(&ground, cache, height, false),
        Action::SelectPrevious => seen.select_entry(&ground, cache, height, true),
        Action::SelectNext => seen.select_entry(&ground, cache, height, false),
        Action::Toggle => {
            if let Some(item) = seen.selected() {
                seen.toggle_entry(&ground, item);
            }
        }
        Action::Close => seen.clear_selection(),
        _ => {}
    }
    state.transcript = seen;
    Vec::new()
}

/// Opens the whole text of the selected entry.
fn open_selected_entry(state: &mut State) -> Vec<Effect> {
    let entries = state.agent.session.entries();
    let mut terminal = false;
    let whole = match state.transcript.selected().and_then(|at| entries.get(at)) {
        Some(Entry::Settled { call, outcome, staged, .. }) => {
            let call = state.agent.session.call(call);
            terminal = call.is_some_and(CallState::is_command);
            let staged = staged.as_ref().filter(|_| state.agent.labels_rehearsed).map(ResultOrigin::model_mark);
            call.map(|call| (call.call.name.clone(), call_layout::full_text(call, outcome, staged)))
        }
        Some(Entry::Replied { reasoning, text, .. })
            if reasoning.trim().is_empty() || entry_layout::is_too_long(text) =>
        {
            Some(("Reply".to_owned(), text.clone()))
        }
        Some(Entry::Replied { reasoning, .. }) => Some(("Reasoning".to_owned(), reasoning.clone())),
        Some(Entry::UserMessage { text }) => Some(("Your message".to_owned(), text.clone())),
        Some(Entry::Compacted { summary, pinned, .. }) => {
            Some(("Summary".to_owned(), format!("{summary}\n\n{pinned}")))
        }
        Some(
            Entry::Planned { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Answered { .. }
            | Entry::Ended { .. }
            | Entry::Titled { .. }
            | Entry::Reviewed { .. }
            | Entry::Revoked { .. }
            | Entry::FellBack { .. }
            | Entry::SubAgent { .. }
            | Entry::Switched { .. }
            | Entry::DryRunChanged { .. },
        )
        | None => None,
    };
    if let Some((title, text)) = whole {
        overlay_input::open_reader(state, &title, &text, terminal);
    }
    Vec::new()
}

/// Notices of the first Esc: with an open prompt, and with a parked question.
const STOP_HINT: &str = "Press esc again to stop the turn";
const STOP_UNANSWERED_HINT: &str = "Press esc again to stop without an answer";

/// Handles Esc: parks an open question or closes the trust prompt first, then stops the turn.
fn stop_turn(state: &mut State) -> Vec<Effect> {
    if let Some(effects) = super::trust_decision::skip_project_files(state) {
        return effects;
    }
    if state.agent.is_idle() {
        return Vec::new();
    }
    // Esc also parks a question prompt that does not accept answers yet, and nothing is lost.
    if let Some(effects) = prompt_keys::park_question(state) {
        return effects;
    }
    // Pressing Esc once too often must not discard the question that it parked.
    let open = state.prompt.is_some();
    let again = state.last_stop.take().is_some_and(|at| state.now.saturating_sub(at) < DOUBLE_PRESS);
    if open && !again {
        state.last_stop = Some(state.now);
        let words = if state.open_prompt().is_some() { STOP_HINT } else { STOP_UNANSWERED_HINT };
        state.show_notice(words, Kind::Info);
        return Vec::new();
    }
    // The turn is stopped, so the hint is outdated.
    for words in [STOP_HINT, STOP_UNANSWERED_HINT] {
        state.toasts.remove_text(words, state.now);
    }
    // The countdown ends with the turn, and with it the reason for the retry.
    if let crate::agent::Phase::Replying(draft) = &state.agent.phase
        && let Some(retrying) = &draft.pending_retry
    {
        let why = retrying.reason.clone();
        state.show_notice(&format!("Stopped while waiting to retry: {why}"), Kind::Warning);
    }
    agent_events::handle_agent_event(state, crate::agent::Event::TurnInterrupted)
}

/// Handles Ctrl-C: stops what runs or closes what is open. A double press quits.
fn stop_or_quit(state: &mut State) -> Vec<Effect> {
    if state.last_quit.is_some_and(|at| state.now.saturating_sub(at) < DOUBLE_PRESS) {
        return quit(state);
    }
    state.last_quit = Some(state.now);
    let mut effects = Vec::new();
    let is_leaving = matches!(state.overlays.last(), Some(Overlay::UnsavedSession(..)));
    if is_leaving {
        // The list stays open, so that the second press does not ask again.
    } else if !state.overlays.is_empty() {
        effects.extend(overlay_input::close_overlay(state));
    } else if has_question_prompt(state) {
        // A question has no timeout: it keeps waiting.
    } else if !state.agent.is_idle() {
        effects.extend(agent_events::handle_agent_event(state, crate::agent::Event::TurnInterrupted));
    }
    let quit = state.keys.first_chord(Scope::Anywhere, Action::StopOrQuit);
    let kept = match (is_leaving, has_question_prompt(state)) {
        (true, _) => format!(" and lose {}", state.saving.describe_loss(state.agent.session.entries())),
        (false, true) => "; the question keeps waiting".to_owned(),
        (false, false) => String::new(),
    };
    state.show_notice(&format!("Press {quit} again to quit{kept}"), Kind::Info);
    effects
}

/// True if a question prompt is open or parked.
fn has_question_prompt(state: &State) -> bool {
    matches!(state.prompt.as_ref().map(|prompt| &prompt.kind), Some(PromptKind::Question(_)))
}

/// Quits after saving the draft.
pub fn quit(state: &mut State) -> Vec<Effect> {
    if let Some(effects) = super::exit_prompt::prompt_unsaved(state) {
        return effects;
    }
    let mut effects = super::prepare_exit(state);
    effects.push(Effect::Quit);
    effects
}
