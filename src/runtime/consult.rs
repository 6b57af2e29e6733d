//! Reviews of calls by hooks and the model reviewer. Any failure asks the user.

use super::{Means, OtherModel, second_reader};
use crate::agent::{Brief, Event};
use crate::chat::{Adviser, Plan, Said, ToolCall, TurnId, once};
use crate::project::hook::Hook;
use crate::tools::crash::contain_async;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Instant;

/// Version of the input of hooks. Fields may be added and are never renamed.
const VERSION: u32 = 1;

/// The reviewers of this session.
#[derive(Clone, Default)]
pub struct Consultants {
    /// Id of the session.
    pub session: String,
    /// The hooks, by their name in the settings.
    pub hooks: HashMap<String, Hook>,
    /// The model reviewer.
    pub reader: Option<OtherModel>,
}

/// Asks the reviewer that the brief names.
pub(super) async fn consult(
    means: Means,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    round: u64,
    brief: Box<Brief>,
) {
    let started = Instant::now();
    let said = contain_async(ask(&means, &call, &plan, &brief)).await;
    let mut said =
        said.unwrap_or_else(|| Said::failed("internal error while asking it; this is a bug in aye"));
    said.took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    means.tell(Event::Consulted { turn, call: call.id, round, said }).await;
}

async fn ask(means: &Means, call: &ToolCall, plan: &Plan, brief: &Brief) -> Said {
    match &brief.adviser {
        Adviser::Hook(name) => {
            let Some(hook) = means.consultants.hooks.get(name) else {
                return Said::failed("it is no longer in the settings");
            };
            match hook.ask(&question(means, call, plan, brief)).await {
                Ok(answer) => Said::of(&brief.adviser, &answer),
                Err(what) => Said::failed(&what),
            }
        }
        Adviser::SecondReader => match &means.consultants.reader {
            Some(reader) => second_reader::ask(means, reader, call, plan, brief).await,
            None => Said::failed("it is no longer in the settings"),
        },
    }
}

/// Returns the input of a hook: one line of JSON.
fn question(means: &Means, call: &ToolCall, plan: &Plan, brief: &Brief) -> String {
    // The tool may have accepted invalid JSON by its own rules; then the text is passed on.
    let arguments = match once::read(&call.arguments) {
        Ok((arguments, None)) => arguments,
        Ok((_, Some(_))) | Err(_) => Value::String(call.arguments.clone()),
    };
    let question = json!({
        "version": VERSION,
        "session": means.consultants.session,
        "project": means.project.root().to_string_lossy(),
        "mode": brief.mode,
        "dry_run": brief.dry_run,
        "call": call.id.0,
        "tool": call.name,
        "arguments": arguments,
        "summary": plan.summary,
        "access": plan.access,
        "preview": plan.preview,
        "destroys": plan.destroys,
        "verdict": brief.verdict,
        "why": brief.why,
    });
    format!("{question}\n")
}
