//! Which calls ask for approval, and the effect of an approval and of a denial.

use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use crate::support::time_limits::is_within_limit;
use aye::agent::{Event, WaitingCall};
use aye::chat::*;
use serde_json::json;

fn write_call() -> crate::support::scripted::Reply {
    calls("write_file", json!({ "path": "a.txt", "content": "new\n" }))
}

#[tokio::test]
async fn r01_a_write_waits_for_approval_and_then_does_what_was_shown() {
    let mut scene = Scene::new([write_call(), says("Done.")]);
    scene.say("go").await;
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("no call waits") };
    assert!(matches!(&plan.preview, Preview::Edit(diff) if diff.created && diff.added == 1));
    assert_eq!(scene.file("a.txt"), None, "nothing happens before the approval");
    scene.approve().await;
    assert_eq!(scene.file("a.txt").as_deref(), Some("new\n"));
    assert!(scene.state.is_idle());
}

#[tokio::test]
async fn denied_call_does_nothing_and_the_model_receives_the_message() {
    let mut scene = Scene::new([write_call(), says("As you like.")]);
    scene.say("go").await;
    scene.decide(Decision::Deny("not there".into())).await;
    assert_eq!(scene.file("a.txt"), None);
    assert!(scene.last_tool_result().contains("not there"));
}

#[tokio::test]
async fn r24_does_not_overwrite_a_file_changed_while_the_prompt_was_open() {
    let mut scene =
        Scene::new([calls("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" })), says("Oh.")])
            .with_file("a.txt", "one\n");
    scene.say("go").await;
    std::fs::write(scene.project().join("a.txt"), "one, but not the same\n").unwrap();
    scene.approve().await;
    assert_eq!(scene.file("a.txt").as_deref(), Some("one, but not the same\n"));
    assert!(matches!(&scene.outcomes()[0], Outcome::Failed(why) if why.contains("changed")), "{:?}", scene.outcomes());
}

#[tokio::test]
async fn grant_is_logged_and_covers_the_next_identical_call() {
    let mut scene = Scene::new([
        calls("bash_exec", json!({ "command": "echo one >> x" })),
        calls("bash_exec", json!({ "command": "echo one >> x" })),
        calls("bash_exec", json!({ "command": "echo two >> x" })),
        says("Done."),
    ]);
    scene.say("go").await;
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("no call waits") };
    let grant = plan.grant.clone().expect("a command offers a grant");
    scene.decide(Decision::Always(grant)).await;
    assert_eq!(scene.outcomes().len(), 2, "the second ran on the grant, the third waits");
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("no call waits") };
    assert_eq!(plan.summary, "echo two >> x");
    let replayed = Session::replay(scene.log.entries.lock().unwrap().clone());
    assert_eq!(replayed.grants().len(), 1);
}

#[tokio::test]
async fn model_receives_output_and_exit_code_of_a_command() {
    let mut scene =
        Scene::new([calls("bash_exec", json!({ "command": "echo out; echo err >&2; exit 3" })), says("So.")]);
    scene.say("go").await;
    scene.approve().await;
    let result = scene.last_tool_result();
    assert!(result.contains("out\n") && result.contains("err\n") && result.contains("exit 3"), "{result}");
    assert!(matches!(scene.outcomes()[0], Outcome::Done(_)), "a failed command is not a failed tool");
}

#[tokio::test]
async fn r08_refuses_arguments_with_a_duplicate_key() {
    let mut scene = Scene::new([
        crate::support::scripted::Reply::default().push_chunk(Chunk::Call(ToolCall {
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
async fn r22_stopping_a_turn_ends_its_command() {
    let mut scene = Scene::new([calls("bash_exec", json!({ "command": "sleep 60 & echo $!; wait" }))]);
    scene.say("go").await;
    let Some(WaitingCall::Approval { call, .. }) = scene.state.waiting_call() else { panic!("no call waits") };
    let by = Decider::User { key: "y".into(), after_ms: 900 };
    let approval = Event::CallDecided { call: call.id.clone(), decision: Decision::Once, by };
    scene.apply_event(approval);
    while scene.state.pending()[0].latest_output.is_empty() {
        scene.apply_next_event().await;
    }
    let pid: i32 = scene.state.pending()[0].latest_output.trim().parse().unwrap();
    scene.apply_event(Event::TurnInterrupted);
    assert!(scene.state.is_idle());
    let has_ended = || !std::path::Path::new(&format!("/proc/{pid}")).exists();
    let started = std::time::Instant::now();
    while !has_ended() {
        assert!(is_within_limit(std::time::Duration::from_secs(3), started.elapsed()), "the command outlived its turn");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
