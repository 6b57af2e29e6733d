//! Table of the commands, used for parsing and for help.

/// A command or subcommand.
#[derive(Debug)]
pub struct Command {
    /// Words typed after the program's name: the command and, if any, its subcommand.
    pub name: &'static [&'static str],
    /// Arguments, in the notation of the help.
    pub arguments: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Options of this command by long name, each with its description.
    pub options: &'static [(&'static str, &'static str)],
}

const FOLDER: (&str, &str) = ("folder", "Use this folder instead of the current one");
const YES: (&str, &str) = ("yes", "Do not ask for confirmation");
const GRANTS_OF_LAST: (&str, &str) = ("continue", "Include the grants of the last session of this folder");
const GRANTS_OF_SESSION: (&str, &str) = ("resume", "Include the grants of this session");
const PROFILE: (&str, &str) = ("profile", "Use the provider of this profile");
const ADDRESS: (&str, &str) = ("base-url", "Use the provider at this address, with the key of the profile in use");
const MODE: (&str, &str) = ("mode", "Judge as in this mode");
const DRY_RUN: (&str, &str) = ("dry-run", "Judge as in a dry run");

const fn json_option(what: &'static str) -> (&'static str, &'static str) {
    ("json", what)
}

const fn command(
    name: &'static [&'static str],
    takes: &'static str,
    about: &'static str,
    options: &'static [(&'static str, &'static str)],
) -> Command {
    Command { name, arguments: takes, about, options }
}

/// All commands, each followed by its subcommands.
#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    command(&["sessions"], "", "List, search and manage sessions [default: list]", &[]),
    command(&["sessions", "list"], "", "List the sessions of this folder",
        &[("all", "List the sessions of all folders"), json_option("Print one JSON object per session"), FOLDER]),
    command(&["sessions", "show"], "[ID]", "Print a session as plain text [default: the last of this folder]", &[FOLDER]),
    command(&["sessions", "search"], "WORDS...", "Search the messages of all sessions",
        &[("here", "Search only the sessions of this folder"), json_option("Print one JSON object per match"), FOLDER]),
    command(&["sessions", "rename"], "ID NAME...", "Rename a session", &[]),
    command(&["sessions", "rm"], "ID...", "Delete sessions and all their files", &[YES]),
    command(&["sessions", "fork"], "ID", "Copy a session; the original is unchanged", &[]),
    command(&["sessions", "export"], "[ID]", "Export a session as Markdown, HTML or JSON, with secrets of known forms redacted", &[
        ("format", "Output format: markdown, html or json [default: markdown]"),
        ("output", "Write to this file, which must not exist"),
        ("force", "With --output: overwrite an existing file"), FOLDER,
    ]),
    command(&["rehearsal"], "", "Show, apply or discard the changes of a dry run [default: show]", &[]),
    command(&["rehearsal", "show"], "[ID]", "Show the changes and commands of a dry run [default: the last of this folder]", &[json_option("Print one JSON object"), FOLDER]),
    command(&["rehearsal", "diff"], "[ID] [PATH]", "Print the changes of a dry run, or of one path, as a patch",
        &[json_option("Print one JSON object"), FOLDER]),
    command(&["rehearsal", "apply"], "[ID]", "Apply the changes of a dry run, with an approval prompt for each group",
        &[("hunks", "Ask for each hunk of each file instead of each group"),
        ("ignored", "Include files ignored by git"),
        ("commands", "Run the commands of the overlay sandbox again"), FOLDER]),
    command(&["rehearsal", "drop"], "[ID]", "Discard the changes of a dry run and keep the session", &[YES, FOLDER]),
    command(&["rules"], "", "List, check and explain the rules that allow, ask and deny [default: list]", &[]),
    command(&["rules", "list"], "", "List the rules in effect here and the expired ones",
        &[json_option("Print one JSON object per rule"), FOLDER]),
    command(&["rules", "check"], "", "Report errors in the rules. The exit code is 2 if there are any",
        &[json_option("Print one JSON object per problem"), FOLDER]),
    command(&["rules", "explain"], "'COMMAND'", "Explain step by step how a command is judged",
        &[json_option("Print one JSON object per step"), GRANTS_OF_LAST, GRANTS_OF_SESSION, MODE, DRY_RUN, FOLDER]),
    command(&["rules", "trust"], "", "Same as aye trust", &[FOLDER]),
    command(&["rules", "untrust"], "", "Same as aye untrust", &[FOLDER]),
    command(&["audit"], "[ID]", "List the calls of a session with their approvals and outcomes [default: the last one]", &[json_option("Print one JSON object per call"), FOLDER]),
    command(&["trust"], "", "Review the instructions and rules of the project in this folder, and trust them", &[FOLDER]),
    command(&["trust", "list"], "", "List the trusted files of all projects", &[json_option("Print one JSON object per file")]),
    command(&["untrust"], "", "Revoke trust in the project in this folder", &[FOLDER]),
    command(&["models"], "", "List the provider's models", &[json_option("Print one JSON object per model"), PROFILE, ADDRESS]),
    command(&["doctor"], "", "Check settings, keys, model, terminal and sandbox, and suggest fixes",
        &[json_option("Print one JSON object per finding"),
        ("bundle", "Write a bug report to this file, without keys and message content. Without FILE, to a new file in this \
        folder"), PROFILE, ADDRESS, FOLDER]),
];

/// Returns the names of the commands.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(|command| match command.name {
        [name] => Some(*name),
        _ => None,
    })
}

/// Returns the subcommands of a command.
pub fn subcommand_names(of: &str) -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(move |command| match command.name {
        [name, verb] if *name == of => Some(*verb),
        _ => None,
    })
}
