//! Lets a tool look, off the async threads.

use super::{Means, basis, noting};
use crate::agent::Event;
use crate::chat::{Intent, ToolCall, TurnId};
use crate::tools::crash::contain;

/// Bytes of an error's words to the model.
const WORDS: usize = 16 << 10;

/// Tells what a call would do, or words for the model about what is wrong with it.
pub(super) async fn plan(means: Means, turn: TurnId, call: ToolCall) {
    let id = call.id.clone();
    let (name, noted) = (call.name.clone(), call.clone());
    let looking = {
        let means = means.clone();
        tokio::task::spawn_blocking(move || {
            // What is judged by must not be older than what is judged.
            let anew = contain(|| (means.anew)()).flatten();
            (anew, contain(|| look(&means, &call)).unwrap_or_else(|| Err(broken(&call.name))))
        })
    };
    let (anew, intent) = looking.await.unwrap_or_else(|_| (None, Err(broken(&name))));
    noting::planned(&means, turn, &noted, if intent.is_ok() { "looked at" } else { "cannot be" });
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

/// An error quotes what was asked for, which may be of any length.
pub(super) fn bounded(mut words: String) -> String {
    if words.len() > WORDS {
        words.truncate(words.floor_char_boundary(WORDS));
        words.push('…');
    }
    words
}

/// What the model is told of a tool that broke down.
pub(super) fn broken(tool: &str) -> String {
    format!("{tool} broke down; this is a bug in the program, not in the call. Do without it.")
}
