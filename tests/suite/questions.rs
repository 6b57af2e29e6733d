//! Questions to the user wait for their answer, and the answer reaches the model unchanged.

use crate::support::program::{Program, Setup};
use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use crate::support::service::Service;
use crate::support::terminal_session::{calls_answer_after, start_session, submit_message, text_answer as reply};
use aye::agent::{Event, WaitingCall};
use aye::chat::*;
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn a_question_waits_and_its_answer_is_the_result() {
    let mut scene = Scene::new([
        calls(
            "ask_question",
            json!({ "question": "Which clock?", "keyword": "clock", "options": ["paused", "a trait", "real"] }),
        ),
        says("Good."),
    ]);
    scene.say("go").await;
    let Some(WaitingCall::Answer { call, questions, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
    assert_eq!(questions.list[0].options.len(), 3);
    let given = QuestionAnswer::new("clock", AnswerValue::Selected(vec![1]));
    let answer = Answer { answers: vec![given], ..Answer::from_status(AnswerStatus::Answered) };
    let event = Event::QuestionsAnswered { call: call.id.clone(), answer, by: Decider::File };
    scene.run_event(event).await;
    let result: serde_json::Value = serde_json::from_str(&scene.last_tool_result()).unwrap();
    assert_eq!(result["answers"][0]["answer"], "a trait");
    assert_eq!(result["answers"][0]["option_index"], 1);
    assert!(scene.state.is_idle());
}

#[tokio::test]
async fn r16_interrupting_a_turn_never_answers_its_question() {
    let mut scene = Scene::new([calls("ask_question", json!({ "questions": [{ "question": "Now?" }] }))]);
    scene.say("go").await;
    scene.run_event(Event::TurnInterrupted).await;
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[0], Outcome::Interrupted(text) if text.contains("deferred")), "{outcomes:?}");
}

#[tokio::test]
async fn invalid_question_fails_without_reaching_the_user() {
    let mut scene = Scene::new([calls("ask_question", json!({ "questions": [] })), says("Sorry.")]);
    scene.say("go").await;
    assert!(matches!(&scene.outcomes()[0], Outcome::Failed(_)));
    assert!(scene.state.is_idle());
}

/// Starts a provider that asks two questions, and the program with the question prompt on the screen.
fn start_with_questions() -> (tokio::runtime::Runtime, Service, Program) {
    let ask = json!({ "questions": [
        { "question": "Which clock?", "keyword": "clock", "options": ["paused", "a trait", "real"] },
        { "question": "Where?", "keyword": "os", "options": ["Linux", "macOS"], "multi": true },
    ]});
    let (runtime, service, mut program) = start_session(
        vec![calls_answer_after(Duration::ZERO, &[("ask_question", ask)]), reply("Good.")],
        (80, 24),
        &[],
    );
    submit_message(&mut program, "go");
    program.until_prompt("Which clock?");
    (runtime, service, program)
}

/// Returns the text and the mode of every draft.
fn drafts(root: &Path) -> Vec<(String, u32)> {
    let folder = std::fs::read_dir(root.join("home/aye/data/drafts")).unwrap();
    let all =
        folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
    all.map(|path| (std::fs::read_to_string(&path).unwrap(), path.metadata().unwrap().mode() & 0o777)).collect()
}

#[test]
fn r51_half_answered_question_prompt_survives_a_kill_unchanged() {
    let (_runtime, service, mut program) = start_with_questions();
    program.press_keys("2");
    program.until("✓ a trait");
    program.press_keys("\r");
    program.until_prompt("2 of 2 · 1 answered");
    program.wait_ms(600);
    program.press_keys("1");
    program.until("[x] Linux");
    program.press_keys("n");
    program.until("save note");
    program.type_text("but not on old ones");
    let before = program.until("note but not on old ones");
    assert!(before.contains("[x] Linux"), "{before}");
    let root = program.root.clone();
    program.until_condition("the draft is kept", |_| {
        drafts(root.path()).iter().any(|(text, _)| text.contains("but not on old ones"))
    });
    program.signal(Signal::KILL);
    program.wait_for_exit();
    assert_eq!(drafts(root.path()).iter().map(|(_, mode)| *mode).collect::<Vec<_>>(), [0o600]);
    let resume_arguments = ["-c", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut program = Setup::with_home(&root, &resume_arguments).start();
    let after = program.until("2 of 2 · 2 answered");
    let prompt_rows =
        |screen: &str| screen.lines().skip_while(|row| !row.starts_with('╭')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(prompt_rows(&after), prompt_rows(&before));
    program.press_until("\r", "note: but not on old ones");
    program.until_prompt("note: but not on old ones");
    program.press_keys("\x1b");
    program.until("2 questions wait");
    // Parked, and closed with ctrl-c twice.
    program.press_keys("\x03");
    program.press_keys("\x03");
    program.wait_for_exit();
    let mut program = Setup::with_home(&root, &resume_arguments).start();
    program.until("2 questions wait");
    // Ctrl-Q reopens the parked prompt.
    program.press_keys("\x11");
    program.until_prompt("note: but not on old ones");
    program.press_keys("\r");
    program.until("Your answers");
    program.press_until("\r", "Good.");
    let request = service.received()[1].body.to_string();
    assert!(
        request.contains("a trait") && request.contains("Linux") && request.contains("but not on old ones"),
        "{request}"
    );
    assert_eq!(drafts(root.path()), []);
}

#[test]
fn r03_digits_typed_while_a_question_appears_pick_nothing() {
    let ask = |pause| {
        let question = json!({ "question": "Which clock?", "options": ["paused", "a trait", "real"] });
        calls_answer_after(Duration::from_millis(pause), &[("ask_question", question)])
    };
    let (_runtime, service, mut program) = start_session(vec![ask(200)], (80, 24), &[]);
    submit_message(&mut program, "go");
    for _ in 0..12 {
        program.press_keys("1");
        program.wait_ms(45);
    }
    program.until("Which clock?");
    for key in ["2", "3", "x", "n"] {
        program.press_keys(key);
    }
    program.until("❯ 11111111111123xn");
    program.press_keys("\x1b[200~2\r\x1b[201~");
    program.wait_ms(700);
    let screen = program.screen();
    assert!(screen.contains("Which clock?") && !screen.contains('✓'), "{screen}");
    assert_eq!(service.received().len(), 1);
}
