//! Runs slash commands.

use super::{
    actions, agent_events, audit_list, clipboard_copy, grant_list, help_lists, mode_list, model_list, overlay_stack,
    provider_list, rehearsal_list, search_input, session_exit, session_list, theme_list,
};
use crate::agent::WaitingCall;
use crate::chat::ForkMode;
use crate::tui::command::Command;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, RuleRequest, SessionRequest, TrustRequest};
use crate::tui::keys::Action;
use crate::tui::overlay::PickedAction;
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::state::State;

/// Runs a command with the text after its name.
pub fn run_command(state: &mut State, cache: &mut LayoutCache, command: Command, arguments: &str) -> Vec<Effect> {
    match command {
        Command::Help if !arguments.is_empty() => help_lists::open_topic(state, arguments),
        Command::Help => help_lists::open_help(state),
        Command::New => session_exit::leave_session_for(state, HostRequest::Session(SessionRequest::New)),
        Command::Fork => fork_session(state, arguments),
        Command::Resume => session_list::open_session_list(state, PickedAction::Open),
        Command::Theme => theme_list::open_themes(state),
        Command::Model if !arguments.is_empty() => model_list::use_named(state, arguments),
        Command::Model => model_list::open_model_list(state),
        Command::Connect => provider_list::open_provider_list(state),
        Command::Copy => clipboard_copy::offer_copy(state),
        Command::Search => {
            search_input::open_transcript_search(state);
            Vec::new()
        }
        Command::Audit => audit_list::open_audit_list(state),
        Command::Grants => grant_list::open_grants(state),
        Command::Rules => vec![Effect::Request(HostRequest::Rule(RuleRequest::List))],
        Command::Trust => vec![Effect::Request(HostRequest::Trust(TrustRequest::Inspect { is_user_request: true }))],
        Command::Mode => mode_list::run_mode_command(state, arguments),
        Command::Title if arguments.is_empty() => {
            state.show_notice("No title given. Example: /title the flaky test", Kind::Info);
            Vec::new()
        }
        Command::Title => {
            agent_events::handle_agent_event(state, crate::agent::Event::SessionTitled(arguments.to_owned()))
        }
        Command::Compact => compact_session(state),
        Command::Rehearsal => rehearsal_list::run_rehearsal_command(state, arguments),
        Command::DryRunHelp => {
            let notice = match state.agent.is_dry_run() {
                true => {
                    "This session is a dry run: nothing outside its overlay changes. /rehearsal shows the results, /fork live continues live in a copy"
                }
                false => {
                    "This session is live. A dry run starts with aye --dry-run; /fork dry continues in a copy as a dry run"
                }
            };
            state.show_notice(notice, Kind::Info);
            Vec::new()
        }
        Command::Notices if state.notices.warnings.is_empty() => {
            state.show_notice("No warnings so far", Kind::Info);
            Vec::new()
        }
        Command::Notices => {
            let texts: Vec<&str> = state.notices.warnings.iter().map(|warning| warning.text.as_str()).collect();
            let text = texts.join("\n\n");
            overlay_stack::open_reader(state, "Warnings so far", &text, false);
            Vec::new()
        }
        Command::Retry if !state.can_retry() => {
            state.show_notice("No failed request to retry", Kind::Info);
            Vec::new()
        }
        Command::Retry => actions::run_action(state, cache, Action::RetryNow),
        Command::Stop => actions::run_action(state, cache, Action::Stop),
        Command::Editor => actions::run_action(state, cache, Action::OpenEditor),
        Command::Quit => session_exit::quit(state),
    }
}

/// Starts a summary that replaces the conversation so far.
fn compact_session(state: &mut State) -> Vec<Effect> {
    let notice = match (state.agent.is_idle(), state.agent.has_entries_to_summarize()) {
        (false, _) => "Not available while a turn is running",
        (true, false) => "Nothing to summarize yet",
        (true, true) => {
            return agent_events::handle_agent_event(state, crate::agent::Event::CompactionRequested);
        }
    };
    state.show_notice(notice, Kind::Info);
    Vec::new()
}

/// Continues in a copy, as a live session, as a dry run, or unchanged. Possible between turns and while a question
/// waits.
fn fork_session(state: &mut State, option: &str) -> Vec<Effect> {
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
        Err(reason) => {
            state.show_notice(reason, Kind::Info);
            return Vec::new();
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
            return session_exit::leave_session_for(
                state,
                HostRequest::Session(SessionRequest::Fork(state.session.id.clone(), fork_mode)),
            );
        }
    };
    state.show_notice(notice, Kind::Info);
    Vec::new()
}
