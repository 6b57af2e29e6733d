//! The tour, played against results as the program formats them.

use super::*;
use crate::chat::{Message, ToolCall};
use futures::StreamExt;
use serde_json::Value;

/// A conversation with the tour in which a closure provides the result of each call.
struct Talk(Vec<Message>);

impl Talk {
    fn new() -> Self {
        Self(vec![Message::System("s".into())])
    }

    /// Plays one reply. Returns its text with the names of its calls in brackets.
    fn step(&mut self, answer: &dyn Fn(&ToolCall) -> String) -> String {
        let request = Request {
            model: "tour".into(),
            messages: self.0.clone(),
            tools: vec![],
            max_tokens: None,
            pictures: vec![],
        };
        let (mut text, mut calls) = (String::new(), Vec::new());
        for item in futures::executor::block_on(Tour::without_pacing().stream(request).collect::<Vec<_>>()) {
            match item.unwrap() {
                Chunk::Text(more) => text.push_str(&more),
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
    fn say(&mut self, words: &str, answer: &dyn Fn(&ToolCall) -> String) -> String {
        self.0.push(Message::User(words.into()));
        let mut all = String::new();
        for _ in 0..10 {
            let step = self.step(answer);
            all.push_str(&step);
            if !step.ends_with(']') {
                return all;
            }
        }
        panic!("the tour has no end: {all}");
    }
}

fn picks(label: &str) -> String {
    format!(r#"{{"type":"question_answers","status":"answered","answers":[{{"keyword":"clock","answer":"{label}"}}]}}"#)
}

fn willing(label: &'static str) -> impl Fn(&ToolCall) -> String {
    move |call| if call.name == "ask_question" { picks(label) } else { format!("{} was done", call.name) }
}

#[test]
fn the_tour_reads_asks_edits_and_runs_in_order() {
    for (label, change) in [
        ("tokio::time::pause", "tests/retry.rs:2"),
        ("a Clock trait", "src/retry.rs:5"),
        ("the real clock", "tests/retry.rs:18"),
    ] {
        let told = Talk::new().say("hi", &willing(label));
        let order = [
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
            "OPENAI_API_KEY",
        ];
        let mut from = 0;
        for words in order {
            from += told[from..].find(words).unwrap_or_else(|| panic!("{words:?} is missing or late:\n{told}"));
        }
        assert!(told.contains(&format!("the edit: {change}\n")), "{told}");
        assert!(!told.contains(texts::AGAIN), "{told}");
    }
}

#[test]
fn every_location_in_the_tour_exists() {
    let told = Talk::new().say("hi", &willing("a Clock trait"));
    let mut count = 0;
    for word in told.split_whitespace() {
        let word = word.trim_end_matches('.');
        let Some((path, line)) = word.rsplit_once(':') else { continue };
        let (Some((_, content)), Ok(line)) = (FILES.iter().find(|(own, _)| *own == path), line.parse::<usize>()) else {
            continue;
        };
        count += 1;
        assert!(line >= 1 && line <= content.lines().count(), "{word}");
    }
    assert!(count >= 6, "{count} places in {told}");
}

#[test]
fn every_edit_of_the_tour_matches_its_files() {
    for label in ["tokio::time::pause", "a Clock trait", "the real clock"] {
        let mut talk = Talk::new();
        talk.say("hi", &willing(label));
        let calls = talk.0.iter().flat_map(|message| match message {
            Message::Model { calls, .. } => calls.clone(),
            _ => vec![],
        });
        let edit = calls.into_iter().find(|call| call.name == "edit_file").unwrap();
        let arguments: Value = serde_json::from_str(&edit.arguments).unwrap();
        let text = |key: &str| arguments[key].as_str().unwrap().to_owned();
        let (_, content) = FILES.iter().find(|(path, _)| *path == text("path")).unwrap();
        assert_eq!(content.matches(&text("old_text")).count(), 1, "{label}");
        assert!(!content.contains(&text("new_text")), "{label}");
    }
}

#[test]
fn the_tour_reports_a_denial_and_continues() {
    let no = |call: &ToolCall| match call.name.as_str() {
        "ask_question" => picks("the real clock"),
        "read_file" | "search_text" => "1 file".to_owned(),
        _ => "The user denied this call.".to_owned(),
    };
    let told = Talk::new().say("hi", &no);
    assert!(told.contains("You denied the edit, so the file is unchanged"), "{told}");
    assert!(told.contains("[bash_exec]The command was not run"), "{told}");
    assert!(!told.contains("the edit:"), "{told}");
}

#[test]
fn the_tour_reports_a_dry_run() {
    let dry = |call: &ToolCall| match call.name.as_str() {
        "ask_question" => picks("a Clock trait"),
        _ => "Dry run: this was not done.".to_owned(),
    };
    let told = Talk::new().say("hi", &dry);
    assert!(told.contains("the change was rehearsed") && !told.contains("the edit:"), "{told}");
}

#[test]
fn without_an_option_the_tour_edits_nothing_or_uses_the_first() {
    let declined = r#"{"type":"question_answers","status":"declined","answers":[]}"#;
    let told = Talk::new().say("hi", &|call| if call.name == "ask_question" { declined.into() } else { "ok".into() });
    assert!(told.contains(texts::NO_CHOICE) && !told.contains("[edit_file]"), "{told}");
    assert!(told.contains("[bash_exec]"), "{told}");
    let told = Talk::new().say("hi", &willing("a sundial"));
    assert!(told.contains(texts::OWN_WORDS) && told.contains("[edit_file]"), "{told}");
}

#[test]
fn a_stopped_tour_continues_at_the_same_scene() {
    let answer = willing("tokio::time::pause");
    let mut talk = Talk::new();
    talk.0.push(Message::User("hi".into()));
    talk.step(&answer);
    let told = talk.say("what is this?", &answer);
    assert!(told.starts_with(texts::AGAIN), "{told}");
    assert!(!told.contains("[read_file]") && told.contains("[ask_question]"), "{told}");

    let mut cut = Talk::new();
    cut.0.push(Message::User("hi".into()));
    cut.0.push(Message::Model { text: "This is\n[the reply was cut short here]".into(), calls: vec![], echo: None });
    assert!(cut.say("go on", &answer).contains("[read_file]"), "a scene without calls is played again");
}

#[test]
fn after_the_end_the_tour_gives_hints_and_says_it_is_a_script() {
    let answer = willing("a Clock trait");
    let mut talk = Talk::new();
    talk.say("hi", &answer);
    let said: Vec<String> = (0..5).map(|_| talk.say("and now?", &answer)).collect();
    assert!(said.iter().all(|words| words.to_lowercase().contains("script")), "{said:?}");
    assert_eq!(said[..4], texts::AFTER);
    assert_eq!(said[4], texts::AFTER[0]);
    assert!(said.concat().contains("--dry-run") && said.concat().contains("/help"));
}

#[tokio::test(start_paused = true)]
async fn the_tour_streams_at_reading_speed() {
    let request = Request {
        model: "tour".into(),
        messages: vec![Message::User("hi".into())],
        tools: vec![],
        max_tokens: None,
        pictures: vec![],
    };
    let began = tokio::time::Instant::now();
    let characters: usize = Tour::new()
        .stream(request)
        .map(|item| match item {
            Ok(Chunk::Text(text) | Chunk::Reasoning(text)) => text.chars().count(),
            _ => 0,
        })
        .fold(0, |sum, count| async move { sum + count })
        .await;
    let speed = characters as f64 / began.elapsed().as_secs_f64();
    assert!((130.0..170.0).contains(&speed), "{speed} characters per second");
}
