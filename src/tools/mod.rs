//! The tools that the model can call, one file each.

pub mod apply_change;
pub mod apply_group;
pub mod arguments;
pub mod ask_question;
pub mod bash_exec;
mod brief;
mod change;
pub mod crash;
mod destroys;
pub mod edit_file;
mod far;
pub mod list_files;
#[cfg(test)]
pub(crate) mod memory;
mod nearest;
mod overlay_command;
mod place;
mod reach;
pub mod read_file;
pub mod read_only;
pub mod results;
mod sample;
pub mod schema;
mod scripts;
pub mod search_text;
mod silent;
pub mod sub_agent;
#[cfg(test)]
mod tests;
pub mod toolbox;
mod walled;

pub mod write_file;

pub use crate::policy::LeftOut;
pub use results::Results;
pub use scripts::named;
pub use toolbox::{Settings, Toolbox};

use crate::chat::{Access, Intent, Plan, ToolSpec, Work};
use crate::project::output::Shown;
use crate::project::stage::Commands;
use crate::project::{Reader, Writer};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// A tool that the model can call.
///
/// A call has two steps: `plan` describes it and can only read; `act` does exactly what was planned and approved.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the name, description and parameters for the model.
    fn spec(&self) -> ToolSpec;
    /// Returns whether the tool starts a sub-agent. Such tools are not offered to sub-agents.
    fn hands_on(&self) -> bool {
        false
    }
    /// Returns whether the tool is offered to the model.
    fn is_offered(&self) -> bool {
        true
    }
    /// Describes what the call would do. It can only read. Runs on a thread that may block.
    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error>;
    /// Does what was planned and approved. Tools that only ask questions keep the default.
    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        let _ = hands;
        Err(Error::Broken(format!("no action for “{}”", plan.title)))
    }
    /// Rehearses the call without reaching anything real. By default nothing runs, and the result is simulated.
    async fn rehearse(&self, plan: &Plan, stage: &Stage) -> Result<Rehearsed, Error> {
        let _ = (plan, stage);
        Ok(Rehearsed::Undone(String::new()))
    }
    /// Returns what is known about the results of the call, to simulate one.
    fn results(&self, plan: &Plan) -> Results {
        let _ = plan;
        Results::default()
    }
    /// Formats a simulated result like a live outcome.
    fn tells(&self, plan: &Plan, result: &Value) -> String {
        let _ = plan;
        results::text(result)
    }
}

/// Outcome of a rehearsed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rehearsed {
    /// The call ran in the overlay. Holds the outcome for the model, the same as live.
    Ran(String),
    /// A command ran in the overlay sandbox. Holds the outcome, and the project paths that it changed, as displayed.
    Changed(String, Vec<String>),
    /// The call did not run, and its result is simulated. Holds the reason as a sentence; may be empty.
    Undone(String),
    /// The call did not run, and no result is simulated. Holds the text for the model.
    Told(String),
}

/// Describes a call that a dry run did not run, for the model.
pub fn would_have(tool: &str, plan: &Plan) -> String {
    format!("Dry run: this call was not run: {} ({tool}).", plan.summary)
}

/// Describes a read that a dry run did not run. Does not mention the dry run if it is hidden from the model.
fn unread(stage: &Stage, tool: &str, plan: &Plan) -> String {
    if stage.untold {
        return format!("Not readable here: {} ({tool}).", plan.summary);
    }
    would_have(tool, plan)
}

/// Rehearses a call that only reads. Inside the project it runs as it would live, so that it sees rehearsed changes.
/// Files that may hold secrets, and any outside the project, are read only with an approval.
async fn reading_on_stage(
    tool: &str,
    plan: &Plan,
    stage: &Stage,
    look: impl Future<Output = Result<String, Error>> + Send,
) -> Result<Rehearsed, Error> {
    match &plan.access {
        Access::Nothing | Access::Read(_) => look.await.map(Rehearsed::Ran),
        Access::ReadSensitive(_) if stage.approved => look.await.map(Rehearsed::Ran),
        Access::ReadSensitive(_)
        | Access::Write(_)
        | Access::WriteOutside(_)
        | Access::Own(_)
        | Access::Run(_) => Ok(Rehearsed::Told(unread(stage, tool, plan))),
    }
}

/// Access to real files and commands. Created only for an approved call.
pub struct Hands {
    /// Project with write access.
    pub project: Arc<dyn Writer>,
    pub shell: Arc<crate::project::shell::Shell>,
    /// Paths that a recursive read must skip.
    pub left_out: LeftOut,
    /// Receives the progress of the call.
    pub progress: Progress,
}

/// Context of a rehearsed call. Nothing in it reaches anything real.
pub struct Stage {
    /// Project with the overlay.
    pub project: Arc<dyn Writer>,
    /// The overlay sandbox, or the reason why commands cannot run.
    pub commands: Commands,
    /// True if the dry run is hidden from the model.
    pub untold: bool,
    /// True if the user approved this call at a prompt, or a grant or a rule allows exactly this call, so that what it
    /// reads may be disclosed to the model.
    pub approved: bool,
    /// True if a model is configured that simulates results.
    pub simulates: bool,
    /// Paths that a recursive read must skip.
    pub left_out: LeftOut,
    /// Receives the progress of the call.
    pub progress: Progress,
}

/// Receives the latest output of a running call, for the screen. Never blocks; updates that come too fast are dropped.
pub type Progress = Arc<dyn Fn(Shown<'_>) + Send + Sync>;

/// Error of a call. The model reads it, so it names the problem and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid arguments.
    #[error("{0}")]
    Arguments(String),
    /// Error of the project's files.
    #[error(transparent)]
    Project(#[from] crate::project::Error),
    /// The call ran and failed.
    #[error("{0}")]
    Failed(String),
    /// Bug in the tool.
    #[error("internal error: {0}")]
    Broken(String),
}

/// Deserializes the tool's own data from the plan.
fn work<T: serde::de::DeserializeOwned>(plan: &Plan) -> Result<T, Error> {
    let broken = |why: String| Error::Broken(why);
    match &plan.work {
        Work::Arguments(value) => T::deserialize(value).map_err(|error| broken(error.to_string())),
        Work::Edit(_) | Work::Command(_) | Work::Task(_) | Work::Batch(_) => {
            Err(broken("the plan belongs to another tool".to_owned()))
        }
    }
}

/// Runs file access on a thread that may block.
async fn blocking<F>(files: Arc<dyn Writer>, act: F) -> Result<String, Error>
where
    F: FnOnce(&dyn Reader) -> Result<String, Error> + Send + 'static,
{
    let broken = || Error::Broken("the tool panicked. This is a bug in aye, not in the call".to_owned());
    let done = tokio::task::spawn_blocking(move || crash::contain(|| act(&*files))).await;
    done.ok().flatten().ok_or_else(broken)?
}
