//! The todo list of the model above the composer.

use super::*;
use crate::chat::todo_list::TODO_WRITE;
use serde_json::json;

const SIZES: [(u16, u16); 5] = [(120, 36), (80, 24), (60, 15), (60, 12), (40, 10)];

/// The entries of a call that wrote this many todos, the second of which is in progress.
fn written_todos(count: usize) -> [Entry; 3] {
    let status = |index| ["completed", "in_progress", "pending"][usize::min(index, 2)];
    let todo = |index| json!({ "content": format!("Step {index}"), "activeForm": format!("Doing {index}"), "status": status(index) });
    let arguments = json!({ "todos": (0..count).map(todo).collect::<Vec<_>>() }).to_string();
    let call = ToolCall { id: "t".into(), name: TODO_WRITE.into(), arguments };
    let Entry::Replied { text, reasoning, model, usage, incomplete, thought_ms, echo, .. } = reply_entry("") else {
        panic!("a reply")
    };
    let reply = Entry::Replied { text, reasoning, calls: vec![call], incomplete, model, usage, thought_ms, echo };
    let settled = Entry::Settled {
        call: "t".into(),
        outcome: Outcome::Done("Todo list".to_owned()),
        took_ms: 0,
        sha256: crate::chat::Digest::default(),
        usage: None,
        staged: None,
    };
    [reply, settled, turn_end()]
}

#[test]
fn todos_take_at_most_a_sixth_of_the_screen_and_one_row_next_to_a_prompt() {
    for (width, height) in SIZES {
        let mut screen = Screen::with_entries([user_message("go")].into_iter().chain(written_todos(9)));
        screen.resize_screen(width, height);
        let todos = view::layout::compute_areas(&screen.state).todos;
        let rows = todos.height;
        if height >= 16 {
            let text = screen.screen_text();
            assert_eq!(text.lines().nth(usize::from(todos.y) - 1), Some(""), "{width}x{height}: {text}");
        }
        assert_eq!(rows, if height < 12 { 0 } else { height / 6 }, "{width}x{height}");
        let text = screen.screen_text();
        assert_eq!(text.contains("○ Step 1"), height >= 12, "nothing is being done: {width}x{height}: {text}");
        let progress = format!("1 of 9 done · {} more", 9 - rows);
        assert!(height < 12 || text.contains(&progress), "{width}x{height}: {text}");
        screen.send_text("next");
        let text = screen.screen_text();
        assert_eq!(text.contains("▸ Doing 1"), height >= 12, "{width}x{height}: {text}");
        screen.receive_call("a", "bash_exec", command_intent("make"));
        let text = screen.screen_text();
        let shown =
            text.lines().filter(|row| [" ✓ Step", " ▸ Doing", " ○ Step"].iter().any(|mark| row.starts_with(mark)));
        assert_eq!(shown.count(), usize::from(height >= 12), "{width}x{height}: {text}");
        assert!(text.contains("make"), "{width}x{height}: {text}");
    }
}

#[test]
fn a_screen_without_open_todos_is_as_before() {
    let mut with_list = Screen::with_entries([user_message("go")].into_iter().chain(written_todos(1)));
    // The only todo is completed.
    assert_eq!(view::layout::compute_areas(&with_list.state).todos.height, 0);
    with_list.state.settings.is_ascii = true;
    let mut open = Screen::with_entries([user_message("go")].into_iter().chain(written_todos(3)));
    open.state.settings.is_ascii = true;
    open.send_text("next");
    let text = open.screen_text();
    for row in [" v Step 0", " > Doing 1", " o Step 2"] {
        assert!(text.contains(row), "{text}");
    }
}
