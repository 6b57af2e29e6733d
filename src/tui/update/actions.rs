//! Runs the actions of keys and commands that do not depend on the focus.

use super::press_hints::{
    REWIND_HINT, STOP_HINT, STOP_UNANSWERED_HINT, describe_quit, is_double_press, is_leaving, show_press_hint,
};
use super::transcript_change::change_transcript;
use super::{
    agent_events, clipboard_copy, clipboard_requests, help_lists, link_hints, mode_list, model_list, popup_stack,
    prompt_keys, provider_list, rewind_list, search_input, session_exit, session_list, theme_list, transcript_change,
    trust_decision, user_messages,
};
use crate::agent::CallStage;
use crate::chat::session::CallState;
use crate::chat::stored_result::find_stored_note;
use crate::chat::{Entry, ResultOrigin};
use crate::tui::effect::Effect;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::audit_page::user_command_text;
use crate::tui::parts::call_action::{PlannedCall, describe_call};
use crate::tui::parts::transcript::{Direction, call_layout, entry_layout, layout_cache::LayoutCache};
use crate::tui::popup::{PickedAction, Popup, ReaderBody};
use crate::tui::state::State;
use crate::tui::text::pieces::OUTSIDE_BAR;
use crossterm::event::KeyEvent;

/// Runs the global action of a key, if any. While a failed request can be retried, the key that retries it takes
/// precedence.
pub fn handle_global_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    let retry = state.keys.lookup(Scope::FailedRequest, &key).filter(|_| state.can_retry());
    if let Some(action) = retry.or_else(|| state.keys.lookup(Scope::Anywhere, &key)) {
        run_action(state, cache, action);
    }
}

/// Runs the action of a key or command, independent of the focus.
pub fn run_action(state: &mut State, cache: &mut LayoutCache, action: Action) {
    match action {
        Action::ScrollUp
        | Action::ScrollDown
        | Action::ScrollTop
        | Action::ScrollBottom
        | Action::PreviousMessage
        | Action::NextMessage
        | Action::SelectPrevious
        | Action::SelectNext => run_transcript_action(state, cache, action),
        Action::SearchTranscript => search_input::open_transcript_search(state),
        Action::OpenLink => link_hints::show_link_hints(state, cache),
        Action::Copy => clipboard_copy::offer_copy(state, cache),
        Action::Palette => help_lists::open_palette(state),
        Action::Sessions => session_list::open_session_list(state, PickedAction::Open),
        Action::Themes => theme_list::open_themes(state),
        Action::Models => model_list::open_model_list(state),
        Action::Connect => provider_list::open_provider_list(state),
        Action::OpenQuestion => prompt_keys::reopen_prompt(state),
        Action::DeclineQuestion => prompt_keys::decline_parked_prompt(state),
        Action::Help | Action::HelpWhenEmpty => help_lists::open_help(state),
        Action::Redraw => state.push_effect(Effect::Redraw),
        Action::Suspend => state.push_effect(Effect::Suspend),
        Action::RetryNow => agent_events::retry_request(state),
        Action::Stop => stop_turn(state),
        Action::StopOrQuit => stop_or_quit(state),
        Action::PastePicture => clipboard_requests::request_clipboard(state),
        Action::OpenEditor => state.push_effect(Effect::EditText(state.input.composer.text())),
        Action::ChangeMode => mode_list::set_mode(state, state.agent.policy.mode.next_by_key()),
        Action::EditQueued => user_messages::take_back_queue(state),
        _ => {}
    }
}

/// Runs an action that moves within the transcript.
pub fn run_transcript_action(state: &mut State, cache: &mut LayoutCache, action: Action) {
    if action == Action::Toggle {
        if let Some(item) = change_transcript(state, cache, |transcript, layouts| transcript.selected_item(layouts)) {
            transcript_change::toggle_item(state, cache, item);
        }
        return;
    }
    change_transcript(state, cache, |transcript, layouts| {
        // Two lines of the previous page stay visible.
        let page_height = layouts.height.saturating_sub(2).max(1) as isize;
        match action {
            Action::ScrollUp => transcript.scroll_by(layouts, -page_height),
            Action::ScrollDown => transcript.scroll_by(layouts, page_height),
            Action::ScrollTop => transcript.scroll_to_top(layouts),
            Action::ScrollBottom => transcript.follow_end(),
            Action::PreviousMessage => transcript.jump_to_message(layouts, Direction::Up),
            Action::NextMessage => transcript.jump_to_message(layouts, Direction::Down),
            Action::SelectPrevious => transcript.select_entry(layouts, Direction::Up),
            Action::SelectNext => transcript.select_entry(layouts, Direction::Down),
            Action::Close => transcript.clear_selection(),
            _ => {}
        }
    });
    if matches!(action, Action::SelectPrevious | Action::SelectNext) {
        change_transcript(state, cache, |transcript, layouts| transcript.show_selection(layouts));
    }
}

/// Opens the whole text of the selected entry.
pub fn open_selected_entry(state: &mut State, cache: &mut LayoutCache) {
    if let Some((title, text)) = transcript_change::selected_run_texts(state, cache) {
        return popup_stack::open_reader(state, &title, &text, false);
    }
    let selected_call = state.viewport.transcript.selected_call();
    let running = state.agent.pending().iter().find(|pending| Some(&pending.call.id) == selected_call);
    if let Some(pending) = running {
        let plan = match &pending.stage {
            CallStage::Running(plan) | CallStage::OnTrial(plan, _) => Some(PlannedCall::from(&**plan)),
            _ => None,
        };
        let (title, text) = (describe_call(&pending.call.name, plan), pending.output().to_owned());
        return popup_stack::open_reader(state, &title, &text, true);
    }
    let entries = state.agent.session.entries();
    let (mut is_terminal_output, mut whole_text) = (false, None);
    let title_and_text = match state.viewport.transcript.selected().and_then(|index| entries.get(index)) {
        Some(Entry::Settled { call, outcome, staged: origin, .. }) => {
            let call_state = state.agent.session.find_call(call);
            is_terminal_output = call_state.is_some_and(CallState::is_command);
            let mark =
                origin.as_ref().filter(|_| state.agent.config.dry_run.labels_results).map(ResultOrigin::model_mark);
            call_state.map(|call| {
                let mut title = describe_call(&call.call.name, call.plan.as_ref().map(PlannedCall::from));
                let note = find_stored_note(outcome.text(), is_terminal_output);
                whole_text = note.map(|note| note.address.to_owned());
                if whole_text.is_some() {
                    title.push_str(" · without its middle");
                }
                (title, call_layout::full_text(call, outcome, mark))
            })
        }
        Some(Entry::Replied { reasoning, text, .. })
            if reasoning.trim().is_empty() || entry_layout::is_too_long(text) =>
        {
            Some(("Reply".to_owned(), text.clone()))
        }
        Some(Entry::Replied { reasoning, .. }) => Some(("Reasoning".to_owned(), reasoning.clone())),
        Some(Entry::UserCommand(command)) => {
            is_terminal_output = true;
            Some(("Your command".to_owned(), user_command_text(command)))
        }
        Some(Entry::UserMessage { text }) => Some(("Your message".to_owned(), text.clone())),
        Some(Entry::BackgroundEnded(end)) => {
            is_terminal_output = true;
            Some((format!("Background command {}", end.number), end.output.clone()))
        }
        Some(Entry::Sampling(step)) => {
            let Some(text) = step.full_text(OUTSIDE_BAR) else { return };
            let title = step.describe();
            return popup_stack::push_reader(state, &title, text.into(), ReaderBody::Barred);
        }
        Some(Entry::Compacted { summary, pinned, .. }) => {
            Some(("Summary".to_owned(), format!("{summary}\n\n{pinned}")))
        }
        _ => None,
    };
    if let Some((title, text)) = title_and_text {
        popup_stack::open_reader(state, &title, &text, is_terminal_output);
        if let Some(Popup::Reader(reader)) = state.viewport.popups.last_mut() {
            reader.whole_text = whole_text;
        }
    }
}

/// Handles Esc: parks an open question or closes the trust prompt first, then stops the turn.
fn stop_turn(state: &mut State) {
    // Esc also parks a question prompt that does not accept answers yet, and nothing is lost.
    if trust_decision::skip_project_files(state) {
        return;
    }
    if state.agent.is_idle() {
        return offer_rewind(state);
    }
    if prompt_keys::park_prompt(state) {
        return;
    }
    // Pressing Esc once too often must not discard the question that the first Esc parked.
    let has_prompt = state.prompts.current.is_some();
    // Unlike `current`, `front` excludes a parked prompt.
    let has_open_prompt = state.prompts.front().is_some();
    if has_prompt && !is_double_press(state.input.last_stop.take(), state.timing.now) {
        state.input.last_stop = Some(state.timing.now);
        return show_press_hint(state, if has_open_prompt { STOP_HINT } else { STOP_UNANSWERED_HINT });
    }
    // The countdown, which shows the reason of the retry, ends with the turn: a notice keeps the reason visible.
    if let crate::agent::Phase::Replying(draft) = &state.agent.phase
        && let Some(retry) = &draft.pending_retry
    {
        let reason = retry.reason.clone();
        state.show_warning(&format!("Stopped while waiting to retry: {reason}"));
    }
    agent_events::handle_agent_event(state, crate::agent::Event::TurnInterrupted);
}

/// Handles Esc between turns: pressed twice on an empty draft, it opens the list of messages to go back to.
fn offer_rewind(state: &mut State) {
    if !state.input.composer.is_empty() || state.prompts.current.is_some() || !rewind_list::can_rewind(state) {
        return;
    }
    let now = state.timing.now;
    if is_double_press(state.input.last_stop.take(), now) {
        return rewind_list::open_rewind_list(state);
    }
    state.input.last_stop = Some(now);
    show_press_hint(state, REWIND_HINT);
}

/// Handles Ctrl-C: closes the popup in front, otherwise stops the turn. A double press quits.
pub fn stop_or_quit(state: &mut State) {
    if is_double_press(state.input.last_quit, state.timing.now) {
        return session_exit::quit_confirmed(state);
    }
    state.input.last_quit = Some(state.timing.now);
    if is_leaving(state) {
        // The list of exit choices stays open, so that the second press quits instead of asking again.
    } else if !state.viewport.popups.is_empty() {
        popup_stack::close_popup(state);
    } else if state.has_question_prompt() {
        // Ctrl-C does not stop a turn that waits for an answer: the question keeps waiting.
    } else if !state.agent.is_idle() {
        agent_events::handle_agent_event(state, crate::agent::Event::TurnInterrupted);
    }
    let hint = describe_quit(state);
    show_press_hint(state, &hint);
}
