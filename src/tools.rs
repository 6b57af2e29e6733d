//! The tools that the model can call, one file each.

pub mod apply_change;
pub mod apply_group;
pub mod arguments;
pub mod ask_question;
pub mod background_commands;
pub mod bash_exec;
pub mod batch_call;
mod browser_act;
mod browser_navigate;
mod browser_screenshot;
mod built_in_tool;
pub mod calculator;
mod closest_match;
mod command_access;
mod command_parts;
pub mod command_tool;
pub mod connect_credential;
pub mod copy_to_project;
mod delete_workspace_file;
mod describe_tool;
pub mod doc_sources;
pub mod edit_file;
pub mod end_conversation_tool;
mod file_change;
mod find_tool;
pub mod get_doc_page;
pub mod http_tool;
pub mod kill;
pub mod list_files;
mod list_workspace_files;
pub mod load_skill;
mod long_text;
mod losses;
pub mod mcp_tool;
#[cfg(test)]
#[path = "tools/tests/memory_project.rs"]
pub(crate) mod memory_project;
mod overlay_command;
pub mod panic_guard;
pub mod planned_path;
mod progress;
pub mod project_programs;
pub mod prompt_tool;
pub mod read_file;
pub mod read_only_commands;
pub mod read_output;
mod read_workspace_file;
pub mod references;
pub mod restore_files;
pub mod result_files;
mod result_kind;
mod result_outline;
mod result_sections;
mod run_mcp_tool;
mod run_tool;
mod sandbox_hints;
mod scripts;
pub mod search_docs;
pub mod search_text;
mod silent_commands;
pub mod sub_agent;
mod summary_line;
#[cfg(test)]
mod tests;
pub mod todo_write;
pub mod tool_file;
mod tool_settings;
pub mod toolbox;
pub mod transfer_tool;
mod walk_filter;
pub mod web_fetch;
mod workspace_target;
pub mod write_file;
mod write_workspace_file;

pub use result_files::ResultFiles;
pub use result_kind::ResultKind;
pub use scripts::command_preconditions;
pub use toolbox::{ToolSettings, Toolbox};

use crate::chat::{Access, Intent, Plan, ToolSpec, TrialReport, Usage, Work};
use crate::policy::ExcludedPaths;
use crate::project::checkpoints::CallRecorder;
use crate::project::output::CommandProgress;
use crate::project::overlay_sandbox::CommandRehearsal;
use crate::project::trial::{Trial, TrialRunner};
use crate::project::{Reader, Writer};
use crate::web::request_credentials::NamedCredential;
use async_trait::async_trait;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// A tool that the model can call.
///
/// A call has two steps: `plan_call` describes it and can only read; `run` does exactly what was planned and approved.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the name in the spec. Built-in tools return it without building the spec, because their names are needed at
    /// each start and for each call.
    fn name(&self) -> Cow<'_, str> {
        self.tool_spec().name.into()
    }
    /// Returns the name, description and parameters for the model.
    fn tool_spec(&self) -> ToolSpec;
    /// Returns whether the tool is offered to sub-agents: not if it starts one, ends the turn or needs the screen.
    fn is_for_sub_agents(&self) -> bool {
        true
    }
    /// Returns the credential that the tool sends, if any.
    fn named_credential(&self) -> Option<NamedCredential> {
        None
    }
    /// Returns whether the tool is offered to the model.
    fn is_offered(&self) -> bool {
        true
    }
    /// Returns the time limit of a call if it differs from the usual one.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
    /// Describes what the call would do. It can only read. Runs on a thread that may block.
    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error>;
    /// Does what was planned and approved. Tools that only ask questions keep the default.
    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let _ = context;
        Err(Error::Internal(format!("no action for “{}”", plan.title)))
    }
    /// Like [`Tool::run`], also with the token usage of a model that the call asks, if it was reported.
    async fn run_counted(&self, plan: &Plan, context: &LiveContext) -> (Result<String, Error>, Option<Usage>) {
        (self.run(plan, context).await, None)
    }
    /// Rehearses the call without reaching anything real. By default nothing runs, and the result is simulated.
    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let _ = (plan, context);
        Ok(RehearsalOutcome::Simulate(String::new()))
    }
    /// Runs the call on trial: nothing it does is real until the trial is kept. By default no call can be tried.
    async fn try_run(&self, plan: &Plan, context: &TrialContext) -> Result<(Trial, TrialReport), Error> {
        let _ = context;
        Err(Error::Internal(format!("“{}” cannot be tried", plan.title)))
    }
    /// Returns the kind of result of the call, so that a dry run can simulate it.
    fn result_kind(&self, plan: &Plan) -> ResultKind {
        let _ = plan;
        ResultKind::default()
    }
}

/// Outcome of a rehearsed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RehearsalOutcome {
    /// The call ran in the overlay. Holds the outcome for the model, the same as live.
    Ran(String),
    /// A command ran in the overlay sandbox. Holds the outcome, and the project paths that it changed, as displayed.
    RanCommand(String, Vec<String>),
    /// The call did not run, and its result is simulated. Holds the reason as a sentence; may be empty.
    Simulate(String),
    /// The call did not run, and no result is simulated. Holds the text for the model.
    NotRun(String),
}

/// Describes a call that a dry run did not run, for the model.
pub fn describe_skipped_call(tool: &str, plan: &Plan) -> String {
    format!("Dry run: this call was not run: {} ({tool}).", plan.summary)
}

/// Describes a read that a dry run did not run. Does not mention the dry run if it is hidden from the model.
fn describe_skipped_read(context: &RehearsalContext, tool: &str, plan: &Plan) -> String {
    if context.is_hidden {
        return format!("Not readable here: {} ({tool}).", plan.summary);
    }
    describe_skipped_call(tool, plan)
}

/// Rehearses a call that only reads. Inside the project it runs as it would live, so that it sees rehearsed changes.
/// Files that may hold secrets, and any outside the project, are read only with an approval.
async fn rehearse_read(
    tool: &str,
    plan: &Plan,
    context: &RehearsalContext,
    read: impl Future<Output = Result<String, Error>> + Send,
) -> Result<RehearsalOutcome, Error> {
    match &plan.access {
        Access::Nothing | Access::Read(_) => read.await.map(RehearsalOutcome::Ran),
        Access::ReadSensitive(_) if context.is_approved => read.await.map(RehearsalOutcome::Ran),
        _ => Ok(RehearsalOutcome::NotRun(describe_skipped_read(context, tool, plan))),
    }
}

/// Access to real files and commands. Created only for an approved call.
pub struct LiveContext {
    /// Project with write access.
    pub project: Arc<dyn Writer>,
    pub shell: Arc<crate::project::shell::Shell>,
    /// Paths that a recursive read must skip.
    pub excluded: ExcludedPaths,
    /// True if no grant or rule is for the command line of the call, but the parts of it are allowed. Each then runs as it
    /// would alone.
    pub runs_in_parts: bool,
    /// Records changes that do not go through `project`.
    pub recorder: Arc<CallRecorder>,
    /// Stores results that are too long.
    pub results: ResultFiles,
    /// Receives the progress of the call.
    pub progress: Progress,
}

/// Context of a call that is tried.
pub struct TrialContext {
    pub runner: Arc<TrialRunner>,
    /// True if the output may go to the model without having been shown to the user.
    pub is_automatic: bool,
    /// Receives the progress of the call.
    pub progress: Progress,
}

/// Context of a rehearsed call. Nothing in it reaches anything real.
pub struct RehearsalContext {
    /// Project with the overlay.
    pub project: Arc<dyn Writer>,
    /// The overlay sandbox, or the reason why commands cannot run.
    pub commands: CommandRehearsal,
    /// True if the dry run is hidden from the model.
    pub is_hidden: bool,
    /// True if the user approved this call at a prompt, or a grant or a rule allows exactly this call, so that what it
    /// reads may be disclosed to the model.
    pub is_approved: bool,
    /// True if a model is configured that simulates results.
    pub has_simulator: bool,
    /// Paths that a recursive read must skip.
    pub excluded: ExcludedPaths,
    /// Stores results that are too long, in the workspace of the dry run.
    pub results: ResultFiles,
    /// Receives the progress of the call.
    pub progress: Progress,
}

/// Receives the latest output of a running call, for the screen. Never blocks; updates that come too fast are dropped.
pub type Progress = Arc<dyn Fn(CommandProgress<'_>) + Send + Sync>;

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
    Internal(String),
}

/// Deserializes the tool's own data from the plan.
fn parse_plan_data<T: serde::de::DeserializeOwned>(plan: &Plan) -> Result<T, Error> {
    match &plan.work {
        Work::Arguments(value) => T::deserialize(value).map_err(|error| Error::Internal(error.to_string())),
        _ => Err(Error::Internal("the plan belongs to another tool".to_owned())),
    }
}

/// Runs file access on a thread that may block.
async fn run_blocking<T, F>(files: Arc<dyn Writer>, work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnOnce(&dyn Reader) -> Result<T, Error> + Send + 'static,
{
    let panic_error = || Error::Internal("the tool panicked. This is a bug in aye, not in the call".to_owned());
    let result = tokio::task::spawn_blocking(move || panic_guard::catch_panic(|| work(&*files))).await;
    result.ok().flatten().ok_or_else(panic_error)?
}
