//! Background commands: moving the selected command there, the list of them, their output, and stopping them.

use super::{agent_events, popup_stack};
use crate::agent::{Event, RunningBackground};
use crate::chat::{BackgroundCommand, BackgroundEnd, Entry};
use crate::text::{clean, escape_sequences};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::quantities::{format_duration, format_seconds};
use crate::tui::popup::{ConfirmedAction, List, Popup, ReaderBody};
use crate::tui::state::State;
use std::sync::Arc;
use std::time::Duration;

/// Moves the selected running command to the background with this key, or says why that is not possible.
pub fn move_selected(state: &mut State, key: Chord) {
    let transcript = &state.viewport.transcript;
    let selected_entry = transcript.selected().and_then(|index| state.agent.session.entries().get(index));
    let call = match (transcript.selected_call(), selected_entry) {
        (Some(call), _)
        | (None, Some(Entry::Settled { call, .. } | Entry::BackgroundEnded(BackgroundEnd { call, .. }))) => {
            call.clone()
        }
        (None, Some(_) | None) => return state.show_info("Only a running command can be moved to the background"),
    };
    if let Some(reason) = state.agent.explain_not_movable(&call) {
        return state.show_info(reason);
    }
    // The turn goes on, so the keyboard returns to its prompts and the composer; a repeat of the key is for neither.
    state.viewport.transcript.clear_selection();
    state.input.recent_keys.record_answer(key, state.timing.now);
    let number = state.agent.session.next_background_number();
    let started_at = state.timing.activity_start;
    state.timing.background_starts.push((number, started_at));
    let elapsed = state.timing.now.saturating_sub(started_at);
    agent_events::handle_agent_event(state, Event::BackgroundRequested { call, elapsed });
    state.show_info(&format!("Moved to background {number}: no time limit · /background"));
}

/// Opens the list with the cursor on the newest command.
pub fn open_background_list(state: &mut State) {
    let key = state.keys.first_chord(Scope::Background, Action::StopCommand);
    let stop_hint = if key.is_empty() { String::new() } else { format!(" · {key} stop") };
    let (select_key, move_key) = (
        state.keys.first_chord(Scope::Anywhere, Action::SelectPrevious),
        state.keys.first_chord(Scope::Transcript, Action::MoveToBackground),
    );
    let empty_text = format!("None · {select_key} selects a running command, {move_key} moves it here");
    let rows = background_rows(state);
    let last_row = rows.len().saturating_sub(1);
    let mut picker =
        Picker::new("Background commands", &empty_text, rows).with_action_hint(format!("enter output{stop_hint}"));
    picker.select(last_row);
    state.viewport.popups.push(Popup::List(picker, List::Background));
}

/// Refreshes the list and the shown output.
pub fn refresh_background(state: &mut State) {
    let is_background =
        |popup: &Popup| matches!(popup, Popup::List(_, List::Background)) || followed_command(popup).is_some();
    if !state.viewport.popups.iter().any(is_background) {
        return;
    }
    let rows = background_rows(state);
    // The frame of a page has two rows, and up to two rows of the screen stay visible around it.
    let page_height = usize::from(state.viewport.size.1.saturating_sub(4));
    let mut popups = std::mem::take(&mut state.viewport.popups);
    for popup in &mut popups {
        let followed = followed_command(popup);
        match popup {
            Popup::List(picker, List::Background) => picker.set_rows(rows.clone()),
            Popup::Reader(reader) if let Some(number) = followed => {
                let text = background_output(state, number);
                if *reader.text != *text {
                    let drawn_lines = reader.layout.last_lines().map_or(0, |layout| layout.page.lines.len());
                    reader.set_text(text.into());
                    // The page follows the end unless the user scrolled back. The position is corrected when it is drawn.
                    if reader.top.get() + page_height >= drawn_lines {
                        reader.top.set(usize::MAX / 2);
                    }
                }
            }
            _ => {}
        }
    }
    state.viewport.popups = popups;
}

/// Opens the output of the command in a row, which follows new output. The list stays open below.
pub fn open_background_row(state: &mut State, picker: Picker, row: usize) {
    state.viewport.popups.push(Popup::List(picker, List::Background));
    let Some(command) = state.agent.session.background_commands().get(row).cloned() else { return };
    let title = format!("Background command {} · {}", command.number, clean::clean_line(summary_of(state, &command)));
    let text: Arc<str> = background_output(state, command.number).into();
    popup_stack::push_reader(state, &title, text, ReaderBody::Background(command.number));
    if let Some(Popup::Reader(reader)) = state.viewport.popups.last() {
        reader.top.set(usize::MAX / 2);
    }
}

/// Asks for confirmation to stop the command in the selected row.
pub fn confirm_stop(state: &mut State) {
    let Some(Popup::List(picker, List::Background)) = state.viewport.popups.last() else { return };
    let command = picker.selected_row().and_then(|row| state.agent.session.background_commands().get(row));
    let Some(command) = command.cloned() else { return };
    if running(state, command.number).is_none() {
        return state.show_info("It has ended");
    }
    let facts = vec![describe_command(state, &command)];
    let labels = AnswerLabels { confirm: "stop", cancel: "keep" };
    let confirmation = Confirmation::new("Stop this command?", labels, facts);
    state.viewport.popups.push(Popup::Confirmation(confirmation, ConfirmedAction::StopBackground(command.number)));
}

/// Asks for confirmation of an action that ends the background commands, and returns true; returns false if none runs.
pub fn confirm_end(state: &mut State, title: &'static str, labels: AnswerLabels, action: ConfirmedAction) -> bool {
    let commands = state.agent.session.background_commands().iter();
    let running_commands = commands.filter(|command| running(state, command.number).is_some());
    let commands: Vec<String> = running_commands.map(|command| describe_command(state, command)).collect();
    if commands.is_empty() {
        return false;
    }
    let facts = std::iter::once("These background commands end:".to_owned()).chain(commands).collect();
    state.viewport.popups.push(Popup::Confirmation(Confirmation::new(title, labels, facts), action));
    true
}

/// Returns the notice about the end of a command.
pub fn describe_end(end: &BackgroundEnd) -> String {
    format!("Background command {} ended: {}", end.number, end.status)
}

fn followed_command(popup: &Popup) -> Option<u32> {
    match popup {
        Popup::Reader(reader) => match reader.body {
            ReaderBody::Background(number) => Some(number),
            ReaderBody::Plain
            | ReaderBody::List
            | ReaderBody::Commands
            | ReaderBody::Barred
            | ReaderBody::Terminal
            | ReaderBody::Markdown
            | ReaderBody::Rehearsal(..)
            | ReaderBody::Audit(_)
            | ReaderBody::File(_)
            | ReaderBody::Context(_)
            | ReaderBody::Link(_) => None,
        },
        _ => None,
    }
}

fn running(state: &State, number: u32) -> Option<&RunningBackground> {
    state.agent.background.iter().find(|command| command.number == number)
}

fn summary_of<'a>(state: &'a State, command: &BackgroundCommand) -> &'a str {
    let plan = state.agent.session.find_call(&command.call).and_then(|call| call.plan.as_ref());
    plan.map_or("", |plan| plan.summary.as_str())
}

fn describe_command(state: &State, command: &BackgroundCommand) -> String {
    format!("{} · {}", command.number, clean::clean_line(summary_of(state, command)))
}

fn background_rows(state: &State) -> Vec<Row> {
    let build_row = |command: &BackgroundCommand| {
        let (output, detail) = match (running(state, command.number), state.agent.session.background_end(command)) {
            (Some(running), _) => {
                let start = state.timing.background_starts.iter().find(|(number, _)| *number == command.number);
                let elapsed = start.map(|(_, start)| state.timing.now.saturating_sub(*start)).unwrap_or_default();
                (running.latest_output.as_str(), format!("running · {}", format_seconds(elapsed.as_secs())))
            }
            (None, Some(end)) => {
                let duration = Some(end.took_ms).filter(|ms| *ms > 0).map(Duration::from_millis);
                let duration = duration.map(|duration| format!(" · {}", format_duration(duration)));
                (end.output.as_str(), format!("{}{}", end.status, duration.unwrap_or_default()))
            }
            (None, None) => ("", String::new()),
        };
        let output = escape_sequences::strip_colors(&escape_sequences::readable_output(output)).into_owned();
        let last_line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Row::new(&describe_command(state, command))
            .with_key(command.number.to_string())
            .with_secondary(last_line)
            .with_detail(&detail)
    };
    state.agent.session.background_commands().iter().map(build_row).collect()
}

/// Returns the output of a command so far, with its status as the last line.
fn background_output(state: &State, number: u32) -> String {
    let (output, status) = match running(state, number) {
        Some(running) => (escape_sequences::trim_unfinished(running.output()), "running".to_owned()),
        None => {
            let mut commands = state.agent.session.background_commands().iter();
            let command = commands.find(|command| command.number == number);
            let Some(end) = command.and_then(|command| state.agent.session.background_end(command)) else {
                return String::new();
            };
            (end.output.as_str(), end.status.clone())
        }
    };
    let separator = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    format!("{output}{separator}\u{1b}[0m[{status}]")
}
