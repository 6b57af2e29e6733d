//! Turns without a screen: real runtime, tools and folder, scripted model.

use crate::support::pick_count;
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, calls, fails, says};
use aye::agent::Event;
use aye::chat::*;
use aye::llm::Error;
use serde_json::json;

#[tokio::test]
async fn a_reply_is_kept_and_the_turn_ends() {
    let mut scene = Scene::new([says("Hello.")]);
    scene.say("hi").await;
    let entries = scene.log.entries.lock().unwrap().clone();
    assert_eq!(entries.len(), 3, "{entries:?}");
    assert_eq!(entries[0], Entry::UserMessage { text: "hi".into() });
    assert!(matches!(&entries[1], Entry::Replied { text, .. } if text == "Hello."));
    assert_eq!(entries[2], Entry::Ended { ending: Ending::Finished });
    assert_eq!(Session::replay(entries), scene.state.session, "replaying the log yields the session");
}

#[tokio::test]
async fn reads_run_without_asking_and_their_results_reach_the_model() {
    let mut scene = Scene::new([
        calls("read_file", json!({ "path": "a.txt" })).calls("read_file", json!({ "path": "b.txt" })),
        says("Done."),
    ])
    .with_file("a.txt", "alpha\n")
    .with_file("b.txt", "beta\n");
    scene.say("read both").await;
    assert!(scene.state.is_idle());
    let results: Vec<String> = scene.outcomes().iter().map(|outcome| outcome.text().to_owned()).collect();
    assert!(
        results.iter().any(|text| text.contains("alpha")) && results.iter().any(|text| text.contains("beta")),
        "{results:?}"
    );
}

#[tokio::test]
async fn unknown_tools_and_invalid_arguments_are_errors_for_the_model() {
    let mut scene = Scene::new([
        calls("fly", json!({})),
        calls("read_file", json!({ "file": "a" })),
        calls("read_file", json!({ "path": "missing.txt" })),
        says("I see."),
    ]);
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert!(
        matches!(&outcomes[0], Outcome::Failed(text) if text.contains("fly") && text.contains("read_file")),
        "{outcomes:?}"
    );
    assert!(
        matches!(&outcomes[1], Outcome::Failed(text) if text.contains("file") && text.contains("path")),
        "{outcomes:?}"
    );
    assert!(matches!(&outcomes[2], Outcome::Failed(text) if text.contains("missing.txt")), "{outcomes:?}");
}

#[tokio::test]
async fn incomplete_reply_keeps_its_text_and_runs_no_calls() {
    let mut scene = Scene::new([says("Half a").without_end()]);
    scene.say("go").await;
    let entries = scene.state.session.entries();
    assert!(
        matches!(&entries[1], Entry::Replied { text, incomplete: Some(_), calls, .. } if text == "Half a" && calls.is_empty())
    );
    assert!(matches!(&entries[2], Entry::Ended { ending: Ending::Failed(_) }));
}

#[tokio::test]
async fn provider_error_is_reported_and_the_session_continues() {
    let mut scene =
        Scene::new([fails(Error::InvalidReply("the service refused the key (401)".into())), says("Now it works.")]);
    scene.say("go").await;
    assert!(
        matches!(scene.state.session.entries().last(), Some(Entry::Ended { ending: Ending::Failed(why) }) if why.contains("401"))
    );
    scene.say("again").await;
    assert!(matches!(scene.state.session.entries().last(), Some(Entry::Ended { ending: Ending::Finished })));
}

#[tokio::test]
async fn interrupted_turn_closes_the_connection_and_keeps_the_text() {
    let mut scene = Scene::slow("Some words that take their time to come.");
    scene.apply_event(Event::UserMessage("go".into()));
    scene.apply_next_event().await;
    scene.apply_event(Event::TurnInterrupted);
    assert!(scene.state.is_idle());
    assert!(
        matches!(&scene.state.session.entries()[1], Entry::Replied { text, incomplete: Some(_), .. } if text.starts_with("Some") && text.len() < 30)
    );
}

#[tokio::test]
async fn r53_unwritable_log_is_reported_and_the_session_continues() {
    let mut scene = Scene::new([says("Hello.")]);
    *scene.log.failures_left.lock().unwrap() = 1;
    scene.say("hi").await;
    assert_eq!(scene.errors.len(), 1);
    assert!(scene.errors[0].contains("could not be saved"), "{:?}", scene.errors);
    assert!(scene.state.is_idle() && scene.state.session.entries().len() == 3);
}

#[tokio::test]
async fn r65_tool_results_are_bounded() {
    let big = "x".repeat(3_000_000);
    let mut scene =
        Scene::new([calls("read_file", json!({ "path": "big.txt" })), says("Big.")]).with_file("big.txt", &big);
    scene.say("go").await;
    assert!(scene.outcomes()[0].text().len() < 70_000);
}

#[tokio::test]
async fn r65_call_that_failed_three_times_is_refused() {
    let missing = || calls("read_file", json!({ "path": "missing.txt" }));
    let other = || calls("read_file", json!({ "path": "other.txt" }));
    let mut scene = Scene::new([missing(), missing(), other(), missing(), missing(), missing(), says("I give up.")]);
    scene.say("go").await;
    let is_refused: Vec<bool> =
        scene.outcomes().iter().map(|outcome| outcome.text().starts_with("Refused: this call of")).collect();
    assert_eq!(is_refused, [false, false, false, false, true, true]);
    assert!(scene.state.is_idle());
}

#[tokio::test]
async fn r65_turn_is_stopped_after_fifty_rounds() {
    let search = |n| calls("search_text", json!({ "pattern": format!("word {n}") }));
    let mut scene = Scene::new((0..60).map(search)).with_file("a.txt", "");
    scene.say("go").await;
    assert_eq!((scene.outcomes().len(), scene.model.requests().lock().unwrap().len()), (50, 50));
    let entries = scene.log.entries.lock().unwrap().clone();
    let last = entries.last().unwrap();
    assert!(matches!(last, Entry::Ended { ending: Ending::Failed(why) } if why.contains("50 requests")), "{last:?}");
    assert!(scene.state.is_idle());
}

#[tokio::test]
async fn r18_each_of_twenty_calls_is_settled_once() {
    let many = (0..20).fold(Reply::default(), |reply, n| match n % 4 {
        0 => reply.calls("read_file", json!({ "path": "a.txt" })),
        1 => reply.calls("write_file", json!({ "path": format!("{n}.txt"), "content": "x" })),
        2 => reply.calls("fly", json!({})),
        _ => reply.calls("read_file", json!({ "path": 3 })),
    });
    let mut scene = Scene::new([many, says("Done.")]).with_file("a.txt", "a\n");
    scene.say("go").await;
    for n in [1, 5, 9, 13, 17] {
        assert_eq!(scene.file(format!("{n}.txt")), None, "each needs its own approval");
        scene.approve().await;
        assert_eq!(scene.file(format!("{n}.txt")).as_deref(), Some("x"));
    }
    assert!(scene.state.is_idle());
    assert_eq!(scene.outcomes().len(), 20);
    assert!(scene.state.session.open_calls().is_empty());
}

#[tokio::test]
async fn r48_repeated_call_ids_name_separate_calls() {
    let call = |path: &str| {
        let arguments = json!({ "path": path }).to_string();
        Chunk::Call(ToolCall { id: CallId::from("same"), name: "read_file".into(), arguments })
    };
    let twice = || Reply::default().push_chunk(call("a.txt")).push_chunk(call("b.txt"));
    let mut scene =
        Scene::new([twice(), twice(), says("Done.")]).with_file("a.txt", "alpha\n").with_file("b.txt", "beta\n");
    scene.say("go").await;
    let results: Vec<String> = scene.outcomes().iter().map(|outcome| outcome.text().to_owned()).collect();
    assert_eq!(results.iter().filter(|text| text.contains("alpha")).count(), 2, "{results:?}");
    assert_eq!(results.iter().filter(|text| text.contains("beta")).count(), 2, "{results:?}");
    assert_eq!(scene.outcomes().len(), 4);
}

#[tokio::test]
async fn r65_arguments_of_ten_megabytes_are_refused_briefly() {
    let big = "x".repeat(pick_count(10_000_000, 2_000_000));
    let mut scene = Scene::new([
        calls("write_file", json!({ "path": "a.txt", "content": big })),
        calls("read_file", json!({ "path": big })),
        calls("search_text", json!({ "pattern": big })),
        calls(&big, json!({})),
        calls("bash_exec", json!({ "command": big })),
        says("I see."),
    ]);
    scene.say("go").await;
    assert!(scene.state.is_idle());
    let lengths: Vec<usize> = scene.outcomes().iter().map(|outcome| outcome.text().len()).collect();
    assert!(lengths.len() == 5 && lengths.iter().all(|&bytes| bytes < 20_000), "{lengths:?}");
}
