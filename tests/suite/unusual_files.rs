//! Tools on unusual files: pipes, devices, links, very many files, and commands that misbehave.

use crate::support::keyboard::PATIENCE;
use crate::support::pick_count;
use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use aye::agent::WaitingCall;
use aye::chat::Outcome;
use rustix::fs::{CWD, FileType, mknodat};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Instant;

/// Creates a scene in a project with unusual files. In each turn the model makes the next of these calls.
fn scene(cases: &[(&str, Value)]) -> Scene {
    let replies = cases.iter().flat_map(|(tool, arguments)| [calls(tool, arguments.clone()), says("ok")]);
    let scene = Scene::new(replies.collect::<Vec<_>>())
        .with_file("a.txt", "one\ntwo\n")
        .with_file("crlf.txt", "one\r\ntwo\r\nthree\r\n")
        .with_file(".git/config", "[core]\n")
        .with_file(".env", "TOKEN=sesame\nTOKEN=sesame\n");
    let path_of = |name: &str| scene.project().join(name);
    fs::write(path_of("wide.txt"), "x".repeat(9_000_000)).unwrap();
    fs::write(path_of("binary"), [0, 1, 2, 255]).unwrap();
    fs::write(scene.project().parent().unwrap().join("outside"), "secret\nsecret\n").unwrap();
    symlink("../outside", path_of("out")).unwrap();
    symlink("/dev/zero", path_of("zero")).unwrap();
    symlink("loop", path_of("loop")).unwrap();
    mknodat(CWD, path_of("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    scene
}

/// Lets the model make each call, approves those that ask, and compares whether the user was asked and a part of the
/// result. No call may take long.
async fn check(cases: &[(&str, Value, bool, &str)]) {
    let made: Vec<(&str, Value)> = cases.iter().map(|(tool, value, ..)| (*tool, value.clone())).collect();
    let mut scene = scene(&made);
    for (index, (tool, arguments, asked, part)) in cases.iter().enumerate() {
        let started = Instant::now();
        scene.say("go").await;
        let waits = matches!(scene.state.waiting_call(), Some(WaitingCall::Approval { .. }));
        assert_eq!(waits, *asked, "{tool} {arguments}: {:?}", scene.outcomes().last());
        if waits {
            scene.approve().await;
        }
        assert!(started.elapsed() < PATIENCE, "{tool} {arguments}: {:?}", started.elapsed());
        let outcomes = scene.outcomes();
        assert_eq!(outcomes.len(), index + 1);
        let result = outcomes[index].text();
        assert!(result.contains(part), "{tool} {arguments}: {}", &result[..result.len().min(500)]);
        assert!(result.len() < 70_000, "{tool}: {} bytes", result.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_reading_never_blocks_and_asks_before_leaving_the_project() {
    let read = |path: &str| json!({ "path": path });
    check(&[
        ("read_file", read("pipe"), false, "pipe is a pipe, not a file"),
        ("read_file", read("zero"), true, "/dev/zero is a device, not a file"),
        ("read_file", read("/dev/stdin"), true, "not a file"),
        ("read_file", read("out"), true, "secret"),
        ("read_file", read("../outside"), true, "secret"),
        ("read_file", read(".git/config"), true, "[core]"),
        ("read_file", read(".env"), true, "sesame"),
        ("read_file", read("/proc/self/environ"), true, "was not read"),
        ("read_file", read("/proc/kmsg"), true, "/proc/kmsg"),
        ("read_file", read("loop"), false, "leads through too many links"),
        ("read_file", read("."), false, "is a folder, not a file"),
        ("read_file", read("wide.txt"), false, "[truncated: the line has 9000000 characters]"),
        ("read_file", read("crlf.txt"), false, "1\tone\n2\ttwo\n3\tthree\n"),
        ("read_file", read("binary"), false, "is a binary file, 4 bytes"),
        ("read_file", read(&"x".repeat(10_000_000)), false, "there is no file xxx"),
        ("list_files", read("a.txt"), false, "a.txt is not a folder. Use read_file."),
        ("list_files", read("pipe"), false, "pipe is not a folder"),
        ("list_files", read("loop"), false, "leads through too many links"),
        ("search_text", json!({ "pattern": "one", "path": "pipe" }), false, "pipe is a pipe, not a file"),
        ("search_text", json!({ "pattern": "(x+x+)+y", "path": "wide.txt" }), false, "No line matches"),
        ("search_text", json!({ "pattern": "sesame" }), false, "skipped, may hold secrets"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_writing_never_blocks_and_shows_the_link_target() {
    let write = |path: &str| json!({ "path": path, "content": "x" });
    check(&[
        ("write_file", write("pipe"), false, "pipe is a pipe, not a file"),
        ("write_file", write("/dev/null"), false, "is a device, not a file"),
        ("write_file", write("."), false, "is a folder, not a file"),
        ("write_file", write("a.txt/b"), false, "a.txt/b"),
        ("write_file", write("out"), true, "outside: +1"),
        ("write_file", write(".git/hooks/pre-commit"), true, "pre-commit: +1"),
        ("write_file", write("new/deep/x"), true, "new/deep/x: +1"),
        ("edit_file", json!({ "path": "crlf.txt", "old_text": "one\ntwo", "new_text": "1\n2" }), true, "+2"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_failed_edit_discloses_nothing_without_approval() {
    let edit = |path: &str, old: &str| json!({ "path": path, "old_text": old, "new_text": "y" });
    let cases = [
        edit(".env", "TOKEN"),
        edit(".env", "TOKEN=a"),
        edit("out", "secret"),
        edit("../outside", "nothing"),
        edit("../missing", "secret"),
    ];
    let made: Vec<(&str, Value)> = cases.iter().map(|case| ("edit_file", case.clone())).collect();
    let mut scene = scene(&made);
    for _ in &cases {
        scene.say("go").await;
    }
    // The text after `old_text does not occur exactly once in PATH,`.
    let reasons: Vec<String> = scene
        .outcomes()
        .iter()
        .map(|outcome| outcome.text().split_once(" in ").unwrap().1.split_once(',').unwrap().1.to_owned())
        .collect();
    let reason = " or the file cannot be changed. Call read_file first; the user is asked.";
    assert_eq!(reasons, [reason; 5]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r23_misbehaving_commands_are_stopped_and_reported() {
    let run = |command: &str| json!({ "command": command });
    check(&[
        ("bash_exec", run("sleep 100 & echo started"), true, "started\nexit 0"),
        // All but 64 KiB are omitted: 49,934,464 bytes.
        ("bash_exec", run("yes | head -c 50000000"), true, "\n[49934"),
        ("bash_exec", run("sleep 0"), true, "exit 0"),
        ("bash_exec", json!({ "command": "sleep 9", "timeout": 1 }), true, "stopped after 1 s"),
        ("bash_exec", json!({ "command": "sleep 0; echo hi", "timeout": 99_999 }), true, "hi\nexit 0"),
        ("bash_exec", run("printf 'a\\377b\\n'; echo err >&2; exit 3"), true, "a\u{fffd}b\nerr\nexit 3"),
        ("bash_exec", run("cat; tty"), true, "not a tty\nexit 1"),
        ("bash_exec", run("kill -9 $$"), true, "killed by signal 9"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn truncated_output_is_reported_once() {
    let mut scene = scene(&[("bash_exec", json!({ "command": "yes | head -c 1000000" }))]);
    scene.say("go").await;
    scene.approve().await;
    let result = scene.outcomes()[0].text().to_owned();
    assert_eq!(result.matches("bytes").count(), 1, "{}", &result[result.len() - 200..]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_from_very_many_files_are_bounded() {
    let files = pick_count(20_000, 1_500);
    let number = files / 10 - 1;
    let cases = [
        ("list_files", json!({})),
        ("search_text", json!({ "pattern": format!("number {number}") })),
        ("read_file", json!({ "path": "many/f7" })),
    ];
    let mut scene = scene(&cases);
    fs::create_dir(scene.project().join("many")).unwrap();
    for n in 0..files {
        fs::write(scene.project().join(format!("many/f{n}")), format!("number {n}\n")).unwrap();
    }
    for _ in &cases {
        scene.say("go").await;
    }
    let outcomes = scene.outcomes();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done(_))), "{outcomes:?}");
    assert!(outcomes[0].text().contains("more; set path") && outcomes[0].text().len() < 70_000);
    // The pattern also matches greater numbers that begin with `number`.
    let longer_match = format!("many/f{number}1:1: number {number}1");
    // A search on a busy machine can reach its time limit, and then says so.
    let searched = outcomes[1].text();
    assert!(searched.contains(&longer_match) || searched.contains("not every file was searched"), "{searched}");
    assert_eq!(outcomes[2].text(), "1\tnumber 7\n");
}
