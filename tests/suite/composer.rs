//! The composer in the real program: large pastes, many files, characters of several code points.

use crate::support::pick_count;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::terminal_session::{say, says, start_session};
use tokio::runtime::Runtime;

#[test]
fn paste_of_ten_megabytes_is_folded_and_sent_completely() {
    let (_runtime, service, mut program) = start_session(vec![says("Read.")], (100, 24), &[]);
    let line = "a line of some words, 漢字 and more\n";
    let text = line.repeat(pick_count(10_000_000, 2_000_000) / line.len());
    program.keys(&format!("\x1b[200~{text}\x1b[201~"));
    program.until("pasted");
    program.types(" read it");
    program.until("read it");
    program.keys("\r");
    program.until("Read.");
    let messages = service.received()[0].body["messages"].to_string();
    assert!(messages.len() > text.len() && messages.contains("read it"));
    let sent = messages.matches("a line of some words").count();
    assert_eq!(sent, text.lines().count(), "no line is lost");
    program.types("and on");
    program.until("❯ and on");
}

#[test]
fn file_name_is_completed_among_thousands() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![says("Fine.")]));
    let mut setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]);
    for n in 0..pick_count(3000, 300) {
        setup = setup.has(&format!("src/part{}/file{n}.rs", n % 50), "x");
    }
    let mut program = setup.has("src/needle in hay.rs", "x").start();
    program.until("Connected to");
    program.types("look at @needle");
    program.until("src/needle in hay.rs");
    program.keys("\t");
    program.until("@src/needle in hay.rs");
    program.types("and on");
    program.until("and on");
}

#[test]
fn text_can_be_undone_searched_and_edited_by_grapheme() {
    let (_runtime, _service, mut program) = start_session(vec![says("Fine.")], (80, 24), &[]);
    say(&mut program, "the first thing");
    program.until("Fine.");
    program.types("漢字 👩‍👧 e\u{301}x");
    program.until("漢字");
    program.until("x");
    program.keys("\x7f\x7f");
    program.keys("\x7f\x7f");
    let screen = program.until_gone("👩");
    let line = screen.lines().find(|line| line.contains("❯ 漢字")).unwrap_or_default();
    assert_eq!(line.trim(), "❯ 漢字", "{screen}");
    program.keys("\x15");
    program.until("Write a message");
    program.keys("\x1f");
    program.until("❯ 漢字");
    program.keys("\x15");
    program.keys("\x12");
    program.until("search:");
    program.types("first");
    program.keys("\r");
    program.until("❯ the first thing");
    program.keys("\x1b\r");
    program.types("second line");
    let screen = program.until("second line");
    assert!(!screen.contains("the first thingsecond"), "{screen}");
}
