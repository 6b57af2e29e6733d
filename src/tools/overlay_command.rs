//! Runs a command in the overlay sandbox, and explains what was withheld from it.

use super::{RehearsalContext, read_only_commands, sandbox_hints};
use crate::chat::{Access, CommandLine, CommandSandbox, Plan};
use crate::project::overlay_sandbox::{OverlayShell, View};
use crate::project::sensitive_files::{Reason, Withheld};
use crate::project::shell::CommandOutcome;
use crate::project::{self};

/// Messages of git if it cannot read its objects.
const NOT_FOUND: [&str; 5] =
    ["bad object", "unable to read", "not a git repository", "insufficient permission", "could not read"];

/// Runs a command in the overlay sandbox. If it was approved for the sensitive files that it names, it sees those in
/// addition, and nothing else of the disk.
pub(super) async fn run_in_overlay(
    shell: &OverlayShell,
    plan: &Plan,
    line: &CommandLine,
    stage: &RehearsalContext,
) -> Result<CommandOutcome, project::Error> {
    match &plan.access {
        Access::Run(run) if stage.is_approved && !run.named_secrets.is_empty() => {
            shell.run_with_open_files(line, &run.named_secrets, &*stage.progress).await
        }
        _ => shell.run_in_overlay(line, visible_files(plan, line, stage.is_approved), &*stage.progress).await,
    }
}

/// Returns what a command sees: the whole disk if the user approved it; git's objects too if the policy judged it as
/// reading and they hold no possible secrets.
fn visible_files(plan: &Plan, line: &CommandLine, approved: bool) -> View {
    match plan.access {
        _ if approved => View::Live,
        Access::Read(_) if read_only_commands::runs_git(&line.command) => View::Repository,
        _ => View::Hidden,
    }
}

/// Returns a line to add to the output of a command that could not open a withheld file, or could not write outside the
/// allowed folders. With `untold` it does not mention the dry run.
pub(super) fn withheld_hint(
    line: &CommandLine,
    ran: &CommandOutcome,
    withheld: &[Withheld],
    untold: bool,
) -> Option<String> {
    let output = ran.output.to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
    // A masked file cannot be deleted or moved either.
    let is_refused = says(&sandbox_hints::WRITE_ERRORS) || says(&["device or resource busy"]);
    let name = |one: &Withheld| one.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let runs_git = || read_only_commands::runs_git(&line.command);
    let is_why = |one: &&Withheld| match one.reason {
        Reason::StoredByGit => {
            one.path.ends_with("objects") && ran.exit != Some(0) && (is_refused || says(&NOT_FOUND)) && runs_git()
        }
        _ => is_refused && name(one).is_some_and(|name| output.contains(&name)),
    };
    let named: Vec<&Withheld> = withheld.iter().filter(is_why).collect();
    if named.is_empty() {
        return sandbox_hints::sandbox_hint(line, ran).or_else(|| write_hint(line, ran, is_refused && !untold));
    }
    let open = match untold {
        true => "",
        false => " The user can open one to the commands of a dry run by naming its path in the setting dry_run.read.",
    };
    let files = read_only_commands::list_withheld(&line.folder, &named);
    Some(format!("\nWithheld from this command: {files}.{open}"))
}

/// Returns the hint for a failed write if live commands have no sandbox; otherwise that sandbox's hint is used.
fn write_hint(line: &CommandLine, ran: &CommandOutcome, is_refused: bool) -> Option<String> {
    let walled = matches!(line.sandbox, CommandSandbox::Enforced(_));
    (is_refused && !walled && ran.exit != Some(0)).then(|| {
        "\nThis may be caused by the dry run: its commands can write only to the project and the temporary folder. With the setting dry_run.outside = \"overlay\" they can also write to the home folder; those changes stay in the overlay."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;
    use std::time::Duration;

    fn ran(exit: i32, output: &str) -> CommandOutcome {
        CommandOutcome {
            output: output.to_owned(),
            omitted: 0,
            exit: Some(exit),
            signal: None,
            timed_out: false,
            exceeded_output: false,
            duration: Duration::ZERO,
            changed_paths: Vec::new(),
        }
    }

    fn line(command: &str, walls: CommandSandbox) -> CommandLine {
        CommandLine { command: command.into(), folder: "/p".into(), sandbox: walls, ..CommandLine::default() }
    }

    #[test]
    fn names_withheld_file_and_how_to_open_it() {
        let withheld = |path: &str, reason| Withheld { path: path.into(), reason };
        let all = [
            withheld("/p/.env", Reason::Sensitive),
            withheld("/p/.git/lfs", Reason::StoredByGit),
            withheld("/p/.git/objects", Reason::StoredByGit),
            withheld("/p/keys/a.pem", Reason::Sensitive),
        ];
        let said = |command: &str, ran: &CommandOutcome, untold| {
            withheld_hint(&line(command, CommandSandbox::Unspecified), ran, &all, untold)
        };
        let denied = ran(1, "cat: .env: Permission denied\n");
        assert_eq!(
            said("cat .env", &denied, false).unwrap(),
            "\nWithheld from this command: .env (may hold secrets or configure other programs). The user can open one to the commands of a dry run by naming its path in the setting dry_run.read."
        );
        let untold = said("cat .env", &denied, true).unwrap();
        assert!(untold.contains(".env (") && !untold.to_lowercase().contains("dry"), "{untold}");
        assert!(said("rm .env", &ran(1, "rm: cannot remove '.env': Device or resource busy\n"), false).is_some());
        // The command line continued after the error.
        assert!(said("cat .env; true", &ran(0, "cat: .env: Permission denied\n"), false).is_some());
        let git = said("git commit -m x", &ran(128, "fatal: bad object HEAD\n"), false).unwrap();
        assert!(git.contains(": .git/objects (holds file contents stored by git"), "{git}");
        assert_eq!(said("make", &ran(1, "fatal: bad object HEAD\n"), false), None);
        assert_eq!(said("cat a", &ran(1, "cat: a: No such file or directory"), false), None);
        assert_eq!(said("cat .env", &ran(0, "the .env file"), false), None);
    }

    #[test]
    fn failed_write_has_the_same_hint_as_live() {
        let walled = line(
            "touch ~/x",
            CommandSandbox::enforced(SandboxAccess { write: vec!["/tmp".into()], ..SandboxAccess::default() }),
        );
        for refused in ["Permission denied", "Read-only file system"] {
            let ran = ran(1, refused);
            assert_eq!(withheld_hint(&walled, &ran, &[], true), sandbox_hints::sandbox_hint(&walled, &ran));
            assert!(sandbox_hints::sandbox_hint(&walled, &ran).is_some());
            let open = line("touch ~/x", CommandSandbox::Unspecified);
            assert!(withheld_hint(&open, &ran, &[], false).unwrap().contains("dry_run.outside"));
            assert_eq!(withheld_hint(&open, &ran, &[], true), None);
        }
    }
}
