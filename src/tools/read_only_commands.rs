//! Commands that run without approval because they only read: which ones qualify on this machine, and the hint for a
//! command that the read-only sandbox blocked.

use super::sandbox_hints::WRITE_ERRORS;
use crate::chat::{Access, CommandAccess, CommandLine, CommandSandbox, Reach};
use crate::policy::command_line;
use crate::project::sensitive_files::{Listing, WithheldPath};
use crate::project::shell::CommandOutcome;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Command lines that run without approval if there is no sandbox: exactly these, and only while git's settings in the
/// project are plain. None has an operand, so no table of options can be wrong about them.
#[rustfmt::skip]
pub const EXACT_COMMANDS: [&str; 22] = [
    "pwd", "ls", "ls -a", "ls -l", "ls -la", "ls -al", "ls -lh", "true", "whoami", "id", "uname", "uname -a",
    "uname -s", "uname -r", "uname -m", "arch", "nproc", "date", "git status", "git status -s", "git status --short",
    "git branch --show-current",
];

/// Maximum number of commands remembered. Any further command is blocked again instead of needing approval.
const MAX_REMEMBERED: usize = 1000;
/// Number of withheld files that are listed.
const MAX_LISTED: usize = 5;
/// Messages of programs that could not open a file, in addition to those that could not write.
const OPEN_ERRORS: [&str; 4] = ["cannot open", "can't open", "could not open", "unable to"];

/// Commands that the read-only sandbox blocked.
#[derive(Default)]
pub struct BlockedCommands {
    commands: Mutex<HashSet<String>>,
}

impl BlockedCommands {
    pub fn insert(&self, command: &str) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if commands.len() < MAX_REMEMBERED {
            commands.insert(command.to_owned());
        }
    }

    pub fn contains(&self, command: &str) -> bool {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }
}

/// Returns the final access of a command. One that only reads needs approval if there is no sandbox for it, or if the
/// sandbox blocked it before.
pub fn final_access(access: Access, line: &CommandLine, blocked: &BlockedCommands) -> Access {
    let is_sandboxed = matches!(line.sandbox, CommandSandbox::Enforced(_));
    let access = match access {
        Access::Read(_) => access,
        // Named secrets are opened only inside the read-only sandbox: without it, the command needs approval like any
        // other.
        Access::Run(run) if !is_sandboxed || blocked.contains(&line.command) => {
            return Access::Run(CommandAccess { named_secrets: Vec::new(), ..run });
        }
        access => return access,
    };
    let ask_access = |why: String, is_sensitive| {
        Access::Run(CommandAccess {
            line: Box::new(line.clone()),
            reach: Reach::Runs,
            reason: why,
            is_sensitive,
            may_disclose: is_sensitive,
            named_secrets: Vec::new(),
        })
    };
    if blocked.contains(&line.command) {
        return ask_access("it needs more than the read-only sandbox allows".to_owned(), true);
    }
    match &line.sandbox {
        CommandSandbox::Unavailable(why) if !EXACT_COMMANDS.contains(&line.command.as_str()) => {
            ask_access(format!("no sandbox can restrict it to reading ({why})"), false)
        }
        CommandSandbox::Unavailable(_) | CommandSandbox::Unspecified | CommandSandbox::Enforced(_) => access,
    }
}

/// Returns the paths that a command reads, and the files that are opened for it in addition, if it runs in the
/// read-only sandbox.
pub fn sandboxed_paths(access: &Access) -> Option<(&[PathBuf], &[PathBuf])> {
    match access {
        Access::Read(paths) => Some((paths, &[])),
        Access::Run(run) if !run.named_secrets.is_empty() => Some((&run.named_secrets, &run.named_secrets)),
        _ => None,
    }
}

/// Returns whether the command runs git, which reads the project's `.git`.
pub fn runs_git(command: &str) -> bool {
    command_line::parse_command_line(command).commands.iter().any(|simple| simple.program() == Some("git"))
}

/// Returns a line to add to the output of a command that the read-only sandbox seems to have blocked: which of its
/// files were withheld, and how to read them. `None` if neither the output nor the signal indicates that.
pub fn blocked_hint(
    line: &CommandLine,
    paths: &[PathBuf],
    outcome: &CommandOutcome,
    listing: &Listing,
) -> Option<String> {
    let CommandSandbox::Enforced(_) = &line.sandbox else { return None };
    let output = outcome.output.to_lowercase();
    let is_refused = WRITE_ERRORS.iter().chain(&OPEN_ERRORS).any(|message| output.contains(message));
    if !is_refused && outcome.signal != Some(SIGSYS) {
        return None;
    }
    let root = line.folder.as_path();
    let everything = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &everything } else { paths };
    let is_named = |withheld_file: &&WithheldPath| {
        paths
            .iter()
            .map(|path| root.join(path))
            .any(|path| path.starts_with(&withheld_file.path) || withheld_file.path.starts_with(&path))
    };
    let relevant: Vec<&WithheldPath> = listing.withheld.iter().filter(is_named).collect();
    // Of these, only the files that the output names are listed; all of them if it names none.
    let mut listed: Vec<&WithheldPath> =
        relevant.iter().copied().filter(|withheld_file| is_mentioned(withheld_file, &output)).collect();
    if listed.is_empty() {
        listed = relevant;
    }
    if listed.is_empty() {
        return Some(
            "This may be caused by the read-only sandbox: a command that runs without approval can read the project and system programs, and write nothing. Run the same command again to ask the user to run it outside this sandbox."
                .to_owned(),
        );
    }
    Some(format!(
        "Withheld by the read-only sandbox: {}. To read a file, call read_file. To run the command outside this sandbox, call it again: the user is asked.",
        list_withheld(root, &listed)
    ))
}

/// Returns whether an output in lowercase contains the name of this file.
pub(super) fn is_mentioned(withheld_file: &WithheldPath, output: &str) -> bool {
    let name = withheld_file.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    name.is_some_and(|name| output.contains(&name))
}

/// Lists the first of these files on one line with the reason for each, and the count of the rest. Paths in the project
/// are relative.
pub(super) fn list_withheld(project: &Path, files: &[&WithheldPath]) -> String {
    let describe = |file: &&WithheldPath| {
        let path = file.path.strip_prefix(project).unwrap_or(&file.path);
        format!("{} ({})", path.display().to_string().escape_debug(), file.reason)
    };
    let mut parts: Vec<String> = files.iter().take(MAX_LISTED).map(describe).collect();
    if let remaining @ 1.. = files.len().saturating_sub(MAX_LISTED) {
        parts.push(format!("{remaining} more"));
    }
    parts.join(", ")
}

/// Signal that kills a 32-bit program at its first system call.
const SIGSYS: i32 = 31;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;
    use crate::project::sensitive_files::Reason;
    use std::time::Duration;

    fn command_line_in(command: &str, sandbox: CommandSandbox) -> CommandLine {
        CommandLine { command: command.into(), folder: "/p".into(), sandbox, ..CommandLine::default() }
    }

    fn enforced_sandbox() -> CommandSandbox {
        CommandSandbox::enforced(SandboxAccess::default())
    }

    #[test]
    fn only_exact_lines_run_unapproved_without_sandbox() {
        let unavailable = || CommandSandbox::Unavailable("this kernel has no Landlock".into());
        let read_access = || Access::Read(vec!["a".into()]);
        let blocked = BlockedCommands::default();
        for command in EXACT_COMMANDS {
            assert_eq!(
                final_access(read_access(), &command_line_in(command, unavailable()), &blocked),
                read_access(),
                "{command}"
            );
        }
        for command in ["cat a", "ls ", " ls", "ls .", "ls -laR", "git status .", "git status; cat a", "pwd\ncat a"] {
            let Access::Run(run) = final_access(read_access(), &command_line_in(command, unavailable()), &blocked)
            else {
                panic!("{command}")
            };
            assert!(run.reach == Reach::Runs && run.reason.contains("this kernel has no Landlock"), "{}", run.reason);
            assert_eq!(
                final_access(read_access(), &command_line_in(command, enforced_sandbox()), &blocked),
                read_access()
            );
        }
        // Other access is unchanged.
        let write = Access::Write("a".into());
        assert_eq!(final_access(write.clone(), &command_line_in("ls", unavailable()), &blocked), write);
    }

    #[test]
    fn manual_lists_the_exact_lines() {
        let page = include_str!("../../docs/sandbox.md");
        let listed: Vec<String> = EXACT_COMMANDS.iter().map(|command| format!("`{command}`")).collect();
        let intro = format!("only {} exact command lines run without approval", listed.len());
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&intro) && page.contains(&listed.join(", ")), "{listed:?}");
    }

    #[test]
    fn exact_lines_have_no_operands_or_shell_syntax() {
        for command in EXACT_COMMANDS {
            let parsed_line = command_line::parse_command_line(command);
            assert!(parsed_line.unclear.is_none() && parsed_line.commands.len() == 1, "{command}");
            let git_words = ["git", "status", "branch"];
            let simple = &parsed_line.commands[0];
            let words = simple.arguments().iter().map(|word| word.known_text().unwrap());
            let is_harmless =
                |word: &str| word.starts_with('-') || (simple.program() == Some("git") && git_words.contains(&word));
            assert!(words.into_iter().all(is_harmless) && simple.redirects.is_empty(), "{command}");
        }
    }

    #[test]
    fn blocked_command_needs_approval_the_next_time() {
        let blocked = BlockedCommands::default();
        let read_access = Access::Read(Vec::new());
        blocked.insert("cat a");
        assert_eq!(
            final_access(read_access.clone(), &command_line_in("cat b", enforced_sandbox()), &blocked),
            read_access
        );
        let Access::Run(run) = final_access(read_access, &command_line_in("cat a", enforced_sandbox()), &blocked)
        else {
            panic!("it asks")
        };
        assert!(run.is_sensitive && run.reason.contains("read-only sandbox"), "{}", run.reason);
    }

    #[test]
    fn opens_named_secrets_only_in_the_sandbox() {
        let count_named_secrets = |sandbox: CommandSandbox, blocked: &BlockedCommands| {
            let line = command_line_in("cat .env", sandbox);
            let run = CommandAccess { reach: Reach::Runs, named_secrets: vec![".env".into()], ..line.clone().into() };
            let access = final_access(Access::Run(run), &line, blocked);
            let opened_count = sandboxed_paths(&access).map(|(_, opened)| opened.len());
            let Access::Run(run) = access else { panic!("it stays what it is") };
            assert_eq!(opened_count, Some(run.named_secrets.len()).filter(|count| *count > 0));
            run.named_secrets.len()
        };
        let blocked = BlockedCommands::default();
        assert_eq!(count_named_secrets(enforced_sandbox(), &blocked), 1);
        assert_eq!(count_named_secrets(CommandSandbox::Unavailable("it is off".into()), &blocked), 0);
        assert_eq!(count_named_secrets(CommandSandbox::Unspecified, &blocked), 0);
        blocked.insert("cat .env");
        assert_eq!(count_named_secrets(enforced_sandbox(), &blocked), 0);
        let read_access = Access::Read(vec!["a".into()]);
        assert_eq!(sandboxed_paths(&read_access), Some((&["a".into()][..], &[][..])));
        assert_eq!(sandboxed_paths(&Access::Write("a".into())), None);
    }

    #[test]
    fn detects_commands_that_run_git() {
        for command in ["git status", "cd x && git log", "/usr/bin/git diff | head", "true; $(git log)"] {
            assert!(runs_git(command), "{command}");
        }
        for command in ["cat .git/config", "echo git", "grep -r git ."] {
            assert!(!runs_git(command), "{command}");
        }
    }

    #[test]
    fn names_withheld_files_and_how_to_read_them() {
        let withheld = |path: &str, reason| WithheldPath { path: path.into(), reason };
        let mut withheld_files = vec![
            withheld("/p/.env", Reason::Sensitive),
            withheld("/p/docs/kept", Reason::HardLinkedOutside),
            withheld("/p/docs/x.pem", Reason::Sensitive),
        ];
        let outcome_with = |exit, output: &str| CommandOutcome {
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
        };
        let hint_for = |paths: &[&str], outcome: &CommandOutcome, all: &[WithheldPath]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            let listing = Listing { withheld: all.to_vec(), ..Listing::default() };
            blocked_hint(&command_line_in("x", enforced_sandbox()), &paths, outcome, &listing)
        };
        let denied_outcome = outcome_with(2, "grep: docs/kept: Permission denied\n");
        assert_eq!(
            hint_for(&["."], &denied_outcome, &withheld_files).unwrap(),
            "Withheld by the read-only sandbox: docs/kept (has hard links outside the project). To read a file, call read_file. To run the command outside this sandbox, call it again: the user is asked."
        );
        // If the program does not name the file, all withheld files of the folder are listed.
        let unnamed_hint = hint_for(&["docs"], &outcome_with(1, "Permission denied\n"), &withheld_files).unwrap();
        assert!(
            unnamed_hint.contains("docs/kept (")
                && unnamed_hint.contains("docs/x.pem (")
                && !unnamed_hint.contains(".env"),
            "{unnamed_hint}"
        );
        // A file in a folder that is withheld as a whole.
        let folder_hint =
            hint_for(&[".env/in"], &outcome_with(1, "cat: .env/in: Permission denied"), &withheld_files).unwrap();
        assert!(folder_hint.contains(": .env (may hold secrets"), "{folder_hint}");
        let other_hint = hint_for(&["src"], &denied_outcome, &withheld_files).unwrap();
        assert!(other_hint.contains("may be caused") && !other_hint.contains("docs"), "{other_hint}");
        assert_eq!(hint_for(&["."], &outcome_with(1, "no match"), &withheld_files), None);
        assert_eq!(hint_for(&["."], &outcome_with(0, "docs/kept"), &withheld_files), None);
        withheld_files.extend((0..9).map(|number| withheld(&format!("/p/k/{number}.key"), Reason::Sensitive)));
        withheld_files.sort();
        assert!(
            hint_for(&["k"], &outcome_with(1, "permission denied"), &withheld_files)
                .unwrap()
                .contains(", 4 more. To read")
        );
        assert_eq!(
            blocked_hint(&command_line_in("x", CommandSandbox::Unspecified), &[], &denied_outcome, &Listing::default()),
            None
        );
    }
}
