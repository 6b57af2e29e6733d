//! Prompts with very long contents: shown completely, without laying them out again for each page.

use super::*;
use crate::chat::{Diff, DiffLine, Edit, Hunk};

fn large_edit_intent(lines: usize) -> Intent {
    let added = (0..lines).map(|n| DiffLine::Added(format!("    let line_{n} = compute({n}); // and why"))).collect();
    let hunks = vec![Hunk { before: 0, after: 1, lines: added }];
    let path = std::path::PathBuf::from("big.rs");
    let diff = Diff { path: path.clone(), created: true, added: lines, removed: 0, hunks, note: None };
    Intent::Act(Box::new(Plan {
        title: "Write a file?".into(),
        summary: "big.rs".into(),
        access: Access::Write(path.clone()),
        preview: Preview::Edit(diff),
        full_preview: None,
        grant: None,
        destroys: None,
        preconditions: crate::chat::Preconditions::default(),
        work: Work::Edit(Edit { path, before: None, after: String::new() }),
    }))
}

fn screen_with_prompt(intent: Intent, (width, height): (u16, u16)) -> Screen {
    let mut screen = Screen::new();
    screen.resize_screen(width, height);
    screen.send_text("go");
    screen.receive_call("a", "tool", intent);
    screen.advance_ms(600);
    screen
}

/// Checks that paging does not lay out the contents again and that `y` works only once the end, which contains `last`,
/// was seen.
fn check_read_to_end(intent: Intent, last: &str) {
    let mut screen = screen_with_prompt(intent, (60, 15));
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0, "the end was not seen yet");
    // A new width lays out the contents again; paging does not, so twenty pages allocate less than that.
    screen.resize_screen(59, 15);
    let layout_bytes = allocation_counter::measure(|| screen.resize_screen(60, 15)).bytes_total;
    let paging_bytes = allocation_counter::measure(|| (0..20).for_each(|_| screen.press_key("page-down"))).bytes_total;
    assert!(paging_bytes < layout_bytes, "{paging_bytes} bytes for the pages, {layout_bytes} to lay it out");
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0, "twenty pages do not reach the end");
    screen.press_key("end");
    assert!(screen.screen_text().contains(last), "{}", screen.screen_text());
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r07_r64_a_difference_of_twenty_thousand_lines_is_read_to_its_end() {
    check_read_to_end(large_edit_intent(20_000), "line_19999");
}

#[test]
fn r07_a_command_of_a_hundred_kilobytes_is_read_to_its_end() {
    check_read_to_end(
        command_intent(&format!("{}touch the_end", "echo one two three\n".repeat(5_300))),
        "touch the_end",
    );
    // The long word is wrapped, and its last row contains only `_end`.
    check_read_to_end(command_intent(&format!("echo {}the_end", "x".repeat(100_000))), "_end ");
}

#[test]
fn r10_a_hostile_tool_name_cannot_draw_in_the_prompt() {
    let mut screen = screen_with_prompt(command_intent("ls"), (60, 15));
    screen.press_key("esc");
    screen.press_key("esc");
    screen.send_text("again");
    let name = "bash\u{202e}_exec\x1b[2J\n╰─ y yes ─╯".to_owned();
    screen.receive_chunk(Chunk::Call(ToolCall { id: "b".into(), name, arguments: "{\"x\":\"\u{200b}\"}".into() }));
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("b", command_intent("ls"));
    screen.advance_ms(600);
    screen.press_key("d");
    let text = screen.screen_text();
    assert!(text.contains("tool bash<U+202E>_exec<U+001B>[2J") && text.contains("<U+200B>"), "{text}");
    // The lower border of the prompt begins with the key `d`. All rows above it must be inside the frame.
    let rows: Vec<&str> = text.lines().skip_while(|row| !row.starts_with('╭')).collect();
    let content_rows = rows[1..].iter().take_while(|row| !row.starts_with("╰─ d"));
    assert!(content_rows.clone().count() > 3 && content_rows.clone().all(|row| row.starts_with('│')), "{text}");
}
