//! Dry runs on full disks: a write that does not fit is reported and leaves no change, and the session continues.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::mounts::{continue_with_mounts, mount_small_disk, read_mounts};
use crate::support::program::{Program, Setup, program};
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, calls, says};
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use aye::chat::Outcome;
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{CommandRehearsal, OverlayShell};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::Shell;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

fn command_call(command: &str) -> Reply {
    calls("bash_exec", json!({ "command": command }))
}

/// A call that writes lines of 100 bytes, at least this many bytes in total.
fn write_call(path: &str, bytes: usize) -> (&'static str, Value) {
    let content = format!("{}\n", "x".repeat(99)).repeat(bytes.div_ceil(100));
    ("write_file", json!({ "path": path, "content": content }))
}

/// A dry run with an overlay sandbox whose overlay is on a separate small disk.
fn dry_run_on_small_disk(replies: impl IntoIterator<Item = Reply>, options: &str) -> (Scene, Arc<Rehearsal>, PathBuf) {
    let mut scene = Scene::dry_run(replies).with_file("a.txt", "real\n");
    let overlay = scene.project().parent().unwrap().join("layer");
    mount_small_disk(&overlay, options);
    let rehearsal = Arc::new(Rehearsal::new(Arc::new(Disk::new(&scene.project()).unwrap()), overlay.clone()));
    let shell = Arc::new(OverlayShell::new(Arc::new(Shell::new(program())), rehearsal.clone()));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    (scene, rehearsal, overlay)
}

fn list_changed_paths(rehearsal: &Rehearsal) -> Vec<String> {
    rehearsal.list_changes().unwrap().iter().map(|change| change.path.display().to_string()).collect()
}

/// The changed paths from `aye rehearsal show`.
fn list_reported_changes(place: &Arc<Folder>) -> Vec<String> {
    let (out, err, code) = Setup::with_home(place, &["rehearsal", "show", "--json"]).run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    let output_json: Value = serde_json::from_str(&out).unwrap();
    let paths = output_json["changes"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap().to_owned());
    paths.collect()
}

#[test]
fn r24_reports_a_rehearsed_write_that_does_not_fit() {
    if !continue_with_mounts("full_disks::r24_reports_a_rehearsed_write_that_does_not_fit") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![
        calls_answer_after(
            Duration::ZERO,
            &[write_call("first.txt", 100), write_call("large.txt", 600_000), write_call("deep/er/large.txt", 600_000)],
        ),
        calls_answer_after(Duration::ZERO, &[write_call("a.txt", 600_000), write_call("last.txt", 100)]),
        text_answer("Done."),
    ]));
    let arguments = ["--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let setup = Setup::new(&arguments).with_file("a.txt", "real\n").size(100, 30);
    write_settings(&setup, "[dry_run]\noverlay_sandbox = \"off\"\n");
    mount_small_disk(&setup.root.path().join("home/aye/data/rehearsal"), "size=512k");
    let before = read_mounts();
    let mut program = setup.start();
    program.until("DRY RUN");
    submit_message(&mut program, "go");
    let screen = program.until("Done.");
    assert!(screen.contains("the disk is full (it holds"), "{screen}");
    let request_text = service.received()[1].body["messages"].to_string();
    assert_eq!(request_text.matches("/rehearsal drop").count(), 2, "{request_text}");
    assert!(request_text.contains("deep/er/large.txt: the disk is full"), "{request_text}");
    let request_text = service.received()[2].body["messages"].to_string();
    assert!(request_text.contains("a.txt: the disk is full (it holds"), "{request_text}");
    program.until("nothing changed on disk");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    assert_eq!(list_reported_changes(&program.root), ["first.txt", "last.txt"]);
    assert_eq!(program.file("a.txt").as_deref(), Some("real\n"));
    assert_eq!(read_mounts(), before);
}

#[tokio::test]
async fn r24_explains_a_command_that_fills_the_overlay_and_runs_the_next() {
    if !has_overlay_sandbox()
        || !continue_with_mounts("full_disks::r24_explains_a_command_that_fills_the_overlay_and_runs_the_next")
    {
        return;
    }
    // On a slow machine the command may be stopped before it sees that the disk is full.
    for _ in 0..10 {
        if fill_overlay().await {
            return;
        }
    }
    panic!("a command was always stopped before it could fill the disk");
}

/// Returns whether the first command ran to its end.
async fn fill_overlay() -> bool {
    let (mut scene, play, _) = dry_run_on_small_disk(
        [
            command_call("echo ok > kept; dd if=/dev/zero of=large bs=8M count=1"),
            calls("write_file", json!({ "path": "b.txt", "content": "b\n".repeat(5_000) })),
            command_call("rm large; cat kept a.txt"),
            calls("write_file", json!({ "path": "b.txt", "content": "b\n".repeat(5_000) })),
            command_call("echo more > more; while :; do head -c 60000 /dev/zero >> slow || exit 1; sleep 0.02; done"),
            command_call("rm slow; cat more"),
            says("Would do."),
        ],
        "size=4m",
    );
    let before = read_mounts();
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let result = |index: usize| outcomes[index].text();
    if result(0).contains("[stopped by the limits of the dry run") {
        return false;
    }
    assert!(
        result(0).contains("This may be caused by the dry run: the disk that holds its overlay is full."),
        "{outcomes:?}"
    );
    assert!(
        matches!(&outcomes[1], Outcome::Failed(text) if text.contains("the disk is full (it holds")),
        "{outcomes:?}"
    );
    assert_eq!(result(2), "ok\nreal\nexit 0");
    assert!(matches!(&outcomes[3], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(
        result(4).contains("[stopped by the limits of the dry run: the disk that holds the overlay is nearly full"),
        "{outcomes:?}"
    );
    assert_eq!(result(5), "more\nexit 0");
    assert!(scene.state.is_idle());
    assert_eq!(list_changed_paths(&play), ["b.txt", "kept", "more"]);
    assert_eq!(scene.file("a.txt").as_deref(), Some("real\n"));
    assert_eq!(read_mounts(), before);
    true
}

#[tokio::test]
async fn r24_a_command_without_room_for_an_overlay_fails_and_is_not_simulated() {
    if !has_overlay_sandbox()
        || !continue_with_mounts("full_disks::r24_a_command_without_room_for_an_overlay_fails_and_is_not_simulated")
    {
        return;
    }
    let replies = [command_call("echo one > one"), command_call("echo two > two"), says("Would do.")];
    let (mut scene, play, overlay) = dry_run_on_small_disk(replies, "size=1m,nr_inodes=40");
    // Uses up all inodes, so that no folder can be created.
    let fill = |folder: &Path| (0..40).take_while(|n| std::fs::write(folder.join(format!("f{n}")), "").is_ok()).count();
    assert!(fill(&overlay) < 40);
    scene.apply_event(aye::agent::Event::UserMessage("go".into()));
    while scene.outcomes().is_empty() {
        scene.apply_next_event().await;
    }
    let outcomes = scene.outcomes();
    assert!(
        matches!(&outcomes[0], Outcome::Failed(text) if text.contains("the disk is full (it holds")),
        "{outcomes:?}"
    );
    for entry in std::fs::read_dir(&overlay).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().starts_with('f') {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    scene.run_until_idle().await;
    assert_eq!(scene.outcomes()[1].text(), "exit 0");
    assert_eq!(list_changed_paths(&play), ["two"]);
}

/// Opens the screen that applies rehearsed changes to a project on a separate disk that is almost full.
fn open_apply_screen_on_small_disk(calls: &[(&str, Value)]) -> (tokio::runtime::Runtime, Service, Program) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers = vec![calls_answer_after(Duration::ZERO, calls), text_answer("Would do."), text_answer("I see.")];
    let service = runtime.block_on(Service::start(answers));
    let base = ["--base-url", &service.base_url, "--model", "scripted-7b"];
    let setup = Setup::new(&[&["-p", "--dry-run", "go"][..], &base[..]].concat());
    let root = setup.root.clone();
    mount_small_disk(&root.path().join("project"), "size=600k");
    let setup = setup.with_file("a.txt", "one\n");
    write_settings(&setup, "[dry_run]\noverlay_sandbox = \"off\"\n");
    let (out, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    std::fs::write(root.path().join("project/ballast"), vec![0; 500_000]).unwrap();
    let program =
        Setup::with_home(&root, &[&["rehearsal", "apply", "--hunks"][..], &base[..]].concat()).size(100, 30).start();
    (runtime, service, program)
}

/// Scrolls to the end of a prompt, which then takes an answer, and approves.
fn scroll_and_approve(program: &mut Program) {
    program.press_keys("\x1b[F");
    program.until_gone("lines below");
    program.until_prompt("Apply: ");
    program.press_keys("y");
}

#[test]
fn r24_a_disk_that_fills_up_while_applying_leaves_whole_files_and_continues() {
    if !continue_with_mounts("full_disks::r24_a_disk_that_fills_up_while_applying_leaves_whole_files_and_continues") {
        return;
    }
    let (_runtime, service, mut program) = open_apply_screen_on_small_disk(&[
        write_call("a.txt", 300_000),
        write_call("dir/er/new.txt", 300_000),
        write_call("z.txt", 20),
    ]);
    let before = read_mounts();
    program.until_prompt("Apply: change a.txt?");
    scroll_and_approve(&mut program);
    let screen = program.until_prompt("Apply: create ");
    assert!(screen.contains("a.txt: the disk is full"), "{screen}");
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    // The folders of the file that does not fit must not remain.
    program.press_keys("n");
    program.until_prompt("3 of 5");
    program.press_keys("n");
    program.until_prompt("4 of 5");
    scroll_and_approve(&mut program);
    program.until_prompt("5 of 5");
    assert!(!program.project().join("dir").exists());
    program.press_keys("y");
    program.until_condition("the small file is applied", |program| program.file("z.txt").is_some());
    let names = std::fs::read_dir(program.project()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["a.txt", "ballast", "z.txt"], "no temporary file remains");
    submit_message(&mut program, "and now?");
    program.until("I see.");
    let request_text = service.received().last().unwrap().body.to_string();
    assert!(
        request_text.contains("a.txt: the disk is full. Nothing was changed there")
            && request_text.contains("z.txt: applied"),
        "{request_text}"
    );
    let (out, _, _) = Setup::with_home(&program.root, &["audit", "--json"]).run_piped("");
    let calls: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let offered = calls.iter().filter(|call| call["call"].as_str().unwrap().starts_with("offered_"));
    let results: Vec<(&str, bool)> =
        offered.map(|call| (call["outcome"].as_str().unwrap(), call["holds"].as_bool().unwrap())).collect();
    let expected = ["failed", "refused", "refused", "failed", "done"].map(|outcome| (outcome, true));
    assert_eq!(results, expected);
    // Once there is room, the change can be applied.
    std::fs::remove_file(program.project().join("ballast")).unwrap();
    submit_message(&mut program, "/rehearsal apply hunks");
    program.until_prompt("Apply: change a.txt?");
    scroll_and_approve(&mut program);
    program.until_condition("the change is applied", |program| {
        program.file("a.txt").is_some_and(|text| text.len() == 300_000)
    });
    assert_eq!(read_mounts(), before);
}
