//! Limits of the parts of a command line that a rule allows in parts.
//!
//! Where there is a sandbox, such a line runs pipeline by pipeline, those that only read in the read-only sandbox, and each is
//! checked again before it runs. Otherwise all run in one shell, and a part that reads must not follow one that may replace a
//! file by a link.

use super::command_line::{ParsedLine, SimpleCommand, Word, parse_command_line};
use super::coverage::single_plain_command;
use super::effects::analyze_effects;
use super::grammar::{self, ValueKind};
use super::neutral_wrappers::has_neutral_wrapping;
use crate::chat::Reach;

/// Programs that may filter the output of other parts, or print their arguments.
#[rustfmt::skip]
const INPUT_READERS: &[&str] = &[
    "head", "tail", "grep", "egrep", "fgrep", "wc", "sort", "uniq", "cut", "tr", "cat", "nl", "echo", "printf", "true",
    "false", ":", "pwd", "column", "rev", "tac", "fold", "expand", "paste",
];
/// Words in a filter of `jq` with which its result depends on more than its input.
const WIDER_JQ_WORDS: &[&str] = &["input_filename", "get_search_list", "__prog"];
/// Builtins of bash. Some change the shell in which the following parts run, and a rule for one says nothing about that.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    ".", ":", "[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen", "complete", "compopt",
    "continue", "coproc", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc",
    "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf",
    "pushd", "pwd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "test",
    "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
];
/// Programs, and their first arguments, that run code of the project anyway: a file that an earlier part changed gives
/// them nothing more. No argument is required for those without a list.
const CODE_RUNNERS: &[(&str, &[&str])] = &[
    ("cargo", &["test", "build", "check", "clippy", "run", "bench", "nextest"]),
    ("npm", &["test", "run"]),
    ("pnpm", &["test", "run"]),
    ("yarn", &["test", "run", "build"]),
    ("bun", &["test"]),
    ("go", &["test", "build", "vet"]),
    ("mix", &["test", "compile"]),
    ("dotnet", &["test", "build"]),
    ("make", &[]),
    ("gmake", &[]),
    ("just", &[]),
    ("pytest", &[]),
    ("tox", &[]),
    ("nox", &[]),
    ("gradle", &[]),
    ("mvn", &[]),
    ("rake", &[]),
    ("jest", &[]),
    ("vitest", &[]),
    ("phpunit", &[]),
    ("ctest", &[]),
];
/// Options of `git add` and `git commit` that read no file and start no editor.
const PLAIN_GIT_OPTIONS: &[&str] =
    &["-m", "-am", "-a", "-A", "-u", "-q", "-v", "--all", "--message", "--quiet", "--no-edit", "--update"];

/// Returns whether a command that is known to only read opens no file, so that its result depends on its words and its
/// input alone.
pub fn reads_only_input(command: &str) -> bool {
    let effects = analyze_effects(&parse_command_line(command));
    effects.reach == Reach::Reads && effects.touches.is_empty() && is_plain_reader(command, true)
}

/// Returns whether a command is `sed` or `jq` with a script that is known to only print, and without files, so that its
/// result depends on the script and its input alone.
pub fn prints_by_script(command: &str) -> bool {
    let parsed_line = parse_command_line(command);
    let effects = analyze_effects(&parsed_line);
    let [simple] = parsed_line.commands.as_slice() else { return false };
    let is_wider = |word: &Word| WIDER_JQ_WORDS.iter().any(|wider| word.display_text().contains(wider));
    let is_plain_script = match written_name(simple) {
        Some("sed") => true,
        Some("jq") => !simple.arguments().iter().any(is_wider),
        _ => false,
    };
    effects.reach == Reach::Reads && effects.touches.is_empty() && is_plain_script && has_plain_words(simple)
}

/// Returns whether a command that is known to only read, and is none of git, may read files outside the read-only sandbox.
/// `has_input` is whether it reads the output of another command, which may not choose the files.
pub fn is_plain_reader(command: &str, has_input: bool) -> bool {
    let parsed_line = parse_command_line(command);
    let [simple] = parsed_line.commands.as_slice() else { return false };
    written_name(simple).is_some_and(|name| !has_input || INPUT_READERS.contains(&name)) && has_plain_words(simple)
}

/// Returns whether a line is one command whose words are all known or file-name patterns.
pub fn has_known_words_or_patterns(command: &str) -> bool {
    let mut parsed_line = parse_command_line(command);
    let [simple] = parsed_line.commands.as_mut_slice() else { return false };
    simple.words.retain(|word| !matches!(word, Word::Pattern(_)));
    has_plain_words(simple)
}

/// Returns whether a line has a word that the shell replaces by the names of files.
pub(super) fn has_pattern(parsed_line: &ParsedLine) -> bool {
    let mut words = parsed_line.commands.iter().flat_map(|simple| &simple.words);
    words.any(|word| matches!(word, Word::Pattern(_)))
}

/// Returns whether all words of a command are known, and no option names a file with the names of others.
fn has_plain_words(simple: &SimpleCommand) -> bool {
    // Such files are not checked; only the read-only sandbox withholds them.
    let has_list = |name: &str| {
        grammar::program_named(name).is_some_and(|program| {
            let arguments = grammar::parse_arguments(program, simple.arguments());
            arguments.options.iter().any(|option| option.option.value.is_kind(&[ValueKind::List]))
        })
    };
    let prints_words = matches!(written_name(simple), Some("echo" | "printf"));
    written_name(simple).is_some_and(|name| !has_list(name))
        && has_neutral_wrapping(simple)
        // The values of variables and the home folder may differ outside the read-only sandbox.
        && simple.words.iter().all(|word| {
            word.known_text().is_some() || prints_words && word.with_zero_status().is_some()
        })
}

/// Returns whether bash runs a command of this name itself, whatever `PATH` is.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Returns why no rule or grant may allow this command as a part; `None` if one may. `is_in_other_repository` is that of
/// [`crate::chat::CommandPart`].
pub(super) fn explain_excluded_part(parsed_line: &ParsedLine, is_in_other_repository: bool) -> Option<String> {
    let unknown = || Some("its program is not known".to_owned());
    let [simple] = parsed_line.commands.as_slice() else { return unknown() };
    let Some(name) = written_name(simple) else { return unknown() };
    if is_builtin(name) {
        return Some(format!("{name} may change the shell for the other parts"));
    }
    // Its settings may name programs.
    (is_in_other_repository && simple.program() == Some("git")).then(|| "git runs in another repository".to_owned())
}

/// Returns whether a command may follow one that changes files. It may if it runs code of the project anyway, or uses
/// files without showing them.
pub(super) fn is_independent_of_changes(parsed_line: &ParsedLine) -> bool {
    let Some(simple) = single_plain_command(parsed_line) else { return false };
    let Some(name) = written_name(simple) else { return false };
    let words: Vec<&str> = simple.arguments().iter().map(Word::display_text).collect();
    let first = words.first().copied().unwrap_or_default();
    let is_plain_option = |word: &&str| !word.starts_with('-') || PLAIN_GIT_OPTIONS.contains(word);
    match (name, first) {
        ("git", "add" | "commit") => words[1..].iter().all(is_plain_option),
        ("cargo", "fmt") => words[1..].iter().all(|word| matches!(*word, "--all" | "--check")),
        _ => runs_project_code(parsed_line),
    }
}

/// Returns whether a command runs code of the project.
fn runs_project_code(parsed_line: &ParsedLine) -> bool {
    let Some(simple) = single_plain_command(parsed_line) else { return false };
    let Some(name) = written_name(simple) else { return false };
    let first = simple.arguments().first().map(Word::display_text).unwrap_or_default();
    let runs_code = |(program, subcommands): &(&str, &[&str])| {
        *program == name && (subcommands.is_empty() || subcommands.contains(&first))
    };
    CODE_RUNNERS.iter().any(runs_code)
}

/// Returns whether a command creates at most empty files and folders, so that it changes nothing that later parts use.
pub(super) fn creates_empty_files(parsed_line: &ParsedLine) -> bool {
    let name = single_plain_command(parsed_line).and_then(written_name);
    matches!(name, Some("mkdir" | "touch"))
}

/// Returns the name of the program as written: with a slash in it, it may be any program.
fn written_name(simple: &SimpleCommand) -> Option<&str> {
    simple.words.first().and_then(Word::known_text)
}
