//! The tour, played against results as the program formats them.

use super::*;
use crate::chat::{Chunk, Message, ToolCall};
use crate::demo;
use futures::StreamExt;
use serde_json::Value;

/// The beginning of the tour's reply to a message that it does not expect.
const AGAIN: &str = "The script was stopped, or you sent a message.";

/// The beginnings of the tour's replies after its end.
const HINTS: [&str; 4] =
    ["This is a script and cannot", "This is still the script", "This is only a script", "This is a script. To use"];

/// A conversation with the tour in which a closure provides the result of each call.
struct TourConversation(Vec<Message>);

impl TourConversation {
    fn new() -> Self {
        Self(vec![Message::System("s".into())])
    }

    /// Plays one reply. Returns its text with the names of its calls in brackets.
    fn play_reply(&mut self, answer: &dyn Fn(&ToolCall) -> String) -> String {
        let request = Request {
            model: "tour".into(),
            messages: self.0.clone(),
            tools: vec![],
            max_tokens: None,
            images: vec![],
            answer_schema: None,
        };
        let (mut text, mut calls) = (String::new(), Vec::new());
        for item in futures::executor::block_on(
            ScriptedModel::new(Arc::new(demo::tour()), false).stream(request).collect::<Vec<_>>(),
        ) {
            match item.unwrap() {
                Chunk::Text(new_text) => text.push_str(&new_text),
                Chunk::Call(call) => calls.push(call),
                _ => {}
            }
        }
        self.0.push(Message::Model { text: text.clone(), calls: calls.clone(), echo: None });
        for call in &calls {
            text.push_str(&format!("[{}]", call.name));
            self.0.push(Message::Tool { call: call.id.clone(), text: answer(call) });
        }
        text
    }

    /// Sends a user message and plays the turn to its end.
    fn play_turn(&mut self, message: &str, answer: &dyn Fn(&ToolCall) -> String) -> String {
        self.0.push(Message::User(message.into()));
        let mut text = String::new();
        for _ in 0..10 {
            let reply = self.play_reply(answer);
            text.push_str(&reply);
            if !reply.ends_with(']') {
                return text;
            }
        }
        panic!("the tour has no end: {text}");
    }

    /// Continues in a dry run, as `/fork dry` does.
    fn play_dry_run_in_fork(&mut self, answer: &dyn Fn(&ToolCall) -> String) -> String {
        self.0[0] = Message::System("This session is a dry run".into());
        self.play_turn("go on", answer)
    }
}

fn question_answer(label: &str) -> String {
    format!(r#"{{"type":"question_answers","status":"answered","answers":[{{"keyword":"clock","answer":"{label}"}}]}}"#)
}

fn approve_all(label: &'static str) -> impl Fn(&ToolCall) -> String {
    move |call| if call.name == "ask_question" { question_answer(label) } else { format!("{} was done", call.name) }
}

#[test]
fn the_tour_reads_asks_edits_and_runs_in_order() {
    for (label, change) in [
        ("tokio::time::pause", "tests/retry.rs:2"),
        ("a Clock trait", "src/retry.rs:6"),
        ("the real clock", "tests/retry.rs:18"),
    ] {
        let mut conversation = TourConversation::new();
        let text = conversation.play_turn("hi", &approve_all(label));
        let expected_parts = [
            "a script, not a model",
            "[read_file][search_text]",
            "```rust",
            "| machine |",
            "再試行",
            "👩‍🔬",
            "[ask_question]",
            label,
            "[edit_file]",
            "“edit_file was done”",
            "[bash_exec]",
            "The check says: “bash_exec was done”",
            "[bash_exec]",
            "The command ran.",
            "[bash_exec]",
            "/fork dry",
        ];
        let mut position = 0;
        for part in expected_parts {
            position += text[position..].find(part).unwrap_or_else(|| panic!("{part:?} is missing or late:\n{text}"));
        }
        assert!(!text.contains(AGAIN), "{text}");
        let text = conversation.play_dry_run_in_fork(&approve_all(label));
        for part in ["I delete all", "[bash_exec]The command was rehearsed", "/audit", "OPENAI_API_KEY"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains(&format!("the edit: {change}\n")), "{text}");
        assert!(!text.contains(AGAIN), "{text}");
    }
}

#[test]
fn a_note_is_quoted() {
    let answer_with_note = |call: &ToolCall| match call.name.as_str() {
        "ask_question" => r#"{"answers":[{"keyword":"clock","answer":"the real clock",
            "notes":[{"option_index":2,"option":"the real clock","note":"but only on Fridays"}]}]}"#
            .to_owned(),
        _ => "done".to_owned(),
    };
    let text = TourConversation::new().play_turn("hi", &answer_with_note);
    assert!(text.contains("Your note: “but only on Fridays”."), "{text}");
}

#[test]
fn every_location_in_the_tour_exists() {
    let mut conversation = TourConversation::new();
    let text = conversation.play_turn("hi", &approve_all("a Clock trait"))
        + &conversation.play_dry_run_in_fork(&approve_all("a Clock trait"));
    let files = demo::tour().files;
    let mut count = 0;
    for word in text.split_whitespace() {
        let word = word.trim_end_matches('.');
        let Some((path, line)) = word.rsplit_once(':') else { continue };
        let (Some((_, content)), Ok(line)) = (files.iter().find(|(file, _)| *file == path), line.parse::<usize>())
        else {
            continue;
        };
        count += 1;
        assert!(line >= 1 && line <= content.lines().count(), "{word}");
    }
    assert!(count >= 6, "{count} places in {text}");
}

#[test]
fn every_edit_of_the_tour_matches_its_files() {
    for label in ["tokio::time::pause", "a Clock trait", "the real clock"] {
        let mut conversation = TourConversation::new();
        conversation.play_turn("hi", &approve_all(label));
        let calls = conversation.0.iter().flat_map(|message| match message {
            Message::Model { calls, .. } => calls.clone(),
            _ => vec![],
        });
        let edit = calls.into_iter().find(|call| call.name == "edit_file").unwrap();
        let arguments: Value = serde_json::from_str(&edit.arguments).unwrap();
        let argument = |key: &str| arguments[key].as_str().unwrap().to_owned();
        let files = demo::tour().files;
        let (_, content) = files.iter().find(|(path, _)| *path == argument("path")).unwrap();
        assert_eq!(content.matches(&argument("old_text")).count(), 1, "{label}");
        assert!(!content.contains(&argument("new_text")), "{label}");
    }
}

#[test]
fn the_tour_reports_a_denial_and_continues() {
    let deny_changes = |call: &ToolCall| match call.name.as_str() {
        "ask_question" => question_answer("the real clock"),
        "read_file" | "search_text" => "1 file".to_owned(),
        _ => "The user denied this call.".to_owned(),
    };
    let text = TourConversation::new().play_turn("hi", &deny_changes);
    assert!(text.contains("You denied the edit, so the file is unchanged"), "{text}");
    assert!(text.contains("[bash_exec]The check was not run"), "{text}");
    assert!(text.contains("[bash_exec]You denied it, so notes.old is still there."), "{text}");
    assert!(text.contains("[bash_exec]You denied it, so there is no report."), "{text}");
}

#[test]
fn the_tour_reports_a_dry_run() {
    let rehearse_calls = |call: &ToolCall| match call.name.as_str() {
        "ask_question" => question_answer("a Clock trait"),
        _ => "Dry run: this was not done.".to_owned(),
    };
    let mut conversation = TourConversation::new();
    let text = conversation.play_dry_run_in_fork(&rehearse_calls);
    assert!(text.contains("the change was rehearsed") && !text.contains("the edit:"), "{text}");
    assert!(text.contains("the check was rehearsed") && text.contains("notes.old is still there"), "{text}");
    assert!(!text.contains("/fork dry") && text.contains("I delete all") && text.contains("/rehearsal"), "{text}");
}

#[test]
fn the_last_page_says_how_the_rehearsed_command_ended() {
    let outcomes = [
        ("exit 0", "The command was rehearsed."),
        ("Dry run: this was not done.", "The command was rehearsed."),
        ("The user denied this call. It was not run.", "The command was denied."),
        ("Refused: plan mode allows only reading inside the project.", "The command was denied."),
        ("The user interrupted this call. Changes it had made remain.", "The command was stopped."),
        ("Not run: the user stopped the turn before this call started.", "The command was stopped."),
    ];
    let declined = r#"{"type":"question_answers","status":"declined","answers":[]}"#;
    for (result, remark) in outcomes {
        for (answer, edit) in
            [(question_answer("a Clock trait"), "- the edit: src/retry.rs:6\n"), (declined.into(), "")]
        {
            let mut conversation = TourConversation::new();
            let answer_call = |call: &ToolCall| match call.name.as_str() {
                "ask_question" => answer.clone(),
                _ => "done".to_owned(),
            };
            conversation.play_turn("hi", &answer_call);
            let text = conversation.play_dry_run_in_fork(&|_| result.to_owned());
            let page = text.split("[bash_exec]").nth(1).unwrap_or_else(|| panic!("{text}"));
            let start = format!("{remark}\n\nThe source code is still there; open it from here:\n\n{edit}- the test: ");
            assert!(page.starts_with(&start), "{result}: {page}");
            for part in ["- the library: src/retry.rs:", "`/rehearsal`", "`/audit`", "This is the end of the tour."] {
                assert!(page.contains(part), "{result}, {part}: {page}");
            }
            // It is shown once; the next message gets a hint.
            assert!(conversation.play_turn("and now?", &answer_call).starts_with(HINTS[0]), "{result}");
        }
    }
}

#[test]
fn without_an_option_the_tour_edits_nothing_or_uses_the_first() {
    let declined = r#"{"type":"question_answers","status":"declined","answers":[]}"#;
    let text = TourConversation::new()
        .play_turn("hi", &|call| if call.name == "ask_question" { declined.into() } else { "ok".into() });
    assert!(text.contains("No clock was chosen") && !text.contains("[edit_file]"), "{text}");
    assert!(text.contains("[bash_exec]"), "{text}");
    let text = TourConversation::new().play_turn("hi", &approve_all("a sundial"));
    assert!(text.contains("in your own words") && text.contains("[edit_file]"), "{text}");
}

#[test]
fn a_stopped_tour_continues_at_the_same_scene() {
    let answer = approve_all("tokio::time::pause");
    let mut conversation = TourConversation::new();
    conversation.0.push(Message::User("hi".into()));
    conversation.play_reply(&answer);
    let text = conversation.play_turn("what is this?", &answer);
    assert!(text.starts_with(AGAIN), "{text}");
    assert!(!text.contains("[read_file]") && text.contains("[ask_question]"), "{text}");

    let mut conversation = TourConversation::new();
    conversation.0.push(Message::User("hi".into()));
    conversation.0.push(Message::Model {
        text: "This is\n[the reply was cut short here]".into(),
        calls: vec![],
        echo: None,
    });
    assert!(conversation.play_turn("go on", &answer).contains("[read_file]"), "a scene without calls is played again");
}

#[test]
fn after_the_end_the_tour_gives_hints_and_says_it_is_a_script() {
    let answer = approve_all("a Clock trait");
    let mut conversation = TourConversation::new();
    conversation.play_turn("hi", &answer);
    let replies: Vec<String> = (0..5).map(|_| conversation.play_turn("and now?", &answer)).collect();
    assert!(replies.iter().all(|reply| reply.to_lowercase().contains("script")), "{replies:?}");
    for (reply, hint) in replies.iter().zip(HINTS.iter().cycle()) {
        assert!(reply.starts_with(hint), "{reply}");
    }
    assert!(replies.concat().contains("/fork dry") && replies.concat().contains("/help"));
}

#[tokio::test(start_paused = true)]
async fn the_tour_streams_at_reading_speed() {
    let request = Request {
        model: "tour".into(),
        messages: vec![Message::User("hi".into())],
        tools: vec![],
        max_tokens: None,
        images: vec![],
        answer_schema: None,
    };
    let start = tokio::time::Instant::now();
    let characters: usize = ScriptedModel::new(Arc::new(demo::tour()), true)
        .stream(request)
        .map(|item| match item {
            Ok(Chunk::Text(text) | Chunk::Reasoning(text)) => text.chars().count(),
            _ => 0,
        })
        .fold(0, |sum, count| async move { sum + count })
        .await;
    let speed = characters as f64 / start.elapsed().as_secs_f64();
    assert!((130.0..170.0).contains(&speed), "{speed} characters per second");
}

#[tokio::test(start_paused = true)]
async fn a_paced_reply_takes_the_expected_time_and_keeps_graphemes_whole() {
    // 150 graphemes of 5 characters each, at 150 graphemes per second.
    let text = "👩‍👩‍👧".repeat(150);
    let start = tokio::time::Instant::now();
    let out: Vec<_> = play_items(vec![Ok(Chunk::Text(text.clone()))], Some(150)).collect().await;
    assert_eq!(start.elapsed().as_millis(), 1000);
    let texts: Vec<String> =
        out.into_iter().filter_map(|item| if let Ok(Chunk::Text(text)) = item { Some(text) } else { None }).collect();
    assert!(texts.iter().all(|piece| piece.chars().count() % 5 == 0));
    assert_eq!(texts.concat(), text);
}

#[test]
fn the_recommended_fix_measures_the_time_that_the_test_pauses() {
    let mut conversation = TourConversation::new();
    conversation.play_turn("hi", &approve_all("tokio::time::pause"));
    let calls = conversation.0.iter().flat_map(|message| match message {
        Message::Model { calls, .. } => calls.clone(),
        _ => vec![],
    });
    let edit = calls.into_iter().find(|call| call.name == "edit_file").unwrap();
    let arguments: Value = serde_json::from_str(&edit.arguments).unwrap();
    let files = demo::tour().files;
    for (path, content) in files.iter().filter(|(_, content)| content.contains("Instant::now")) {
        let content = match arguments["path"] == *path {
            true => content.replace(arguments["old_text"].as_str().unwrap(), arguments["new_text"].as_str().unwrap()),
            false => content.clone(),
        };
        // A paused clock stops only the `Instant` of tokio.
        assert!(content.contains("use tokio::time::Instant;") && !content.contains("Instant}"), "{path}");
    }
}
