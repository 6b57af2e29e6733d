//! What asks, what a yes does, and what a no does.

use crate::support::promise::kept;
use crate::support::scene::Scene;
use aye::agent::{Event, WaitingCall};
use aye::chat::*;
use aye::llm::scripted::{calls, says};
use serde_json::json;

fn writes() -> aye::llm::scripted::Reply {
    calls("write_file", json!({ "path": "a.txt", "content": "new\n" }))
}

#[tokio::test]
async fn r01_a_write_waits_for_a_yes_and_then_does_what_was_shown() {
    let mut scene = Scene::new([writes(), says("Done.")]);
    scene.say("go").await;
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
    assert!(matches!(&plan.preview, Preview::Edit(diff) if diff.created && diff.added == 1));
    assert_eq!(scene.file("a.txt"), None, "nothing happens before the yes");
    scene.yes().await;
    assert_eq!(scene.file("a.txt").as_deref(), Some("new\n"));
    assert!(scene.state.is_idle());
}

#[tokio::test]
async fn a_no_does_nothing_and_is_told() {
    let mut scene = Scene::new([writes(), says("As you like.")]);
    scene.say("go").await;
    scene.decide(Decision::Deny("not there".into())).await;
    assert_eq!(scene.file("a.txt"), None);
    assert!(scene.told().contains("not there"));
}

#[tokio::test]
async fn r24_a_file_that_changed_since_the_card_is_not_overwritten() {
    let mut scene =
        Scene::new([calls("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" })), says("Oh.")])
            .has("a.txt", "one\n");
    scene.say("go").await;
    std::fs::write(scene.project().join("a.txt"), "one, but not the same\n").unwrap();
    scene.yes().await;
    assert_eq!(scene.file("a.txt").as_deref(), Some("one, but not the same\n"));
    assert!(matches!(&scene.outcomes()[0], Outcome::Failed(why) if why.contains("changed")), "{:?}", scene.outcomes());
}

#[tokio::test]
async fn an_always_is_kept_in_the_log_and_covers_the_next_call() {
    let mut scene = Scene::new([
        calls("bash_exec", json!({ "command": "echo one >> x" })),
        calls("bash_exec", json!({ "command": "echo one >> x" })),
        calls("bash_exec", json!({ "command": "echo two >> x" })),
        says("Done."),
    ]);
    scene.say("go").await;
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
    let grant = plan.grant.clone().expect("a command offers a grant");
    scene.decide(Decision::Always(grant)).await;
    assert_eq!(scene.outcomes().len(), 2, "the second ran on the grant, the third waits");
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
    assert_eq!(plan.summary, "echo two >> x");
    let replayed = Session::replay(scene.log.entries.lock().unwrap().clone());
    assert_eq!(replayed.grants().len(), 1);
}

#[tokio::test]
async fn a_commands_output_and_exit_code_are_told() {
    let mut scene =
        Scene::new([calls("bash_exec", json!({ "command": "echo out; echo err >&2; exit 3" })), says("So.")]);
    scene.say("go").await;
    scene.yes().await;
    let told = scene.told();
    assert!(told.contains("out\n") && told.contains("err\n") && told.contains("exit 3"), "{told}");
    assert!(matches!(scene.outcomes()[0], Outcome::Done(_)), "an exit code is no failure of the tool");
}

#[tokio::test]
async fn r08_arguments_with_a_key_twice_are_refused() {
    let mut scene = Scene::new([
        aye::llm::scripted::Reply::default().push_chunk(Chunk::Call(ToolCall {
            id: "a".into(),
            name: "bash_exec".into(),
            arguments: r#"{"command":"ls","command":"rm -rf ."}"#.into(),
        })),
        says("Oh."),
    ]);
    scene.say("go").await;
    assert!(
        matches!(&scene.outcomes()[0], Outcome::Failed(why) if why.contains("twice") || why.contains("duplicate")),
        "{:?}",
        scene.outcomes()
    );
}

#[tokio::test]
async fn r22_stopping_a_turn_ends_the_command() {
    let mut scene = Scene::new([calls("bash_exec", json!({ "command": "sleep 60 & echo $!; wait" }))]);
    scene.say("go").await;
    let Some(WaitingCall::Approval { call, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
    let by = Decider::User { key: "y".into(), after_ms: 900 };
    let yes = Event::CallDecided { call: call.id.clone(), decision: Decision::Once, by };
    scene.takes(yes);
    while scene.state.pending()[0].latest_output.is_empty() {
        scene.step().await;
    }
    let pid: i32 = scene.state.pending()[0].latest_output.trim().parse().unwrap();
    scene.takes(Event::TurnInterrupted);
    assert!(scene.state.is_idle());
    let gone = || !std::path::Path::new(&format!("/proc/{pid}")).exists();
    let began = std::time::Instant::now();
    while !gone() {
        assert!(kept(std::time::Duration::from_secs(3), began.elapsed()), "the command outlived its turn");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
