//! Tool that stops a background command.

use super::arguments::{PositiveInt, object_spec, parse_arguments};
use super::background_commands::BackgroundCommands;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new("kill", "Stop");

/// Time for a command to end after the request. Its guard kills it after less.
const END_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum characters of a command in the summary of a call.
const MAX_SUMMARY_CHARS: usize = 100;

/// Stops a background command.
pub struct Kill(pub Arc<BackgroundCommands>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: PositiveInt,
}

#[async_trait]
impl Tool for Kill {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        let id = json!({ "id": { "type": "integer", "description": "Number" } });
        object_spec("kill", "Stop a background command.", id, &["id"])
    }

    fn is_offered(&self) -> bool {
        self.0.has_commands()
    }

    fn plan_call(&self, arguments: &Value, _files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { id } = parse_arguments(&self.tool_spec(), arguments)?;
        let command = self.0.find_command(id.0)?;
        // The list has no larger number.
        let access = Access::Background(u32::try_from(id.0).unwrap_or_default());
        let summary = format!("{} · {}", id.0, summary_line::first_line(&command.command, MAX_SUMMARY_CHARS));
        let preview = Preview::Text(format!("background command {}: {}", id.0, command.command));
        let work = Work::Arguments(json!(id.0));
        Ok(Intent::Act(Box::new(Plan::new("Stop a background command?", summary, access, preview, work))))
    }

    async fn run(&self, plan: &Plan, _context: &LiveContext) -> Result<String, Error> {
        let command = self.0.find_command(parse_plan_data(plan)?)?;
        command.control.request_stop();
        if timeout(END_TIMEOUT, command.control.wait_for_end()).await.is_err() {
            return Err(Error::Failed(format!("It did not end within {} s.", END_TIMEOUT.as_secs())));
        }
        Ok(command.read_output())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::shell::command_control::CommandControl;
    use crate::tools::background_commands::BackgroundCommand;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};

    #[tokio::test(start_paused = true)]
    async fn returns_the_last_output_or_that_the_command_does_not_end() {
        let (commands, control) = (BackgroundCommands::default(), Arc::<CommandControl>::default());
        commands.insert(3, BackgroundCommand { command: "serve\n--all".into(), control: control.clone() });
        let (files, tool) = (MemoryProject::with_files(&[]), Kill(Arc::new(commands)));
        let plan = plan_call(&tool, json!({ "id": 3 }), &files).unwrap();
        assert_eq!(plan.access, Access::Background(3));
        assert_eq!(plan.preview, Preview::Text("background command 3: serve\n--all".into()), "all of it is shown");
        let error = run_call(&tool, &plan, &files).await.unwrap_err();
        assert_eq!(error.to_string(), "It did not end within 20 s.");
        control.push_output("bye\n");
        control.record_end("stopped on request".into());
        assert_eq!(run_call(&tool, &plan, &files).await.unwrap(), "bye\n[ended: stopped on request]");
        assert!(plan_call(&tool, json!({ "id": 1 }), &files).is_err());
    }
}
