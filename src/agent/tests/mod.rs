//! Helpers for tests of the agent.

mod again;
mod ahead;
mod beneath;
mod busy;
mod compacting;
mod consulting;
mod dry_run;
mod editing;
mod growing;
mod handed_down;
mod instructed;
mod laws;
mod naming;
mod offered;
mod record;
mod shown;
mod sub_agents;
mod turns;
mod window;

use super::*;
use crate::chat::*;
use crate::policy::{About, At, Holds as RuleHolds, Mode, Policy, Rule, Rules, Says};
use std::time::Duration;

fn idle() -> State {
    State::new(Policy::default(), "model".into(), "words".into(), vec![])
}

fn turn(state: &State) -> TurnId {
    state.turn().expect("a turn runs")
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: format!("{{\"of\":\"{id}\"}}") }
}

fn chunk(state: &mut State, chunk: Chunk) -> Vec<Effect> {
    let turn = state.turn().unwrap_or(TurnId(0));
    update(state, Event::Chunk { turn, chunk, after: Duration::from_secs(3) })
}

fn replies(state: &mut State, text: &str, calls: &[(&str, &str)]) -> Vec<Effect> {
    chunk(state, Chunk::Text(text.into()));
    for (id, name) in calls {
        chunk(state, Chunk::Call(call(id, name)));
    }
    chunk(state, Chunk::Done(Finish::Stop))
}

fn plan(access: Access) -> Intent {
    Intent::Act(Box::new(Plan {
        title: "do it?".into(),
        summary: "it".into(),
        access,
        preview: Preview::Text("it".into()),
        always: None,
        destroys: None,
        basis: Basis::default(),
        work: Work::Arguments(serde_json::Value::Null),
    }))
}

/// Returns a user rule for every call of a tool in every project.
fn rule(says: Says, tool: &str) -> Rule {
    Rule {
        says,
        tool: Some(tool.into()),
        about: About::Anything,
        holds: RuleHolds::Everywhere,
        created: String::new(),
        expires: String::new(),
        scripts: Vec::new(),
        key: String::new(),
        at: At { file: "rules.toml".into(), line: 1 },
    }
}

fn read() -> Intent {
    plan(Access::Read(vec!["a".into()]))
}

fn write() -> Intent {
    plan(Access::Write("a".into()))
}

fn question() -> Intent {
    let choice = Choice::new;
    Intent::Ask(Questions {
        list: vec![Question {
            keyword: "k".into(),
            text: "Which?".into(),
            options: vec![choice("a"), choice("b"), choice("c")],
            multi: false,
            allow_text: true,
            recommended: None,
        }],
        dropped: Dropped::default(),
    })
}

fn planned(state: &mut State, id: &str, intent: Intent) -> Vec<Effect> {
    let turn = turn(state);
    update(state, Event::Planned { turn, call: id.into(), intent: Ok(intent) })
}

fn finished(state: &mut State, id: &str) -> Vec<Effect> {
    let turn = state.turn().unwrap_or(TurnId(0));
    let outcome = Outcome::Done(format!("did {id}"));
    update(
        state,
        Event::Finished { turn, call: id.into(), outcome, staged: None, took: Duration::from_millis(7) },
    )
}

fn decided(state: &mut State, id: &str, decision: Decision) -> Vec<Effect> {
    let by = By::with("y".into(), Duration::from_secs(1));
    update(state, Event::Decided { call: id.into(), decision, by })
}

/// Returns an entry as a short string.
fn fact(entry: &Entry) -> String {
    match entry {
        Entry::Said { text } => format!("said {text}"),
        Entry::Replied { text, calls, incomplete, .. } => {
            format!("replied {text}/{}{}", calls.len(), if incomplete.is_some() { " cut" } else { "" })
        }
        Entry::Planned { call, verdict, .. } => format!("{verdict} {call}"),
        Entry::Consulted { call, advice, .. } => format!("{} says {call}", advice.word()),
        Entry::Asked { call, .. } => format!("asked {call}"),
        Entry::Decided { call, .. } => format!("decided {call}"),
        Entry::Answered { call, .. } => format!("answered {call}"),
        Entry::Settled { call, outcome, .. } => match outcome {
            Outcome::Done(_) => format!("done {call}"),
            Outcome::Failed(_) => format!("failed {call}"),
            Outcome::Refused(_) => format!("refused {call}"),
            Outcome::Rehearsed(_) => format!("rehearsed {call}"),
            Outcome::Interrupted(_) => format!("interrupted {call}"),
        },
        Entry::Ended { ending } => match ending {
            Ending::Finished => "ended".to_owned(),
            Ending::Interrupted => "ended by the person".to_owned(),
            Ending::Failed(_) => "ended badly".to_owned(),
        },
        Entry::Titled { .. } => "titled".to_owned(),
        Entry::TakenBack { what, .. } => format!("took back {what}"),
        Entry::Compacted { upto, .. } => format!("compacted to {upto}"),
        Entry::FellBack { model, .. } => format!("fell back to {model}"),
        Entry::Switched { .. } => "switched".to_owned(),
        Entry::Became { dry_run, .. } => if *dry_run { "dry" } else { "real" }.to_owned(),
        Entry::Beneath { call, entry } => format!("{call}: {}", fact(entry)),
    }
}

/// Returns effects as short strings, so that their order is easy to read.
fn shape(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::Append(entry) => fact(entry),
            Effect::Stream { .. } => "STREAM".to_owned(),
            Effect::Plan { call, .. } => format!("PLAN {}", call.id),
            Effect::Consult { call, .. } => format!("CONSULT {}", call.id),
            Effect::Act { call, .. } => format!("ACT {}", call.id),
            Effect::Rehearse { call, .. } => format!("REHEARSE {}", call.id),
            Effect::Name { .. } => "NAME".to_owned(),
            Effect::KeepGrown(grown) => format!("KEEP {}", grown.text.1),
            Effect::KeepPrinted(printed) => format!("KEEP {}", printed.text),
            Effect::Hurry => "HURRY".to_owned(),
            Effect::Cancel { .. } => "CANCEL".to_owned(),
        })
        .collect()
}

fn said(state: &mut State, text: &str) -> Vec<Effect> {
    update(state, Event::Said(text.into()))
}
