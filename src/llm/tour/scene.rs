//! Scenes of the tour: the next reply as a pure function of the conversation.

use super::call_result::{self, CallResult, Choice};
use super::files::{LIBRARY, OLD_NOTES, TEST, find_line};
use super::texts;
use crate::chat::{CallId, Chunk, Message, ToolCall};
use crate::text::truncation::truncate_end;
use serde_json::{Value, json};

/// Prefixes of the tour's call ids, by which it recognizes their results.
const READ: &str = "tour_read";
const SEARCH: &str = "tour_search";
const ASK: &str = "tour_ask";
const EDIT: &str = "tour_edit";
const CHECK: &str = "tour_check";
const DELETE: &str = "tour_delete";
const TRY: &str = "tour_try";
const REHEARSE: &str = "tour_rehearse";

/// Options of the question about the clock.
const LABELS: [&str; 3] = ["tokio::time::pause", "a Clock trait", "the real clock"];

/// Returns the next reply. Each scene is played once; one that was stopped before its calls were made is played again.
pub fn next_reply(messages: &[Message]) -> Vec<Chunk> {
    let result_of = |id: &str| find_result(messages, id);
    let is_dry_run = is_dry_run(messages);
    let has_ended = count_replies_after(messages, TRY).is_some();
    let mut reply = match (result_of(READ), result_of(ASK), result_of(CHECK), result_of(DELETE), result_of(TRY)) {
        (None, ..) => opening_scene(),
        (Some(read), None, ..) => question_scene(&read),
        (_, Some(ask), None, ..) => match (result_of(EDIT), call_result::parse_choice(&ask, &LABELS)) {
            (Some(edit), _) => check_scene(&describe_edit_result(&edit, is_dry_run)),
            (None, Choice::Option(index)) => edit_scene(index, &describe_note(&ask)),
            (None, Choice::OwnWords) => edit_scene(0, texts::OWN_WORDS),
            (None, Choice::None) => check_scene(texts::NO_CHOICE),
        },
        (.., Some(check), None, _) => delete_scene(&describe_check_result(&check)),
        (.., Some(delete), None) => trial_scene(&describe_delete_result(&delete, is_dry_run)),
        (.., Some(trial)) => end_scene(messages, &trial),
    };
    // The first user message starts the tour. A later one before the end interrupts it.
    let has_started = messages.iter().any(|message| matches!(message, Message::Model { .. }));
    if has_started && matches!(messages.last(), Some(Message::User(_))) && !has_ended {
        reply.insert(0, text_chunk(texts::AGAIN));
    }
    reply
}

/// Returns the reply after the last live command: the end of the tour, or its last scene in a dry run.
fn end_scene(messages: &[Message], trial: &str) -> Vec<Chunk> {
    let hint = |replies: usize| vec![text_chunk(texts::AFTER[replies % texts::AFTER.len()])];
    let rehearsed = find_result(messages, REHEARSE);
    match (is_dry_run(messages), rehearsed) {
        (true, None) => vec![
            text_chunk(texts::BEFORE_REHEARSAL),
            build_call(REHEARSE, "bash_exec", json!({"command": "rm -r src && ls", "timeout": 10})),
        ],
        (true, Some(rehearsed)) => match count_replies_after(messages, REHEARSE) {
            None | Some(0) => {
                let remark = match call_result::classify_result(&rehearsed) {
                    CallResult::Denied => "The command was denied.",
                    CallResult::Stopped => "The command was stopped.",
                    CallResult::Rehearsed | CallResult::Output(_) => "The command was rehearsed.",
                };
                vec![Chunk::Text(format!("{remark}\n\n{}", texts::after_rehearsal(edit_location(messages))))]
            }
            Some(replies) => hint(replies - 1),
        },
        (false, _) => match count_replies_after(messages, TRY) {
            None | Some(0) => vec![Chunk::Text(format!("{}\n\n{}", describe_trial_result(trial), texts::BEFORE_FORK))],
            Some(replies) => hint(replies - 1),
        },
    }
}

fn opening_scene() -> Vec<Chunk> {
    vec![
        Chunk::Reasoning("This is where the reasoning of a model is shown. A script has none. ".to_owned()),
        text_chunk(texts::OPENING),
        build_call(READ, "read_file", json!({"path": TEST})),
        build_call(SEARCH, "search_text", json!({"pattern": "Instant::now"})),
    ]
}

fn question_scene(read: &str) -> Vec<Chunk> {
    let remark = match call_result::classify_result(read) {
        CallResult::Denied => "The read was denied. The script knows the file anyway.\n\n",
        CallResult::Stopped => "The read was stopped. The script knows the file anyway.\n\n",
        CallResult::Rehearsed | CallResult::Output(_) => "",
    };
    let descriptions = [
        "virtual time; the test takes no time at all",
        "more code, but the library gets testable; the test stays as it is",
        "keep it, and widen the window to 200 ms",
    ];
    let options: Vec<Value> = LABELS
        .iter()
        .zip(descriptions)
        .map(|(label, description)| json!({"label": label, "description": description}))
        .collect();
    let question_arguments = json!({"questions": [{
        "question": "Which clock should the test use?", "keyword": "clock", "options": options, "recommended": 0,
    }]});
    vec![
        Chunk::Reasoning("There are three options, and the user has to choose. ".to_owned()),
        Chunk::Text(format!("{remark}{}{}", texts::finding_text(), texts::BEFORE_QUESTION)),
        build_call(ASK, "ask_question", question_arguments),
    ]
}

/// Returns the edit for an option: path, old text, new text.
fn edit_for_choice(choice: usize) -> (&'static str, &'static str, &'static str) {
    match choice {
        0 => (
            TEST,
            "use std::time::{Duration, Instant};\n\n#[tokio::test]\n",
            "use std::time::Duration;\nuse tokio::time::Instant;\n\n#[tokio::test(start_paused = true)]\n",
        ),
        1 => (
            LIBRARY,
            "/// Retries with exponential backoff.\n",
            "/// Source of the current time, which a test can replace.\npub trait Clock {\n    \
             fn now(&self) -> Instant;\n}\n\n/// Retries with exponential backoff.\n",
        ),
        _ => (TEST, "Duration::from_millis(25));", "Duration::from_millis(200));"),
    }
}

fn edit_scene(choice: usize, remark: &str) -> Vec<Chunk> {
    let (path, old, new) = edit_for_choice(choice);
    let label = LABELS[choice.min(LABELS.len() - 1)];
    let separator = if remark.is_empty() { "" } else { "\n\n" };
    vec![
        Chunk::Text(format!("{remark}{separator}**{label}** it is. {}", texts::BEFORE_EDIT)),
        build_call(EDIT, "edit_file", json!({"path": path, "old_text": old, "new_text": new})),
    ]
}

/// Returns whether the model is told that the session is a dry run.
fn is_dry_run(messages: &[Message]) -> bool {
    messages.iter().any(|message| matches!(message, Message::System(prompt) if prompt.contains("is a dry run")))
}

fn describe_edit_result(edit: &str, dry_run: bool) -> String {
    let remark = match call_result::classify_result(edit) {
        CallResult::Output(output) if !dry_run => {
            let first_line = output.lines().next().unwrap_or_default();
            return format!("The tool reports: “{}”", truncate_end(first_line, 160));
        }
        CallResult::Output(_) | CallResult::Rehearsed => {
            "This is a dry run: the change was rehearsed and the file is unchanged."
        }
        CallResult::Denied => "You denied the edit, so the file is unchanged. The tour continues without it.",
        CallResult::Stopped => "The edit was stopped. Check the file before you rely on it.",
    };
    remark.to_owned()
}

/// Runs the check of the project, which needs approval.
fn check_scene(remark: &str) -> Vec<Chunk> {
    command_scene(remark, texts::BEFORE_CHECK, CHECK, "sh check.sh")
}

/// Deletes a file: only the capital key approves it.
fn delete_scene(remark: &str) -> Vec<Chunk> {
    command_scene(remark, texts::BEFORE_DELETE, DELETE, &format!("rm {OLD_NOTES}"))
}

/// Runs a command that is worth a trial.
fn trial_scene(remark: &str) -> Vec<Chunk> {
    command_scene(remark, texts::BEFORE_TRIAL, TRY, "sh report.sh")
}

fn command_scene(remark: &str, text: &str, id: &str, command: &str) -> Vec<Chunk> {
    vec![
        Chunk::Text(format!("{remark}\n\n{text}")),
        build_call(id, "bash_exec", json!({"command": command, "timeout": 10})),
    ]
}

/// Quotes the note of an answer, if there is one.
fn describe_note(ask: &str) -> String {
    let note = call_result::find_note(ask);
    note.map(|note| format!("Your note: “{}”.", truncate_end(note.trim(), 160))).unwrap_or_default()
}

fn describe_check_result(check: &str) -> String {
    match call_result::classify_result(check) {
        CallResult::Denied => "The check was not run because you denied it.".to_owned(),
        CallResult::Rehearsed => "This is a dry run: the check was rehearsed.".to_owned(),
        CallResult::Stopped => "The check was stopped.".to_owned(),
        CallResult::Output(output) => {
            let first_line = output.lines().next().unwrap_or_default();
            format!("The check says: “{}”", truncate_end(first_line, 160))
        }
    }
}

fn describe_delete_result(delete: &str, is_dry_run: bool) -> String {
    match call_result::classify_result(delete) {
        CallResult::Denied => format!("You denied it, so {OLD_NOTES} is still there."),
        CallResult::Stopped => "The command was stopped.".to_owned(),
        CallResult::Rehearsed => format!("This is a dry run: {OLD_NOTES} is still there."),
        CallResult::Output(_) if is_dry_run => format!("This is a dry run: {OLD_NOTES} is still there."),
        CallResult::Output(_) => "The command ran.".to_owned(),
    }
}

fn describe_trial_result(trial: &str) -> &'static str {
    match call_result::classify_result(trial) {
        CallResult::Denied => "You denied it, so there is no report.",
        CallResult::Stopped => "The command was stopped.",
        CallResult::Rehearsed | CallResult::Output(_) => {
            "If you kept a trial, the line of the command above says so. Otherwise the command ran live."
        }
    }
}

/// Returns the path and the line of the edit, if it was made.
fn edit_location(messages: &[Message]) -> Option<(&'static str, usize)> {
    let choice = match call_result::parse_choice(&find_result(messages, ASK)?, &LABELS) {
        Choice::Option(index) => index,
        Choice::OwnWords => 0,
        Choice::None => return None,
    };
    let (path, old, _) = edit_for_choice(choice);
    let edit = find_result(messages, EDIT)?;
    matches!(call_result::classify_result(&edit), CallResult::Output(_)).then(|| (path, find_line(path, old)))
}

fn text_chunk(text: &str) -> Chunk {
    Chunk::Text(text.to_owned())
}

fn build_call(id: &str, name: &str, arguments: Value) -> Chunk {
    Chunk::Call(ToolCall { id: CallId::from(id), name: name.to_owned(), arguments: arguments.to_string() })
}

/// Returns the result of a call of the tour. The agent may have extended the id to make it unique.
fn find_result(messages: &[Message], id: &str) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::Tool { call, text } if call.0.starts_with(id) => Some(text.clone()),
        Message::Tool { .. } | Message::System(_) | Message::User(_) | Message::Model { .. } => None,
    })
}

/// Returns how many replies followed the result of a call; `None` if there is no result.
fn count_replies_after(messages: &[Message], id: &str) -> Option<usize> {
    let is_result = |message: &Message| matches!(message, Message::Tool { call, .. } if call.0.starts_with(id));
    let position = messages.iter().rposition(is_result)?;
    Some(messages[position..].iter().filter(|message| matches!(message, Message::Model { .. })).count())
}
