//! Slash commands, which are also the entries of the command palette: their names, labels and what they do.

use super::{
    actions, agent_events, audit_list, background_list, file_list, grant_list, help_lists, instructions_draft,
    mode_list, model_list, popup_stack, rehearsal_list, rewind_list, server_list, session_exit,
};
use crate::agent::{Event, WaitingCall};
use crate::chat::ForkMode;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, InspectionReason};
use crate::tui::keys::Action;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::slash_command::{CommandRun, SlashCommand};
use crate::tui::state::State;

/// Runs a command with the text after its name.
pub fn run_command(command: &SlashCommand, state: &mut State, cache: &mut LayoutCache, arguments: &str) {
    match command.run {
        CommandRun::Action(action) => actions::run_action(state, cache, action),
        CommandRun::Function(run, _) => run(state, arguments),
    }
}

/// All commands, in the order they are offered.
pub const COMMANDS: &[SlashCommand] = &[
    command_with_keys(
        &["help", "keys"],
        "Key help; /help TOPIC reads a page of the manual",
        help_lists::run_help_command,
        Action::Help,
    ),
    command(&["new", "clear"], "Start a new session", |state, _| {
        session_exit::leave_session_for(state, HostRequest::StartSession);
    }),
    action_command(&["resume", "sessions"], "Continue another session", Action::Sessions),
    command(&["fork"], "Continue in a copy; /fork live or /fork dry sets its kind", fork_session),
    command_with_keys(&["model", "models"], "Choose model", model_list::run_model_command, Action::Models),
    action_command(&["connect", "login", "key"], "Switch provider, or connect a credential", Action::Connect),
    action_command(&["theme", "themes"], "Choose theme", Action::Themes),
    action_command(&["copy"], "Copy reply, code block or output", Action::Copy),
    action_command(&["search", "find"], "Search transcript", Action::SearchTranscript),
    command(&["audit", "calls"], "List calls with decisions and outcomes", |state, _| {
        audit_list::open_audit_list(state)
    }),
    command(&["background", "jobs"], "List background commands", |state, _| {
        background_list::open_background_list(state);
    }),
    command(&["files", "workspace"], "List and read the files of the session's workspace", |state, _| {
        file_list::open_file_list(state);
    }),
    command(&["grants", "allowed"], "List and revoke grants", |state, _| grant_list::open_grants(state)),
    command(&["rules"], "List rules in effect", |state, _| state.send_request(HostRequest::ListRules)),
    command(&["tools"], "List the tools of the model", |state, _| state.send_request(HostRequest::ListTools)),
    command(&["skills"], "List skills with their states and tokens", |state, _| {
        state.send_request(HostRequest::ListSkills)
    }),
    command(
        &["context", "tokens", "usage", "cost"],
        "Show the context window by part, and the cost of each turn",
        |state, _| {
            help_lists::open_context_page(state);
        },
    ),
    command(&["mcp"], "List MCP servers and accept their changed tools", |state, _| {
        server_list::open_server_list(state);
    }),
    command(&["init"], "Draft a message that asks to write or improve AGENTS.md", instructions_draft::insert_draft),
    command(&["trust"], "Review the project files aye would use", |state, _| {
        state.send_request(HostRequest::InspectProject(InspectionReason::UserRequest));
    }),
    command_with_keys(
        &["mode"],
        "Set permission mode: plan, ask, auto, full",
        mode_list::run_mode_command,
        Action::ChangeMode,
    ),
    command(&["record"], "Record the screen: /record FILE; /record stops", |state, file| {
        state.push_effect(Effect::Record(file.to_owned()));
    }),
    command(&["title", "rename"], "Rename the session: /title NAME", set_title),
    command(&["compact", "summarise"], "Summarize older turns to free context", |state, _| compact_session(state)),
    command(&["dry"], "Explain dry runs and how to start one", |state, _| explain_dry_runs(state)),
    command(&["undo"], "Undo the changes of the last turn", |state, _| rewind_list::run_undo(state)),
    command(&["rewind"], "Go back to an earlier message, with or without the files", |state, _| {
        rewind_list::open_rewind_list(state)
    }),
    command(&["rehearsal"], "Review, apply or discard the rehearsal", rehearsal_list::run_rehearsal_command),
    action_command(&["retry", "again"], "Retry a failed request", Action::RetryNow),
    action_command(&["stop"], "Stop the turn", Action::Stop),
    action_command(&["editor"], "Edit in external editor", Action::OpenEditor),
    command(&["notices", "warnings"], "List warnings of this session", |state, _| list_warnings(state)),
    command(&["quit", "exit", "q"], "Quit; the session is saved", |state, _| session_exit::quit(state)),
];

const fn command(names: &'static [&'static str], help: &'static str, run: fn(&mut State, &str)) -> SlashCommand {
    SlashCommand { names, help, run: CommandRun::Function(run, None) }
}

/// Returns a command that shows the keys of an action.
const fn command_with_keys(
    names: &'static [&'static str],
    help: &'static str,
    run: fn(&mut State, &str),
    action: Action,
) -> SlashCommand {
    SlashCommand { names, help, run: CommandRun::Function(run, Some(action)) }
}

const fn action_command(names: &'static [&'static str], help: &'static str, action: Action) -> SlashCommand {
    SlashCommand { names, help, run: CommandRun::Action(action) }
}

/// Parses a slash command into the command and its arguments; `None` if the text is not a command.
pub fn parse(text: &str) -> Option<(&'static SlashCommand, &str)> {
    let line = text.strip_prefix('/')?;
    if line.contains('\n') {
        return None;
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
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

fn set_title(state: &mut State, title: &str) {
    match title {
        "" => state.show_info("No title given. Example: /title the flaky test"),
        title => agent_events::handle_agent_event(state, Event::SessionTitled(title.to_owned())),
    }
}

fn explain_dry_runs(state: &mut State) {
    state.show_info(match state.agent.is_dry_run() {
        true => {
            "This session is a dry run: nothing outside its overlay changes. /rehearsal shows the results, /fork live continues live in a copy"
        }
        false => "This session is live. A dry run starts with aye --dry-run; /fork dry continues in a copy as a dry run",
    })
}

fn list_warnings(state: &mut State) {
    if state.notices.warnings.is_empty() {
        return state.show_info("No warnings so far");
    }
    let warnings: Vec<&str> = state.notices.warnings.iter().map(|warning| warning.text.as_str()).collect();
    let text = warnings.join("\n\n");
    let is_terminal_output = false;
    popup_stack::open_reader(state, "Warnings so far", &text, is_terminal_output);
}

/// Starts a summary that replaces the conversation so far.
fn compact_session(state: &mut State) {
    match (state.agent.is_idle(), state.agent.has_entries_to_summarize()) {
        (false, _) => state.show_info("Not available while a turn is running"),
        (true, false) => state.show_info("Nothing to summarize yet"),
        (true, true) => agent_events::handle_agent_event(state, Event::CompactionRequested),
    }
}

/// Continues in a copy: as a live session, as a dry run, or without an option as the same kind as this session.
/// Possible between turns and while a question waits.
fn fork_session(state: &mut State, option: &str) {
    let fork_mode = match (option, state.agent.is_dry_run()) {
        ("", _) => ForkMode::Unchanged,
        ("live", true) => ForkMode::Live,
        ("dry", false) => ForkMode::DryRun,
        ("live", false) => return state.show_info("This session is already live. /fork copies it"),
        ("dry", true) => return state.show_info("This session is already a dry run. /fork copies it"),
        (_, _) => {
            return state.show_info(
                "Unknown option. Use /fork, /fork live (continue live) or /fork dry (continue as a dry run)",
            );
        }
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
            let request = HostRequest::ForkSession(state.session.id.clone(), fork_mode);
            return session_exit::leave_session_for(state, request);
        }
    };
    state.show_info(notice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_each_of_its_names() {
        let parse = |text| parse(text).map(|(command, arguments)| (command.names[0], arguments));
        assert_eq!(parse("/q"), Some(("quit", "")));
        assert_eq!(parse("/title a b "), Some(("title", "a b")));
        assert_eq!(parse("/title\ta"), Some(("title", "a")));
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
