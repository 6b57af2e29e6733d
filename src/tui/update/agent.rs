//! Effects of agent events on the screen.

use crate::agent;
use crate::chat::{Chunk, Entry, staged};
use crate::tui::effect::Effect;
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::sub_agent::asked_by;
use crate::tui::prompt::Card;
use crate::tui::state::State;

/// Passes an event to the agent and updates the screen for it.
pub fn happened(state: &mut State, event: agent::Event) -> Vec<Effect> {
    let before = doing(state);
    if let agent::Event::RulesRead { notices, .. } = &event {
        for notice in notices {
            state.notice(notice, Kind::Warning);
        }
    }
    if let agent::Event::Chunk { turn, chunk: Chunk::Answering { model, instead: None }, .. } = &event
        && state.agent.turn() == Some(*turn)
    {
        // No model was named in the settings: the head shows the one that answered.
        state.connection.model.clone_from(model);
    }
    if let agent::Event::Chunk { turn, chunk, .. } = &event
        && state.agent.turn() == Some(*turn)
    {
        state.pace.takes(chunk, state.now);
    }
    let replied = matches!(state.agent.phase, agent::Phase::Thinking(_));
    let effects = agent::update(&mut state.agent, event);
    if replied && !matches!(state.agent.phase, agent::Phase::Thinking(_)) {
        state.pace.ends(state.now);
    }
    state.pace.begins(&effects, state.now);
    if doing(state) != before {
        state.since = state.now;
    }
    time_sub_agents(state);
    if effects.is_empty() { Vec::new() } else { vec![Effect::Agent(effects)] }
}

/// Sends the failed request again now.
pub fn ask_again(state: &mut State) -> Vec<Effect> {
    if !state.can_ask_again() {
        return Vec::new();
    }
    if !state.agent.is_idle() {
        return happened(state, agent::Event::Hurried);
    }
    state.transcript.follow();
    happened(state, agent::Event::AskedAgain)
}

/// Returns the values whose change restarts the clock on the screen. Work of sub-agents does not restart it.
fn doing(state: &State) -> (Option<crate::chat::TurnId>, usize, usize) {
    let steps = state.agent.pending();
    let settled = steps.iter().filter(|pending| pending.step == agent::Step::Settled).count();
    (state.agent.turn(), state.agent.session.own(), settled)
}

/// Starts a clock for each sub-agent that begins and drops those that ended.
fn time_sub_agents(state: &mut State) {
    let at_work = |pending: &agent::Pending| pending.sub_agent().is_some_and(agent::SubAgent::has_begun);
    let begun: Vec<_> = state.agent.pending().iter().filter(|pending| at_work(pending)).collect();
    state.begun.retain(|(id, _)| begun.iter().any(|pending| pending.call.id == *id));
    for pending in begun {
        if !state.begun.iter().any(|(id, _)| *id == pending.call.id) {
            state.begun.push((pending.call.id.clone(), state.now));
        }
    }
}

/// Derives the open prompt and the window title from the agent's state after any update.
pub fn settle(state: &mut State) -> Vec<Effect> {
    let waited = state.prompt.as_ref().map(|prompt| prompt.call().cloned());
    state.sync_prompt();
    let mut effects = Vec::new();
    let mark = match &state.prompt {
        Some(_) => "? ",
        None if !state.agent.is_idle() => "… ",
        None => "",
    };
    let name = state.agent.session.title().unwrap_or("aye");
    let title = format!("{mark}{}", staged::titled(name, state.agent.is_dry_run()));
    if title != state.titled {
        state.titled.clone_from(&title);
        effects.push(Effect::Title(title));
    }
    if let Some(prompt) = &state.prompt
        && Some(prompt.call()) != waited.as_ref().map(Option::as_ref)
        && !state.front
        && state.settings.bell
    {
        let words = match prompt.card {
            Card::Approval(_) => "aye is waiting for your approval",
            Card::Question(_) => "aye has a question",
            Card::Trust(_) => "aye asks whether you trust this project",
        };
        let by = prompt.call().and_then(|call| state.agent.session.sub_agent(call));
        let by = by.map(|name| format!(" · {}", asked_by(name))).unwrap_or_default();
        effects.push(Effect::Alert(format!("{words}{by}")));
    }
    effects
}

/// Returns the text of the model's last reply that is not blank.
pub fn last_reply(state: &State) -> Option<&str> {
    state.agent.session.entries().iter().rev().find_map(|entry| {
        if let Entry::Replied { text, .. } = entry
            && !text.trim().is_empty()
        {
            Some(text.as_str())
        } else {
            None
        }
    })
}
