//! A demo script after it was checked.

use crate::chat::{Access, Outcome, Plan, Preview, Work};
use crate::policy::Mode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A demo script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// Name of the file without its ending, of letters, digits, `-` and `_`. The ids of its calls begin with it.
    pub name: String,
    /// Title of a recording.
    pub title: Option<String>,
    /// Name of the model as the screen shows it.
    pub model: String,
    /// Columns and rows of the screen; `None` for those of the player.
    pub size: Option<(u16, u16)>,
    pub theme: Option<String>,
    /// True if the keys that are pressed are shown.
    pub shows_keys: bool,
    pub mode: Mode,
    pub is_dry_run: bool,
    /// Name of the project's folder, as the header shows it.
    pub folder: String,
    /// Files of the project: a relative path without `..`, and the content.
    pub files: Vec<(String, String)>,
    pub pace: Pace,
    /// Text before a reply that follows a message which the script does not expect.
    pub interrupted: Option<String>,
    pub steps: Vec<Step>,
}

/// Speeds and pauses that hold unless a step has its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Characters of a reply per second.
    pub reply: u32,
    /// Characters that the user types per second.
    pub typing: u32,
    /// Pause before each step of the user.
    pub pause: Duration,
    /// Time from a request to the first character of its reply.
    pub delay: Duration,
    /// Run time of a call.
    pub call: Duration,
    /// Time for which the last frame stays.
    pub end: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            reply: 150,
            typing: 16,
            pause: Duration::from_millis(1_000),
            delay: Duration::from_millis(600),
            call: Duration::from_millis(300),
            end: Duration::from_secs(2),
        }
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Line of the file at which it begins, from 1.
    pub line: usize,
    pub action: Action,
}

/// What happens in a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// The model replies.
    Reply(Box<Reply>),
    /// The user does something.
    User(UserStep),
}

/// What the user does.
#[derive(Debug, Clone, PartialEq)]
pub struct UserStep {
    pub act: UserAct,
    /// Pause before it.
    pub pause: Duration,
    /// True if it does not wait until the program needs the user: it follows the step before it by its pause.
    pub is_early: bool,
}

/// An act of the user, or of the demo itself (mark, resize).
#[derive(Debug, Clone, PartialEq)]
pub enum UserAct {
    /// Types this text, at this number of characters per second.
    Type(String, u32),
    /// Presses these keys one after the other, in the notation of the settings.
    Press(Vec<String>),
    /// Pastes this text.
    Paste(String),
    /// Nothing: only the pause.
    Pause,
    /// Waits until the screen shows this text.
    WaitFor(String),
    /// Waits until the screen no longer shows this text.
    WaitGone(String),
    /// Marks a chapter of the recording.
    Mark(String),
    /// The window gets these columns and rows.
    Resize(u16, u16),
}

/// A reply of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Conditions that must all hold, else the reply is left out.
    pub conditions: Vec<Condition>,
    pub reasoning: String,
    /// Parts of the text; those whose conditions do not hold are left out.
    pub text: Vec<TextPart>,
    pub calls: Vec<ScriptedCall>,
    /// True if it is used again and again after the others, in turn with its neighbours.
    pub repeats: bool,
    /// Characters per second.
    pub speed: u32,
    /// Time before the first character.
    pub delay: Duration,
    /// The reply ends with this error of the provider.
    pub error: Option<String>,
}

/// A part of a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextPart {
    pub conditions: Vec<Condition>,
    /// May contain placeholders, such as `{{edit.first_line}}`.
    pub text: String,
}

/// A call of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    /// Its id in the script.
    pub id: String,
    pub tool: String,
    /// A JSON object.
    pub arguments: Value,
    /// Outcome that replaces running it.
    pub outcome: Option<Outcome>,
    /// What its prompt shows, in place of the plan of its tool.
    pub plan: Option<Box<ScriptedPlan>>,
    /// True if it may fail.
    pub may_fail: bool,
    /// Run time in the demo.
    pub duration: Duration,
}

/// What the prompt of a call shows, as a session recorded it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScriptedPlan {
    pub title: String,
    pub summary: String,
    pub access: Access,
    pub preview: Preview,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroys: Option<String>,
}

impl ScriptedPlan {
    /// Returns the plan. Nothing can run it.
    pub fn to_plan(&self) -> Plan {
        let (summary, access, preview) = (self.summary.clone(), self.access.clone(), self.preview.clone());
        let plan = Plan::new(&self.title, summary, access, preview, Work::Arguments(Value::Null));
        Plan { destroys: self.destroys.clone(), ..plan }
    }
}

/// A condition on the conversation so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The session is a dry run, or is none.
    DryRun(bool),
    /// This call has one of these results.
    Result(String, Vec<ResultKind>),
    /// The question of this call was answered by one of these options.
    Answer(String, Vec<String>),
    /// The question of this call was answered in the user's own words (`true`) or not at all (`false`).
    OwnWords(String, bool),
    /// The answer of this call has a note.
    HasNote(String),
}

/// Kind of a call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    Denied,
    Rehearsed,
    Stopped,
    /// The call ran, successfully or not.
    Ran,
}

/// Why a script cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScriptError {
    /// Line, from 1.
    pub line: usize,
    /// One sentence without a full stop.
    pub message: String,
}

impl Script {
    /// Returns the replies with their indices among the steps.
    pub fn replies(&self) -> impl DoubleEndedIterator<Item = (usize, &Reply)> {
        self.steps.iter().enumerate().filter_map(|(index, step)| match &step.action {
            Action::Reply(reply) => Some((index, &**reply)),
            Action::User(_) => None,
        })
    }

    /// Returns the id that a call of the script has in a session. A session may extend it.
    pub fn call_id(&self, id: &str) -> String {
        format!("{}_{id}", self.name)
    }

    /// Returns the call with this id in a session.
    pub fn find_call(&self, session_id: &str) -> Option<&ScriptedCall> {
        let mut calls = self.replies().flat_map(|(_, reply)| &reply.calls);
        calls.find(|call| is_extended_id(session_id, &self.call_id(&call.id)))
    }
}

/// Returns whether an id of a session is this one, perhaps extended to make it unique.
pub(super) fn is_extended_id(session_id: &str, id: &str) -> bool {
    session_id.strip_prefix(id).is_some_and(|end| !end.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}
