//! Verbs of the answers to an approval prompt.

use crate::chat::{RESTORE_FILES, ToolCall};

/// Verb of the key that runs a call of a model.
pub(super) const APPROVE: &str = "approve";

/// Returns whether the call is an undo of the user: nothing asks for approval, and no model receives a message.
pub(super) fn is_restoration(call: &ToolCall) -> bool {
    call.name == RESTORE_FILES
}

/// Returns the verb of the key that runs the call.
pub(super) fn approval_verb(call: &ToolCall) -> &'static str {
    if is_restoration(call) { "restore" } else { APPROVE }
}

/// Returns the verb of the key that does not run the call.
pub(super) fn denial_verb(call: &ToolCall) -> &'static str {
    if is_restoration(call) { "cancel" } else { "deny" }
}
