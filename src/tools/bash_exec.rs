//! Tool that runs a shell command in the project directory.

mod command_steps;
mod command_trial;
mod outcome_text;
mod step_runner;

use super::arguments::{PositiveInt, object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{
    Error, LiveContext, RehearsalContext, RehearsalOutcome, ResultKind, Tool, ToolSettings, TrialContext,
    command_access, command_parts, losses, overlay_command, read_only_commands, run_blocking, sandbox_hints, scripts,
    silent_commands, summary_line,
};
use crate::chat::TrialReport;
use crate::chat::{
    Access, CallWords, CommandLine, Grant, GrantScope, Intent, Plan, Preconditions, Preview, Reach, ToolSpec, Work,
};
use crate::project::overlay_sandbox::CommandRehearsal;
use crate::project::shell::CommandOutcome;
use crate::project::trial::Trial;
use crate::project::{self, Reader};
use async_trait::async_trait;
use outcome_text::{format_outcome, overlay_limit};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use step_runner::StepRunner;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new("bash_exec", "Run"),
    make: |settings| Some(Arc::new(BashExec::new(settings.clone()))),
};

/// Longest command in bytes, below the limit of systems for one argument.
const MAX_COMMAND_BYTES: usize = 100_000;
/// Maximum characters of a command in the summary of its call.
const MAX_SUMMARY_CHARS: usize = 120;

pub struct BashExec {
    settings: ToolSettings,
    /// Commands that the read-only sandbox blocked; they need approval when called again.
    blocked_commands: Arc<read_only_commands::BlockedCommands>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    timeout: Option<PositiveInt>,
    network: Option<String>,
}

impl BashExec {
    pub fn new(settings: ToolSettings) -> Self {
        Self { settings, blocked_commands: Arc::default() }
    }

    /// Runs a line in one shell: in the read-only sandbox if `read_only_paths`, the result of
    /// [`read_only_commands::sandboxed_paths`], is given. Also returns a hint for the model if the sandbox seems to have
    /// blocked something.
    async fn run_line(
        &self,
        line: &CommandLine,
        read_only_paths: Option<(&[PathBuf], &[PathBuf])>,
        context: &LiveContext,
    ) -> Result<(CommandOutcome, Option<String>), Error> {
        let (shell, progress) = (&context.shell, &*context.progress);
        let Some((paths, open_files)) = read_only_paths else {
            let outcome = shell.run_command(line, progress).await?;
            let hint = sandbox_hints::sandbox_hint(line, &outcome);
            return Ok((outcome, hint));
        };
        let runs_git = read_only_commands::runs_git(&line.command);
        let (outcome, listing) = shell.run_read_only(line, runs_git, open_files, progress).await?;
        let hint = read_only_commands::blocked_hint(line, paths, &outcome, &listing);
        Ok((outcome, hint))
    }

    /// Fails if a part of the line that was judged alone would be judged differently now.
    async fn check_parts(&self, plan: &Plan, line: &CommandLine, context: &LiveContext) -> Result<(), Error> {
        if plan.preconditions.parts.is_empty() {
            return Ok(());
        }
        let (line, blocked) = (line.clone(), self.blocked_commands.clone());
        let parts = plan.preconditions.parts.clone();
        run_blocking(context.project.clone(), move |files| {
            match command_parts::are_judged_as_before(&line, files, &blocked, &parts, 0..parts.len()) {
                true => Ok(()),
                false => Err(Error::Failed(
                    "The files that the command uses changed since it was checked. It was not run. Call it again."
                        .to_owned(),
                )),
            }
        })
        .await
    }
}

#[async_trait]
impl Tool for BashExec {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        let ToolSettings { default_timeout, max_timeout, .. } = self.settings;
        let timeout = format!("Seconds, default {default_timeout}, capped at {max_timeout}");
        object_spec(
            "bash_exec",
            "Run a shell command in the project. No TTY or stdin.",
            json!({
                "command": { "type": "string", "description": "Shell command" },
                "timeout": { "type": "integer", "minimum": 1, "description": timeout },
                "network": { "type": "string", "description": "Reason to use the network; else omit" },
            }),
            &["command"],
        )
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { command, timeout, network } = parse_arguments(&self.tool_spec(), arguments)?;
        let invalid = |why: &str| Err(Error::Arguments(why.to_owned()));
        if command.trim().is_empty() {
            return invalid("The command is empty.");
        }
        if command.contains('\0') {
            return invalid("The command contains a NUL byte.");
        }
        if command.len() > MAX_COMMAND_BYTES {
            return invalid("The command is longer than 100000 bytes; write a script with write_file and run it.");
        }
        let seconds = timeout.map_or(self.settings.default_timeout, |timeout| timeout.0);
        let seconds = seconds.min(self.settings.max_timeout);
        let network = sandbox_hints::check_network_reason(network, &self.settings).map_err(Error::Arguments)?;
        let sandbox = self.settings.sandbox.with_network(network.is_some());
        let line = CommandLine { command, folder: files.root().to_owned(), seconds, network, sandbox };
        let access = read_only_commands::final_access(
            command_access::command_access(line.clone(), files),
            &line,
            &self.blocked_commands,
        );
        // A line that only reads is judged as a whole. In the others `tail` must be the system's program.
        let has_parts = matches!(access, Access::Run(_));
        let parts = has_parts.then(|| command_parts::command_parts(&line, files, &self.blocked_commands));
        let parts = self.settings.project_programs.check_parts(parts.unwrap_or_default());
        let preconditions = scripts::command_preconditions(&line.command, files);
        let preconditions = self.settings.project_programs.check_wrappers(preconditions, &line.command);
        let preconditions = Preconditions { parts, ..preconditions };
        // A command that names a sensitive path (one that may hold secrets or affect other programs) needs approval
        // each time.
        let is_grantable = preconditions.sensitive_path().is_none();
        // A grant covers only the current content of the scripts. If that is not known, no grant is offered.
        let bound_scripts = preconditions.scripts_to_bind().ok().filter(|_| is_grantable);
        let grant = bound_scripts.map(|scripts| {
            let (command, folder) = (line.command.clone(), line.folder.clone());
            let scope = GrantScope::Command { command, folder, network: line.network.is_some() };
            Grant::new("bash_exec", scope).with_scripts(scripts)
        });
        let destroys = losses::find_losses(&line.command, files);
        let summary = summary_line::first_line(&line.command, MAX_SUMMARY_CHARS);
        let preview = Preview::Command(line.clone());
        let plan = Plan::new("Run a command?", summary, access, preview, Work::Command(line));
        Ok(Intent::Act(Box::new(Plan { grant, destroys, preconditions, ..plan })))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let Work::Command(line) = &plan.work else {
            return Err(Error::Internal("the plan holds no command".to_owned()));
        };
        let read_only_paths = read_only_commands::sandboxed_paths(&plan.access);
        let is_read = read_only_paths.is_some();
        let is_write = matches!(&plan.access, Access::Run(run) if run.reach == Reach::Writes);
        if is_read || is_write {
            // The command may run without approval, so its access must still be the one that was judged: it only reads,
            // or it writes only new files.
            let verb = if is_read { "reads" } else { "reads or writes" };
            let (current_line, access) = (line.clone(), plan.access.clone());
            run_blocking(context.project.clone(), move |files| {
                match command_access::command_access(current_line, files) == access {
                    true => Ok(()),
                    false => Err(Error::Failed(format!(
                        "The files that the command {verb} changed since it was checked. It was not run. Call it again."
                    ))),
                }
            })
            .await?;
        }
        self.check_parts(plan, line, context).await?;
        let parts = plan.preconditions.parts.as_slice();
        let steps = command_steps::split_steps(line, parts).filter(|_| context.runs_in_parts);
        let (mut outcome, hint) = match steps {
            Some(steps) => StepRunner { tool: self, line, parts, context }.run(&steps).await?,
            None => self.run_line(line, read_only_paths, context).await?,
        };
        if is_read && hint.is_some() {
            self.blocked_commands.insert(&line.command);
        }
        context.results.attach_to_outcome(&line.command, &mut outcome).await;
        Ok(format_outcome(&outcome, line.seconds, &self.settings, hint))
    }

    async fn try_run(&self, plan: &Plan, context: &TrialContext) -> Result<(Trial, TrialReport), Error> {
        let Work::Command(line) = &plan.work else {
            return Err(Error::Internal("the plan holds no command".to_owned()));
        };
        command_trial::try_command(line, &self.settings, context).await
    }

    /// Runs the command in the overlay sandbox. If that is not possible, its result is simulated, except for a command
    /// that only reads or that may read secrets.
    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let Work::Command(line) = &plan.work else {
            return Err(Error::Internal("the plan holds no command".to_owned()));
        };
        // The overlay sandbox has no network, so a command that needs it would only fail there.
        let can_simulate = context.has_simulator || self.result_kind(plan).fixture().is_some();
        if line.network.is_some() && can_simulate && !may_read_secrets(plan) {
            return Ok(RehearsalOutcome::Simulate(
                "The command needs network access, which this dry run does not have.".to_owned(),
            ));
        }
        let why: Arc<str> = match &context.commands {
            CommandRehearsal::Simulated(why) => why.clone(),
            CommandRehearsal::Sandboxed(shell) => {
                let view = overlay_command::visible_files(plan, line, context.is_approved);
                match shell.run_in_overlay(line, view, &*context.progress).await {
                    Ok(mut outcome) => {
                        context.results.attach_to_outcome(&line.command, &mut outcome).await;
                        let limit = overlay_limit(line, &outcome, shell.is_full()).filter(|_| !context.is_hidden);
                        let hint = limit.map(|reason| format!("This may be caused by the dry run: {reason}."));
                        let hint = hint.or_else(|| {
                            overlay_command::withheld_hint(line, &outcome, &shell.last_withheld(), context.is_hidden)
                        });
                        let changed = outcome.changed_paths.iter().map(|path| path.to_string_lossy().into_owned());
                        let text = format_outcome(&outcome, line.seconds, &self.settings, hint);
                        return Ok(RehearsalOutcome::RanCommand(text, changed.collect()));
                    }
                    Err(project::Error::OverlaySandboxFailed(why)) => why.to_string().into(),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let why = format!("Commands do not run in this dry run ({why}).");
        Ok(match plan.access {
            // A simulated result about files would contradict the next read of them.
            Access::Read(_) if context.is_hidden => RehearsalOutcome::NotRun(
                "Commands cannot run here. Use read_file, list_files or search_text.".to_owned(),
            ),
            Access::Read(_) => RehearsalOutcome::NotRun(format!(
                "{} {why} read_file, list_files and search_text see the rehearsed files.",
                super::describe_skipped_call("bash_exec", plan)
            )),
            // A simulated secret would mislead.
            Access::Run(_) if may_read_secrets(plan) => RehearsalOutcome::NotRun(match context.is_hidden {
                true => "This command cannot run here.".to_owned(),
                false => format!("{} {why}", super::describe_skipped_call("bash_exec", plan)),
            }),
            Access::Nothing
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::AyeFiles(_)
            | Access::Fetch(_)
            | Access::External(_)
            | Access::Background(_)
            | Access::Workspace(_)
            | Access::Run(_) => RehearsalOutcome::Simulate(why),
        })
    }

    fn result_kind(&self, plan: &Plan) -> ResultKind {
        match &plan.work {
            Work::Command(line) => ResultKind::Command { is_silent: silent_commands::is_silent(&line.command) },
            _ => ResultKind::Text,
        }
    }
}

fn may_read_secrets(plan: &Plan) -> bool {
    matches!(&plan.access, Access::Run(run) if run.may_disclose)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::CommandAccess;
    use crate::policy::{Subject, grant_covers};
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::plan_call;

    fn bash_exec() -> BashExec {
        BashExec::new(ToolSettings::default())
    }

    #[test]
    fn r08_plans_exact_command_and_caps_timeout() {
        let files = MemoryProject::with_files(&[]);
        let check = |arguments: Value, seconds: u64| {
            let plan = plan_call(&bash_exec(), arguments, &files).unwrap();
            let line = CommandLine {
                command: " make\n pwd".into(),
                folder: "/project".into(),
                seconds,
                ..CommandLine::default()
            };
            let why = "make runs project code".to_owned();
            let run = CommandAccess {
                line: Box::new(line.clone()),
                reach: Reach::Runs,
                reason: why,
                is_sensitive: false,
                may_disclose: false,
                named_secrets: Vec::new(),
            };
            assert_eq!((plan.summary.as_str(), plan.title.as_str()), ("make…", "Run a command?"));
            assert_eq!((&plan.access, &plan.work), (&Access::Run(run), &Work::Command(line)));
            let grant = plan.grant.as_ref().expect("a command can be granted");
            assert!(grant_covers(grant, &Subject::from_plan("bash_exec", &plan)));
        };
        check(json!({"command": " make\n pwd"}), 30);
        check(json!({"command": " make\n pwd", "timeout": 600}), 600);
        check(json!({"command": " make\n pwd", "timeout": 601}), 600);
        for (arguments, part) in [
            (json!({"command": " \n"}), "is empty"),
            (json!({"command": "a\0"}), "NUL"),
            (json!({"command": "a".repeat(MAX_COMMAND_BYTES + 1)}), "longer than"),
            (json!({"command": "a", "timeout": 0}), "at “timeout”: found 0, expected an integer of at least 1"),
            (json!({"command": "a", "cwd": "/"}), "unknown field `cwd`"),
            (json!({}), "probably cut off"),
        ] {
            let error = plan_call(&bash_exec(), arguments, &files).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[tokio::test]
    async fn r30_simulates_network_command_if_possible() {
        let files = MemoryProject::with_files(&[(".env", "KEY")]);
        let rehearse = async |command: &str, network: bool, has_simulator: bool| {
            let mut arguments = json!({ "command": command });
            if network {
                arguments["network"] = json!("to ask");
            }
            let plan = plan_call(&bash_exec(), arguments, &files).unwrap();
            let context = RehearsalContext {
                project: Arc::new(files.clone()),
                commands: CommandRehearsal::Simulated("x".into()),
                is_hidden: false,
                is_approved: true,
                has_simulator,
                excluded: crate::policy::ExcludedPaths::default(),
                results: crate::tools::ResultFiles::default(),
                progress: Arc::new(|_| {}),
            };
            bash_exec().rehearse(&plan, &context).await.unwrap()
        };
        let needs_network = "The command needs network access, which this dry run does not have.";
        let no_commands = "Commands do not run in this dry run (x).";
        for (command, network, has_simulator, why) in [
            ("curl https://a.example", true, true, needs_network),
            // The result of `touch` is known without a model.
            ("touch a", true, false, needs_network),
            ("curl https://a.example", true, false, no_commands),
            ("curl https://a.example", false, true, no_commands),
        ] {
            assert_eq!(rehearse(command, network, has_simulator).await, RehearsalOutcome::Simulate(why.to_owned()));
        }
        // No secret is simulated, whether or not the command was approved.
        for network in [false, true] {
            let outcome = rehearse("cat .env", network, true).await;
            assert!(matches!(&outcome, RehearsalOutcome::NotRun(text) if text.contains(no_commands)), "{outcome:?}");
        }
    }

    #[test]
    fn outcome_ends_with_exit_status() {
        let outcome = CommandOutcome { output: "x".into(), ..CommandOutcome::default() };
        let check = |outcome: CommandOutcome, seconds: u64, expected: &str| {
            assert_eq!(format_outcome(&outcome, seconds, &ToolSettings::default(), None), expected)
        };
        check(CommandOutcome { exit: Some(1), ..outcome.clone() }, 30, "x\nexit 1");
        // The hint does not hide the exit status.
        let line = CommandLine { network: Some("to ask".into()), ..CommandLine::default() };
        let failed_outcome = CommandOutcome { exit: Some(6), ..outcome.clone() };
        let is_disk_full = false;
        let limit = overlay_limit(&line, &failed_outcome, is_disk_full);
        assert_eq!(limit, Some("it has no network"));
        let text = format_outcome(&failed_outcome, 30, &ToolSettings::default(), limit.map(str::to_owned));
        assert_eq!(text, "x\nit has no network\nexit 6");
        assert_eq!(crate::chat::tool::parse_failure_status(&text), Some("exit 6"));
        check(CommandOutcome { exit: Some(0), output: String::new(), ..outcome.clone() }, 30, "exit 0");
        check(CommandOutcome { signal: Some(9), ..outcome.clone() }, 30, "x\nkilled by signal 9");
        check(CommandOutcome { timed_out: true, signal: Some(9), ..outcome.clone() }, 30, "x\nstopped after 30 s");
        check(CommandOutcome { timed_out: true, ..outcome.clone() }, 600, "x\nstopped after 600 s, the maximum");
    }
}
