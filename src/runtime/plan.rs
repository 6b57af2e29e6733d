//! Planning of calls, off the async threads.

use super::{Means, basis, noting};
use crate::agent::Event;
use crate::chat::{Intent, ToolCall, TurnId};
use crate::tools::crash::contain;

/// Maximum bytes of an error for the model.
const WORDS: usize = 16 << 10;

/// Plans a call and sends the plan to the agent, or an error for the model.
pub(super) async fn plan(means: Means, turn: TurnId, call: ToolCall) {
    let id = call.id.clone();
    let (name, noted) = (call.name.clone(), call.clone());
    let looking = {
        let means = means.clone();
        tokio::task::spawn_blocking(move || {
            // Check for changed rules first: the verdict must not rest on older ones than the plan.
            let anew = contain(|| (means.anew)()).flatten();
            (anew, contain(|| look(&means, &call)).unwrap_or_else(|| Err(broken(&call.name))))
        })
    };
    let (anew, intent) = looking.await.unwrap_or_else(|_| (None, Err(broken(&name))));
    noting::planned(&means, turn, &noted, if intent.is_ok() { "planned" } else { "cannot be planned" });
    if let Some(anew) = anew {
        means.tell(anew).await;
    }
    means.tell(Event::Planned { turn, call: id, intent }).await;
}

fn look(means: &Means, call: &ToolCall) -> Result<Intent, String> {
    let mut intent =
        means.tools.plan(call, means.project.as_ref()).map_err(|error| bounded(error.to_string()))?;
    if let Intent::Act(plan) = &mut intent {
        basis::complete(means, plan);
    }
    Ok(intent)
}

/// Truncates an error, which may quote arguments of any length.
pub(super) fn bounded(mut words: String) -> String {
    if words.len() > WORDS {
        words.truncate(words.floor_char_boundary(WORDS));
        words.push('…');
    }
    words
}

/// Returns the error for the model if a tool panicked.
pub(super) fn broken(tool: &str) -> String {
    format!("Internal error in {tool}: a bug in aye, not in the call. Continue without it.")
}
