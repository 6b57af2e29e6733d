//! The call that was shown is the call that runs, and the audit record shows what was allowed, by whom, and for which
//! bytes.

use crate::support::program::Setup;
use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use crate::support::service::{Answer, Service};
use crate::support::stored_files;
use crate::support::terminal_session;
use aye::agent::WaitingCall;
use aye::chat::audit::{Integrity, collect_records};
use aye::chat::*;
use serde_json::{Value, json};

fn command_reply(command: &str) -> crate::support::scripted::Reply {
    calls("bash_exec", json!({ "command": command }))
}

/// A scene in which a command waits for approval.
async fn waiting_scene(command: &str, files: &[(&str, &str)]) -> Scene {
    let mut scene = Scene::new([command_reply(command), says("Oh.")]);
    for (path, text) in files {
        scene = scene.with_file(path, text);
    }
    scene.say("go").await;
    scene
}

fn last_preconditions(scene: &Scene) -> Preconditions {
    let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
    plan.preconditions.clone()
}

#[tokio::test]
async fn r08_script_changed_while_its_prompt_is_open_does_not_run() {
    for (command, changes) in [
        ("sh ./x.sh", "echo 2 > ran"),
        ("cd . && sh x.sh", "echo 1 > ran\necho 2 > ran"),
        ("sh -c 'sh x.sh'", ""),
        ("cat x.sh | sh", "echo 2 > ran"),
    ] {
        let mut scene = waiting_scene(command, &[("x.sh", "echo 1 > ran\n")]).await;
        std::fs::write(scene.project().join("x.sh"), changes).unwrap();
        scene.approve().await;
        assert_eq!(scene.file("ran"), None, "{command}");
        let result = scene.last_tool_result();
        assert!(result.starts_with("x.sh has changed since the user was shown this call"), "{result}");
        assert!(matches!(&scene.outcomes()[0], Outcome::Failed(_)), "{:?}", scene.outcomes());
    }
}

#[tokio::test]
async fn r08_command_does_not_run_if_its_paths_name_other_files() {
    use std::fs::{create_dir, remove_file, rename, write};
    use std::os::unix::fs::symlink;
    type Swap = fn(&std::path::Path);
    let swaps: [(&str, Swap); 6] = [
        ("sh link.sh", |at| {
            remove_file(at.join("link.sh")).unwrap();
            symlink("other.sh", at.join("link.sh")).unwrap();
        }),
        ("sh link.sh", |at| {
            remove_file(at.join("link.sh")).unwrap();
            write(at.join("link.sh"), "echo 2 > ran\n").unwrap();
        }),
        ("sh links/x.sh", |at| {
            remove_file(at.join("links")).unwrap();
            create_dir(at.join("links")).unwrap();
            write(at.join("links/x.sh"), "echo 2 > ran\n").unwrap();
        }),
        ("sh none.sh", |at| rename(at.join("other.sh"), at.join("none.sh")).unwrap()),
        // The new file is too large to be read, but it is not missing any more.
        ("sh none.sh", |at| write(at.join("none.sh"), format!("echo 2 > ran\n{}", "#\n".repeat(6 << 20))).unwrap()),
        ("sh link.sh; sh other.sh", |at| {
            remove_file(at.join("link.sh")).unwrap();
            symlink("other.sh", at.join("link.sh")).unwrap();
        }),
    ];
    for (index, (command, swap)) in swaps.into_iter().enumerate() {
        let mut scene = Scene::new([command_reply(command), says("Oh.")]);
        for path in ["x.sh", "folder/x.sh"] {
            scene = scene.with_file(path, "echo 1 > ran\n");
        }
        scene = scene.with_file("other.sh", "echo 2 > ran\n");
        symlink("x.sh", scene.project().join("link.sh")).unwrap();
        symlink("folder", scene.project().join("links")).unwrap();
        scene.say("go").await;
        swap(&scene.project());
        scene.approve().await;
        assert_eq!(scene.file("ran"), None, "{index}: {command}");
        let result = scene.last_tool_result();
        let changed = result.starts_with("The files that the command names have changed (");
        let appeared = command == "sh none.sh" && result.starts_with("none.sh has changed since");
        assert!(changed || appeared, "{index}: {result}");
    }
}

#[tokio::test]
async fn log_created_while_a_call_waits_does_not_stop_the_call() {
    let mut scene = waiting_scene("tail -n 5 app.log; echo 1 > ran", &[]).await;
    std::fs::write(scene.project().join("app.log"), "up\n").unwrap();
    scene.approve().await;
    assert_eq!(scene.file("ran").as_deref(), Some("1\n"), "{}", scene.last_tool_result());
}

#[tokio::test]
async fn r08_script_removed_or_replaced_by_a_link_does_not_run() {
    for link in [false, true] {
        let files = [("x.sh", "echo 1 > ran\n"), ("y.sh", "echo 1 > ran\n")];
        let mut scene = waiting_scene("sh x.sh", &files).await;
        let script = scene.project().join("x.sh");
        std::fs::remove_file(&script).unwrap();
        if link {
            std::os::unix::fs::symlink("y.sh", &script).unwrap();
        }
        scene.approve().await;
        assert_eq!(scene.file("ran"), None, "even if the link leads to the same bytes");
        assert!(scene.last_tool_result().contains("x.sh has changed"), "{}", scene.last_tool_result());
    }
}

#[tokio::test]
async fn r08_command_does_not_run_in_a_replaced_folder() {
    let mut scene = waiting_scene("touch made", &[]).await;
    let (project, elsewhere) = (scene.project(), scene.project().with_file_name("elsewhere"));
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::remove_dir(&project).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &project).unwrap();
    scene.approve().await;
    assert!(!elsewhere.join("made").exists());
    assert!(scene.last_tool_result().contains("points to another folder"), "{}", scene.last_tool_result());
}

#[tokio::test]
async fn unchanged_files_run_and_a_log_may_grow() {
    let mut scene =
        waiting_scene("sh x.sh; tail -n 1 app.log", &[("x.sh", "echo 1 > ran\n"), ("app.log", "one\n")]).await;
    scene.approve().await;
    assert_eq!(scene.file("ran").as_deref(), Some("1\n"));
    let mut scene = waiting_scene("sleep 0; tail -n 1 app.log", &[("app.log", "one\n")]).await;
    std::fs::write(scene.project().join("app.log"), "one\ntwo\n").unwrap();
    scene.approve().await;
    assert!(scene.last_tool_result().starts_with("two\n"), "{}", scene.last_tool_result());
    let mut scene = waiting_scene("sh app.log", &[("app.log", "true\n")]).await;
    std::fs::write(scene.project().join("app.log"), "true\necho 2 > ran\n").unwrap();
    scene.approve().await;
    assert_eq!(scene.file("ran"), None, "a file that is executed may not grow");
}

#[tokio::test]
async fn r21_command_environment_is_exactly_what_its_prompt_lists() {
    let mut scene = waiting_scene("env -0 | sed -z 's/=.*//' | tr '\\0' '\\n'", &[]).await;
    let named = last_preconditions(&scene).environment;
    assert!(named.iter().any(|name| name == "PATH") && named.is_sorted(), "{named:?}");
    scene.approve().await;
    let output = scene.last_tool_result();
    let lines = output.lines().filter(|line| !line.starts_with("exit "));
    // Set by the shell itself.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let found: Vec<&str> = lines.collect();
    for name in found.iter().filter(|name| !own.contains(name)) {
        assert!(named.iter().any(|known| known == name), "{name} was not shown");
    }
    for name in named.iter().filter(|name| !own.contains(&name.as_str())) {
        assert!(found.contains(&name.as_str()), "{name} was shown and is not there: {output}");
    }
}

#[tokio::test]
async fn r15_record_is_intact_for_approval_denial_edit_and_changed_file() {
    let write = |content: &str| calls("write_file", json!({ "path": "a.txt", "content": content }));
    let mut scene =
        Scene::new([write("1\n"), write("2\n"), command_reply("sh x.sh"), command_reply("sleep 0"), says("Done.")])
            .with_file("x.sh", "true\n");
    scene.say("go").await;
    scene.decide(Decision::Edited(json!({ "path": "a.txt", "content": "mine\n" }))).await;
    scene.approve().await;
    scene.decide(Decision::Deny("no".into())).await;
    std::fs::write(scene.project().join("x.sh"), "false\n").unwrap();
    scene.approve().await;
    scene.approve().await;
    assert_eq!(scene.file("a.txt").as_deref(), Some("mine\n"));
    let stored = scene.log.entries.lock().unwrap().clone();
    // As read back from disk.
    let text = |entry: &Entry| serde_json::to_string(entry).unwrap();
    let entries: Vec<Entry> = stored.iter().map(|entry| serde_json::from_str(&text(entry)).unwrap()).collect();
    assert_eq!(entries, stored);
    let records = collect_records(&entries);
    let outcomes: Vec<Value> = records.iter().map(|record| record.to_json(&|_| None)["outcome"].clone()).collect();
    assert_eq!(outcomes, ["done", "refused", "failed", "done"]);
    for record in &records {
        assert_eq!(record.verify(), Integrity::Intact, "{record:?}");
    }
    let first = records[0].to_json(&|_| None);
    assert_eq!(first["edits"], json!([{ "path": "a.txt", "content": "mine\n" }]));
    assert_eq!(first["files"][0]["held"]["is"], "nothing");
    assert_eq!(first["files"][0]["becomes"], json!(Digest::of_bytes(b"mine\n")));
}

#[test]
fn r15_real_program_records_key_and_time_and_runs_no_changed_script() {
    let answers = vec![script_call(), script_call(), terminal_session::text_answer("I see.")];
    let (_runtime, _service, mut program) = terminal_session::start_session(answers, (90, 24), &[]);
    let script = program.project().join("x.sh");
    std::fs::write(&script, "echo 1 >> ran\n").unwrap();
    terminal_session::submit_message(&mut program, "go");
    program.until_prompt("$ sh ./x.sh");
    program.press_keys("y");
    program.until("✓ Run");
    program.until_prompt("$ sh ./x.sh");
    std::fs::write(&script, "echo 2 >> ran\n").unwrap();
    program.wait_ms(1300);
    program.press_keys("y");
    program.until("I see.");
    assert_eq!(program.file("ran").as_deref(), Some("1\n"), "{}", program.screen());
    program.wait_ms(700);
    terminal_session::submit_message(&mut program, "/audit");
    let list = program.until("2 of 2");
    assert!(list.contains("✓ bash_exec  you approved, done"), "{list}");
    assert!(list.contains("✗ bash_exec  you approved, failed"), "{list}");
    // The times of the entries come a moment later, from the disk.
    let clock = |line: &str| line.split_whitespace().any(|word| word.len() == 8 && word.matches(':').count() == 2);
    for _ in 0..200 {
        if program.screen().lines().filter(|line| line.contains("you approved") && clock(line)).count() == 2 {
            break;
        }
        program.wait_ms(50);
    }
    let list = program.screen();
    assert_eq!(list.lines().filter(|line| clock(line)).count(), 2, "{list}");
    let (out, _, _) = Setup::with_home(&program.root, &["audit", "--json"]).run_piped("");
    let records: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 2, "{out}");
    for record in &records {
        assert_eq!((&record["who"], &record["key"], &record["holds"]), (&json!("person"), &json!("y"), &json!(true)));
        assert!(record["after_ms"].as_u64().is_some_and(|ms| ms >= 500), "keys are ignored before that: {record}");
    }
    assert!(records[1]["result"].as_str().unwrap().starts_with("x.sh has changed"), "{out}");
}

fn script_call() -> Answer {
    terminal_session::command_answer("sh ./x.sh")
}

#[tokio::test]
async fn r30_rehearsed_and_refused_calls_are_in_the_record() {
    let write = || calls("write_file", json!({ "path": "a.txt", "content": "1\n" }));
    let mut scene =
        Scene::dry_run([write(), command_reply("sh x.sh"), write(), says("Done.")]).with_file("x.sh", "true\n");
    scene.say("go").await;
    let records: Vec<Value> =
        collect_records(scene.state.session.entries()).iter().map(|record| record.to_json(&|_| None)).collect();
    assert_eq!(records.len(), 3);
    for record in &records[..2] {
        assert_eq!(
            (&record["who"], &record["verdict"], &record["outcome"], &record["holds"]),
            (&json!("policy"), &json!("rehearse"), &json!("rehearsed"), &json!(true))
        );
    }
    let mut scene = Scene::new([write(), says("I would write it.")]);
    scene.apply_event(aye::agent::Event::ModeChanged(aye::policy::Mode::Plan));
    scene.say("go").await;
    let record = collect_records(scene.state.session.entries())[0].to_json(&|_| None);
    assert_eq!(
        (&record["who"], &record["verdict"], &record["outcome"], &record["holds"]),
        (&json!("policy"), &json!("refuse"), &json!("refused"), &json!(true))
    );
    assert!(record["why"].as_str().unwrap().contains("plan mode"), "{record}");
}

/// A call of a command with hostile text in it, as a provider sends it.
fn hostile_call() -> Answer {
    let arguments = json!({ "command": "echo \u{202e}\u{1b}[2J\u{9b}2J\u{7} > made" }).to_string();
    let function = json!({ "name": "bash_exec", "arguments": arguments });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1\u{1b}[2J", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done()
}

async fn run_program(setup: Setup, service: &Service) -> (String, String, i32) {
    let setup = setup
        .env("OPENAI_BASE_URL", &service.base_url)
        .env("OPENAI_API_KEY", "sk-test-key-1234567890")
        .env("AYE_MODEL", "m");
    tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r15_audit_shows_the_last_session_or_the_named_one() {
    let reply = || Answer::stream().text("I was not allowed.").finish("stop").done();
    let service = Service::start([hostile_call(), reply()]).await;
    let setup = Setup::new(&["-p", "make it"]);
    stored_files::write_settings(&setup, stored_files::NO_TITLES);
    let root = setup.root.clone();
    let before = Setup::with_home(&root, &["audit"]);
    let (_, err, code) = run_program(before, &service).await;
    assert!(code == 2 && err.contains("Cannot find a session of"), "{code} {err}");
    assert_eq!(run_program(setup, &service).await.2, 3);

    let (out, err, code) = run_program(Setup::with_home(&root, &["audit"]), &service).await;
    assert_eq!((err.as_str(), code), ("", 0));
    for text in [
        "1 call\n",
        "needed approval: control character",
        "no interactive user: aye denied",
        "  denied",
        "unchanged since it was planned",
        "<U+202E>\\u001b[2J<U+009B>2J",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
    let harmless = |text: &str| text.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}'));
    assert!(harmless(&out), "R32: {out:?}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");

    let (out, _, code) = run_program(Setup::with_home(&root, &["audit", "--json"]), &service).await;
    assert!(code == 0 && harmless(&out) && out.lines().count() == 1, "{out:?}");
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (
            &record["tool"],
            &record["verdict"],
            &record["who"],
            &record["decision"],
            &record["outcome"],
            &record["holds"]
        ),
        (&json!("bash_exec"), &json!("ask"), &json!("nobody"), &json!("deny"), &json!("refused"), &json!(true))
    );
    assert!(record["asked_at"].as_u64().is_some_and(|at| at > 1_700_000_000_000), "{record}");
    let id = record["session"].as_str().unwrap();
    let (second_output, _, _) = run_program(Setup::with_home(&root, &["audit", &id[..20], "--json"]), &service).await;
    assert_eq!(second_output, out);
    let (_, err, code) = run_program(Setup::with_home(&root, &["audit", "nothing"]), &service).await;
    assert!(code == 2 && err.contains("Cannot find the session \"nothing\": no ID begins with it"), "{err}");
    assert_eq!(service.received().len(), 2, "aye audit sent a request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r08_modified_record_is_reported() {
    let reply = Answer::stream().text("I was not allowed.").finish("stop").done();
    let service = Service::start([hostile_call(), reply]).await;
    let setup = Setup::new(&["-p", "make it"]);
    stored_files::write_settings(&setup, stored_files::NO_TITLES);
    let root = setup.root.clone();
    run_program(setup, &service).await;
    let folder = root.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let seconds = "\"seconds\":30";
    assert!(text.contains(seconds));
    std::fs::write(&file, text.replace(seconds, "\"seconds\":31")).unwrap();
    let (out, _, _) = run_program(Setup::with_home(&root, &["audit"]), &service).await;
    assert!(out.contains("warning: 1 not as recorded"), "{out}");
    assert!(out.contains("warning: the recorded plan was modified"), "{out}");
}
