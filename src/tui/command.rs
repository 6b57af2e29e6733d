//! Slash commands, which are also the entries of the command palette.

use super::keys::Action;

/// A command the user can run by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Shows key help, or a page of the manual.
    Help,
    /// Starts a new session.
    New,
    /// Continues another session.
    Resume,
    /// Continues in a copy of the session.
    Fork,
    /// Chooses a theme.
    Theme,
    /// Chooses a model.
    Model,
    /// Switches the provider.
    Connect,
    /// Copies text to the clipboard.
    Copy,
    /// Lists the calls with their decisions and outcomes.
    Audit,
    /// Lists the grants.
    Grants,
    /// Lists the rules.
    Rules,
    /// Shows the project files that affect aye, and whether they are trusted.
    Trust,
    /// Searches the transcript.
    Search,
    /// Changes the permission mode.
    Mode,
    /// Sets the title of the session.
    Title,
    /// Replaces the conversation so far by a summary.
    Compact,
    /// Explains dry runs.
    DryRunHelp,
    /// Shows the rehearsal, and applies or discards it.
    Rehearsal,
    /// Sends a failed request again.
    Retry,
    /// Stops the turn.
    Stop,
    /// Opens the draft in the external editor.
    Editor,
    /// Lists the warnings.
    Notices,
    /// Quits.
    Quit,
}

/// One command of the table.
#[derive(Debug, Clone, Copy)]
pub struct CommandRow {
    /// The command.
    pub command: Command,
    /// Names after the slash; the first one is shown.
    pub names: &'static [&'static str],
    /// Label for completion and the palette.
    pub help: &'static str,
    /// Action with the same effect, if any.
    pub action: Option<Action>,
}

/// All commands, in the order they are offered.
pub const COMMANDS: &[CommandRow] = &[
    command_row(
        Command::Help,
        &["help", "keys"],
        "Key help; /help TOPIC reads a page of the manual",
        Some(Action::Help),
    ),
    command_row(Command::New, &["new", "clear"], "Start a new session", None),
    command_row(Command::Resume, &["resume", "sessions"], "Continue another session", Some(Action::Sessions)),
    command_row(Command::Fork, &["fork"], "Continue in a copy; /fork live or /fork dry sets its kind", None),
    command_row(Command::Model, &["model", "models"], "Choose model", Some(Action::Models)),
    command_row(
        Command::Connect,
        &["connect", "login", "key"],
        "Switch provider: local server or API key",
        Some(Action::Connect),
    ),
    command_row(Command::Theme, &["theme", "themes"], "Choose theme", Some(Action::Themes)),
    command_row(Command::Copy, &["copy"], "Copy reply, code block or output", Some(Action::Copy)),
    command_row(Command::Search, &["search", "find"], "Search transcript", Some(Action::SearchTranscript)),
    command_row(Command::Audit, &["audit", "calls"], "List calls with decisions and outcomes", None),
    command_row(Command::Grants, &["grants", "allowed"], "List and revoke grants", None),
    command_row(Command::Rules, &["rules"], "List rules in effect", None),
    command_row(Command::Trust, &["trust"], "Review the project files aye would use", None),
    command_row(Command::Mode, &["mode"], "Set permission mode: plan, ask, auto, full", Some(Action::ChangeMode)),
    command_row(Command::Title, &["title", "rename"], "Rename the session: /title NAME", None),
    command_row(Command::Compact, &["compact", "summarise"], "Summarize older turns to free context", None),
    command_row(Command::DryRunHelp, &["dry"], "Explain dry runs and how to start one", None),
    command_row(Command::Rehearsal, &["rehearsal"], "Review, apply or discard the rehearsal", None),
    command_row(Command::Retry, &["retry", "again"], "Retry a failed request", Some(Action::RetryNow)),
    command_row(Command::Stop, &["stop"], "Stop the turn", Some(Action::Stop)),
    command_row(Command::Editor, &["editor"], "Edit in external editor", Some(Action::OpenEditor)),
    command_row(Command::Notices, &["notices", "warnings"], "List warnings of this session", None),
    command_row(Command::Quit, &["quit", "exit", "q"], "Quit; the session is saved", None),
];

const fn command_row(
    command: Command,
    names: &'static [&'static str],
    help: &'static str,
    action: Option<Action>,
) -> CommandRow {
    CommandRow { command, names, help, action }
}

/// Parses a slash command into the command and its arguments; `None` if the text is not a command.
pub fn parse(text: &str) -> Option<(Command, &str)> {
    let line = text.strip_prefix('/')?;
    if line.contains('\n') {
        return None;
    }
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let row = COMMANDS.iter().find(|row| row.names.contains(&name))?;
    Some((row.command, rest.trim()))
}

/// Returns the name of an unknown slash command, without the slash. Text that contains a second slash (a path) or
/// starts with a space is not a command.
pub fn find_unknown_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let mut chars = name.chars();
    let is_name =
        chars.next().is_some_and(char::is_alphabetic) && chars.all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_known = COMMANDS.iter().any(|row| row.names.contains(&name));
    (is_name && !is_known).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_command_by_each_of_its_names() {
        assert_eq!(parse("/quit"), Some((Command::Quit, "")));
        assert_eq!(parse("/title a b "), Some((Command::Title, "a b")));
        for text in ["quit", "/", "/nothing", "/usr/bin is a path", "/quit\nnow"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn finds_unknown_command_names_but_not_paths() {
        assert_eq!(find_unknown_name("/nosuch"), Some("nosuch"));
        assert_eq!(find_unknown_name("/no-such words\nmore"), Some("no-such"));
        for text in
            ["nosuch", "/", "/ x", "/usr/bin is a path", "/etc/", "/quit", "/quit\nnow", " /nosuch", "/.env", "/1"]
        {
            assert_eq!(find_unknown_name(text), None, "{text}");
        }
    }

    #[test]
    fn command_names_are_unique() {
        let mut names: Vec<_> = COMMANDS.iter().flat_map(|row| row.names).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
