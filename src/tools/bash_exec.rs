//! Tool that runs a shell command in the project directory.

use super::arguments::{Count, checked};
use super::{
    Error, Hands, Rehearsed, Results, Settings, Stage, Tool, blocking, brief, destroys, overlay_command,
    reach, read_only, scripts, silent, walled,
};
use crate::chat::{Access, CommandLine, Grant, Intent, Plan, Preview, Reach, Scope, ToolSpec, Work};
use crate::project::shell::Ran;
use crate::project::stage::Commands;
use crate::project::{self, Reader};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Longest command in bytes, below the limit of systems for one argument.
const LENGTH: usize = 100_000;

pub struct BashExec {
    settings: Settings,
    /// Commands that the read-only sandbox blocked; they need approval when called again.
    kept_back: read_only::KeptBack,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    timeout: Option<Count>,
    network: Option<String>,
}

impl BashExec {
    pub fn new(settings: Settings) -> Self {
        Self { settings, kept_back: read_only::KeptBack::default() }
    }
}

#[async_trait]
impl Tool for BashExec {
    fn spec(&self) -> ToolSpec {
        let Settings { seconds, seconds_at_most, .. } = self.settings;
        let timeout = format!("Seconds, default {seconds}, capped at {seconds_at_most}");
        ToolSpec {
            name: "bash_exec".to_owned(),
            description: "Run a shell command in the project directory. No TTY, no stdin.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "command": { "type": "string", "description": "Shell command" },
                    "timeout": { "type": "integer", "minimum": 1, "description": timeout },
                    "network": { "type": "string", "description": "Reason network access is needed; omit for no network" },
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { command, timeout, network } = checked(&self.spec(), arguments)?;
        let refused = |why: &str| Err(Error::Arguments(why.to_owned()));
        if command.trim().is_empty() {
            return refused("The command is empty.");
        }
        if command.contains('\0') {
            return refused("The command contains a NUL byte.");
        }
        if command.len() > LENGTH {
            return refused(
                "The command is longer than 100000 bytes; write a script with write_file and run it.",
            );
        }
        let seconds = timeout.map_or(self.settings.seconds, |timeout| timeout.0);
        let seconds = seconds.min(self.settings.seconds_at_most);
        let network = walled::asked(network, &self.settings).map_err(Error::Arguments)?;
        let walls = self.settings.walls.with_network(network.is_some());
        let line = CommandLine { command, folder: files.root().to_owned(), seconds, network, walls };
        let basis = scripts::named(&line.command, files);
        // A command that names a sensitive path outside needs approval each time.
        let lasting = basis.beyond.as_ref().is_none_or(|beyond| !beyond.sensitive);
        // A grant covers only the current content of the scripts.
        let bound = basis.bound().ok().filter(|_| lasting);
        Ok(Intent::Act(Box::new(Plan {
            title: "run a command?".to_owned(),
            summary: brief::line(&line.command, 120),
            access: read_only::narrow(reach::access(line.clone(), files), &line, &self.kept_back),
            preview: Preview::Command(line.clone()),
            always: bound.map(|scripts| {
                let scope = Scope::Command {
                    command: line.command.clone(),
                    folder: line.folder.clone(),
                    network: line.network.is_some(),
                };
                Grant::new("bash_exec", scope).bound_to(scripts)
            }),
            destroys: destroys::by(&line.command, files),
            basis,
            work: Work::Command(line),
        })))
    }

    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        let Work::Command(line) = &plan.work else {
            return Err(Error::Broken("the plan holds no command".to_owned()));
        };
        let confined = read_only::confined(&plan.access);
        let reads = confined.is_some();
        let writes = matches!(&plan.access, Access::Run(run) if run.reach == Reach::Writes);
        if reads || writes {
            // It may run without approval, so it must still be what was judged: a command that reads, or one that
            // writes only new files.
            let does = if reads { "reads" } else { "reads or writes" };
            let (again, access) = (line.clone(), plan.access.clone());
            blocking(hands.project.clone(), move |files| match reach::access(again, files) == access {
                true => Ok(String::new()),
                false => Err(Error::Failed(format!(
                    "The files that the command {does} changed since it was checked. It was not run. Call it again."
                ))),
            })
            .await?;
        }
        if let Some((paths, opened)) = confined {
            let runs_git = read_only::runs_git(&line.command);
            let (ran, listing) = hands.shell.run_read_only(line, runs_git, opened, &*hands.progress).await?;
            let hint = read_only::hint(line, paths, &ran, &listing);
            if hint.is_some() {
                self.kept_back.add(&line.command);
            }
            return Ok(self.told(&ran, line.seconds, hint));
        }
        let ran = hands.shell.run(line, &*hands.progress).await?;
        Ok(self.told(&ran, line.seconds, walled::hint(line, &ran)))
    }

    /// Runs the command in the overlay sandbox. If that is not possible, describes what would have run.
    async fn rehearse(&self, plan: &Plan, stage: &Stage) -> Result<Rehearsed, Error> {
        let Work::Command(line) = &plan.work else {
            return Err(Error::Broken("the plan holds no command".to_owned()));
        };
        // Without network access the command would only fail, so it is simulated.
        let is_simulated = stage.simulates || !self.results(plan).examples.is_empty();
        if line.network.is_some() && is_simulated && !may_read_secrets(plan) {
            return Ok(Rehearsed::Undone(
                "The command needs network access, which this dry run does not have.".to_owned(),
            ));
        }
        let why: Arc<str> = match &stage.commands {
            Commands::Told(why) => why.clone(),
            Commands::OnStage(shell) => match overlay_command::run(shell, plan, line, stage).await {
                Ok(ran) => {
                    let hint = on_stage(line, &ran, shell.is_full()).filter(|_| !stage.untold);
                    let hint =
                        hint.or_else(|| overlay_command::hint(line, &ran, &shell.withheld(), stage.untold));
                    let changed = ran.changed.iter().map(|path| path.to_string_lossy().into_owned());
                    let told = self.told(&ran, line.seconds, hint);
                    return Ok(Rehearsed::Changed(told, changed.collect()));
                }
                Err(project::Error::Unstaged(why)) => why.to_string().into(),
                Err(error) => return Err(error.into()),
            },
        };
        let why = format!("Commands do not run in this dry run ({why}).");
        Ok(match plan.access {
            // A simulated result about files would contradict the next read of them.
            Access::Read(_) if stage.untold => Rehearsed::Told(
                "Commands cannot run here. Use read_file, list_files or search_text.".to_owned(),
            ),
            Access::Read(_) => Rehearsed::Told(format!(
                "{} {why} read_file, list_files and search_text see the rehearsed files.",
                super::would_have("bash_exec", plan)
            )),
            // A simulated secret would mislead.
            Access::Run(_) if may_read_secrets(plan) => Rehearsed::Told(match stage.untold {
                true => "This command cannot run here.".to_owned(),
                false => format!("{} {why}", super::would_have("bash_exec", plan)),
            }),
            Access::Nothing
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::Own(_)
            | Access::Run(_) => Rehearsed::Undone(why),
        })
    }

    fn results(&self, plan: &Plan) -> Results {
        let Work::Command(line) = &plan.work else { return Results::default() };
        let schema = json!({
            "type": "object",
            "properties": {
                "output": { "type": "string", "default": "", "description": "stdout and stderr combined" },
                "exit": { "type": "integer", "minimum": 0, "maximum": 255, "default": 0 },
            },
            "required": ["output", "exit"],
            "additionalProperties": false,
        });
        let well = json!({ "output": "", "exit": 0 });
        let examples = if silent::is_silent(&line.command) { vec![well] } else { Vec::new() };
        Results { schema: Some(schema), examples }
    }

    fn tells(&self, _plan: &Plan, result: &Value) -> String {
        let output = result["output"].as_str().unwrap_or_default();
        behind(output, &format!("exit {}", result["exit"].as_f64().unwrap_or_default()))
    }
}

fn may_read_secrets(plan: &Plan) -> bool {
    matches!(&plan.access, Access::Run(run) if run.discloses)
}

/// Returns the output followed by a line with the exit status.
fn behind(output: &str, ended: &str) -> String {
    let line_end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    format!("{output}{line_end}{ended}")
}

/// Returns a hint if the command probably failed because of a limit of the overlay sandbox.
fn on_stage(line: &CommandLine, ran: &Ran, full: bool) -> Option<String> {
    if ran.exit == Some(0) {
        return None;
    }
    if full || ran.output.contains("No space left on device") {
        return Some(
            "\nThis may be caused by the dry run: the disk that holds its overlay is full. Files that the command wrote may be incomplete. The user can free disk space, or discard the rehearsal with /rehearsal drop."
                .to_owned(),
        );
    }
    // rename(2) of a folder that the command did not create.
    if ran.output.to_lowercase().contains("cross-device link") {
        return Some(
            "\nThis may be caused by the dry run: it cannot rename a folder of the project or of an earlier command in one step. mv copies and deletes instead. Live it may work."
                .to_owned(),
        );
    }
    // EOVERFLOW: the file belongs to a user who is unknown in the sandbox's user namespace.
    if ran.output.contains("Value too large for defined data type") {
        return Some(
            "\nThis may be caused by the dry run: its sandbox cannot change files of another user or group. Live it may work."
                .to_owned(),
        );
    }
    if line.network.is_some() {
        return Some("\nThis may be caused by the dry run: it has no network.".to_owned());
    }
    None
}

impl BashExec {
    /// Returns the outcome for the model. The exit status is the last line, where failures are detected.
    fn told(&self, ran: &Ran, seconds: u64, hint: Option<String>) -> String {
        let ended = match (ran.timed_out, ran.flooded, ran.signal, ran.exit) {
            (true, _, _, _) if seconds == self.settings.seconds_at_most => {
                format!("stopped after {seconds} s, the maximum")
            }
            (true, _, _, _) => format!("stopped after {seconds} s"),
            (false, true, _, _) => "stopped because its output exceeded the limit".to_owned(),
            (false, false, Some(signal), _) => format!("killed by signal {signal}"),
            (false, false, None, Some(exit)) => format!("exit {exit}"),
            (false, false, None, None) => "ended, without exit status".to_owned(),
        };
        match hint {
            Some(hint) => behind(&behind(&ran.output, hint.trim_start_matches('\n')), &ended),
            None => behind(&ran.output, &ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Run;
    use crate::policy::{Subject, covers};
    use crate::tools::memory::Memory;
    use crate::tools::tests::planned;
    use std::time::Duration;

    fn tool() -> BashExec {
        BashExec::new(Settings::default())
    }

    #[test]
    fn r08_plans_exact_command_and_caps_timeout() {
        let files = Memory::with(&[]);
        let check = |arguments: Value, seconds: u64| {
            let plan = planned(&tool(), arguments, &files).unwrap();
            let line = CommandLine {
                command: " make\n pwd".into(),
                folder: "/project".into(),
                seconds,
                ..CommandLine::default()
            };
            let why = "project code run by make".to_owned();
            let run = Run {
                line: Box::new(line.clone()),
                reach: Reach::Runs,
                why,
                sensitive: false,
                discloses: false,
                named_secrets: Vec::new(),
            };
            assert_eq!((plan.summary.as_str(), plan.title.as_str()), ("make…", "run a command?"));
            assert_eq!((&plan.access, &plan.work), (&Access::Run(run), &Work::Command(line)));
            let grant = plan.always.as_ref().expect("a command can be granted");
            assert!(covers(grant, &Subject::of("bash_exec", &plan)));
        };
        check(json!({"command": " make\n pwd"}), 30);
        check(json!({"command": " make\n pwd", "timeout": 120}), 120);
        check(json!({"command": " make\n pwd", "timeout": 121}), 120);
        for (arguments, part) in [
            (json!({"command": " \n"}), "is empty"),
            (json!({"command": "a\0"}), "NUL"),
            (json!({"command": "a".repeat(LENGTH + 1)}), "longer than"),
            (
                json!({"command": "a", "timeout": 0}),
                "at “timeout”: found 0, expected an integer of at least 1",
            ),
            (json!({"command": "a", "cwd": "/"}), "unknown field `cwd`"),
            (json!({}), "probably cut off"),
        ] {
            let error = planned(&tool(), arguments, &files).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[tokio::test]
    async fn r30_simulates_network_command_if_possible() {
        let files = Memory::with(&[(".env", "KEY")]);
        let rehearsed = async |command: &str, network: bool, simulates: bool| {
            let mut arguments = json!({ "command": command });
            if network {
                arguments["network"] = json!("to ask");
            }
            let plan = planned(&tool(), arguments, &files).unwrap();
            let stage = Stage {
                project: Arc::new(files.clone()),
                commands: Commands::Told("x".into()),
                untold: false,
                approved: true,
                simulates,
                left_out: crate::tools::LeftOut::default(),
                progress: Arc::new(|_| {}),
            };
            tool().rehearse(&plan, &stage).await.unwrap()
        };
        let asks = "The command needs network access, which this dry run does not have.";
        let off = "Commands do not run in this dry run (x).";
        for (command, network, simulates, why) in [
            ("curl https://a.example", true, true, asks),
            // Its result is known without a model.
            ("touch a", true, false, asks),
            ("curl https://a.example", true, false, off),
            ("curl https://a.example", false, true, off),
        ] {
            assert_eq!(rehearsed(command, network, simulates).await, Rehearsed::Undone(why.to_owned()));
        }
        // No secret is simulated, whether or not the command was approved.
        for network in [false, true] {
            let told = rehearsed("cat .env", network, true).await;
            assert!(matches!(&told, Rehearsed::Told(text) if text.contains(off)), "{told:?}");
        }
    }

    #[test]
    fn outcome_ends_with_exit_status() {
        let ran = Ran {
            output: "x".into(),
            omitted: 0,
            exit: None,
            signal: None,
            timed_out: false,
            flooded: false,
            took: Duration::ZERO,
            changed: Vec::new(),
        };
        let check =
            |ran: Ran, seconds: u64, expected: &str| assert_eq!(tool().told(&ran, seconds, None), expected);
        check(Ran { exit: Some(1), ..ran.clone() }, 30, "x\nexit 1");
        // The hint does not hide the exit status.
        let line = CommandLine { network: Some("to ask".into()), ..CommandLine::default() };
        let failed = Ran { exit: Some(6), ..ran.clone() };
        let told = tool().told(&failed, 30, on_stage(&line, &failed, false));
        assert_eq!(told, "x\nThis may be caused by the dry run: it has no network.\nexit 6");
        assert_eq!(crate::chat::tool::bad_end(&told), Some("exit 6"));
        check(Ran { exit: Some(0), output: String::new(), ..ran.clone() }, 30, "exit 0");
        check(Ran { signal: Some(9), ..ran.clone() }, 30, "x\nkilled by signal 9");
        check(Ran { timed_out: true, signal: Some(9), ..ran.clone() }, 30, "x\nstopped after 30 s");
        check(Ran { timed_out: true, ..ran.clone() }, 120, "x\nstopped after 120 s, the maximum");
    }
}
