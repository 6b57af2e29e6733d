//! Plans of calls.

use super::{
    Access, Batch, BatchWork, CommandLine, Diff, Edit, Grant, Preconditions, Questions, ReferencedFile, Rejected,
    TurnEnd,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Result of planning a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// It only asks the user questions.
    Ask(Questions),
    /// It wants to do something.
    Act(Box<Plan>),
}

/// All that a call would do. Made by `Tool::plan_call`, judged by the policy, shown to the user, and passed unchanged to
/// `Tool::run`.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Title of the approval prompt, such as `Run a command?`. Written by the program, never by the model.
    pub title: String,
    /// Short description for the call's line in the transcript: a path, a command, a pattern.
    pub summary: String,
    /// Access of the call. The policy judges it together with `preview`, `destroys` and `preconditions`.
    pub access: Access,
    pub preview: Preview,
    /// The preview with all content of the references in the arguments, for reviewers, if `preview` has excerpts. Never
    /// logged.
    pub full_preview: Option<Box<Preview>>,
    /// The grant that “always” would give; `None` if no lasting approval is possible.
    pub grant: Option<Grant>,
    /// Things it destroys, if any; such a plan is approved with a capital `Y`.
    pub destroys: Option<String>,
    /// Preconditions, compared again before it runs.
    pub preconditions: Preconditions,
    /// Data with which `Tool::run` does exactly this. Never logged.
    pub work: Work,
}

/// Preview of a plan. All of it must be seen before the user can approve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", content = "what", rename_all = "snake_case")]
pub enum Preview {
    /// Plain text.
    Text(String),
    Command(CommandLine),
    /// Diff of one file.
    Edit(Diff),
    /// Changes of a dry run that can be rejected one by one.
    Batch(Batch),
}

/// Task of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Short name of the sub-agent: one line without control characters.
    pub name: String,
    /// The whole task; the sub-agent knows nothing else of the conversation.
    pub instructions: String,
}

/// Kinds of work. A tool that needs another kind adds it here.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Change one file, if its content is still the same.
    Edit(Edit),
    /// Run a command.
    Command(CommandLine),
    /// Start a sub-agent, whose calls are judged one by one.
    Task(Task),
    /// Arguments of the tool, checked against its schema.
    Arguments(Value),
    /// Arguments of a tool that waits for the user, however long that takes.
    UserInput(Value),
    /// Apply changes of a dry run.
    Batch(BatchWork),
    /// End the turn, without another request to the model.
    EndTurn(TurnEnd),
}

impl Plan {
    /// Creates a plan that destroys nothing, depends on no file and cannot be granted.
    pub fn new(title: &str, summary: String, access: Access, preview: Preview, work: Work) -> Self {
        Self {
            title: title.to_owned(),
            summary,
            access,
            preview,
            full_preview: None,
            grant: None,
            destroys: None,
            preconditions: Preconditions::default(),
            work,
        }
    }

    /// Returns the preview for reviewers: without excerpts.
    pub fn preview_for_reviewers(&self) -> &Preview {
        self.full_preview.as_deref().unwrap_or(&self.preview)
    }

    /// Returns the files whose content the preview for reviewers has.
    pub fn references_for_reviewers(&self) -> Vec<ReferencedFile> {
        let references = self.preconditions.references.iter().cloned();
        references.map(|file| ReferencedFile { is_excerpt: false, ..file }).collect()
    }

    /// Returns the changes that can be rejected one by one; `None` if the plan is no batch.
    pub fn batch(&self) -> Option<&Batch> {
        match &self.preview {
            Preview::Batch(batch) => Some(batch),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => None,
        }
    }

    /// Excludes the parts that the user rejected. Returns false if parts of this plan cannot be rejected.
    #[must_use]
    pub fn set_rejected(&mut self, rejected: &[Rejected]) -> bool {
        let Work::Batch(work) = &mut self.work else { return false };
        work.rejected = rejected.to_vec();
        true
    }
}
