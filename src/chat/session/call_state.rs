//! State of one call of a session.

use crate::chat::todo_list::{TODO_WRITE, TodoList};
use crate::chat::{Access, CallId, Preview, Questions, ToolCall, TrialCounts};
use crate::text::hidden_chars::escape_hidden;
use serde_json::Value;

/// A trial of a call as it was logged.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedTrial {
    pub changes: TrialCounts,
    /// The first changes as displayed; empty in sessions of versions that did not record them.
    pub paths: Vec<String>,
}

/// State of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallState {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The last plan, if the call was planned.
    pub plan: Option<LoggedPlan>,
    /// Its questions, if it asks the user.
    pub questions: Option<Questions>,
    /// Arguments by which the user replaced the model's.
    pub edited_arguments: Option<Value>,
    /// True if the user or the policy allowed it to start.
    pub is_started: bool,
    /// Its last trial, if the present plan was tried.
    pub trial: Option<LoggedTrial>,
    /// True if the changes of that trial were kept instead of running the call.
    pub is_kept: bool,
    /// Index of the entry that settled it.
    pub settled_at: Option<usize>,
    /// Index of the entry with the user's decision.
    pub decided_at: Option<usize>,
    /// The call that started the sub-agent which made this call; `None` if the turn itself made it.
    pub parent_call: Option<CallId>,
}

/// Parts of a plan that the log keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedPlan {
    /// Title of the approval prompt.
    pub title: String,
    /// Short description of the call.
    pub summary: String,
    pub access: Access,
    /// The preview that was shown.
    pub preview: Preview,
    /// Name of the verdict.
    pub verdict: String,
    /// True if the user would be asked about it live.
    pub asks_live: bool,
    /// Hooks that match the call but were not run, because this is a dry run.
    pub hooks_not_run: Vec<String>,
}

impl CallState {
    /// Returns whether the call is a command, whose output was written for a terminal.
    pub fn is_command(&self) -> bool {
        matches!(self.plan.as_ref().map(|plan| &plan.preview), Some(Preview::Command(_)))
    }

    /// Returns the todo list that the call wrote, if it wrote one.
    pub(super) fn written_todos(&self) -> Option<TodoList> {
        if self.call.name != TODO_WRITE {
            return None;
        }
        let arguments = self.edited_arguments.clone().or_else(|| serde_json::from_str(&self.call.arguments).ok())?;
        TodoList::from_arguments(&arguments)
    }

    /// Returns the notice for the model that the user changed the arguments of this call.
    pub fn edit_notice(&self) -> Option<String> {
        let arguments = self.edited_arguments.as_ref()?.to_string();
        let arguments = escape_hidden(&arguments);
        Some(format!("[The user changed the arguments of this call. It was planned with: {arguments}]\n"))
    }
}
