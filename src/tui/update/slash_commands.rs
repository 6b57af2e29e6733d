//! Slash commands, which are also the entries of the command palette: their names, labels and what they do.

use super::{
    actions, agent_events, audit_list, clipboard_copy, grant_list, help_lists, mode_list, model_list, popup_stack,
    provider_list, rehearsal_list, search_input, session_exit, session_list, theme_list,
};
use crate::agent::{Event, WaitingCall};
use crate::chat::ForkMode;
use crate::tui::host::{RuleRequest, SessionRequest, TrustRequest};
use crate::tui::keys::Action;
use crate::tui::popup::PickedAction;
use crate::tui::slash_command::{RunCommand, SlashCommand};
use crate::tui::state::State;

/// All commands, in the order they are offered.
pub const COMMANDS: &[SlashCommand] = &[
    slash_command(
        &["help", "keys"],
        "Key help; /help TOPIC reads a page of the manual",
        Some(Action::Help),
        |state, _, arguments| match arguments {
            "" => help_lists::open_help(state),
            topic => help_lists::open_topic(state, topic),
        },
    ),
    slash_command(&["new", "clear"], "Start a new session", None, |state, _, _| {
        session_exit::leave_session_for(state, SessionRequest::New);
    }),
    slash_command(&["resume", "sessions"], "Continue another session", Some(Action::Sessions), |state, _, _| {
        session_list::open_session_list(state, PickedAction::Open)
    }),
    slash_command(
        &["fork"],
        "Continue in a copy; /fork live or /fork dry sets its kind",
        None,
        |state, _, arguments| fork_session(state, arguments),
    ),
    slash_command(&["model", "models"], "Choose model", Some(Action::Models), |state, _, arguments| match arguments {
        "" => model_list::open_model_list(state),
        name => model_list::use_named(state, name),
    }),
    slash_command(
        &["connect", "login", "key"],
        "Switch provider: local server or API key",
        Some(Action::Connect),
        |state, _, _| provider_list::open_provider_list(state),
    ),
    slash_command(&["theme", "themes"], "Choose theme", Some(Action::Themes), |state, _, _| {
        theme_list::open_themes(state)
    }),
    slash_command(&["copy"], "Copy reply, code block or output", Some(Action::Copy), |state, _, _| {
        clipboard_copy::offer_copy(state)
    }),
    slash_command(&["search", "find"], "Search transcript", Some(Action::SearchTranscript), |state, _, _| {
        search_input::open_transcript_search(state);
    }),
    slash_command(&["audit", "calls"], "List calls with decisions and outcomes", None, |state, _, _| {
        audit_list::open_audit_list(state)
    }),
    slash_command(&["grants", "allowed"], "List and revoke grants", None, |state, _, _| grant_list::open_grants(state)),
    slash_command(&["rules"], "List rules in effect", None, |state, _, _| state.send_request(RuleRequest::List)),
    slash_command(&["trust"], "Review the project files aye would use", None, |state, _, _| {
        state.send_request(TrustRequest::Inspect { is_user_request: true });
    }),
    slash_command(
        &["mode"],
        "Set permission mode: plan, ask, auto, full",
        Some(Action::ChangeMode),
        |state, _, arguments| mode_list::run_mode_command(state, arguments),
    ),
    slash_command(
        &["title", "rename"],
        "Rename the session: /title NAME",
        None,
        |state, _, arguments| match arguments {
            "" => explain(state, "No title given. Example: /title the flaky test"),
            title => agent_events::handle_agent_event(state, Event::SessionTitled(title.to_owned())),
        },
    ),
    slash_command(&["compact", "summarise"], "Summarize older turns to free context", None, |state, _, _| {
        compact_session(state)
    }),
    slash_command(&["dry"], "Explain dry runs and how to start one", None, |state, _, _| explain_dry_runs(state)),
    slash_command(&["rehearsal"], "Review, apply or discard the rehearsal", None, |state, _, arguments| {
        rehearsal_list::run_rehearsal_command(state, arguments)
    }),
    slash_command(&["retry", "again"], "Retry a failed request", Some(Action::RetryNow), |state, cache, _| {
        if !state.can_retry() {
            return explain(state, "No failed request to retry");
        }
        actions::run_action(state, cache, Action::RetryNow)
    }),
    slash_command(&["stop"], "Stop the turn", Some(Action::Stop), |state, cache, _| {
        actions::run_action(state, cache, Action::Stop)
    }),
    slash_command(&["editor"], "Edit in external editor", Some(Action::OpenEditor), |state, cache, _| {
        actions::run_action(state, cache, Action::OpenEditor)
    }),
    slash_command(&["notices", "warnings"], "List warnings of this session", None, |state, _, _| list_warnings(state)),
    slash_command(&["quit", "exit", "q"], "Quit; the session is saved", None, |state, _, _| session_exit::quit(state)),
];

const fn slash_command(
    names: &'static [&'static str],
    help: &'static str,
    action: Option<Action>,
    run: RunCommand,
) -> SlashCommand {
    SlashCommand { names, help, action, run }
}

/// Parses a slash command into the command and its arguments; `None` if the text is not a command.
pub fn parse(text: &str) -> Option<(&'static SlashCommand, &str)> {
    let line = text.strip_prefix('/')?;
    if line.contains('\n') {
        return None;
    }
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let row = COMMANDS.iter().find(|row| row.names.contains(&name))?;
    Some((row, rest.trim()))
}

/// Returns the name of an unknown slash command, without the slash. Text that contains a second slash (a path) or
/// starts with a space is not a command.
pub fn find_unknown_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let mut chars = name.chars();
    let is_command_name =
        chars.next().is_some_and(char::is_alphabetic) && chars.all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_known = COMMANDS.iter().any(|row| row.names.contains(&name));
    (is_command_name && !is_known).then_some(name)
}

/// Shows why the command did nothing.
fn explain(state: &mut State, text: &str) {
    state.show_info(text);
}

fn explain_dry_runs(state: &mut State) {
    explain(
        state,
        match state.agent.is_dry_run() {
            true => {
                "This session is a dry run: nothing outside its overlay changes. /rehearsal shows the results, /fork live continues live in a copy"
            }
            false => {
                "This session is live. A dry run starts with aye --dry-run; /fork dry continues in a copy as a dry run"
            }
        },
    )
}

fn list_warnings(state: &mut State) {
    if state.notices.warnings.is_empty() {
        return explain(state, "No warnings so far");
    }
    let warnings: Vec<&str> = state.notices.warnings.iter().map(|warning| warning.text.as_str()).collect();
    let text = warnings.join("\n\n");
    popup_stack::open_reader(state, "Warnings so far", &text, false);
}

/// Starts a summary that replaces the conversation so far.
fn compact_session(state: &mut State) {
    let notice = match (state.agent.is_idle(), state.agent.has_entries_to_summarize()) {
        (false, _) => "Not available while a turn is running",
        (true, false) => "Nothing to summarize yet",
        (true, true) => {
            return agent_events::handle_agent_event(state, Event::CompactionRequested);
        }
    };
    explain(state, notice)
}

/// Continues in a copy, as a live session, as a dry run, or unchanged. Possible between turns and while a question
/// waits.
fn fork_session(state: &mut State, option: &str) {
    let fork_mode = match (option, state.agent.is_dry_run()) {
        ("", _) => Ok(ForkMode::Unchanged),
        ("live", true) => Ok(ForkMode::Live),
        ("dry", false) => Ok(ForkMode::DryRun),
        ("live", false) => Err("This session is already live. /fork copies it"),
        ("dry", true) => Err("This session is already a dry run. /fork copies it"),
        (_, _) => Err("Unknown option. Use /fork, /fork live (continue live) or /fork dry (continue as a dry run)"),
    };
    let fork_mode = match fork_mode {
        Ok(fork_mode) => fork_mode,
        Err(reason) => return explain(state, reason),
    };
    let needs_approval = |waiting| matches!(waiting, WaitingCall::Approval { .. });
    let notice = match state.agent.waiting_call() {
        _ if state.agent.waiting_calls().any(needs_approval) => {
            "Answer the approval prompt first: approvals are not copied"
        }
        // Sub-agents may still be running while the question waits.
        Some(_) | None if state.agent.is_busy() => "Not available now. Wait for the end of the turn or for a question",
        None if state.agent.session.entries().is_empty() => "Nothing to copy yet",
        Some(_) | None => {
            let request = SessionRequest::Fork(state.session.id.clone(), fork_mode);
            return session_exit::leave_session_for(state, request);
        }
    };
    explain(state, notice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_each_of_its_names() {
        let parse = |text| parse(text).map(|(command, arguments)| (command.names[0], arguments));
        assert_eq!(parse("/q"), Some(("quit", "")));
        assert_eq!(parse("/title a b "), Some(("title", "a b")));
        for text in ["quit", "/", "/nothing", "/usr/bin is a path", "/quit\nnow"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn unknown_commands_differ_from_paths() {
        assert_eq!(find_unknown_name("/nosuch"), Some("nosuch"));
        assert_eq!(find_unknown_name("/no-such words\nmore"), Some("no-such"));
        for text in
            ["nosuch", "/", "/ x", "/usr/bin is a path", "/etc/", "/quit", "/quit\nnow", " /nosuch", "/.env", "/1"]
        {
            assert_eq!(find_unknown_name(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = COMMANDS.iter().flat_map(|row| row.names).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
