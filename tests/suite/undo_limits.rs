//! The limit of what is kept for undo, in the real program: it is one of a project, and the oldest content goes first.

use crate::support::service::Answer;
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use crate::support::user::User;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Bytes of each file. Four of them exceed the limit of 1 MB.
const FILE_BYTES: usize = 300_000;

fn edit(path: &str) -> Answer {
    let arguments = json!({ "path": path, "old_text": format!("first line of {path}\n"), "new_text": "changed\n" });
    calls_answer_after(Duration::ZERO, &[("edit_file", arguments)])
}

fn content(path: &str) -> String {
    let line = format!("a line of {path}\n");
    format!("first line of {path}\n{}", line.repeat(FILE_BYTES / line.len()))
}

/// The files of the checkpoints of a folder, newest first.
fn list_kept(user: &User, folder: &Path) -> Vec<String> {
    let (list, error, code) = user.run_headless(&["checkpoints", "--json", "-C", folder.to_str().unwrap()]);
    assert_eq!(code, 0, "{error}");
    let file = |line: &str| serde_json::from_str::<Value>(line).unwrap()["files"][0].as_str().unwrap().to_owned();
    list.lines().filter(|line| !line.is_empty()).map(file).collect()
}

#[test]
fn the_oldest_content_of_the_project_goes_first_and_other_projects_keep_theirs() {
    let names: Vec<String> = (0..8).map(|number| format!("file-{number}")).collect();
    let mut answers = vec![edit("other"), text_answer("Done.")];
    for name in &names {
        answers.extend([edit(name), text_answer("Done.")]);
    }
    let user = User::new(answers);
    write_settings(&user.setup(&[]), &format!("{NO_TITLES}[undo]\nmax_mb = 1\n"));
    let (project, other) = (user.project(), user.path("other-project"));
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("other"), content("other")).unwrap();
    for name in &names {
        user.write_file(name, &content(name));
    }
    let change_one_file = |folder: &Path| {
        let setup = user.setup(&["--mode", "auto", "-C", folder.to_str().unwrap(), "-p", "go"]);
        let (out, error, code) = setup.run_piped("");
        assert_eq!((out.trim(), code), ("Done.", 0), "{error}");
    };
    change_one_file(&other);
    names.iter().for_each(|_| change_one_file(&project));
    let kept = list_kept(&user, &project);
    let newest: Vec<&String> = names.iter().rev().take(kept.len()).collect();
    assert!((1..=3).contains(&kept.len()) && kept.iter().eq(newest), "{kept:?}");
    assert_eq!(list_kept(&user, &other), ["other"]);
    // What is listed can be restored.
    for (folder, name) in [(&project, "file-7"), (&other, "other")] {
        assert!(std::fs::read_to_string(folder.join(name)).unwrap().starts_with("changed\n"));
        let (out, error, code) = user.run_headless(&["undo", "--yes", "-C", folder.to_str().unwrap()]);
        assert!(out.contains("1 of 1 restored") && code == 0, "{out}{error}");
        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), content(name));
    }
}
