//! Rows of waiting calls that no tool has planned yet.

use super::*;

/// Returns a screen whose turn waits with these calls (name and arguments); only the first has been planned.
fn screen_with_unplanned_calls(calls: &[(&str, &str)]) -> Screen {
    let mut screen = Screen::with_turn();
    for (n, (name, arguments)) in calls.iter().enumerate() {
        let call =
            ToolCall { id: format!("c{n}").as_str().into(), name: (*name).into(), arguments: (*arguments).into() };
        screen.receive_chunk(Chunk::Call(call));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("c0", command_intent("echo 0"));
    screen.advance_ms(600);
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
    let mut screen = screen_with_unplanned_calls(&calls);
    let text_before = screen.screen_text();
    let rows =
        ["· Write docs/part-2.md ", "· Write docs/long.md ", "· Edit src/main.rs ", "· far_tool depth 3 · mode fast "];
    assert!(rows.iter().all(|row| text_before.contains(row)) && !text_before.contains('{'), "{text_before}");
    // `l` opens the queue, and each `down` selects the next call.
    screen.press_key("l");
    screen.press_key("down");
    let text = screen.screen_text();
    assert!(text.contains("│ content # Part 2 ") && text.contains("│ text "), "{text}");
    assert!(!text.contains('{'), "{text}");
    screen.press_key("down");
    screen.press_key("down");
    let text = screen.screen_text();
    assert!(text.contains("│ old_text hi ") && text.contains("│ new_text ho "), "{text}");
    screen.advance_ms(600);
    screen.press_key("esc");
    screen.advance_ms(600);
    let text_after = screen.screen_text();
    assert!(rows.iter().all(|row| text_after.contains(row)) && !text_after.contains('{'), "{text_after}");
}
