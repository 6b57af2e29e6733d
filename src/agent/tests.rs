//! Helpers for tests of the agent.

mod activity;
mod apply_turn;
mod background;
mod call_edit;
mod compaction;
mod context_window;
mod deferred_tools;
mod dry_run;
mod failed_calls;
mod folder_notes;
mod instructions;
mod invariants;
mod log_entries;
mod partial_output;
mod preapproval;
mod reviews;
mod served_turns;
mod session_title;
mod shown_plans;
mod sub_agent_orders;
mod sub_agent_permissions;
mod sub_agents;
mod trials;
mod turn_ends;
mod turn_retry;
mod turns;
mod untrusted_text;
mod user_commands;

use super::*;
use crate::chat::*;
use crate::policy::{Mode, Policy, Rule, RuleEffect, RuleLocation, RuleTarget, Rules};
use std::collections::HashMap;
use std::time::Duration;

fn idle_state() -> State {
    State::new(Policy::default(), "model".into(), "system".into(), vec![])
}

fn with_reviewers(mut state: State, reviewers: Reviewers) -> State {
    state.config.reviewers = reviewers;
    state
}

fn resume(session: Session, fresh_state: State) -> (State, Vec<Effect>) {
    resume_session(session, fresh_state, &HashMap::new())
}

fn running_turn(state: &State) -> TurnId {
    state.current_turn().expect("a turn runs")
}

fn tool_call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: format!("{{\"of\":\"{id}\"}}") }
}

fn receive_chunk(state: &mut State, chunk: Chunk) -> Vec<Effect> {
    let turn = state.current_turn().unwrap_or(TurnId(0));
    update(state, Event::ReplyChunk { turn, chunk, elapsed: Duration::from_secs(3) })
}

fn receive_reply(state: &mut State, text: &str, calls: &[(&str, &str)]) -> Vec<Effect> {
    receive_chunk(state, Chunk::Text(text.into()));
    for (id, name) in calls {
        receive_chunk(state, Chunk::Call(tool_call(id, name)));
    }
    receive_chunk(state, Chunk::Done(FinishReason::Stop))
}

fn plan_intent(access: Access) -> Intent {
    Intent::Act(Box::new(Plan {
        title: "do it?".into(),
        summary: "it".into(),
        access,
        preview: Preview::Text("it".into()),
        full_preview: None,
        grant: None,
        destroys: None,
        preconditions: Preconditions::default(),
        work: Work::Arguments(serde_json::Value::Null),
    }))
}

/// Returns a user rule for every call of a tool in every project.
fn user_rule(effect: RuleEffect, tool: &str) -> Rule {
    Rule {
        tool: Some(tool.into()),
        location: RuleLocation { file: "rules.toml".into(), line: 1 },
        ..Rule::new(effect, RuleTarget::EveryCall)
    }
}

fn read_intent() -> Intent {
    plan_intent(Access::Read(vec!["a".into()]))
}

fn write_intent() -> Intent {
    plan_intent(Access::Write("a".into()))
}

fn question_intent() -> Intent {
    let new_option = QuestionOption::new;
    Intent::Ask(Questions {
        list: vec![Question {
            keyword: "k".into(),
            text: "Which?".into(),
            options: vec![new_option("a"), new_option("b"), new_option("c")],
            is_multiple: false,
            allow_text: true,
            text_description: String::new(),
            recommended: None,
        }],
        dropped: Dropped::default(),
    })
}

fn receive_plan(state: &mut State, id: &str, intent: Intent) -> Vec<Effect> {
    let turn = running_turn(state);
    update(state, Event::CallPlanned { turn, call: id.into(), intent: Ok(intent) })
}

fn finish_call(state: &mut State, id: &str) -> Vec<Effect> {
    let turn = state.current_turn().unwrap_or(TurnId(0));
    let outcome = Outcome::Done(format!("did {id}"));
    update(
        state,
        Event::CallFinished { turn, call: id.into(), outcome, result_source: None, duration: Duration::from_millis(7) },
    )
}

fn decide_call(state: &mut State, id: &str, decision: Decision) -> Vec<Effect> {
    let by = Decider::from_key("y".into(), Duration::from_secs(1));
    update(state, Event::CallDecided { call: id.into(), decision, by })
}

/// Returns an entry as a short string.
fn describe_entry(entry: &Entry) -> String {
    match entry {
        Entry::UserMessage { text } => format!("message {text}"),
        Entry::Replied { text, calls, incomplete, .. } => {
            format!("replied {text}/{}{}", calls.len(), if incomplete.is_some() { " incomplete" } else { "" })
        }
        Entry::Planned { call, verdict, .. } => format!("{verdict} {call}"),
        Entry::Reviewed { call, verdict, .. } => format!("review {} {call}", verdict.as_str()),
        Entry::Asked { call, .. } => format!("asked {call}"),
        Entry::Decided { call, decision: Decision::Kept(_), .. } => format!("kept {call}"),
        Entry::Decided { call, .. } => format!("decided {call}"),
        Entry::Tried { call, status, .. } => format!("tried {call}: {status}"),
        Entry::Answered { call, .. } => format!("answered {call}"),
        Entry::Settled { call, outcome, .. } => match outcome {
            Outcome::Done(_) => format!("done {call}"),
            Outcome::Failed(_) => format!("failed {call}"),
            Outcome::Refused(_) => format!("refused {call}"),
            Outcome::Rehearsed(_) => format!("rehearsed {call}"),
            Outcome::Interrupted(_) => format!("interrupted {call}"),
        },
        Entry::Ended { ending } => match ending {
            Ending::Finished => "turn finished".to_owned(),
            Ending::Interrupted => "turn interrupted".to_owned(),
            Ending::Failed(_) => "turn failed".to_owned(),
        },
        Entry::Concluded(conclusion) => conclusion.describe(),
        Entry::BackgroundStarted { call, number } => format!("moved {call} to background {number}"),
        Entry::BackgroundEnded(end) => format!("background {} ended: {}", end.number, end.status),
        Entry::Titled { .. } => "titled".to_owned(),
        Entry::Revoked { description, .. } => format!("revoked {description}"),
        Entry::Compacted { upto, .. } => format!("compacted to {upto}"),
        Entry::FellBack { model, .. } => format!("fell back to {model}"),
        Entry::ToolsDeferred { tools, .. } => format!("deferred {}", tools.join(" ")),
        Entry::UnacceptedTools(unaccepted) => format!("unaccepted {}", unaccepted.tools.join(" ")),
        Entry::Sampling(step) => step.describe(),
        Entry::Switched { .. } => "switched".to_owned(),
        Entry::DryRunChanged { dry_run, .. } => if *dry_run { "dry run" } else { "live" }.to_owned(),
        Entry::UserCommand(command) => format!("ran {}: {}", command.draft_text(), command.status),
        Entry::SubAgent { call, entry } => format!("{call}: {}", describe_entry(entry)),
    }
}

/// Returns effects as short strings, so that their order is easy to read.
fn describe_effects(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::AppendEntry(entry) => describe_entry(entry),
            Effect::RequestReply { .. } => "REQUEST_REPLY".to_owned(),
            Effect::PlanCall { call, .. } => format!("PLAN {}", call.id),
            Effect::ReviewCall { call, .. } => format!("REVIEW {}", call.id),
            Effect::RunCall { call, .. } => format!("RUN {}", call.id),
            Effect::RehearseCall { call, .. } => format!("REHEARSE {}", call.id),
            Effect::RunUserCommand { command, .. } => format!("RUN_USER_COMMAND {command}"),
            Effect::CheckTrialSupport { call } => format!("CHECK_TRIALS {}", call.as_ref().expect("a call waits")),
            Effect::TryCall { call, number, .. } => format!("TRY {} {number}", call.id),
            Effect::KeepTrial { call, number, .. } => format!("KEEP {} {number}", call.id),
            Effect::DropTrial { call } => format!("DROP {call}"),
            Effect::RequestTitle { .. } => "REQUEST_TITLE".to_owned(),
            // The second field of a `TextPart` is the text; the first is the offset where it begins.
            Effect::SavePartialReply(reply) => format!("SAVE {}", reply.text.1),
            Effect::SaveOutput(output) => format!("SAVE {}", output.text),
            Effect::DetachCall { call, number, .. } => format!("DETACH {call} {number}"),
            Effect::StopBackground { number } => format!("STOP {number}"),
            Effect::SwitchProfile { profile, model } => format!("SWITCH {profile} {model}"),
            Effect::RetryNow => "RETRY".to_owned(),
            Effect::CancelTurn { .. } => "CANCEL".to_owned(),
        })
        .collect()
}

fn send_user_message(state: &mut State, text: &str) -> Vec<Effect> {
    update(state, Event::UserMessage(text.into()))
}
