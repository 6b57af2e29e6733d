//! The composer in the real program: large pastes, many files, characters of several code points.

use crate::support::pick_count;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::terminal_session::{start_session, submit_message, text_answer};
use tokio::runtime::Runtime;

#[test]
fn paste_of_ten_megabytes_is_folded_and_sent_completely() {
    let (_runtime, service, mut program) = start_session(vec![text_answer("Read.")], (100, 24), &[]);
    let line = "a line of some words, 漢字 and more\n";
    let text = line.repeat(pick_count(10_000_000, 2_000_000) / line.len());
    program.press_keys(&format!("\x1b[200~{text}\x1b[201~"));
    program.until("pasted");
    program.type_text(" read it");
    program.until("read it");
    program.press_keys("\r");
    program.until("Read.");
    let messages = service.received()[0].body["messages"].to_string();
    assert!(messages.len() > text.len() && messages.contains("read it"));
    let sent = messages.matches("a line of some words").count();
    assert_eq!(sent, text.lines().count(), "no line is lost");
    program.type_text("and on");
    program.until("❯ and on");
}

#[test]
fn file_name_is_completed_among_thousands() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![text_answer("Fine.")]));
    let mut setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]);
    for n in 0..pick_count(3000, 300) {
        setup = setup.with_file(&format!("src/part{}/file{n}.rs", n % 50), "x");
    }
    let mut program = setup.with_file("src/needle in hay.rs", "x").start();
    program.until("Messages go to");
    program.type_text("look at @needle");
    program.until("src/needle in hay.rs");
    program.press_keys("\t");
    program.until("look at @\"src/needle in hay.rs\"");
    program.type_text("and on");
    program.until("and on");
}

#[test]
fn text_can_be_undone_searched_and_edited_by_grapheme() {
    let (_runtime, _service, mut program) = start_session(vec![text_answer("Fine.")], (80, 24), &[]);
    submit_message(&mut program, "the first thing");
    program.until("Fine.");
    program.type_text("漢字 👩‍👧 e\u{301}x");
    program.until("漢字");
    program.until("x");
    // Four times Backspace deletes `x`, `é`, the emoji and the blank before it.
    program.press_keys("\x7f\x7f");
    program.press_keys("\x7f\x7f");
    let screen = program.until_gone("👩");
    let line = screen.lines().find(|line| line.contains("❯ 漢字")).unwrap_or_default();
    assert_eq!(line.trim(), "❯ 漢字", "{screen}");
    // Ctrl-U deletes the draft, and Ctrl-_ undoes that.
    program.press_keys("\x15");
    program.until("Write a message");
    program.press_keys("\x1f");
    program.until("❯ 漢字");
    // Ctrl-R searches the history.
    program.press_keys("\x15");
    program.press_keys("\x12");
    program.until("search:");
    program.type_text("first");
    program.press_keys("\r");
    program.until("❯ the first thing");
    // Alt-Enter inserts a line break.
    program.press_keys("\x1b\r");
    program.type_text("second line");
    let screen = program.until("second line");
    assert!(!screen.contains("the first thingsecond"), "{screen}");
}
