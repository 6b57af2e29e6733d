//! Splits a command line into steps: each runs in the sandbox that its parts would have alone.
//!
//! A line that rules or grants allow in parts must do nothing that its parts could not do alone. So what only reads runs in
//! the read-only sandbox, and before each step the files that it uses are checked again, because an earlier step may have
//! changed them.

use crate::chat::{CommandLine, CommandPart, CommandSandbox, PartEffect};
use crate::policy::chains::{Pipeline, group_pipelines, split_chain};
use crate::policy::command_line::{Connector, parse_command_line};
use std::ops::Range;

/// A pipeline of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// Operator before it.
    connector: Connector,
    /// Text in the line.
    pub(super) text: String,
    /// Indexes of its parts.
    pub(super) parts: Range<usize>,
    pub(super) kind: StepKind,
    /// True if it may print `$?`.
    uses_status: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// `cd`, which applies to the steps after it.
    ChangesFolder,
    /// Runs in the read-only sandbox.
    Reads,
    /// Runs in the sandbox of live commands.
    Runs,
}

/// Splits a line into steps. `None` if it does the same in one shell, or if there is no read-only sandbox.
pub(super) fn split_steps(line: &CommandLine, parts: &[CommandPart]) -> Option<Vec<Step>> {
    if !matches!(line.sandbox, CommandSandbox::Enforced(_)) {
        return None;
    }
    let chain = split_chain(&parse_command_line(&line.command));
    let pipelines = group_pipelines(&line.command, &chain).filter(|_| chain.len() == parts.len())?;
    let steps: Vec<Step> = pipelines.into_iter().map(|pipeline| to_step(pipeline, parts)).collect();
    let changes_folder = |step: &Step| step.kind == StepKind::ChangesFolder;
    let command_count = steps.iter().filter(|step| !changes_folder(step)).count();
    // In one shell a command after `;` or `||` would run in another folder than the judged one if a `cd` fails.
    let has_other_folder =
        steps.iter().any(changes_folder) && steps[1..].iter().any(|step| step.connector != Connector::And);
    (command_count > 1 || (command_count == 1 && has_other_folder)).then_some(steps)
}

fn to_step(pipeline: Pipeline, parts: &[CommandPart]) -> Step {
    let Pipeline { connector, text, parts: indexes } = pipeline;
    let has = |effect| parts[indexes.clone()].iter().any(|part| part.effect == effect);
    let kind = match () {
        () if has(PartEffect::Runs) => StepKind::Runs,
        () if has(PartEffect::ChangesFolder) => StepKind::ChangesFolder,
        () if has(PartEffect::ReadsFiles) || has(PartEffect::ReadsAlone) => StepKind::Reads,
        () => StepKind::Runs,
    };
    let uses_status = parts[indexes.clone()].iter().any(|part| part.command.contains("$?"));
    Step { connector, text, parts: indexes, kind, uses_status }
}

impl Step {
    /// Returns whether a shell would run it after this exit status.
    pub(super) fn is_due(&self, last_exit: Option<i32>) -> bool {
        match self.connector {
            Connector::And => last_exit == Some(0),
            Connector::Or => last_exit != Some(0),
            _ => true,
        }
    }

    /// Returns the command that runs it in a shell of its own as if the last command had ended with this status.
    pub(super) fn command_after(&self, last_status: i32) -> String {
        match self.uses_status && last_status != 0 {
            true => format!("{{ (exit {last_status})\n{}\n}}", self.text),
            false => self.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Preconditions, SandboxAccess};
    use proptest::prelude::*;

    fn line(command: &str, sandbox: CommandSandbox) -> CommandLine {
        CommandLine { command: command.into(), folder: "/p".into(), sandbox, ..CommandLine::default() }
    }

    fn sandboxed_line(command: &str) -> CommandLine {
        line(command, CommandSandbox::enforced(SandboxAccess::default()))
    }

    /// Judges parts by their programs.
    fn parts_of(command: &str) -> Vec<CommandPart> {
        let chain = split_chain(&parse_command_line(command));
        let to_part = |part: crate::policy::chains::ChainPart| CommandPart {
            effect: match part.command.split(' ').next().unwrap_or_default() {
                "cd" => PartEffect::ChangesFolder,
                "echo" | "tail" => PartEffect::ReadsInput,
                "cat" | "true" => PartEffect::ReadsFiles,
                "git" if !part.command.starts_with("git add") => PartEffect::ReadsAlone,
                _ => PartEffect::Runs,
            },
            command: part.command,
            folder: "/p".into(),
            has_input: part.has_input,
            paths: Vec::new(),
            is_in_other_repository: false,
            preconditions: Preconditions::default(),
            alternatives: Vec::new(),
        };
        chain.into_iter().map(to_part).collect()
    }

    /// Returns the steps as `reads: cat a`, each after its operator.
    fn describe_steps(command: &str) -> Vec<String> {
        let steps = split_steps(&sandboxed_line(command), &parts_of(command)).unwrap_or_default();
        let describe = |step: &Step| {
            let kind = match step.kind {
                StepKind::ChangesFolder => "cd",
                StepKind::Reads => "reads",
                StepKind::Runs => "runs",
            };
            format!("{:?} {kind}: {}", step.connector, step.text)
        };
        steps.iter().map(describe).collect()
    }

    #[test]
    fn what_only_reads_is_a_step_of_its_own() {
        assert_eq!(describe_steps("git status && touch a"), ["First reads: git status", "And runs: touch a"]);
        assert_eq!(
            describe_steps("cargo build 2>&1 | tail -n 5 && git diff > /dev/null; touch a"),
            ["First runs: cargo build 2>&1 | tail -n 5", "And reads: git diff > /dev/null", "Semicolon runs: touch a"]
        );
        assert_eq!(
            describe_steps("cd web && cat a | tail -n 1 && cargo test"),
            ["First cd: cd web", "And reads: cat a | tail -n 1", "And runs: cargo test"]
        );
        assert_eq!(
            describe_steps("cargo build # first\n# second\n\\\ncat a"),
            ["First runs: cargo build", "Semicolon reads: cat a"]
        );
    }

    #[test]
    fn a_line_of_one_pipeline_and_one_without_a_sandbox_have_no_steps() {
        for command in ["cargo test 2>&1 | tail -n 3", "cd web && cargo test", "git log | mytool"] {
            assert_eq!(describe_steps(command), Vec::<String>::new(), "{command}");
        }
        for command in ["cd web; cargo test", "cd web && cd sub; cargo test", "cd web || cargo test"] {
            assert!(!describe_steps(command).is_empty(), "{command}");
        }
        assert_eq!(describe_steps("cargo build || cargo test"), ["First runs: cargo build", "Or runs: cargo test"]);
        let without_sandbox = line("cat a && cargo test", CommandSandbox::Unavailable("off".into()));
        assert_eq!(split_steps(&without_sandbox, &parts_of("cat a && cargo test")), None);
    }

    fn bash_output(command: &str) -> (String, Option<i32>) {
        let output = std::process::Command::new("bash").args(["-c", command]).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    }

    fn chain_strategy() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "true",
            "false",
            "echo a",
            "echo b 2>&1",
            "echo c | cat",
            "echo d | tail -n 1 >/dev/null",
            "cat /dev/null",
            "ls /no-such 2>/dev/null",
            "echo $?",
            "echo \"exit: $?\" | cat",
            "printf '%d\\n' $?",
            "test x",
            "test ''",
            "cd /",
        ]);
        let joint = prop::sample::select(vec![" && ", " || ", "; ", "\n", " # x\n"]);
        prop::collection::vec((part, joint), 2..7).prop_map(|items| {
            let mut line = String::new();
            for (index, (part, joint)) in items.iter().enumerate() {
                line.push_str(if index > 0 { joint } else { "" });
                line.push_str(part);
            }
            line
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
        /// The steps print and return the same as the line in one shell.
        #[test]
        fn steps_have_the_result_of_the_line(command in chain_strategy()) {
            let Some(steps) = split_steps(&sandboxed_line(&command), &parts_of(&command)) else { return Ok(()) };
            let (mut output, mut exit) = (String::new(), Some(0));
            for step in &steps {
                if step.is_due(exit) {
                    let (text, code) = bash_output(&step.command_after(exit.unwrap_or(1)));
                    output.push_str(&text);
                    exit = code;
                }
            }
            prop_assert_eq!((output, exit), bash_output(&command), "{}: {:?}", command, steps);
        }
    }
}
