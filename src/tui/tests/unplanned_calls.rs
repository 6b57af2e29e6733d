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

/// The reason alone would not tell which of several files was meant.
#[test]
fn the_row_of_a_call_that_failed_before_it_was_planned_names_its_path() {
    let edit = r#"{"path": "src/deeply/nested/folder/of/the/parser/main.rs", "old_text": "hi", "new_text": "ho"}"#;
    let hostile = r#"{"path": "a\u202eb.rs", "old_text": "hi"}"#;
    for (tool, arguments, expected) in [
        ("edit_file", edit, "✗ Edit src/deeply/nested/folder/of/the/parser/main.rs · old_text was not found"),
        ("edit_file", hostile, "✗ Edit a<U+202E>b.rs · old_text was not found"),
        ("edit_file", "{\"path", "✗ Edit old_text was not found"),
        ("ask_question", r#"{"path": "x.rs"}"#, "✗ Ask old_text was not found"),
    ] {
        let mut screen = Screen::with_turn();
        screen.resize_screen(120, 36);
        let call = ToolCall { id: "c0".into(), name: tool.into(), arguments: arguments.into() };
        screen.receive_chunk(Chunk::Call(call));
        screen.receive_chunk(Chunk::Done(FinishReason::Stop));
        let turn = screen.state.agent.current_turn().expect("a turn runs");
        let intent = Err("old_text was not found".to_owned());
        screen.handle_event(Event::Agent(agent::Event::CallPlanned { turn, call: "c0".into(), intent }));
        let text = screen.screen_text();
        assert!(text.contains(expected), "{expected}: {text}");
        screen.resize_screen(60, 15);
        let text = screen.screen_text();
        assert!(!arguments.contains("deeply") || text.contains("/main.rs · "), "{text}");
    }
}
