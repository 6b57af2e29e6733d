//! Tool that reads the output of a background command.

use super::arguments::{PositiveInt, object_spec, parse_arguments};
use super::background_commands::BackgroundCommands;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new("read_output", "Output");

/// Longest wait for new output in seconds, below the time limit of a call.
const MAX_WAIT_SECONDS: u64 = 60;
/// Time to collect the rest of a burst of output.
const BURST_TIME: Duration = Duration::from_millis(300);
/// Maximum characters of a command in the summary of a call.
const MAX_SUMMARY_CHARS: usize = 100;

/// Reads the output of a background command. The command was approved, so its output needs no further approval.
pub struct ReadOutput(pub Arc<BackgroundCommands>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: PositiveInt,
    wait: Option<PositiveInt>,
}

#[derive(Serialize, Deserialize)]
struct ReadRequest {
    number: u64,
    wait_seconds: u64,
}

#[async_trait]
impl Tool for ReadOutput {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "read_output",
            "Read new output and status of a background command.",
            json!({
                "id": { "type": "integer", "description": "Number" },
                "wait": { "type": "integer", "description": "Seconds for output, capped at 60" },
            }),
            &["id"],
        )
    }

    fn is_offered(&self) -> bool {
        self.0.has_commands()
    }

    fn plan_call(&self, arguments: &Value, _files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { id, wait } = parse_arguments(&self.tool_spec(), arguments)?;
        let command = self.0.find_command(id.0)?;
        let wait_seconds = wait.map_or(0, |wait| wait.0).min(MAX_WAIT_SECONDS);
        let summary = format!("{} · {}", id.0, summary_line::first_line(&command.command, MAX_SUMMARY_CHARS));
        let preview = Preview::Text(format!("background command {}: {}", id.0, command.command));
        let work = Work::Arguments(json!(ReadRequest { number: id.0, wait_seconds }));
        Ok(Intent::Act(Box::new(Plan::new("Read the output?", summary, Access::Nothing, preview, work))))
    }

    async fn run(&self, plan: &Plan, _context: &LiveContext) -> Result<String, Error> {
        let ReadRequest { number, wait_seconds } = parse_plan_data(plan)?;
        let command = self.0.find_command(number)?;
        // The time limit is no error: the model learns that there is nothing new.
        let result = timeout(Duration::from_secs(wait_seconds), command.control.wait_for_output()).await;
        if result.is_ok() && wait_seconds > 0 {
            // Output often comes in a burst, and one read should return all of it.
            let _ = timeout(BURST_TIME, command.control.wait_for_end()).await;
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

    /// A tool with command 1, and the control of that command.
    fn tool_with_command() -> (ReadOutput, Arc<CommandControl>) {
        let (commands, control) = (BackgroundCommands::default(), Arc::<CommandControl>::default());
        commands.insert(1, BackgroundCommand { command: "npm run dev".into(), control: control.clone() });
        (ReadOutput(Arc::new(commands)), control)
    }

    #[tokio::test]
    async fn returns_each_output_once_with_the_status() {
        let (files, (tool, control)) = (MemoryProject::with_files(&[]), tool_with_command());
        let plan = plan_call(&tool, json!({ "id": 1 }), &files).unwrap();
        assert_eq!((plan.access.clone(), plan.summary.as_str()), (Access::Nothing, "1 · npm run dev"));
        control.push_output("\u{1b}[32mready\u{1b}[0m\r\n\u{1b}[2J");
        assert_eq!(run_call(&tool, &plan, &files).await.unwrap(), "ready\n<U+001B>[2J\n[running]");
        assert_eq!(run_call(&tool, &plan, &files).await.unwrap(), "[no new output]\n[running]");
        control.push_output("bye\n");
        control.record_end("exit 1".into());
        assert_eq!(run_call(&tool, &plan, &files).await.unwrap(), "bye\n[ended: exit 1]");
    }

    #[tokio::test(start_paused = true)]
    async fn waits_for_output_at_most_a_minute() {
        let (files, (tool, control)) = (MemoryProject::with_files(&[]), tool_with_command());
        let plan = plan_call(&tool, json!({ "id": 1, "wait": 100_000 }), &files).unwrap();
        let started = tokio::time::Instant::now();
        assert_eq!(run_call(&tool, &plan, &files).await.unwrap(), "[no new output]\n[running]");
        assert_eq!(started.elapsed().as_secs(), MAX_WAIT_SECONDS);
        let push = async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            control.push_output("late\n");
        };
        let (text, ()) = tokio::join!(run_call(&tool, &plan, &files), push);
        assert_eq!((text.unwrap().as_str(), started.elapsed().as_secs()), ("late\n[running]", MAX_WAIT_SECONDS + 2));
    }

    #[test]
    fn is_offered_only_with_a_command_and_names_the_known_ones() {
        assert!(!ReadOutput(Arc::default()).is_offered());
        let (files, (tool, _)) = (MemoryProject::with_files(&[]), tool_with_command());
        assert!(tool.is_offered());
        for id in [2_u64, u64::from(u32::MAX) + 2] {
            let error = plan_call(&tool, json!({ "id": id }), &files).unwrap_err().to_string();
            assert_eq!(error, format!("There is no background command {id}. Known: 1."));
        }
    }
}
