//! Scenes of the tour: the next reply as a pure function of the conversation.

use super::files::{LIBRARY, TEST, line_of};
use super::result::{self, Choice, Result};
use super::words;
use crate::chat::{CallId, Chunk, Message, ToolCall};
use crate::llm::scripted::{Reply, says, thinks};
use serde_json::{Value, json};

/// Prefixes of the tour's call ids, by which it recognizes their results.
const READ: &str = "tour_read";
const SEARCH: &str = "tour_search";
const ASK: &str = "tour_ask";
const EDIT: &str = "tour_edit";
const RUN: &str = "tour_run";

const LABELS: [&str; 3] = ["tokio::time::pause", "a Clock trait", "the real clock"];

/// Returns the next reply. Each scene is played once, or again if it was stopped before its calls were made.
pub fn next(messages: &[Message]) -> Reply {
    let came_of = |id: &str| outcome(messages, id);
    let reply = match (came_of(READ), came_of(ASK), came_of(EDIT), came_of(RUN)) {
        (None, ..) => opening(),
        (Some(read), None, ..) => question(&read),
        (_, Some(ask), None, None) => match result::choice(&ask, &LABELS) {
            Choice::Option(at) => edit(at, ""),
            Choice::Own(_) => edit(0, words::OWN_WORDS),
            Choice::None => command(words::NO_CHOICE),
        },
        (_, _, Some(edit), None) => command(&after_edit(&edit, is_dry_run(messages))),
        (_, Some(ask), edit, Some(run)) => match said_after(messages, RUN) {
            None => {
                closing(&run, edit.filter(|_| !is_dry_run(messages)).and_then(|edit| changed(&ask, &edit)))
            }
            Some(times) => says(words::AFTER[times % words::AFTER.len()]),
        },
    };
    // The first user message starts the tour. A later one before the end interrupts it.
    let spoke = messages.iter().any(|message| matches!(message, Message::Model { .. }));
    let cut_in =
        spoke && matches!(messages.last(), Some(Message::Person(_))) && said_after(messages, RUN).is_none();
    if cut_in { reply.after(words::AGAIN) } else { reply }
}

fn opening() -> Reply {
    thinks("This is where the reasoning of a model is shown. A script has none. ")
        .says(words::OPENING)
        .chunk(call(READ, "read_file", json!({"path": TEST})))
        .chunk(call(SEARCH, "search_text", json!({"pattern": "Instant::now"})))
}

fn question(read: &str) -> Reply {
    let remark = match result::read(read) {
        Result::Refused => "The read was denied. The script knows the file anyway.\n\n",
        Result::Stopped => "The read was stopped. The script knows the file anyway.\n\n",
        Result::Rehearsed | Result::Told(_) => "",
    };
    let options = [
        "virtual time; the test takes no time at all",
        "more code, but the library gets testable",
        "keep it, and widen the window to 200 ms",
    ];
    let options: Vec<Value> = LABELS
        .iter()
        .zip(options)
        .map(|(label, description)| json!({"label": label, "description": description}))
        .collect();
    let asked = json!({"questions": [{
        "question": "Which clock should the test use?", "keyword": "clock", "options": options, "recommended": 0,
    }]});
    thinks("There are three options, and the user has to choose. ")
        .says(remark)
        .says(&words::finding())
        .says(words::BEFORE_QUESTION)
        .chunk(call(ASK, "ask_question", asked))
}

/// Returns the edit for each option: path, old text, new text.
fn change(choice: usize) -> (&'static str, &'static str, &'static str) {
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

fn edit(choice: usize, remark: &str) -> Reply {
    let (path, old, new) = change(choice);
    let label = LABELS[choice.min(LABELS.len() - 1)];
    says(&format!(
        "{remark}{}**{label}** it is. {}",
        if remark.is_empty() { "" } else { "\n\n" },
        words::BEFORE_EDIT
    ))
    .chunk(call(EDIT, "edit_file", json!({"path": path, "old_text": old, "new_text": new})))
}

/// Returns whether the model is told that the session is a dry run.
fn is_dry_run(messages: &[Message]) -> bool {
    messages.iter().any(|message| matches!(message, Message::System(words) if words.contains("is a dry run")))
}

fn after_edit(edit: &str, dry_run: bool) -> String {
    match result::read(edit) {
        Result::Told(_) if dry_run => {
            "This is a dry run: the change was rehearsed and the file is unchanged.".to_owned()
        }
        Result::Refused => {
            "You denied the edit, so the file is unchanged. The tour continues without it.".to_owned()
        }
        Result::Rehearsed => {
            "This is a dry run: the change was rehearsed and the file is unchanged.".to_owned()
        }
        Result::Stopped => "The edit was stopped. Check the file before you rely on it.".to_owned(),
        Result::Told(words) => format!("The tool reports: “{}”", first_line(words)),
    }
}

fn command(remark: &str) -> Reply {
    let line = format!("ls -l && head -n 8 {TEST}");
    says(&format!("{remark}\n\n{}", words::BEFORE_COMMAND)).chunk(call(
        RUN,
        "bash_exec",
        json!({"command": line, "timeout": 10}),
    ))
}

fn closing(run: &str, changed: Option<(&str, usize)>) -> Reply {
    let remark = match result::read(run) {
        Result::Refused => "The command was not run because you denied it.",
        Result::Rehearsed => "This is a dry run: the command was rehearsed.",
        Result::Stopped => "The command was stopped.",
        Result::Told(_) => "The command finished. Open its line above to see the output.",
    };
    says(&format!("{remark}\n\n{}", words::closing(changed)))
}

/// Returns the location of the edit, if it appears to have been made.
fn changed(ask: &str, edit: &str) -> Option<(&'static str, usize)> {
    let choice = match result::choice(ask, &LABELS) {
        Choice::Option(at) => at,
        Choice::Own(_) => 0,
        Choice::None => return None,
    };
    let (path, old, _) = change(choice);
    matches!(result::read(edit), Result::Told(_)).then(|| (path, line_of(path, old)))
}

fn call(id: &str, name: &str, arguments: Value) -> Chunk {
    Chunk::Call(ToolCall { id: CallId::from(id), name: name.to_owned(), arguments: arguments.to_string() })
}

/// Returns the result of a call of the tour. The agent may have extended the id to make it unique.
fn outcome(messages: &[Message], id: &str) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::Tool { call, text } if call.0.starts_with(id) => Some(text.clone()),
        Message::Tool { .. } | Message::System(_) | Message::Person(_) | Message::Model { .. } => None,
    })
}

/// Returns how many replies followed that call, not counting the closing one; `None` before the closing.
fn said_after(messages: &[Message], id: &str) -> Option<usize> {
    let at = messages
        .iter()
        .rposition(|message| matches!(message, Message::Tool { call, .. } if call.0.starts_with(id)))?;
    let replies = messages[at..].iter().filter(|message| matches!(message, Message::Model { .. })).count();
    replies.checked_sub(1)
}

fn first_line(words: &str) -> String {
    let line = words.lines().next().unwrap_or_default();
    match line.char_indices().nth(160) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
