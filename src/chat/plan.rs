//! What a call would do, told before it is done.

use super::{Access, Basis, Batch, BatchWork, CommandLine, Diff, Edit, Grant, Questions, Rejected};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool wants once it has looked.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// The person's answer, and nothing else.
    Ask(Questions),
    /// To do something.
    Act(Box<Plan>),
}

/// What a call would do. Made by `Tool::plan`, judged by the policy, shown to the person, and handed to
/// `Tool::act` unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The card's heading, such as `run a command?`. Composed by the program, never by the model.
    pub title: String,
    /// The call in a few words, for its one line in the transcript: a path, a command, a pattern.
    pub summary: String,
    /// The policy reads it, and nothing else.
    pub access: Access,
    /// The person sees it.
    pub preview: Preview,
    /// What "always" would cover; `None` where nothing lasting may be granted.
    pub always: Option<Grant>,
    /// What is destroyed, where something is: such a plan needs a capital `Y`.
    pub destroys: Option<String>,
    /// What it was made from, compared again before it is done.
    pub basis: Basis,
    /// What `act` needs to do exactly this. Never logged.
    pub work: Work,
}

/// What the person is shown of a plan. All of it is shown before yes is armed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", content = "what", rename_all = "snake_case")]
pub enum Preview {
    /// Plain words.
    Text(String),
    /// A command line.
    Command(CommandLine),
    /// A change to one file.
    Edit(Diff),
    /// Changes of a dry run, each of which can be rejected.
    Batch(Batch),
}

/// What a sub-agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What the sub-agent goes by: a few letters on one line, harmless to any terminal.
    pub name: String,
    /// The whole task; the sub-agent knows nothing else of the talk.
    pub words: String,
}

/// What a plan does when it is done. A closed set: a tool that needs another kind adds it here.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Change one file, if it still is as it was.
    Edit(Edit),
    /// Run a command.
    Command(CommandLine),
    /// Hand a task to a sub-agent, whose calls are judged one by one.
    Task(Task),
    /// The tool's own arguments, checked against its schema.
    Arguments(Value),
    /// Apply changes of a dry run.
    Batch(BatchWork),
}

impl Plan {
    /// Leaves out what the user rejected; whether this is a plan of which parts can be rejected.
    #[must_use]
    pub fn reject(&mut self, rejected: &[Rejected]) -> bool {
        let Work::Batch(work) = &mut self.work else { return false };
        work.rejected = rejected.to_vec();
        true
    }
}
