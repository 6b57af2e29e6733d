//! Every command that may stand in place of words for a model: one table, from which comes what is known and what the
//! help says.

/// A command, or what one does.
#[derive(Debug)]
pub struct Command {
    /// What is typed behind the program's name: the command, and what it does where it does more than one thing.
    pub name: &'static [&'static str],
    /// What may follow, as the help writes it.
    pub takes: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The options that belong to it, by their long names, each with what it does here.
    pub options: &'static [(&'static str, &'static str)],
}

const FOLDER: (&str, &str) = ("folder", "Of this folder");
const YES: (&str, &str) = ("yes", "Do not ask");
const COUNTED: (&str, &str) = ("continue", "Count what was allowed in the last session of this folder");
const RESUMED: (&str, &str) = ("resume", "Count what was allowed in this session");
const PROFILE: (&str, &str) = ("profile", "Of the service of this profile");
const ADDRESS: (&str, &str) =
    ("base-url", "Of the provider at this address, with the key of the profile in use");
const MODE: (&str, &str) = ("mode", "As it would be in this mode");
const DRY: (&str, &str) = ("dry-run", "As it would be in a dry run");

const fn json(what: &'static str) -> (&'static str, &'static str) {
    ("json", what)
}

const fn command(
    name: &'static [&'static str],
    takes: &'static str,
    about: &'static str,
    options: &'static [(&'static str, &'static str)],
) -> Command {
    Command { name, takes, about, options }
}

/// All of them; what a command does stands behind it.
#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    command(&["sessions"], "", "Looks after the sessions. Alone it lists those of this folder", &[]),
    command(&["sessions", "list"], "", "Lists the sessions of this folder",
        &[("all", "Those of every folder"), json("One session per line"), FOLDER]),
    command(&["sessions", "show"], "[ID]", "Shows one, plain: the last of this folder where none is named", &[FOLDER]),
    command(&["sessions", "search"], "WORDS...", "Finds what was said, in every folder",
        &[("here", "In the sessions of this folder alone"), json("One find per line"), FOLDER]),
    command(&["sessions", "rename"], "ID NAME...", "Names one", &[]),
    command(&["sessions", "rm"], "ID...", "Removes sessions, with all that was kept of them", &[YES]),
    command(&["sessions", "fork"], "ID", "Copies one, which stays as it is", &[]),
    command(&["sessions", "export"], "[ID]", "Writes one as markdown, HTML or JSON, with what looks like a secret redacted", &[
        ("format", "markdown, html or json"), ("output", "To this file, which must not be there yet"),
        ("force", "With --output: write over a file that is there"), FOLDER,
    ]),
    command(&["rehearsal"], "", "What a dry run came to. Alone it shows that of the last one of this folder", &[]),
    command(&["rehearsal", "show"], "[ID]", "Tells what a dry run came to", &[json("One object"), FOLDER]),
    command(&["rehearsal", "diff"], "[ID] [PATH]", "Writes it as a patch, or what became of one path",
        &[json("One object"), FOLDER]),
    command(&["rehearsal", "apply"], "[ID]", "Does it for real, each change on a card of its own",
        &[("hunks", "A prompt for each hunk of each file, instead of one for each group"),
        ("ignored", "Also the files that git ignores"),
        ("commands", "Also run the commands again that ran in the overlay sandbox"), FOLDER]),
    command(&["rehearsal", "drop"], "[ID]", "Throws away what was rehearsed; the talk stays", &[YES, FOLDER]),
    command(&["rules"], "", "What is allowed, asked and denied by rule. Alone it lists what holds here", &[]),
    command(&["rules", "list"], "", "Lists the rules that hold here and those that have expired",
        &[json("One rule per line"), FOLDER]),
    command(&["rules", "check"], "", "Says what is wrong with the rules. The exit code is 2 where anything is",
        &[json("One problem per line"), FOLDER]),
    command(&["rules", "explain"], "'COMMAND'", "Tells step by step what comes of a command, and why",
        &[json("One step per line"), COUNTED, RESUMED, MODE, DRY, FOLDER]),
    command(&["rules", "trust"], "", "The same as aye trust", &[FOLDER]),
    command(&["rules", "untrust"], "", "The same as aye untrust", &[FOLDER]),
    command(&["audit"], "[ID]", "Tells of every call of a session who allowed it, when, and what became of it: of the last \
        session of this folder where none is named", &[json("One call per line"), FOLDER]),
    command(&["trust"], "", "Shows what the project in this folder would change, an AGENTS.md and rules of its own, and lets \
        you trust it", &[FOLDER]),
    command(&["trust", "list"], "", "Tells what is trusted, of every project", &[json("One file per line")]),
    command(&["untrust"], "", "Takes the trust in the project of this folder back", &[FOLDER]),
    command(&["models"], "", "Lists the models of the service", &[json("One model per line"), PROFILE, ADDRESS]),
    command(&["doctor"], "", "Looks at settings, keys, the model, the terminal and the sandbox, and says what is wrong and \
        what to do about it", &[json("One finding per line"),
        ("bundle", "Write what a bug report needs to this file, without keys and without what was said; without a name to a \
        new file in this folder"), PROFILE, ADDRESS, FOLDER]),
];

/// The names of the commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(|command| match command.name {
        [name] => Some(*name),
        _ => None,
    })
}

/// What may stand behind a command; nothing where it does one thing only.
pub fn verbs(of: &str) -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(move |command| match command.name {
        [name, verb] if *name == of => Some(*verb),
        _ => None,
    })
}
