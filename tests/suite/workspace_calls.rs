//! Calls on the workspace of a session in the real program: prompts, ranges, long results, dry runs and links.

use crate::support::service::Answer;
use crate::support::stored_files::{list_all_files, read_session};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use crate::workspaces::{SESSION, add_session};
use aye::chat::{Digest, Entry, Outcome};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// The outcomes of the calls.
fn outcomes(user: &User) -> Vec<Outcome> {
    read_session(&user.setup(&[])).into_iter().filter_map(settled_outcome).collect()
}

fn settled_outcome(entry: Entry) -> Option<Outcome> {
    match entry {
        Entry::Settled { outcome, .. } => Some(outcome),
        _ => None,
    }
}

fn read_call(path: &str, offset: usize, length: usize) -> Answer {
    let arguments = json!({ "path": path, "offset": offset, "length": length });
    calls_answer_after(Duration::ZERO, &[("read_workspace_file", arguments)])
}

fn write_call(path: &str, content: &str) -> Answer {
    let arguments = json!({ "path": path, "content": content, "overwrite": true });
    calls_answer_after(Duration::ZERO, &[("write_workspace_file", arguments)])
}

fn result_path(label: &str, text: &str) -> String {
    format!("results/{label}-{}.txt", &Digest::of_bytes(text.as_bytes()).as_str()[..8])
}

#[test]
fn the_rest_of_a_long_output_and_page_can_be_read() {
    let output: String = (1..=30_000).map(|number| format!("{number}\n")).collect();
    let page: String = (0..9_000).map(|number| format!("row {number}\n")).collect();
    let server = WebServer::start().with_page("/page", "200 OK\r\nContent-Type: text/plain", page.as_bytes());
    let url = server.url("/page");
    // 24 KB are shown before the omitted part, and 40 KB after it.
    let ranges = [(24_576, 39_996), (64_572, 39_996), (104_568, 23_366)];
    let answers = vec![
        command_answer("seq 30000"),
        read_call(&result_path("seq", &output), ranges[0].0, ranges[0].1),
        read_call(&result_path("seq", &output), ranges[2].0, ranges[2].1),
        calls_answer_after(Duration::ZERO, &[("web_fetch", json!({ "url": url }))]),
        read_call(&result_path("127.0.0.1", &page), 70_000, 60),
        text_answer("Done."),
    ];
    let user = User::new(answers);
    let settings = user.path("home/aye/config/config.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let host = format!("127.0.0.1:{}", server.port);
    std::fs::write(&settings, format!("{text}\n[web]\nprivate_hosts = [\"{host}\"]\n")).unwrap();
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    let screen = program.until_idle("Done.");
    assert!(screen.contains("103.4 kB omitted"), "{screen}");
    let outcomes = outcomes(&user);
    let outcomes: Vec<&String> = outcomes.iter().map(done_text).collect();
    let [command, first, last, fetched, rows] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    let outline = ranges.map(|(offset, length)| {
        let line = output[offset..].trim_start().lines().next().unwrap();
        format!("{offset}+{length}: {line}…\n")
    });
    let (start, rest) = command.split_once(" bytes omitted]\n[full text (168.9 kB): workspace://").unwrap();
    let (_, rest) = rest.split_once("[omitted ranges, as offset+length: first line]\n").unwrap();
    let tail = rest.strip_prefix(&outline.concat()).unwrap_or_else(|| panic!("{outline:?}: {rest:.300}"));
    assert!(start.starts_with(&output[..24_576]), "{start:.100}");
    assert_eq!(tail, format!("{}exit 0", &output[ranges[2].0 + ranges[2].1..]));
    for (read, (offset, length)) in [(first, ranges[0]), (last, ranges[2])] {
        let (_, text) = read.split_once('\n').unwrap();
        assert!(text == &output[offset..offset + length], "{read:.200}");
    }
    assert!(fetched.lines().nth(1).unwrap().contains("full text ("), "before the text from outside: {fetched:.400}");
    assert!(fetched.contains("[omitted ranges, as offset+length: first line]\n"), "{fetched:.400}");
    assert!(rows.contains("Untrusted text") && rows.ends_with(&page[70_000..70_060]), "{rows}");
}

#[test]
fn a_session_that_uses_no_file_has_no_workspace() {
    let user = User::new(vec![command_answer("echo short"), read_call("none", 0, 1), text_answer("Done.")]);
    let (out, err, _) = user.setup(&["-p", "go"]).run_piped("");
    assert!(out.contains("Done."), "{err}");
    assert_eq!(user.run_headless(&["files"]).0, "no files in the workspace of this session\n");
    assert!(!user.path("home/aye/data/workspace").exists());
}

fn done_text(outcome: &Outcome) -> &String {
    match outcome {
        Outcome::Done(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_is_written_read_in_ranges_replaced_and_deleted_after_approval() {
    let text: String = (0..9_000).map(|number| format!("{number} é\n")).collect();
    let delete = json!({ "path": "reports/q1.md" });
    let user = User::new(vec![
        write_call("reports/q1.md", &text),
        calls_answer_after(
            Duration::ZERO,
            &[
                ("read_workspace_file", json!({ "path": "reports/q1.md", "length": 40_000 })),
                ("read_workspace_file", json!({ "path": "/reports/q1.md", "offset": 40_000 })),
            ],
        ),
        write_call("reports/q1.md", "# Second\n"),
        write_call("../outside", "x"),
        write_call("denied.md", "# Denied\n"),
        calls_answer_after(Duration::ZERO, &[("delete_workspace_file", delete), ("list_workspace_files", json!({}))]),
        text_answer("Done."),
    ]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Write a file to the workspace?");
    assert!(screen.contains("reports/q1.md") && screen.contains("70.9 kB"), "{screen}");
    program.press_keys("\x1b[F");
    program.until_prompt("8999 é");
    program.press_keys("y");
    // Reading asks nothing.
    let screen = program.until_prompt("Replace a workspace file and keep version 1?");
    assert!(screen.contains("reports/q1.md · +1 −9000"), "{screen}");
    program.press_keys("\x1b[F");
    program.until_prompt("+ # Second");
    program.press_keys("y");
    program.until_prompt("# Denied");
    program.press_keys("n");
    program.until_prompt("Delete a file of the workspace?");
    program.press_keys("y");
    program.until_idle("Done.");
    let outcomes = outcomes(&user);
    let [first, head, rest, second, outside, denied, deleted, listed] = outcomes.as_slice() else {
        panic!("{outcomes:?}")
    };
    assert!(done_text(first).contains("(70.9 kB, text/markdown, version 1)"), "{first:?}");
    let mut ranges = [head, rest].map(|outcome| done_text(outcome).split_once('\n').unwrap().1);
    // Both were read at the same time, so either may have ended first.
    ranges.sort_by_key(|range| !range.starts_with("0 é"));
    assert!(ranges.concat() == text && ranges[0].chars().count() == 40_000);
    assert!(done_text(second).contains("(9 bytes, text/markdown, version 2)"), "{second:?}");
    assert!(
        matches!(outside, Outcome::Failed(text) if text.contains("“.” and “..” are not names of files")),
        "{outside:?}"
    );
    assert!(matches!(denied, Outcome::Refused(_)), "{denied:?}");
    assert!(done_text(deleted).contains("Its versions are kept"), "{deleted:?}");
    assert_eq!(done_text(listed), "No files.");
    let id = done_text(first).split_once("workspace://").unwrap().1[..26].to_owned();
    let cat = |file: &str| user.run_headless(&["files", "cat", file]);
    assert!(cat(&format!("workspace://{id}@1")).0 == text);
    assert_eq!(cat(&format!("{id}@2")).0, "# Second\n");
    assert_eq!(cat("reports/q1.md").2, 2);
    assert_eq!(user.run_headless(&["files", "restore", &id]).2, 0);
    assert_eq!(cat(&id).0, "# Second\n");
    let project: Vec<_> = list_all_files(&user.project());
    assert!(!project.iter().any(|file| file.ends_with("q1.md")), "{project:?}");
}

#[test]
fn a_rule_denies_a_tool_of_the_workspace_and_no_mode_writes_to_another_session() {
    let other = format!("/sessions/{SESSION}/a");
    let user = User::new(vec![write_call("a", "x"), write_call(&other, "x"), text_answer("Done.")]);
    add_session(&user.setup(&[]));
    let run = |user: &User, mode: &str| user.setup(&["-p", "--mode", mode, "go"]).run_piped("");
    let (_, err, code) = run(&user, "auto");
    assert!(code != 2, "{err}");
    let settled = outcomes_of_latest(&user);
    assert!(done_text(&settled[0]).contains("Wrote a"), "{settled:?}");
    assert!(matches!(settled[1], Outcome::Refused(_)), "{settled:?}");
    let user = user.with_rules("[[rule]]\nverdict = \"deny\"\ntool = \"write_workspace_file\"\n");
    let user = user.with_answers(vec![write_call("b", "x"), text_answer("Done.")]);
    run(&user, "auto");
    assert!(matches!(outcomes_of_latest(&user)[0], Outcome::Refused(_)), "{:?}", outcomes_of_latest(&user));
    assert_eq!(user.run_headless(&["files", "ls"]).0, "no files in the workspace of this session\n");
}

/// The outcomes in the last session of the folder.
fn outcomes_of_latest(user: &User) -> Vec<Outcome> {
    let files = list_all_files(&user.path("home/aye/data/sessions"));
    let file =
        files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).max().unwrap();
    aye::store::read(file).unwrap().entries.into_iter().filter_map(settled_outcome).collect()
}

/// Each copy of a session has a workspace of its own. What a dry run rehearses is not in a live copy of it.
#[test]
fn a_dry_run_changes_no_other_workspace_and_a_live_copy_has_none_of_its_changes() {
    let user = User::new(vec![
        write_call("report", "live"),
        text_answer("One."),
        write_call("report", "rehearsed"),
        write_call("new", "rehearsed"),
        read_call("report", 0, 100),
        text_answer("Two."),
        read_call("report", 0, 100),
        text_answer("Three."),
    ]);
    let run = |arguments: &[&str]| {
        let (out, err, _) = user.setup(&[&["-p", "--mode", "auto"], arguments].concat()).run_piped("");
        let ids = list_sessions(&user);
        (ids.last().unwrap().clone(), format!("{out}{err}"))
    };
    let (live, _) = run(&["go"]);
    let (dry, output) = run(&["--continue", "--fork", "--dry-run", "go"]);
    assert!(output.contains("Two.") && dry != live, "{output}");
    assert!(outcomes_of_latest(&user).last().unwrap().text().ends_with("\nrehearsed"));
    let cat = |session: &str, file: &str| user.run_headless(&["files", "cat", file, "--session", session]);
    assert_eq!((cat(&live, "report").0.as_str(), cat(&live, "new").2), ("live", 2));
    assert_eq!((cat(&dry, "report").0.as_str(), cat(&dry, "new").0.as_str()), ("rehearsed", "rehearsed"));
    let (copy, output) = run(&["--continue", "--fork", "--live", "go"]);
    assert!(output.contains("Three.") && copy != dry, "{output}");
    assert!(done_text(outcomes_of_latest(&user).last().unwrap()).ends_with("\nlive"));
    assert_eq!((cat(&copy, "report").0.as_str(), cat(&copy, "new").2), ("live", 2));
}

/// The IDs of all sessions, oldest first.
fn list_sessions(user: &User) -> Vec<String> {
    let files = list_all_files(&user.path("home/aye/data/sessions"));
    let mut ids: Vec<String> = files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    ids.sort();
    ids
}

/// The first letter of a visible link is `a`.
#[test]
fn an_address_in_a_reply_opens_a_copy_in_the_editor() {
    let write = json!({ "path": "reports/q1.md", "content": "# The report\n" });
    let answers = vec![
        calls_answer_after(Duration::ZERO, &[("write_workspace_file", write)]),
        text_answer("It is in workspace:///reports/q1.md and not in workspace:///missing.md."),
    ];
    let user = User::new(answers);
    let opened = user.path("opened");
    let editor = user.path("editor.sh");
    crate::support::stored_files::write_script(
        &editor,
        &format!("#!/bin/sh\nfor last; do :; done\ncat \"$last\" > {0}\necho \"$last\" >> {0}\n", opened.display()),
    );
    let mut program = user.setup(&[]).env("EDITOR", editor.to_str().unwrap()).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Write a file to the workspace?");
    assert!(screen.contains("reports/q1.md") && screen.contains("# The report"), "{screen}");
    program.press_keys("y");
    program.until_idle("It is in");
    program.until_linked("workspace:///reports/q1.md");
    program.press_keys("\x0f");
    let screen = program.until(" OPEN ");
    assert!(!screen.contains("b workspace:"), "a file that does not exist is no link: {screen}");
    program.press_keys("a");
    program.until_condition("the editor ran", |_| opened.is_file());
    program.until_condition("the file was read", |_| std::fs::read_to_string(&opened).unwrap().contains("q1.md"));
    let text = std::fs::read_to_string(&opened).unwrap();
    assert!(text.starts_with("# The report\n") && text.trim_end().ends_with("/q1.md"), "{text}");
    assert!(Path::new(text.lines().last().unwrap()).is_file());
}
