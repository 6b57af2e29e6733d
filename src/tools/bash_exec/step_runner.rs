//! Runs the steps of a command line.

use super::BashExec;
use super::command_steps::{Step, StepKind};
use crate::chat::{Access, CommandLine, CommandPart, PartEffect};
use crate::policy::command_line::parse_command_line;
use crate::policy::effects::{cd_target, enter_folder};
use crate::project::output::{LongOutput, Output};
use crate::project::shell::CommandOutcome;
use crate::text::truncation::escape_beginning;
use crate::tools::result_kind::append_status;
use crate::tools::{Error, LiveContext, command_access, command_parts, run_blocking};
use std::path::PathBuf;
use std::time::Instant;

/// Maximum characters of a command in a message.
const MAX_COMMAND_CHARS: usize = 80;

/// Steps of a line that is allowed in parts.
pub(super) struct StepRunner<'a> {
    pub(super) tool: &'a BashExec,
    pub(super) line: &'a CommandLine,
    /// Parts of the line as they were judged.
    pub(super) parts: &'a [CommandPart],
    pub(super) context: &'a LiveContext,
}

/// Outcome of the steps so far.
#[derive(Default)]
struct StepsOutcome {
    output: Output,
    omitted: u64,
    /// The beginning of the output, once a step had more than is stored.
    beginning: Option<LongOutput>,
    last: CommandOutcome,
    hint: Option<String>,
}

/// Returns the status of a command as the shell has it in `$?`.
fn exit_status(outcome: &CommandOutcome) -> i32 {
    outcome.exit.or(outcome.signal.map(|signal| 128 + signal)).unwrap_or(1)
}

/// Returns a command with the `cd` to its folder before it.
fn run_in_folder(folder: &str, command: &str) -> String {
    if folder.is_empty() {
        return command.to_owned();
    }
    // Without `./` the folder may be searched for elsewhere.
    let start = if folder.starts_with('/') { "" } else { "./" };
    format!("cd '{start}{}' && {command}", folder.replace('\'', r"'\''"))
}

impl StepRunner<'_> {
    /// Runs the steps one after the other, as the shell would, within the time limit of the line. Returns the outcome and a
    /// hint for the model, if any. Fails if a step would be judged differently now; the error has the output of those
    /// before it.
    pub(super) async fn run(&self, steps: &[Step]) -> Result<(CommandOutcome, Option<String>), Error> {
        let started = Instant::now();
        let succeeded = || CommandOutcome { exit: Some(0), ..CommandOutcome::default() };
        let output = Output::keeping_middle();
        let mut done = StepsOutcome { output, last: succeeded(), ..StepsOutcome::default() };
        let mut folder = String::new();
        for step in steps {
            if !step.is_due(done.last.exit) {
                continue;
            }
            let command = run_in_folder(&folder, &step.text);
            let seconds = self.line.seconds.saturating_sub(started.elapsed().as_secs()).max(1);
            let step_line = CommandLine { command, seconds, ..self.line.clone() };
            if let Some(reason) = self.explain_stop(step, &step_line).await? {
                let command = escape_beginning(&step.text, MAX_COMMAND_CHARS);
                let (output, _) = done.output.into_text();
                let why = format!(
                    "“{command}” was not run: {reason}. The commands before it were run. Send it as a call of its own."
                );
                return Err(Error::Failed(append_status(&why, &output).trim_end().to_owned()));
            }
            if step.kind == StepKind::ChangesFolder {
                let parsed_step = parse_command_line(&step.text);
                let target = parsed_step.commands.first().and_then(cd_target);
                folder = target.map_or_else(|| "..".to_owned(), |target| enter_folder(&folder, target));
                done.last = succeeded();
                continue;
            }
            let command = run_in_folder(&folder, &step.command_after(exit_status(&done.last)));
            let step_line = CommandLine { command, ..step_line };
            if let Err(error) = self.run_step(step, &step_line, &mut done).await {
                let (output, _) = done.output.into_text();
                return Err(Error::Failed(append_status(&error.to_string(), &output).trim_end().to_owned()));
            }
            if done.last.timed_out || done.last.exceeded_output || done.last.stopped {
                break;
            }
        }
        let StepsOutcome { output, omitted, beginning, last, hint } = done;
        let long_output = beginning.or_else(|| output.long_output());
        let (output, omitted_here) = output.into_text();
        let omitted = omitted + omitted_here;
        Ok((CommandOutcome { output, omitted, long_output, duration: started.elapsed(), ..last }, hint))
    }

    /// Runs a step in its sandbox.
    async fn run_step(&self, step: &Step, line: &CommandLine, done: &mut StepsOutcome) -> Result<(), Error> {
        let parts = &self.parts[step.parts.clone()];
        let in_each_folder = parts.iter().flat_map(CommandPart::in_each_folder);
        let paths: Vec<PathBuf> = in_each_folder.flat_map(|part| part.paths.iter().cloned()).collect();
        let reads = step.kind == StepKind::Reads;
        let read_only_paths = reads.then_some((paths.as_slice(), &[][..]));
        let (outcome, hint) = self.tool.run_line(line, read_only_paths, self.context).await?;
        if reads && hint.is_some() {
            let readers = parts.iter().filter(|part| part.effect != PartEffect::ReadsInput);
            readers.for_each(|part| self.tool.blocked_commands.insert(&part.command));
        }
        match &outcome.long_output {
            Some(step) if step.is_complete => done.output.push(&step.bytes),
            cut => {
                if let (Some(cut), None) = (cut, &done.beginning) {
                    let bytes = [done.output.kept_bytes(), cut.bytes.clone()].concat();
                    done.beginning = Some(LongOutput { bytes, is_complete: false });
                }
                done.output.push(outcome.output.as_bytes());
                done.omitted += outcome.omitted;
            }
        }
        done.hint = hint.or(done.hint.take());
        done.last = outcome;
        Ok(())
    }

    /// Returns why a step may not run although it might when the line was planned: one of its parts reads something else now,
    /// or is judged differently.
    async fn explain_stop(&self, step: &Step, step_line: &CommandLine) -> Result<Option<String>, Error> {
        let (line, parts, checked) = (self.line.clone(), self.parts.to_vec(), step.parts.clone());
        let (step_line, blocked) = (step_line.clone(), self.tool.blocked_commands.clone());
        let reads = step.kind == StepKind::Reads;
        run_blocking(self.context.project.clone(), move |files| {
            if let Access::Run(run) = command_access::command_access(step_line, files)
                && (reads || run.is_sensitive)
            {
                return Ok(Some(format!("now {}", run.reason)));
            }
            let is_same = command_parts::are_judged_as_before(&line, files, &blocked, &parts, checked);
            Ok((!is_same).then(|| "the files that it uses changed since the line was checked".to_owned()))
        })
        .await
    }
}
