//! Every command of the palette and the composer: one table, with the words that explain it.

use super::keys::Action;

/// Something the person can ask of the screen by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// The keys.
    Help,
    /// A new session.
    New,
    /// Go on with another session.
    Resume,
    /// Go on with a copy.
    Fork,
    /// Another theme.
    Theme,
    /// Another model.
    Model,
    /// Talk to another service.
    Connect,
    /// Put something on the clipboard.
    Copy,
    /// What was asked, and what became of it.
    Audit,
    /// What stands without being asked about.
    Grants,
    /// The rules that hold.
    Rules,
    /// What the project brings along, and trust in it.
    Trust,
    /// Search the transcript.
    Search,
    /// Change how much runs without asking.
    Mode,
    /// Name the session.
    Title,
    /// Let a summary take the place of what was said so far.
    Compact,
    /// What a dry run is, and how to begin one.
    Dry,
    /// What was rehearsed, and what becomes of it.
    Rehearsal,
    /// Send a request that failed again.
    Retry,
    /// Stop the turn.
    Stop,
    /// Write in the editor.
    Editor,
    /// What was wrong so far.
    Notices,
    /// Leave.
    Quit,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What it is.
    pub command: Command,
    /// Its names behind the slash, the first one shown.
    pub names: &'static [&'static str],
    /// What it does, in a few words.
    pub help: &'static str,
    /// The key that does the same, where there is one.
    pub action: Option<Action>,
}

/// Every command, in the order they are offered.
pub const COMMANDS: &[Row] = &[
    row(Command::Help, &["help", "keys"], "the keys that work now", Some(Action::Help)),
    row(Command::New, &["new", "clear"], "begin a new session", None),
    row(Command::Resume, &["resume", "sessions"], "go on with another session", Some(Action::Sessions)),
    row(
        Command::Fork,
        &["fork"],
        "go on with a copy; /fork live, /fork dry: for real, or as a dry run",
        None,
    ),
    row(Command::Model, &["model", "models"], "ask another model", Some(Action::Models)),
    row(
        Command::Connect,
        &["connect", "login", "key"],
        "talk to a server found here, or enter a key",
        Some(Action::Connect),
    ),
    row(Command::Theme, &["theme", "themes"], "choose the colours", Some(Action::Themes)),
    row(Command::Copy, &["copy"], "copy a reply, a code block or an output", Some(Action::Copy)),
    row(Command::Search, &["search", "find"], "search the transcript", Some(Action::SearchTranscript)),
    row(Command::Audit, &["audit", "calls"], "every call: who allowed it, when, and what became of it", None),
    row(Command::Grants, &["grants", "allowed"], "what goes ahead unasked, and how to take it back", None),
    row(Command::Rules, &["rules"], "the rules that hold", None),
    row(Command::Trust, &["trust"], "what this project brings along, and whether you trust it", None),
    row(
        Command::Mode,
        &["mode"],
        "how much runs without asking: plan, ask, auto, full",
        Some(Action::ChangeMode),
    ),
    row(Command::Title, &["title", "rename"], "name the session: /title some words", None),
    row(Command::Compact, &["compact", "summarise"], "tell the model what was said by a summary", None),
    row(Command::Dry, &["dry"], "what a dry run does, and how to begin one", None),
    row(Command::Rehearsal, &["rehearsal"], "what a dry run came to: read it, apply it, drop it", None),
    row(Command::Retry, &["retry", "again"], "ask again where a request failed", Some(Action::RetryNow)),
    row(Command::Stop, &["stop"], "stop the turn that runs", Some(Action::Stop)),
    row(Command::Editor, &["editor"], "write in your editor", Some(Action::OpenEditor)),
    row(Command::Notices, &["notices", "warnings"], "what was wrong so far: settings, rules, services", None),
    row(Command::Quit, &["quit", "exit", "q"], "leave; the session is kept", None),
];

const fn row(
    command: Command,
    names: &'static [&'static str],
    help: &'static str,
    action: Option<Action>,
) -> Row {
    Row { command, names, help, action }
}

/// What was typed behind a slash, if it is a command: which, and the words behind its name.
pub fn parse(text: &str) -> Option<(Command, &str)> {
    let line = text.strip_prefix('/')?;
    if line.contains('\n') {
        return None;
    }
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let row = COMMANDS.iter().find(|row| row.names.contains(&name))?;
    Some((row.command, rest.trim()))
}

/// What stands where a command would, and is none: its name without the slash. A path has another slash in it, and what a
/// blank stands before is said as it is.
pub fn unknown(text: &str) -> Option<&str> {
    let name = text.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let mut letters = name.chars();
    let plain = letters.next().is_some_and(char::is_alphabetic)
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    let known = COMMANDS.iter().any(|row| row.names.contains(&name));
    (plain && !known).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_each_of_its_names() {
        assert_eq!(parse("/quit"), Some((Command::Quit, "")));
        assert_eq!(parse("/title a b "), Some((Command::Title, "a b")));
        for text in ["quit", "/", "/nothing", "/usr/bin is a path", "/quit\nnow"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_command_and_is_none_is_told_from_a_path() {
        assert_eq!(unknown("/nosuch"), Some("nosuch"));
        assert_eq!(unknown("/no-such words\nmore"), Some("no-such"));
        for text in [
            "nosuch",
            "/",
            "/ x",
            "/usr/bin is a path",
            "/etc/",
            "/quit",
            "/quit\nnow",
            " /nosuch",
            "/.env",
            "/1",
        ] {
            assert_eq!(unknown(text), None, "{text}");
        }
    }

    #[test]
    fn no_name_means_two_things() {
        let mut names: Vec<_> = COMMANDS.iter().flat_map(|row| row.names).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
