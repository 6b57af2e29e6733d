//! What the model can ask for, one file each.

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

/// Something the model can ask for. It tells before it does: `plan` looks, and is given nothing that can change
/// anything; `act` does exactly what was planned and allowed.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told of it.
    fn spec(&self) -> ToolSpec;
    /// Whether its plans hand a task to a sub-agent, which is offered no such tool itself.
    fn hands_on(&self) -> bool {
        false
    }
    /// Whether the model is offered it.
    fn is_offered(&self) -> bool {
        true
    }
    /// Tells what the call would do. It can only look. Runs on a thread where blocking is fine.
    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error>;
    /// Does what was planned and allowed. Tools that only ask keep the default.
    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        let _ = hands;
        Err(Error::Broken(format!("nothing to do for “{}”", plan.title)))
    }
    /// Does it where nothing real can be reached. By default nothing is done, and something else stands in for its result.
    async fn rehearse(&self, plan: &Plan, stage: &Stage) -> Result<Rehearsed, Error> {
        let _ = (plan, stage);
        Ok(Rehearsed::Undone(String::new()))
    }
    /// What is known of the results of such a call, for a dry run that leaves it undone.
    fn results(&self, plan: &Plan) -> Results {
        let _ = plan;
        Results::default()
    }
    /// A result of the form that is declared, in the words that the model is told in life.
    fn tells(&self, plan: &Plan, result: &Value) -> String {
        let _ = plan;
        results::text(result)
    }
}

/// What came of a call on the stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rehearsed {
    /// It was done there. What the model is told, as in life.
    Ran(String),
    /// The same of a command, with the paths of the project that it changed there, as they can be written.
    Changed(String, Vec<String>),
    /// It was not done, and something stands in for its result. Why not, in a sentence; may be empty.
    Undone(String),
    /// It was not done, and nothing stands in for its result. What the model is told.
    Told(String),
}

/// What the model is told of a call that a dry run leaves undone.
pub fn would_have(tool: &str, plan: &Plan) -> String {
    format!("Dry run: this was not done. It would have been: {} ({tool}).", plan.summary)
}

/// What the model is told of reading that a dry run leaves undone, and of nothing else where it is told nothing of that.
fn unread(stage: &Stage, tool: &str, plan: &Plan) -> String {
    if stage.untold {
        return format!("This cannot be looked at here: {} ({tool}).", plan.summary);
    }
    would_have(tool, plan)
}

/// What a dry run does with a call that only reads: the same as live inside the project, so that it sees what was rehearsed
/// before. What may hold secrets, and anything outside, is read only with an approval.
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

/// What reaches real things. Built only for a call that was allowed.
pub struct Hands {
    /// The project, for changing.
    pub project: Arc<dyn Writer>,
    /// Runs commands.
    pub shell: Arc<crate::project::shell::Shell>,
    /// What is not read though it lies in a folder that is.
    pub left_out: LeftOut,
    /// Takes what a running call has to show so far.
    pub progress: Progress,
}

/// Where a rehearsal plays: nothing here reaches anything real.
pub struct Stage {
    /// The project with the rehearsal's layer over it.
    pub project: Arc<dyn Writer>,
    /// What becomes of commands. None can be run elsewhere than on the stage.
    pub commands: Commands,
    /// Whether the model is told nothing of the dry run.
    pub untold: bool,
    /// Whether the user approved this call at a prompt, or a grant or a rule allows exactly it, so that what it reads may go to
    /// the model.
    pub approved: bool,
    /// Whether a model is configured that simulates what is not done.
    pub simulates: bool,
    /// What is not read though it lies in a folder that is.
    pub left_out: LeftOut,
    /// Takes what a running call has to show so far.
    pub progress: Progress,
}

/// Takes the latest output of a running call, for the screen. Never waits: what comes too fast is left out.
pub type Progress = Arc<dyn Fn(Shown<'_>) + Send + Sync>;

/// What goes wrong with a call. The model reads it, and is the one to correct it: it says what was wrong and what
/// would have been right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments do not fit.
    #[error("{0}")]
    Arguments(String),
    /// The project says no.
    #[error(transparent)]
    Project(#[from] crate::project::Error),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
    /// The tool itself is at fault.
    #[error("the tool is broken: {0}")]
    Broken(String),
}

/// What a plan's own arguments say.
fn work<T: serde::de::DeserializeOwned>(plan: &Plan) -> Result<T, Error> {
    let broken = |why: String| Error::Broken(why);
    match &plan.work {
        Work::Arguments(value) => T::deserialize(value).map_err(|error| broken(error.to_string())),
        Work::Edit(_) | Work::Command(_) | Work::Task(_) | Work::Batch(_) => {
            Err(broken("the plan is another tool's".to_owned()))
        }
    }
}

/// Works with files off the threads that must not wait.
async fn blocking<F>(files: Arc<dyn Writer>, act: F) -> Result<String, Error>
where
    F: FnOnce(&dyn Reader) -> Result<String, Error> + Send + 'static,
{
    let broken = || Error::Broken("it broke down; this is a bug in the program, not in the call".to_owned());
    let done = tokio::task::spawn_blocking(move || crash::contain(|| act(&*files))).await;
    done.ok().flatten().ok_or_else(broken)?
}
