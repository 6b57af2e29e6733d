//! Prompts with very long contents: shown completely, without laying them out again for each page.

use super::*;
use crate::chat::{Diff, Edit, Hunk, Line};

fn changes(lines: usize) -> Intent {
    let added =
        (0..lines).map(|n| Line::Added(format!("    let line_{n} = compute({n}); // and why"))).collect();
    let hunks = vec![Hunk { before: 0, after: 1, lines: added }];
    let path = std::path::PathBuf::from("big.rs");
    let diff = Diff { path: path.clone(), created: true, added: lines, removed: 0, hunks, note: None };
    Intent::Act(Box::new(Plan {
        title: "write a file?".into(),
        summary: "big.rs".into(),
        access: Access::Write(path.clone()),
        preview: Preview::Edit(diff),
        always: None,
        destroys: None,
        basis: crate::chat::Basis::default(),
        work: Work::Edit(Edit { path, before: None, after: String::new() }),
    }))
}

fn asked(intent: Intent, (width, height): (u16, u16)) -> Screen {
    let mut screen = Screen::new();
    screen.resized(width, height);
    screen.says("go");
    screen.calls("a", "tool", intent);
    screen.waits(600);
    screen
}

/// Checks that paging does not lay out the contents again and that `y` works only once the end was seen.
fn is_read_to_its_end(intent: Intent, last: &str) {
    let mut screen = asked(intent, (60, 15));
    screen.presses("y");
    assert_eq!(screen.decided(), 0, "the end was not seen yet");
    // A new width lays out the contents again; paging does not, so twenty pages allocate less than that.
    screen.resized(59, 15);
    let once = allocation_counter::measure(|| screen.resized(60, 15)).bytes_total;
    let pages = allocation_counter::measure(|| (0..20).for_each(|_| screen.presses("page-down"))).bytes_total;
    assert!(pages < once, "{pages} bytes for the pages, {once} to lay it out");
    screen.presses("y");
    assert_eq!(screen.decided(), 0, "twenty pages do not reach the end");
    screen.presses("end");
    assert!(screen.shows().contains(last), "{}", screen.shows());
    screen.presses("y");
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r07_r64_a_difference_of_twenty_thousand_lines_is_read_to_its_end() {
    is_read_to_its_end(changes(20_000), "line_19999");
}

#[test]
fn r07_a_command_of_a_hundred_kilobytes_is_read_to_its_end() {
    is_read_to_its_end(
        command(&format!("{}touch the_end", "echo one two three\n".repeat(5_300))),
        "touch the_end",
    );
    is_read_to_its_end(command(&format!("echo {}the_end", "x".repeat(100_000))), "_end ");
}

#[test]
fn r10_a_hostile_tool_name_cannot_draw_in_the_prompt() {
    let mut screen = asked(command("ls"), (60, 15));
    screen.presses("esc");
    screen.presses("esc");
    screen.says("again");
    let name = "bash\u{202e}_exec\x1b[2J\n╰─ y yes ─╯".to_owned();
    screen.chunk(Chunk::Call(ToolCall { id: "b".into(), name, arguments: "{\"x\":\"\u{200b}\"}".into() }));
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.planned("b", command("ls"));
    screen.waits(600);
    screen.presses("d");
    let shows = screen.shows();
    assert!(shows.contains("tool bash<U+202E>_exec<U+001B>[2J") && shows.contains("<U+200B>"), "{shows}");
    let rows: Vec<&str> = shows.lines().skip_while(|row| !row.starts_with('╭')).collect();
    let inside = rows[1..].iter().take_while(|row| !row.starts_with("╰─ d"));
    assert!(inside.clone().count() > 3 && inside.clone().all(|row| row.starts_with('│')), "{shows}");
}
