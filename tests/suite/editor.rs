//! The person's editor at the real program: what it is given, how it may end, and that no shell is asked.

use crate::support::kept::{script, settings};
use crate::support::program::{Program, Setup};
use rustix::process::Signal;

/// Writes the arguments, a line each, to a file beside the script.
const TELLS: &str = "for word in \"$@\"; do echo \"$word\"; done > \"$0.tmp\"; mv \"$0.tmp\" \"$0.argv\"";

/// The tour with an editor that tells its arguments and then does this.
fn with_editor(does: &str) -> Program {
    let setup = Setup::new(&[]);
    let editor = setup.place.path().join("the editor");
    script(&editor, &format!("{TELLS}\n{does}"));
    let mut program = setup.env("EDITOR", &format!("'{}'", editor.display())).start();
    program.until("Connected to the tour");
    program
}

/// Calls the editor, and waits until it is in front: it has told its arguments, and the terminal is in its own mode.
fn calls_it(program: &mut Program) {
    program.keys("\x07");
    program.until_that("the editor is in front", |program| {
        program.place.path().join("the editor.argv").exists() && program.echoes()
    });
}

fn leaves(program: &mut Program) {
    program.keys("\x03");
    program.keys("\x03");
    assert_eq!(program.ends(), 0);
    assert!(program.is_restored());
}

#[test]
fn what_is_written_in_the_editor_stands_in_the_composer() {
    let mut program = with_editor("echo 'and more' >> \"$1\"");
    program.types("half a thought ");
    program.keys("\x07");
    program.until("and more");
    program.until("half a thought");
    leaves(&mut program);
}

#[test]
fn an_editor_that_fails_or_dies_loses_no_word_and_no_key() {
    for (script, says) in [
        ("exit 3", "exited with code 3"),
        ("kill -9 $$", "terminated by signal 9"),
        ("stty raw -echo; printf '\\033[?1000h\\033[?1049h'; exit 1", "exited with code 1"),
    ] {
        let mut program = with_editor(script);
        program.types("half a thought");
        program.keys("\x07");
        program.until(says);
        program.types(" and on");
        program.until("half a thought and on");
        leaves(&mut program);
    }
}

#[test]
fn an_editor_that_is_not_there_is_told() {
    let mut program = Setup::new(&[]).env("EDITOR", "/no/such/editor").start();
    program.until("Connected to the tour");
    program.types("half a thought");
    program.keys("\x07");
    program.until("/no/such/editor");
    program.types(" and on");
    program.until("half a thought and on");
    leaves(&mut program);
}

#[test]
fn r58_the_modes_an_editor_left_are_not_taken_for_the_terminals_own() {
    let mut program = with_editor("stty raw -echo; exit 0");
    program.keys("\x07");
    // What is typed before is for the editor.
    program.until_that("the program has its screen back", |program| {
        let bytes = program.bytes();
        bytes.windows(8).filter(|window| window == b"\x1b[?1049h").count() == 2
    });
    program.types("back");
    program.until("❯ back");
    leaves(&mut program);
    assert!(program.echoes(), "as it was before the program began");
}

#[test]
fn an_interrupt_meant_for_the_editor_ends_only_that() {
    let mut program = with_editor("sleep 20");
    program.types("half a thought");
    calls_it(&mut program);
    // In the terminal's own mode ctrl-c goes to everyone in front.
    program.keys("\x03");
    program.until("terminated by signal 2");
    program.types(" and on");
    program.until("half a thought and on");
    leaves(&mut program);
}

#[test]
fn r60_an_editor_that_is_stopped_stops_the_program_with_it() {
    let mut program = with_editor("kill -STOP $$\necho 'went on' >> \"$1\"");
    program.keys("\x07");
    let stat = format!("/proc/{}/stat", program.pid());
    let stopped = || std::fs::read_to_string(&stat).unwrap().contains(") T ");
    program.until_that("the shell gets its terminal back", |_| stopped());
    program.signal(Signal::CONT);
    program.until("went on");
    leaves(&mut program);
}

#[test]
fn r28_a_link_is_opened_without_a_shell_whatever_its_file_is_called() {
    let names = ["src/a b.rs", "-flag.rs", "$(touch pwned).rs", "it's\"q.rs"];
    let mut setup = Setup::new(&["--base-url", "http://127.0.0.1:9/v1", "--model", "m"]).size(100, 30);
    for name in names {
        setup = setup.has(name, "x\n");
    }
    let editor = setup.place.path().join("editor");
    script(&editor, TELLS);
    settings(&setup, &format!("[screen]\neditor = \"{}\"\n", editor.display()));
    let mut program = setup.env("EDITOR", "false").start();
    program.until("Connected to");
    program.keys("\x1b[200~see [1](<src/a b.rs>) and -flag.rs:7\x1b[201~");
    program.until("and -flag");
    program.keys("\r");
    program.until_linked("flag.rs:7");
    program.keys("\x0f");
    let screen = program.until("open:");
    assert!(screen.contains("-flag.rs:7"), "{screen}");
    program.keys("a");
    let argv = editor.with_extension("argv");
    program.until_that("the editor is called", |_| argv.exists());
    let written = std::fs::read_to_string(&argv).unwrap();
    let expected = program.project().canonicalize().unwrap().join("-flag.rs");
    assert_eq!(written.trim(), expected.to_string_lossy());
    assert_eq!(program.file("pwned"), None);
}
