//! The paths that a command changed, without those that file tools or other commands changed.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::overlay_project::{EmptyProject, command_line, discard_overlay};
use aye::project::overlay_sandbox::View;
use aye::project::{Reader, Writer};
use std::path::{Path, PathBuf};

#[tokio::test]
async fn r30_changed_paths_of_a_command_exclude_changes_by_others() {
    if !has_overlay_sandbox() {
        return;
    }
    let scene = EmptyProject::new();
    let write = |path: &str, text: &str| {
        let location = scene.rehearsal.locate(path).unwrap();
        let before = scene.rehearsal.read(&location).ok();
        scene.rehearsal.write(&location, before.as_deref(), text.as_bytes()).unwrap();
    };
    let run = async |command: &str| -> Vec<PathBuf> {
        scene
            .shell
            .run_in_overlay(&command_line(command, &scene.project), View::WithoutSecrets, &|_| {})
            .await
            .unwrap()
            .changed_paths
    };
    assert_eq!(run("mkdir d; echo 1 > d/a; echo 1 > b").await, ["b", "d"].map(PathBuf::from));
    write("tool/file", "1");
    write("b", "2");
    assert_eq!(run("true").await, [""; 0].map(PathBuf::from));
    // An edit in place does not change the folder.
    assert_eq!(run("echo 2 > d/a").await, [Path::new("d/a")]);
    assert_eq!(run("echo 3 >> tool/file; rm b").await, ["b", "tool/file"].map(PathBuf::from));
    discard_overlay(scene.rehearsal.overlay_folder()).await;
    assert_eq!(run("echo 4 > e").await, [Path::new("e")]);
    assert!(scene.rehearsal.origin(Path::new("e")).is_some());
    assert_eq!(run("echo 5 > e").await, [Path::new("e")]);
}
