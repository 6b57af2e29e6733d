//! Helpers for the tests of tools.

use super::memory_project::MemoryProject;
use super::{Error, LiveContext, Tool};
use crate::chat::{Intent, Plan};
use crate::policy::ExcludedPaths;
use crate::project::checkpoints::CallRecorder;
use crate::project::shell::Shell;
use serde_json::Value;
use std::sync::Arc;

/// Plans a call. Panics if the tool asks questions instead.
pub(crate) fn plan_call(tool: &dyn Tool, arguments: Value, files: &Arc<MemoryProject>) -> Result<Plan, Error> {
    match tool.plan_call(&arguments, files)? {
        Intent::Act(plan) => Ok(*plan),
        Intent::Ask(questions) => panic!("{questions:?}"),
    }
}

/// Runs a planned call live in the in-memory project.
pub(crate) async fn run_call(tool: &dyn Tool, plan: &Plan, files: &Arc<MemoryProject>) -> Result<String, Error> {
    let shell = Arc::new(Shell::new("/nowhere".into()));
    let context = LiveContext {
        project: Arc::new(files.clone()),
        shell,
        excluded: ExcludedPaths::default(),
        runs_in_parts: false,
        recorder: Arc::new(CallRecorder::disabled()),
        results: crate::tools::ResultFiles::default(),
        progress: Arc::new(|_| {}),
    };
    tool.run(plan, &context).await
}
