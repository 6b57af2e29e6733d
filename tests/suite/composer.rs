//! The composer in the real program: large pastes, many files, characters of several code points.

use crate::support::pick_count;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::terminal_session::{start_session, submit_message, text_answer};
use std::time::{Duration, SystemTime};
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

/// The user message of the only request.
fn sent_message(service: &Service) -> String {
    let body = service.received()[0].body.clone();
    body["messages"][1]["content"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_chosen_file_and_folder_are_attached_as_text() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![text_answer("Fine.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"])
        .with_file("src/part/main.rs", "one\ntwo\nthree\n")
        .with_file("notes/a.md", "not attached")
        .with_file(".env", "KEY=1");
    // A file that was just written would be the first row.
    let file = std::fs::File::options().write(true).open(setup.root.path().join("project/src/part/main.rs")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(200_000)).unwrap();
    let mut program = setup.start();
    program.until("Messages go to");
    // Tab enters the folder, whose files are listed with their sizes.
    program.type_text("compare @par");
    program.until("❯ @src/part/");
    program.press_keys("\t");
    program.until_all(&["compare @src/part/", "@src/part/main.rs", "14 bytes · ~4 tokens"]);
    program.type_text("main:2-3");
    program.until("❯ @src/part/main.rs");
    program.press_keys("\t");
    program.until("compare @src/part/main.rs:2-3");
    program.type_text("with @notes/ and @.env");
    program.until("and @.env");
    program.press_keys("\r");
    let screen = program.until_idle("Fine.");
    for row in [
        "attached src/part/main.rs:2-3 · lines 2-3 of 3, 10 bytes",
        "attached notes/ · listing of a folder, 1 line, 10 bytes",
        "not attached .env · it may hold secrets",
    ] {
        assert!(screen.contains(row), "{screen}");
    }
    let message = sent_message(&service);
    let expected = "compare @src/part/main.rs:2-3 with @notes/ and @.env\n\n\
        [Attached file src/part/main.rs:2-3: lines 2-3 of 3, 10 bytes]\ntwo\nthree\n[End of the attached file]\n\n\
        [Attached file notes/: listing of a folder, 1 line, 10 bytes]\nnotes/a.md\n[End of the attached file]\n\n\
        [Not attached .env: it may hold secrets. ";
    assert!(message.starts_with(expected), "{message}");
    assert!(!message.contains("KEY=1"), "{message}");
}

#[test]
fn a_prompt_without_a_screen_attaches_the_files_it_names_but_not_those_of_the_pipe() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![text_answer("Fine.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m", "-p", "see @a.txt:2 and @data.bin"])
        .with_file("a.txt", "one\ntwo\n")
        .with_file("b.txt", "piped")
        .with_file("data.bin", "a\0b");
    let (out, err, code) = setup.run_piped("and @b.txt");
    assert_eq!((out.as_str(), code), ("Fine.\n", 0));
    assert!(err.contains("data.bin is not attached: it is not text (3 bytes)."), "{err}");
    let message = sent_message(&service);
    let expected = "see @a.txt:2 and @data.bin\n\nand @b.txt\n\n\
        [Attached file a.txt:2: line 2 of 2, 4 bytes]\ntwo\n[End of the attached file]\n\n\
        [Not attached data.bin: it is not text (3 bytes)]";
    assert_eq!(message, expected);
}

#[test]
fn dropped_files_are_named_and_one_undo_brings_their_paths_back() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![text_answer("Fine.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"])
        .with_file("src/a b.rs", "one\n")
        .with_file("c.txt", "two\n");
    let project = setup.root.path().join("project").canonicalize().unwrap();
    let mut program = setup.start();
    program.until("Messages go to");
    let dropped = format!("file://{0}/src/a%20b.rs\n{0}/c.txt", project.display());
    program.press_keys(&format!("\x1b[200~{dropped}\x1b[201~"));
    program.until("❯ @\"src/a b.rs\" @c.txt");
    program.press_keys("\x1f");
    program.until("a%20b.rs");
    program.press_keys("\x1b[200~ and \x1b[201~\x1b[200~/none/x y\x1b[201~");
    program.until("and /none/x y");
}
