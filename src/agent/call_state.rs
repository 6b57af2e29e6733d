//! Parts of the state of a pending call: an edit that is being planned, an approval before its turn, and a trial.

use crate::chat::{Access, CallId, Decider, Plan, ToolCall, TrialReport};
use serde_json::Value;
use std::sync::Arc;

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

/// Trial of a call that waits for approval.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Trial {
    /// The call was not tried, or its trial was stopped.
    #[default]
    None,
    /// The command runs.
    Running {
        /// Number of the trial in this session.
        number: u64,
        /// Latest output of the command, bounded.
        output: String,
    },
    /// The command ended, and its effects can be kept.
    Finished { number: u64, report: Box<TrialReport> },
    /// It could not be tried, for this reason.
    Failed(String),
}

impl Trial {
    /// Returns the result of the trial, once there is one.
    pub fn report(&self) -> Option<&TrialReport> {
        if let Self::Finished { report, .. } = self { Some(report) } else { None }
    }

    pub fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Returns the number of a trial that the runtime knows.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Running { number, .. } | Self::Finished { number, .. } => Some(*number),
            Self::None | Self::Failed(_) => None,
        }
    }
}

/// Whether commands can be tried on this machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum TrialSupport {
    /// Not known: no command has waited for approval yet.
    #[default]
    Unknown,
    /// It is being found out.
    Requested,
    Available,
    Unavailable {
        /// Part of a sentence.
        reason: Arc<str>,
        /// The call whose prompt explains it.
        call: CallId,
    },
}
