//! Discarding a rehearsal at unusual moments: while a command runs, while the session is open elsewhere, and twice.
//! Also a kill while a command runs in the overlay sandbox.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::mounts::read_mounts;
use crate::support::overlay_project::{EmptyProject, command_line, discard_overlay, list_changed_paths};
use crate::support::program::{Setup, count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::Service;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::unusual_overlays::dry_run_of_two_files;
use aye::project::overlay_sandbox::View;
use aye::project::rehearsal::remove_overlay;
use rustix::process::Signal;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn r30_after_a_discard_commands_see_the_real_project() {
    if !has_overlay_sandbox() {
        return;
    }
    let EmptyProject { root, project, rehearsal, shell } = EmptyProject::new();
    std::fs::write(project.join("a"), "real").unwrap();
    let run = async |command: &str| {
        shell.run_in_overlay(&command_line(command, &project), View::WithoutSecrets, &|_| {}).await.unwrap().output
    };
    assert_eq!(run("echo x > a; touch b; rm -rf deep; mkdir -m 700 shut; cat a").await, "x\n");
    for _ in 0..2 {
        discard_overlay(rehearsal.overlay_folder()).await;
        assert_eq!(list_changed_paths(&rehearsal), [""; 0]);
    }
    std::fs::write(project.join("a"), "mine").unwrap();
    assert_eq!(run("cat a; ls; echo y >> a; touch c").await, "minea\n");
    assert_eq!(list_changed_paths(&rehearsal), ["a", "c"]);
    assert!(!rehearsal.is_conflict(Path::new("a")), "the record of the discarded change is gone");
    assert_eq!(std::fs::read_dir(root.path().join("layers")).unwrap().count(), 1);
}

#[tokio::test]
async fn r54_discard_is_refused_while_a_command_runs() {
    if !has_overlay_sandbox() {
        return;
    }
    let EmptyProject { root: _root, project, rehearsal, shell } = EmptyProject::new();
    let command = command_line("touch begun; sleep 600", &project);
    {
        let running = shell.run_in_overlay(&command, View::WithoutSecrets, &|_| {});
        tokio::pin!(running);
        let marker = rehearsal.overlay_folder().join("pending/begun");
        while !marker.exists() {
            let soon = tokio::time::sleep(Duration::from_millis(10));
            tokio::select! { ran = &mut running => panic!("{ran:?}"), () = soon => {} }
        }
        let error = remove_overlay(rehearsal.overlay_folder()).unwrap_err().to_string();
        assert!(error.starts_with("a command of this dry run is still running"), "{error}");
        assert!(marker.exists());
    }
    // The command was cancelled; the overlay can be removed once it has ended.
    while let Err(error) = remove_overlay(rehearsal.overlay_folder()) {
        assert!(error.to_string().starts_with("a command of this dry run is still running"), "{error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!rehearsal.overlay_folder().exists());
}

#[test]
fn r54_discard_by_another_process_is_refused_while_the_session_is_open() {
    let (_runtime, service, setup, id) = dry_run_of_two_files(vec![text_answer("I see.")]);
    let root = setup.root.clone();
    let base = ["--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut program = Setup::with_home(&root, &[&["--continue"][..], &base[..]].concat()).size(100, 30).start();
    program.until("DRY RUN");
    submit_message(&mut program, "go on");
    program.until("I see.");
    for arguments in [&["rehearsal", "drop", &id, "--yes"][..], &["rehearsal", "drop", "--yes"]] {
        let (out, err, code) = Setup::with_home(&root, arguments).run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{err}");
        assert!(err.contains("is open in another aye. Close it there first."), "{err}");
    }
    let upper = root.path().join("home/aye/data/rehearsal").join(&id).join("upper");
    assert!(upper.join("a.txt").exists());
    // The session itself can discard it.
    submit_message(&mut program, "/rehearsal drop");
    program.until("Discard the rehearsed changes?");
    program.press_until("Y", "rehearsal discarded");
    assert!(!upper.exists());
    // A repeated `y` may have reached the composer.
    program.press_keys("\x15");
    program.press_keys("\x04");
    program.wait_for_exit();
    let (out, _, code) = Setup::with_home(&root, &["rehearsal", "drop", &id, "--yes"]).run_piped("");
    assert!(code == 0 && out.contains("has no rehearsal"), "{out}");
}

#[test]
fn r51_kill_while_a_command_runs_in_the_overlay_leaves_nothing_running() {
    if !has_overlay_sandbox() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let long = unique_sleep_seconds();
    let service = runtime.block_on(Service::start(vec![
        command_answer(&format!("echo half > a.txt; rm -r old; touch begun; (setsid sleep {long} &); sleep {long}")),
        command_answer("cat a.txt; ls"),
        text_answer("Done."),
    ]));
    let before = read_mounts();
    let arguments = ["--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let setup = Setup::new(&arguments).with_file("a.txt", "real\n").with_file("old/x", "x").size(100, 30);
    let root = setup.root.clone();
    let mut program = setup.start();
    program.until("DRY RUN");
    submit_message(&mut program, "go");
    let layers = root.path().join("home/aye/data/rehearsal");
    let begun = || {
        let layers = std::fs::read_dir(&layers).into_iter().flatten().flatten();
        layers.map(|layer| layer.path().join("pending/begun")).any(|begun| begun.exists())
    };
    program.until_condition("the command runs", |_| begun() && count_sleeping(long) > 0);
    program.signal(Signal::KILL);
    program.wait_for_exit();
    wait_until_none_sleeps(long);
    assert_eq!(read_mounts(), before);
    let again = ["-p", "--continue", "--base-url", &service.base_url, "--model", "scripted-7b", "more"];
    let (out, err, code) = Setup::with_home(&root, &again).run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    let messages = service.received().last().unwrap().body["messages"].as_array().unwrap().clone();
    assert_eq!(messages.last().unwrap()["content"], "half\na.txt\nbegun\nexit 0");
    assert!(out.contains("3 files changed") && !out.contains("CONFLICT"), "{out}");
    assert_eq!(std::fs::read_to_string(root.path().join("project/a.txt")).unwrap(), "real\n");
}
