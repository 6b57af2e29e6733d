//! Parts of the state of a pending call: an edit that is being planned, and an approval before its turn.

use crate::chat::{Access, Decider, Plan, ToolCall};
use serde_json::Value;

/// An edit that is being planned, with the call, plan and reason as they were before the edit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingEdit {
    pub(super) call: ToolCall,
    pub(super) plan: Box<Plan>,
    pub(super) reason: String,
    /// New arguments.
    pub(super) arguments: Value,
    pub(super) by: Decider,
}

/// State of a call before its turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preapproval {
    /// True while its tool plans for the queue view.
    pub(super) is_planning: bool,
    /// True if the plan in progress is for outdated arguments and must be ignored.
    pub(super) is_stale: bool,
    /// Result of the last plan for the queue view.
    pub preview: Option<QueuePreview>,
    /// The plan that the user approved before the call's turn.
    pub(super) approved_plan: Option<Box<Plan>>,
    /// True if the user is asked a second time; adds a note to the reason.
    pub(super) ask_again: bool,
}

/// Preview of a call in the queue. The plan may differ when the call's turn comes.
#[derive(Debug, Clone, PartialEq)]
pub enum QueuePreview {
    /// The call would do something.
    Plan {
        /// Short description.
        summary: String,
        access: Access,
        /// Description of what is destroyed, if anything.
        destruction: Option<String>,
        /// True if the call would need approval now.
        needs_approval: bool,
    },
    /// The call asks the user this question.
    Question(String),
    /// The call cannot be planned now; error for the model.
    Error(String),
}

impl Preapproval {
    /// Returns whether the user has approved the call.
    pub fn is_approved(&self) -> bool {
        self.approved_plan.is_some()
    }

    pub fn approved_plan(&self) -> Option<&Plan> {
        self.approved_plan.as_deref()
    }
}
