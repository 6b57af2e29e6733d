//! Commands that run without approval because they only read: which of them do on this machine, and what is reported if
//! the read-only sandbox blocked one.

use super::sandbox_hints::WRITE_ERRORS;
use crate::chat::{Access, CommandAccess, CommandLine, CommandSandbox, Reach};
use crate::policy::command_line;
use crate::project::sensitive_files::{Listing, Withheld};
use crate::project::shell::CommandOutcome;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Command lines that run without approval if there is no sandbox: exactly these, and only while git's settings in the
/// project are plain. None has an operand, so no table of options can be wrong about them.
pub const EXACT_COMMANDS: [&str; 22] = [
    "pwd",
    "ls",
    "ls -a",
    "ls -l",
    "ls -la",
    "ls -al",
    "ls -lh",
    "true",
    "whoami",
    "id",
    "uname",
    "uname -a",
    "uname -s",
    "uname -r",
    "uname -m",
    "arch",
    "nproc",
    "date",
    "git status",
    "git status -s",
    "git status --short",
    "git branch --show-current",
];

/// Commands remembered. Any further one is blocked again instead of asking.
const MAX_REMEMBERED: usize = 1000;
/// Withheld files listed.
const MAX_LISTED: usize = 5;
/// Messages of programs that could not open a file, in addition to those that could not write.
const NOT_OPENED: [&str; 4] = ["cannot open", "can't open", "could not open", "unable to"];

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

    fn contains(&self, command: &str) -> bool {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }
}

/// Returns the final access of a command. One that only reads needs approval if there is no sandbox for it, or if the
/// sandbox blocked it before.
pub fn final_access(access: Access, line: &CommandLine, kept_back: &BlockedCommands) -> Access {
    let is_sandboxed = matches!(line.sandbox, CommandSandbox::Enforced(_));
    let access = match access {
        Access::Read(_) => access,
        // It needs approval like any other: the files it names are opened only inside that sandbox.
        Access::Run(run) if !is_sandboxed || kept_back.contains(&line.command) => {
            return Access::Run(CommandAccess { named_secrets: Vec::new(), ..run });
        }
        access => return access,
    };
    let asks = |why: String, sensitive| {
        Access::Run(CommandAccess {
            line: Box::new(line.clone()),
            reach: Reach::Runs,
            reason: why,
            is_sensitive: sensitive,
            may_disclose: sensitive,
            named_secrets: Vec::new(),
        })
    };
    if kept_back.contains(&line.command) {
        return asks("it needs more than the read-only sandbox allows".to_owned(), true);
    }
    match &line.sandbox {
        CommandSandbox::Unavailable(why) if !EXACT_COMMANDS.contains(&line.command.as_str()) => {
            asks(format!("no sandbox can restrict it to reading ({why})"), false)
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

/// Returns a line to add to the output of a command that the read-only sandbox blocked: which of its files were
/// withheld, and how to read them.
pub fn blocked_hint(line: &CommandLine, paths: &[PathBuf], ran: &CommandOutcome, listing: &Listing) -> Option<String> {
    let CommandSandbox::Enforced(_) = &line.sandbox else { return None };
    let output = ran.output.to_lowercase();
    let is_refused = WRITE_ERRORS.iter().chain(&NOT_OPENED).any(|sign| output.contains(sign));
    if !is_refused && ran.signal != Some(SIGSYS) {
        return None;
    }
    let root = line.folder.as_path();
    let everything = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &everything } else { paths };
    let is_named = |one: &&Withheld| {
        paths
            .iter()
            .map(|path| absolute_path(root, path))
            .any(|path| path.starts_with(&one.path) || one.path.starts_with(&path))
    };
    let all: Vec<&Withheld> = listing.withheld.iter().filter(is_named).collect();
    // Of many files in a folder, only those that the output names.
    let name = |one: &Withheld| one.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let spoken_of = |one: &&Withheld| name(one).is_some_and(|name| output.contains(&name));
    let mut named: Vec<&Withheld> = all.iter().copied().filter(spoken_of).collect();
    if named.is_empty() {
        named = all;
    }
    if named.is_empty() {
        return Some(
            "\nThis may be caused by the read-only sandbox: a command that runs without approval can read the project and system programs, and write nothing. Run the same command again to ask the user to run it outside this sandbox."
                .to_owned(),
        );
    }
    Some(format!(
        "\nWithheld by the read-only sandbox: {}. To read a file, call read_file. To run the command outside this sandbox, call it again: the user is asked.",
        list_withheld(root, &named)
    ))
}

/// Lists the first of these files on one line with the reason for each, and the count of the rest. Paths in the project
/// are relative.
pub(super) fn list_withheld(project: &Path, files: &[&Withheld]) -> String {
    let describe = |file: &&Withheld| {
        let path = file.path.strip_prefix(project).unwrap_or(&file.path);
        format!("{} ({})", path.display().to_string().escape_debug(), file.reason.message())
    };
    let mut parts: Vec<String> = files.iter().take(MAX_LISTED).map(describe).collect();
    if let more @ 1.. = files.len().saturating_sub(MAX_LISTED) {
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

/// Signal that kills a 32-bit program at its first system call.
const SIGSYS: i32 = 31;

/// Returns the absolute path of one that a plan shows.
fn absolute_path(root: &Path, path: &Path) -> PathBuf {
    if path == Path::new(".") { root.to_owned() } else { root.join(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;
    use crate::project::sensitive_files::Reason;
    use std::time::Duration;

    fn line(command: &str, walls: CommandSandbox) -> CommandLine {
        CommandLine { command: command.into(), folder: "/p".into(), sandbox: walls, ..CommandLine::default() }
    }

    fn raised() -> CommandSandbox {
        CommandSandbox::enforced(SandboxAccess::default())
    }

    #[test]
    fn only_exact_lines_run_unapproved_without_sandbox() {
        let absent = || CommandSandbox::Unavailable("this kernel has no Landlock".into());
        let reads = || Access::Read(vec!["a".into()]);
        let known = BlockedCommands::default();
        for command in EXACT_COMMANDS {
            assert_eq!(final_access(reads(), &line(command, absent()), &known), reads(), "{command}");
        }
        for command in ["cat a", "ls ", " ls", "ls .", "ls -laR", "git status .", "git status; cat a", "pwd\ncat a"] {
            let Access::Run(run) = final_access(reads(), &line(command, absent()), &known) else { panic!("{command}") };
            assert!(run.reach == Reach::Runs && run.reason.contains("this kernel has no Landlock"), "{}", run.reason);
            assert_eq!(final_access(reads(), &line(command, raised()), &known), reads());
        }
        // Other access is unchanged.
        let write = Access::Write("a".into());
        assert_eq!(final_access(write.clone(), &line("ls", absent()), &known), write);
    }

    #[test]
    fn exact_lines_have_no_operands_or_shell_syntax() {
        for command in EXACT_COMMANDS {
            let reading = command_line::parse_command_line(command);
            assert!(reading.unclear.is_none() && reading.commands.len() == 1, "{command}");
            let known = ["git", "status", "branch"];
            let simple = &reading.commands[0];
            let words = simple.arguments().iter().map(|word| word.known_text().unwrap());
            let plain =
                |word: &str| word.starts_with('-') || (simple.program() == Some("git") && known.contains(&word));
            assert!(words.into_iter().all(plain) && simple.redirects.is_empty(), "{command}");
        }
    }

    #[test]
    fn blocked_command_needs_approval_the_next_time() {
        let known = BlockedCommands::default();
        let reads = Access::Read(Vec::new());
        known.insert("cat a");
        assert_eq!(final_access(reads.clone(), &line("cat b", raised()), &known), reads);
        let Access::Run(run) = final_access(reads, &line("cat a", raised()), &known) else { panic!("it asks") };
        assert!(run.is_sensitive && run.reason.contains("read-only sandbox"), "{}", run.reason);
    }

    #[test]
    fn opens_named_secrets_only_in_the_sandbox() {
        let named = |walls: CommandSandbox, known: &BlockedCommands| {
            let line = line("cat .env", walls);
            let run = CommandAccess { reach: Reach::Runs, named_secrets: vec![".env".into()], ..line.clone().into() };
            let access = final_access(Access::Run(run), &line, known);
            let opened = sandboxed_paths(&access).map(|(_, opened)| opened.len());
            let Access::Run(run) = access else { panic!("it stays what it is") };
            assert_eq!(opened, Some(run.named_secrets.len()).filter(|count| *count > 0));
            run.named_secrets.len()
        };
        let known = BlockedCommands::default();
        assert_eq!(named(raised(), &known), 1);
        assert_eq!(named(CommandSandbox::Unavailable("it is off".into()), &known), 0);
        assert_eq!(named(CommandSandbox::Unspecified, &known), 0);
        known.insert("cat .env");
        assert_eq!(named(raised(), &known), 0);
        let reads = Access::Read(vec!["a".into()]);
        assert_eq!(sandboxed_paths(&reads), Some((&["a".into()][..], &[][..])));
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
        let withheld = |path: &str, reason| Withheld { path: path.into(), reason };
        let mut all = vec![
            withheld("/p/.env", Reason::Sensitive),
            withheld("/p/docs/kept", Reason::NamesElsewhere),
            withheld("/p/docs/x.pem", Reason::Sensitive),
        ];
        let ran = |exit, output: &str| CommandOutcome {
            output: output.to_owned(),
            omitted: 0,
            exit: Some(exit),
            signal: None,
            timed_out: false,
            exceeded_output: false,
            duration: Duration::ZERO,
            changed_paths: Vec::new(),
        };
        let said = |paths: &[&str], ran: &CommandOutcome, all: &[Withheld]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            let listing = Listing { withheld: all.to_vec(), ..Listing::default() };
            blocked_hint(&line("x", raised()), &paths, ran, &listing)
        };
        let denied = ran(2, "grep: docs/kept: Permission denied\n");
        assert_eq!(
            said(&["."], &denied, &all).unwrap(),
            "\nWithheld by the read-only sandbox: docs/kept (has hard links outside the project). To read a file, call read_file. To run the command outside this sandbox, call it again: the user is asked."
        );
        // If the program does not name the file, all withheld files of the folder are listed.
        let silent = said(&["docs"], &ran(1, "Permission denied\n"), &all).unwrap();
        assert!(
            silent.contains("docs/kept (") && silent.contains("docs/x.pem (") && !silent.contains(".env"),
            "{silent}"
        );
        // A file in a folder that is withheld as a whole.
        let below = said(&[".env/in"], &ran(1, "cat: .env/in: Permission denied"), &all).unwrap();
        assert!(below.contains(": .env (may hold secrets"), "{below}");
        let elsewhere = said(&["src"], &denied, &all).unwrap();
        assert!(elsewhere.contains("may be caused") && !elsewhere.contains("docs"), "{elsewhere}");
        assert_eq!(said(&["."], &ran(1, "no match"), &all), None);
        assert_eq!(said(&["."], &ran(0, "docs/kept"), &all), None);
        all.extend((0..9).map(|number| withheld(&format!("/p/k/{number}.key"), Reason::Sensitive)));
        all.sort();
        assert!(said(&["k"], &ran(1, "permission denied"), &all).unwrap().contains(", 4 more. To read"));
        assert_eq!(blocked_hint(&line("x", CommandSandbox::Unspecified), &[], &denied, &Listing::default()), None);
    }
}
