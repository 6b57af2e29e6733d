//! Effects of agent events on the screen.

use super::{background_list, user_commands};
use crate::agent;
use crate::chat::{Chunk, Entry, result_origin};
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::parts::sub_agent_name::origin_line;
use crate::tui::state::State;

/// Passes an event to the agent and updates the screen for it.
pub fn handle_agent_event(state: &mut State, event: agent::Event) {
    let old_marker = activity_marker(state);
    if let agent::Event::RulesLoaded { notices, .. } | agent::Event::ToolsChanged { notices, .. } = &event {
        for notice in notices {
            state.show_warning(notice);
        }
    }
    if let agent::Event::ToolsChanged { unaccepted: Some(unaccepted), .. } = &event
        && (state.agent.session.entries().is_empty() || !state.viewport.popups.is_empty())
    {
        // It is not recorded, or its line is covered.
        state.show_warning(&unaccepted.describe());
    }
    if let agent::Event::FolderInstructionsFound { found, .. } = &event {
        for notice in found.untrusted_notices() {
            if !state.current_warnings().any(|warning| warning == notice) {
                state.show_warning(&notice);
            }
        }
    }
    if let agent::Event::ReplyChunk { turn, chunk: Chunk::ModelChosen { model, reason: None }, .. } = &event
        && state.agent.current_turn() == Some(*turn)
    {
        // No model was named in the settings, or the fallback continues the turn. The header shows this name if it
        // knows no other.
        state.session.connection.model.clone_from(model);
    }
    if let agent::Event::ReplyChunk { turn, chunk, .. } = &event
        && state.agent.current_turn() == Some(*turn)
    {
        state.timing.pace.record_chunk(chunk, state.timing.now);
    }
    let needs_terminal =
        matches!(&event, agent::Event::TerminalNeeded { turn } if state.agent.current_turn() == Some(*turn));
    let was_replying = matches!(state.agent.phase, agent::Phase::Replying(_));
    let effects = agent::update(&mut state.agent, event);
    let ends = effects.iter().filter_map(|effect| match effect {
        agent::Effect::AppendEntry(Entry::BackgroundEnded(end)) => Some(background_list::describe_end(end)),
        _ => None,
    });
    let ends: Vec<String> = ends.collect();
    let switch = effects.iter().find_map(|effect| match effect {
        agent::Effect::SwitchProfile { profile, model } => Some((profile.clone(), model.clone())),
        _ => None,
    });
    for notice in &ends {
        state.show_info(notice);
    }
    if was_replying && !matches!(state.agent.phase, agent::Phase::Replying(_)) {
        state.timing.pace.finish_reply(state.timing.now);
    }
    state.timing.pace.start_request(&effects, state.timing.now);
    if activity_marker(state) != old_marker {
        // A call that was settled, and everything that ends a turn, may have changed files.
        state.lookups.request_repeat();
        // The end of a background command is no step of the turn.
        if ends.is_empty() {
            state.timing.activity_start = state.timing.now;
        }
    }
    time_sub_agents(state);
    if !effects.is_empty() {
        state.push_effect(Effect::Agent(effects));
    }
    if let Some((profile, model)) = switch {
        state.send_request(HostRequest::UseProfile { profile, model });
    }
    if needs_terminal {
        user_commands::attach_if_quiet(state);
    }
}

/// Sends the failed request again now, if there is one.
pub fn retry_request(state: &mut State) {
    if !state.can_retry() {
        return state.show_info("No failed request to retry");
    }
    if !state.agent.is_idle() {
        return handle_agent_event(state, agent::Event::RetryNow);
    }
    state.viewport.transcript.follow_end();
    handle_agent_event(state, agent::Event::TurnRetried)
}

/// Returns the values whose change restarts the clock on the screen: current turn, number of entries without those of
/// sub-agents, and number of settled calls.
fn activity_marker(state: &State) -> (Option<crate::chat::TurnId>, usize, usize) {
    let calls = state.agent.pending();
    let settled_count = calls.iter().filter(|pending| pending.stage == agent::CallStage::Settled).count();
    (state.agent.current_turn(), state.agent.session.own_entry_count(), settled_count)
}

/// Starts a clock for each sub-agent that begins and drops those that ended.
fn time_sub_agents(state: &mut State) {
    let has_started = |pending: &agent::PendingCall| pending.sub_agent().is_some_and(agent::SubAgent::has_started);
    let running: Vec<_> = state.agent.pending().iter().filter(|pending| has_started(pending)).collect();
    state.timing.sub_agent_starts.retain(|(id, _)| running.iter().any(|pending| pending.call.id == *id));
    for pending in running {
        if !state.timing.sub_agent_starts.iter().any(|(id, _)| *id == pending.call.id) {
            state.timing.sub_agent_starts.push((pending.call.id.clone(), state.timing.now));
        }
    }
}

/// Updates the open prompt and the window title to the agent's state. Notifies the user of a new prompt if the terminal
/// does not have the focus.
pub fn sync_prompt_and_title(state: &mut State) {
    // `None` if no prompt is open; `Some(None)` for a prompt that belongs to no call, such as the trust prompt.
    let previous_call = state.prompts.current.as_ref().map(|prompt| prompt.call().cloned());
    state.sync_prompt();
    let title_mark = match &state.prompts.current {
        Some(_) => "? ",
        None if !state.agent.is_idle() => "… ",
        None => "",
    };
    let session_title = state.agent.session.title().unwrap_or("aye");
    let title = format!("{title_mark}{}", result_origin::mark_dry_run(session_title, state.agent.is_dry_run()));
    if title != state.viewport.window_title {
        state.viewport.window_title.clone_from(&title);
        state.push_effect(Effect::SetTitle(title));
    }
    if let Some(prompt) = &state.prompts.current
        && Some(prompt.call()) != previous_call.as_ref().map(Option::as_ref)
        && !state.viewport.has_focus
        && state.settings.has_bell
    {
        let sub_agent = prompt.call().and_then(|call| state.agent.session.sub_agent_name(call));
        let sub_agent = sub_agent.map(|name| format!(" · {}", origin_line(name))).unwrap_or_default();
        state.push_effect(Effect::Notify(format!("{}{sub_agent}", prompt.notification())));
    }
}

/// Returns the text of the model's last reply that is not blank.
pub fn last_reply(state: &State) -> Option<&str> {
    state.agent.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Replied { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}
