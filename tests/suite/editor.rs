//! The user's editor with the real program: its arguments, the ways it may end, and that no shell is involved.

use crate::support::program::{Program, Setup};
use crate::support::stored_files::{write_script, write_settings};
use rustix::process::Signal;

/// Shell code that writes the arguments, one per line, to a file next to the script.
const RECORD_ARGUMENTS: &str = "for word in \"$@\"; do echo \"$word\"; done > \"$0.tmp\"; mv \"$0.tmp\" \"$0.argv\"";

/// Starts the tour with an editor that records its arguments and then runs this shell code.
fn with_editor(script: &str) -> Program {
    let setup = Setup::new(&[]);
    let editor = setup.root.path().join("the editor");
    write_script(&editor, &format!("{RECORD_ARGUMENTS}\n{script}"));
    let mut program = setup.env("EDITOR", &format!("'{}'", editor.display())).start();
    program.until("Connected to the tour");
    program
}

/// Opens the editor, and waits until it has recorded its arguments and the terminal is back in its normal mode.
fn open_editor(program: &mut Program) {
    program.press_keys("\x07");
    program.until_condition("the editor is open", |program| {
        program.root.path().join("the editor.argv").exists() && program.is_echoing()
    });
}

fn quit(program: &mut Program) {
    program.press_keys("\x03");
    program.press_keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(program.is_restored());
}

#[test]
fn text_from_the_editor_is_in_the_composer() {
    let mut program = with_editor("echo 'and more' >> \"$1\"");
    program.type_text("half a thought ");
    program.press_keys("\x07");
    program.until("and more");
    program.until("half a thought");
    quit(&mut program);
}

#[test]
fn keys_pressed_while_the_editor_opens_and_closes_are_kept() {
    let mut program = with_editor("echo edited >> \"$1\"");
    // One read: the keys after ctrl-g are in the queue while the editor runs.
    program.send_bytes("\x07 and more");
    program.until("edited and more");
    quit(&mut program);
}

#[test]
fn a_failing_editor_loses_no_text() {
    for (script, message) in [
        ("exit 3", "exited with code 3"),
        ("kill -9 $$", "terminated by signal 9"),
        ("stty raw -echo; printf '\\033[?1000h\\033[?1049h'; exit 1", "exited with code 1"),
    ] {
        let mut program = with_editor(script);
        program.type_text("half a thought");
        program.press_keys("\x07");
        program.until(message);
        program.type_text(" and on");
        program.until("half a thought and on");
        quit(&mut program);
    }
}

#[test]
fn reports_a_missing_editor() {
    let mut program = Setup::new(&[]).env("EDITOR", "/no/such/editor").start();
    program.until("Connected to the tour");
    program.type_text("half a thought");
    program.press_keys("\x07");
    program.until("/no/such/editor");
    program.type_text(" and on");
    program.until("half a thought and on");
    quit(&mut program);
}

#[test]
fn r58_restores_the_terminal_modes_after_an_editor_changed_them() {
    let mut program = with_editor("stty raw -echo; exit 0");
    program.press_keys("\x07");
    // Anything typed before would go to the editor.
    program.until_condition("the program has its screen back", |program| {
        let bytes = program.bytes();
        bytes.windows(8).filter(|window| window == b"\x1b[?1049h").count() == 2
    });
    program.type_text("back");
    program.until("❯ back");
    quit(&mut program);
    assert!(program.is_echoing(), "the terminal modes are restored");
}

#[test]
fn ctrl_c_in_the_editor_ends_only_the_editor() {
    let mut program = with_editor("sleep 20");
    program.type_text("half a thought");
    open_editor(&mut program);
    // In the normal mode of the terminal, ctrl-c goes to every process in the foreground.
    program.press_keys("\x03");
    program.until("terminated by signal 2");
    program.type_text(" and on");
    program.until("half a thought and on");
    quit(&mut program);
}

#[test]
fn r60_stops_with_a_stopped_editor() {
    let mut program = with_editor("kill -STOP $$\necho 'went on' >> \"$1\"");
    program.press_keys("\x07");
    let stat = format!("/proc/{}/stat", program.pid());
    let stopped = || std::fs::read_to_string(&stat).unwrap().contains(") T ");
    program.until_condition("the shell gets its terminal back", |_| stopped());
    program.signal(Signal::CONT);
    program.until("went on");
    quit(&mut program);
}

#[test]
fn r28_opens_a_link_without_a_shell_whatever_its_file_name() {
    let names = ["src/a b.rs", "-flag.rs", "$(touch pwned).rs", "it's\"q.rs"];
    let mut setup = Setup::new(&["--base-url", "http://127.0.0.1:9/v1", "--model", "m"]).size(100, 30);
    for name in names {
        setup = setup.with_file(name, &"x\n".repeat(7));
    }
    let editor = setup.root.path().join("editor");
    write_script(&editor, RECORD_ARGUMENTS);
    write_settings(&setup, &format!("[screen]\neditor = \"{}\"\n", editor.display()));
    let mut program = setup.env("EDITOR", "false").start();
    program.until("Messages go to");
    program.press_keys("\x1b[200~see [1](<src/a b.rs>) and -flag.rs:7\x1b[201~");
    program.until("and -flag");
    program.press_keys("\r");
    program.until_linked("flag.rs:7");
    program.press_keys("\x0f");
    let screen = program.until(" OPEN ");
    assert!(screen.contains("-flag.rs:7"), "{screen}");
    // The letter of the first link on the screen, `-flag.rs:7`.
    program.press_keys("a");
    let argv = editor.with_extension("argv");
    program.until_condition("the editor is called", |_| argv.exists());
    let written = std::fs::read_to_string(&argv).unwrap();
    let expected = program.project().canonicalize().unwrap().join("-flag.rs");
    assert_eq!(written.trim(), expected.to_string_lossy());
    assert_eq!(program.file("pwned"), None);
}
