//! Sensitive files that are created or replaced while a command of a dry run runs.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::overlay_place::{OverlayFixture, SECRET, write_file};
use crate::support::overlay_project::command_line;
use crate::support::own_process::own_process;
use aye::project::Reader;
use aye::project::overlay_sandbox::{DisclosedPaths, View};
use std::fs;
use std::path::Path;

/// Waits until a command wrote this file. The commands wait for the test by sleeping and not by looking for a file,
/// because an overlay may remember that a file did not exist.
async fn wait_for(path: &Path) {
    for _ in 0..1500 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the command did not write {}", path.display());
}

#[tokio::test]
async fn r30_output_is_withheld_if_a_file_becomes_sensitive_meanwhile() {
    let name = "overlay_sandbox_races::r30_output_is_withheld_if_a_file_becomes_sensitive_meanwhile";
    let Some(root) = own_process(name) else { return };
    if !has_overlay_sandbox() {
        return;
    }
    let project = root.join("project");
    write_file(&project.join("sub/plain.txt"), "plain");
    write_file(&project.join("old/.env"), "old");
    let fixture = OverlayFixture::with_readable(&root, &[]);
    let command = "echo > begun; sleep 1; cat sub/.env* old/.env; cp sub/.env* copy.txt; true";
    for (new, from) in [("sub/.env", None), ("old/.env", Some("sub/.env.tmp"))] {
        let create_secret = async {
            wait_for(&root.join("layers/one/pending/begun")).await;
            match from {
                None => write_file(&project.join(new), SECRET),
                Some(from) => {
                    write_file(&project.join(from), SECRET);
                    fs::rename(project.join(from), project.join(new)).unwrap();
                }
            }
        };
        let line = command_line(command, &project);
        let (outcome, ()) =
            tokio::join!(fixture.shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}), create_secret);
        let error = outcome.expect_err("the output was not withheld").to_string();
        assert!(error.starts_with(new) && error.contains("run it again"), "{error}");
        assert!(!fixture.has_copied_secret());
        assert_eq!(fixture.run_hidden("ls; cat sub/plain.txt").await, "old\nsub\nplain");
    }
}

/// If the home is the project, the overlay is inside it, and commands write to it directly.
#[tokio::test]
async fn r30_in_an_overlay_inside_the_project_the_changes_stay_and_the_error_says_so() {
    let name = "overlay_sandbox_races::r30_in_an_overlay_inside_the_project_the_changes_stay_and_the_error_says_so";
    let Some(root) = own_process(name) else { return };
    if !has_overlay_sandbox() {
        return;
    }
    let project = root.join("project");
    let fixture = OverlayFixture::with_overlay(&root, &project.join("data/layers/one"), DisclosedPaths::default());
    let command = "echo > begun; sleep 1; cp .env copy.env; true";
    let create_secret = async {
        wait_for(&project.join("data/layers/one/upper/begun")).await;
        write_file(&project.join(".env"), SECRET);
    };
    let line = command_line(command, &project);
    let (outcome, ()) = tokio::join!(fixture.shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}), create_secret);
    let error = outcome.expect_err("the output was not withheld").to_string();
    assert!(error.starts_with(".env was created or replaced") && error.contains("stay in the overlay"), "{error}");
    let copy = fixture.rehearsal.locate("copy.env").unwrap();
    assert!(!fixture.rehearsal.has_only_rehearsed_content(&copy), "a copied secret counts as rehearsed content");
}

/// A stopped command is checked like any other, and until then no file tool sees its files.
#[tokio::test]
async fn r30_copies_of_a_new_secret_are_dropped_after_a_stopped_command() {
    let name = "overlay_sandbox_races::r30_copies_of_a_new_secret_are_dropped_after_a_stopped_command";
    let Some(root) = own_process(name) else { return };
    if !has_overlay_sandbox() {
        return;
    }
    let project = root.join("project");
    let fixture = OverlayFixture::with_readable(&root, &[]);
    let command = "echo > begun; sleep 1; cp .env copy.txt; echo > copied; sleep 60";
    let pending = root.join("layers/one/pending");
    let create_secret = async {
        wait_for(&pending.join("begun")).await;
        write_file(&project.join(".env"), SECRET);
        wait_for(&pending.join("copied")).await;
        // A file tool reads while the command runs.
        let location = fixture.rehearsal.locate("copy.txt").unwrap();
        assert!(fixture.rehearsal.read(&location).is_err());
    };
    let line = command_line(command, &project);
    tokio::select! {
        _ = fixture.shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}) => panic!("it does not end"),
        () = create_secret => {}
    }
    let output = fixture.run_hidden("ls; cat copy.txt").await;
    assert!(output.contains("No such file") && !output.contains(SECRET) && !fixture.has_copied_secret(), "{output}");
}
