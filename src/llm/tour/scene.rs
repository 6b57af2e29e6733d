//! Scenes of the tour: the next reply as a pure function of the conversation.

use super::call_result::{self, CallResult, Choice};
use super::files::{LIBRARY, TEST, find_line};
use super::texts;
use crate::chat::{CallId, Chunk, Message, ToolCall};
use crate::text::truncation::truncate_end;
use serde_json::{Value, json};

/// Prefixes of the tour's call ids, by which it recognizes their results.
const READ: &str = "tour_read";
const SEARCH: &str = "tour_search";
const ASK: &str = "tour_ask";
const EDIT: &str = "tour_edit";
const RUN: &str = "tour_run";

/// Options of the question about the clock.
const LABELS: [&str; 3] = ["tokio::time::pause", "a Clock trait", "the real clock"];

/// Returns the next reply. Each scene is played once; one that was stopped before its calls were made is played again.
pub fn next_reply(messages: &[Message]) -> Vec<Chunk> {
    let result_of = |id: &str| find_result(messages, id);
    let mut reply = match (result_of(READ), result_of(ASK), result_of(EDIT), result_of(RUN)) {
        (None, ..) => opening_scene(),
        (Some(read), None, ..) => question_scene(&read),
        (_, Some(ask), None, None) => match call_result::parse_choice(&ask, &LABELS) {
            Choice::Option(index) => edit_scene(index, ""),
            Choice::OwnWords => edit_scene(0, texts::OWN_WORDS),
            Choice::None => command_scene(texts::NO_CHOICE),
        },
        (_, _, Some(edit), None) => command_scene(&describe_edit_result(&edit, is_dry_run(messages))),
        (_, Some(ask), edit, Some(run)) => match count_replies_after_closing(messages) {
            None => closing_scene(
                &run,
                edit.filter(|_| !is_dry_run(messages)).and_then(|edit| find_edit_location(&ask, &edit)),
            ),
            Some(replies) => vec![text_chunk(texts::AFTER[replies % texts::AFTER.len()])],
        },
    };
    // The first user message starts the tour. A later one before the end interrupts it.
    let has_started = messages.iter().any(|message| matches!(message, Message::Model { .. }));
    let is_interruption = has_started
        && matches!(messages.last(), Some(Message::User(_)))
        && count_replies_after_closing(messages).is_none();
    if is_interruption {
        reply.insert(0, text_chunk(texts::AGAIN));
    }
    reply
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
        "more code, but the library gets testable",
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

fn command_scene(remark: &str) -> Vec<Chunk> {
    let command = format!("ls -l && head -n 8 {TEST}");
    vec![
        Chunk::Text(format!("{remark}\n\n{}", texts::BEFORE_COMMAND)),
        build_call(RUN, "bash_exec", json!({"command": command, "timeout": 10})),
    ]
}

fn closing_scene(run: &str, edit_location: Option<(&str, usize)>) -> Vec<Chunk> {
    let remark = match call_result::classify_result(run) {
        CallResult::Denied => "The command was not run because you denied it.",
        CallResult::Rehearsed => "This is a dry run: the command was rehearsed.",
        CallResult::Stopped => "The command was stopped.",
        CallResult::Output(_) => "The command finished. Open its line above to see the output.",
    };
    vec![Chunk::Text(format!("{remark}\n\n{}", texts::closing_text(edit_location)))]
}

/// Returns the path and the line of the edit, if it appears to have been made.
fn find_edit_location(ask: &str, edit: &str) -> Option<(&'static str, usize)> {
    let choice = match call_result::parse_choice(ask, &LABELS) {
        Choice::Option(index) => index,
        Choice::OwnWords => 0,
        Choice::None => return None,
    };
    let (path, old, _) = edit_for_choice(choice);
    matches!(call_result::classify_result(edit), CallResult::Output(_)).then(|| (path, find_line(path, old)))
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

/// Returns how many replies followed the closing scene, which is the reply to the result of the command; `None` before
/// the closing scene.
fn count_replies_after_closing(messages: &[Message]) -> Option<usize> {
    let position = messages
        .iter()
        .rposition(|message| matches!(message, Message::Tool { call, .. } if call.0.starts_with(RUN)))?;
    let replies = messages[position..].iter().filter(|message| matches!(message, Message::Model { .. })).count();
    replies.checked_sub(1)
}
