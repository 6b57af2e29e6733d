//! A question waits for its answer, and the answer goes back as it was given.

use crate::support::scene::Scene;
use aye::agent::{Event, Waiting};
use aye::chat::*;
use aye::llm::scripted::{calls, says};
use serde_json::json;

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
    let Some(Waiting::Answer { call, questions }) = scene.state.waiting() else { panic!("nothing waits") };
    assert_eq!(questions.list[0].options.len(), 3);
    let given = Given { keyword: "clock".into(), source: Source::Picked(vec![1]), note: String::new() };
    let answer = Answer { status: Status::Answered, given: vec![given] };
    let event = Event::Answered { call: call.id.clone(), answer };
    scene.happens(event).await;
    let told: serde_json::Value = serde_json::from_str(&scene.told()).unwrap();
    assert_eq!(told["answers"][0]["answer"], "a trait");
    assert_eq!(told["answers"][0]["option_index"], 1);
    assert!(scene.state.is_idle());
}

#[tokio::test]
async fn r16_stopping_a_turn_never_answers_its_question() {
    let mut scene = Scene::new([calls("ask_question", json!({ "questions": [{ "question": "Now?" }] }))]);
    scene.say("go").await;
    scene.happens(Event::Interrupted).await;
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[0], Outcome::Interrupted(text) if text.contains("deferred")), "{outcomes:?}");
}

#[tokio::test]
async fn a_question_that_makes_no_sense_goes_back_to_the_model() {
    let mut scene = Scene::new([calls("ask_question", json!({ "questions": [] })), says("Sorry.")]);
    scene.say("go").await;
    assert!(matches!(&scene.outcomes()[0], Outcome::Failed(_)));
    assert!(scene.state.is_idle());
}
