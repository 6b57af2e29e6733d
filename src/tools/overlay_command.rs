//! Decides what a command sees in the overlay sandbox, and explains what was withheld from it.

use super::{read_only_commands, sandbox_hints};
use crate::chat::{Access, CommandLine, CommandSandbox, Plan};
use crate::project::overlay_sandbox::View;
use crate::project::sensitive_files::{Reason, WithheldPath};
use crate::project::shell::CommandOutcome;

/// Messages of git if it cannot read its objects.
const GIT_OBJECT_ERRORS: [&str; 5] =
    ["bad object", "unable to read", "not a git repository", "insufficient permission", "could not read"];

/// Returns what a command sees in the overlay sandbox:
///
/// - If it was approved and needed approval only to read sensitive files of the project: the project with these files,
///   without other secrets.
/// - If it was approved otherwise: the whole disk.
/// - If it runs git and, according to the policy, only reads: the project without secrets, and git's stored content.
/// - Otherwise the project without secrets.
pub(super) fn visible_files(plan: &Plan, line: &CommandLine, is_approved: bool) -> View {
    match &plan.access {
        Access::Run(run) if is_approved && !run.named_secrets.is_empty() => View::Files(run.named_secrets.clone()),
        _ if is_approved => View::Live,
        Access::Read(_) if read_only_commands::runs_git(&line.command) => View::Repository,
        _ => View::WithoutSecrets,
    }
}

/// Returns a line to add to the output of a command that could not open a withheld file, or could not write outside the
/// allowed folders. If `is_hidden` is set, it does not mention the dry run.
pub(super) fn withheld_hint(
    line: &CommandLine,
    outcome: &CommandOutcome,
    withheld: &[WithheldPath],
    is_hidden: bool,
) -> Option<String> {
    let Some(description) = describe_withheld(line, outcome, withheld) else {
        return sandbox_hints::sandbox_hint(line, outcome)
            .or_else(|| write_hint(line, outcome, is_refused(&outcome.output.to_lowercase()) && !is_hidden));
    };
    let open_note = match is_hidden {
        true => "",
        false => " The user can open one to the commands of a dry run by naming its path in the setting dry_run.read.",
    };
    Some(format!("{description}{open_note}"))
}

/// Returns a sentence that names the withheld files because of which the command seems to have failed.
pub(super) fn describe_withheld(
    line: &CommandLine,
    outcome: &CommandOutcome,
    withheld: &[WithheldPath],
) -> Option<String> {
    let output = outcome.output.to_lowercase();
    let is_refused = is_refused(&output);
    let runs_git = || read_only_commands::runs_git(&line.command);
    let is_cause = |withheld_file: &&WithheldPath| match withheld_file.reason {
        Reason::StoredByGit => {
            withheld_file.path.ends_with("objects")
                && outcome.exit != Some(0)
                && (is_refused || contains_any(&output, &GIT_OBJECT_ERRORS))
                && runs_git()
        }
        _ => is_refused && read_only_commands::is_mentioned(withheld_file, &output),
    };
    let causes: Vec<&WithheldPath> = withheld.iter().filter(is_cause).collect();
    if causes.is_empty() {
        return None;
    }
    let files = read_only_commands::list_withheld(&line.folder, &causes);
    Some(format!("Withheld from this command: {files}."))
}

/// Returns whether the output, in lowercase, says that an access was refused. A masked file cannot be deleted or moved
/// either.
fn is_refused(output: &str) -> bool {
    contains_any(output, &sandbox_hints::WRITE_ERRORS) || contains_any(output, &["device or resource busy"])
}

fn contains_any(output: &str, messages: &[&str]) -> bool {
    messages.iter().any(|message| output.contains(message))
}

/// Returns the hint for a failed write if live commands have no sandbox; otherwise that sandbox's hint is used.
fn write_hint(line: &CommandLine, outcome: &CommandOutcome, is_refused: bool) -> Option<String> {
    let is_sandboxed = matches!(line.sandbox, CommandSandbox::Enforced(_));
    (is_refused && !is_sandboxed && outcome.exit != Some(0)).then(|| {
        "This may be caused by the dry run: its commands can write only to the project and the temporary folder. With the setting dry_run.outside = \"overlay\" they can also write to the home folder; those changes stay in the overlay."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;
    use std::time::Duration;

    fn outcome_with(exit: i32, output: &str) -> CommandOutcome {
        CommandOutcome {
            output: output.to_owned(),
            omitted: 0,
            long_output: None,
            exit: Some(exit),
            signal: None,
            timed_out: false,
            exceeded_output: false,
            stopped: false,
            duration: Duration::ZERO,
            changed_paths: Vec::new(),
        }
    }

    fn command_line(command: &str, sandbox: CommandSandbox) -> CommandLine {
        CommandLine { command: command.into(), folder: "/p".into(), sandbox, ..CommandLine::default() }
    }

    #[test]
    fn names_withheld_file_and_how_to_open_it() {
        let withheld = |path: &str, reason| WithheldPath { path: path.into(), reason };
        let withheld_files = [
            withheld("/p/.env", Reason::Sensitive),
            withheld("/p/.git/lfs", Reason::StoredByGit),
            withheld("/p/.git/objects", Reason::StoredByGit),
            withheld("/p/keys/a.pem", Reason::Sensitive),
        ];
        let hint_for = |command: &str, outcome: &CommandOutcome, is_hidden| {
            withheld_hint(&command_line(command, CommandSandbox::Unspecified), outcome, &withheld_files, is_hidden)
        };
        let denied = outcome_with(1, "cat: .env: Permission denied\n");
        assert_eq!(
            hint_for("cat .env", &denied, false).unwrap(),
            "Withheld from this command: .env (may hold secrets or configure other programs). The user can open one to the commands of a dry run by naming its path in the setting dry_run.read."
        );
        let hidden_hint = hint_for("cat .env", &denied, true).unwrap();
        assert!(hidden_hint.contains(".env (") && !hidden_hint.to_lowercase().contains("dry"), "{hidden_hint}");
        assert!(
            hint_for("rm .env", &outcome_with(1, "rm: cannot remove '.env': Device or resource busy\n"), false)
                .is_some()
        );
        // The command line continued after the error.
        assert!(hint_for("cat .env; true", &outcome_with(0, "cat: .env: Permission denied\n"), false).is_some());
        let git = hint_for("git commit -m x", &outcome_with(128, "fatal: bad object HEAD\n"), false).unwrap();
        assert!(git.contains(": .git/objects (holds file contents stored by git"), "{git}");
        assert_eq!(hint_for("make", &outcome_with(1, "fatal: bad object HEAD\n"), false), None);
        assert_eq!(hint_for("cat a", &outcome_with(1, "cat: a: No such file or directory"), false), None);
        assert_eq!(hint_for("cat .env", &outcome_with(0, "the .env file"), false), None);
    }

    #[test]
    fn failed_write_has_the_same_hint_as_live() {
        let sandboxed_line = command_line(
            "touch ~/x",
            CommandSandbox::enforced(SandboxAccess { write: vec!["/tmp".into()], ..SandboxAccess::default() }),
        );
        for message in ["Permission denied", "Read-only file system"] {
            let outcome = outcome_with(1, message);
            assert_eq!(
                withheld_hint(&sandboxed_line, &outcome, &[], true),
                sandbox_hints::sandbox_hint(&sandboxed_line, &outcome)
            );
            assert!(sandbox_hints::sandbox_hint(&sandboxed_line, &outcome).is_some());
            let unsandboxed_line = command_line("touch ~/x", CommandSandbox::Unspecified);
            assert!(withheld_hint(&unsandboxed_line, &outcome, &[], false).unwrap().contains("dry_run.outside"));
            assert_eq!(withheld_hint(&unsandboxed_line, &outcome, &[], true), None);
        }
    }
}
