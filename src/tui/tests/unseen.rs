//! Rows of waiting calls that no tool has planned yet.

use super::*;

/// Calls of which only the first has been planned.
fn unseen(calls: &[(&str, &str)]) -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    for (n, (name, arguments)) in calls.iter().enumerate() {
        let call = ToolCall {
            id: format!("c{n}").as_str().into(),
            name: (*name).into(),
            arguments: (*arguments).into(),
        };
        screen.chunk(Chunk::Call(call));
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.planned("c0", command("echo 0"));
    screen.waits(600);
    screen
}

#[test]
fn a_waiting_call_shows_its_path_and_content_but_no_json() {
    let write = r##"{"path": "docs/part-2.md", "content": "# Part 2\n\ntext"}"##;
    let long = format!(r#"{{"path": "docs/long.md", "content": "{}"}}"#, "many words ".repeat(9000));
    let edit = r#"{"path": "src/main.rs", "old_text": "hi", "new_text": "ho"}"#;
    let calls = [
        ("bash_exec", r#"{"command": "echo 0"}"#),
        ("write_file", write),
        ("write_file", &*long),
        ("edit_file", edit),
        ("far_tool", r#"{"depth": 3, "mode": "fast"}"#),
    ];
    let mut screen = unseen(&calls);
    let closed = screen.shows();
    let rows = [
        "queued: docs/part-2.md",
        "queued: docs/long.md",
        "queued: src/main.rs",
        "queued: depth 3 · mode fast",
    ];
    assert!(rows.iter().all(|row| closed.contains(row)) && !closed.contains('{'), "{closed}");
    screen.presses("l");
    screen.presses("down");
    let shows = screen.shows();
    assert!(shows.contains("│ content # Part 2 ") && shows.contains("│ text "), "{shows}");
    assert!(!shows.contains('{'), "{shows}");
    screen.presses("down");
    screen.presses("down");
    let shows = screen.shows();
    assert!(shows.contains("│ old_text hi ") && shows.contains("│ new_text ho "), "{shows}");
    screen.waits(600);
    screen.presses("esc");
    screen.waits(600);
    let again = screen.shows();
    assert!(rows.iter().all(|row| again.contains(row)) && !again.contains('{'), "{again}");
}
