//! Looks for the instructions of a folder after a call has read a file in it.

use super::EffectContext;
use crate::agent::Event;
use crate::chat::folder_instructions::READING_TOOL;
use crate::chat::{Access, Plan, ToolCall, TurnId};
use crate::tools::panic_guard::catch_panic;

/// Sends the instructions of the folders between the project and the file that the call has read, if there are any.
pub(super) async fn send_folder_instructions(context: &EffectContext, turn: TurnId, call: &ToolCall, plan: &Plan) {
    let Access::Read(paths) = &plan.access else { return };
    let Some(path) = paths.first().filter(|_| call.name == READING_TOOL).cloned() else { return };
    let lookup = context.folder_lookup.clone();
    let found = tokio::task::spawn_blocking(move || catch_panic(|| lookup(&path)).unwrap_or_default()).await;
    if let Some(found) = found.ok().filter(|found| !found.folders.is_empty()) {
        context.send_event(Event::FolderInstructionsFound { turn, call: call.id.clone(), found }).await;
    }
}
