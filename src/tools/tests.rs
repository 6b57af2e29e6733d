//! Helpers for the tests of tools.

use super::memory::Memory;
use super::{Error, Hands, LeftOut, Tool};
use crate::chat::{Intent, Plan};
use crate::project::shell::Shell;
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn planned(tool: &dyn Tool, arguments: Value, files: &Arc<Memory>) -> Result<Plan, Error> {
    match tool.plan(&arguments, files)? {
        Intent::Act(plan) => Ok(*plan),
        Intent::Ask(questions) => panic!("{questions:?}"),
    }
}

pub(crate) async fn acted(tool: &dyn Tool, plan: &Plan, files: &Arc<Memory>) -> Result<String, Error> {
    let shell = Arc::new(Shell::new("/nowhere".into()));
    let hands = Hands {
        project: Arc::new(files.clone()),
        shell,
        left_out: LeftOut::default(),
        progress: Arc::new(|_| {}),
    };
    tool.act(plan, &hands).await
}
