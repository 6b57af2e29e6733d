//! Commands that need a terminal: it is handed over, and the screen comes back whatever they do to it.

use super::{quit, wait_for_commands};
use crate::support::program::{Program, count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::Service;
use crate::support::stored_files::find_files_with;
use crate::support::terminal_session::{start_session, submit_message, text_answer};
use rustix::process::Signal;
use tokio::runtime::Runtime;

/// Asks for a password as `sudo` does.
const PASSWORD: &str = "printf 'Password: '; stty -echo; read -r p; stty echo; echo; echo \"length ${#p}\"";
/// Waits for one key, in raw mode.
const KEY: &str =
    "stty raw -echo; printf 'press now'; k=$(dd bs=1 count=1 2>/dev/null); stty sane; echo; echo \"got $k\"";

/// Starts the program in a project with this script, and runs the script.
fn run_script(script: &str, size: (u16, u16)) -> (Runtime, Service, Program) {
    let (runtime, service, mut program) = start_session(vec![text_answer("Hello.")], size, &[]);
    std::fs::write(program.project().join("s.sh"), script).unwrap();
    submit_message(&mut program, "!sh s.sh");
    (runtime, service, program)
}

/// Waits until the command has the terminal and shows this text.
fn until_attached(program: &mut Program, text: &str) -> String {
    program.until_all(&["ctrl-\\ returns to aye", text])
}

#[test]
fn a_program_that_reads_keys_gets_the_terminal_and_gives_it_back() {
    for size in [(80, 24), (60, 15)] {
        let (_runtime, _service, mut program) = run_script(KEY, size);
        let screen = until_attached(&mut program, "press now");
        assert!(!screen.contains("Write a message"), "{screen}");
        program.send_bytes("x");
        let screen = program.until_all(&["✓ ! sh s.sh", "\n     got x", "Write a message"]);
        assert!(screen.starts_with(" aye"), "{screen}");
        program.type_text("back");
        program.until("❯ back");
        program.press_keys("\x15");
        quit(&mut program);
    }
}

#[test]
fn a_password_is_typed_into_the_program_and_stored_nowhere() {
    let (_runtime, service, mut program) = run_script(PASSWORD, (80, 24));
    until_attached(&mut program, "Password: ");
    program.send_bytes("hunter2-secret\r");
    program.until_all(&["✓ ! sh s.sh", "length 14"]);
    submit_message(&mut program, "hi");
    program.until_idle("Hello.");
    quit(&mut program);
    assert_eq!(find_files_with(program.root.path(), "hunter2-secret"), [""; 0].map(std::path::PathBuf::from));
    assert!(!service.received()[0].body.to_string().contains("hunter2"));
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("hunter2"));
}

#[test]
fn a_full_screen_program_that_restores_nothing_leaves_a_clean_screen() {
    let script = "printf '\\033[?1049h\\033[2J\\033[?1003h\\033[?1006h\\033[?2004h\\033[?25l\\033[3;9r\\033[31m\\033[?1h\\033=\\033]0;evil\\007FULL'; stty raw -echo; dd bs=1 count=1 2>/dev/null; printf '\\033]0;unfinished'";
    let (_runtime, _service, mut program) = run_script(script, (80, 24));
    program.until("FULL");
    program.send_bytes("q");
    let screen = program.until_all(&["✓ ! sh s.sh", "full-screen output not kept", "Write a message"]);
    assert!(screen.starts_with(" aye") && !screen.contains("FULL"), "{screen}");
    program.type_text("back");
    program.until("❯ back");
    program.press_keys("\x15");
    quit(&mut program);
}

#[test]
fn enter_attaches_a_program_that_reads_lines_and_a_key_detaches_it() {
    let (_runtime, _service, mut program) = run_script("echo ready; cat; echo done", (80, 24));
    program.until("enter attaches the terminal");
    program.press_keys("\r");
    until_attached(&mut program, "ready");
    program.send_bytes("one\r");
    program.until("one\none");
    program.send_bytes("two\x1c");
    // The screen is back, and the program still runs.
    program.until_all(&["esc stops", "Write a message"]);
    program.type_text("a message");
    program.press_keys("\r");
    program.until("queued for the next request");
    program.press_keys("\r");
    until_attached(&mut program, "one");
    program.send_bytes("\r\x04");
    program.until_all(&["✓ ! sh s.sh", "done"]);
    program.until_idle("Hello.");
    let commands = wait_for_commands(&mut program, 1);
    assert_eq!(commands[0].output, "ready\none\none\ntwo\ntwo\ndone\n");
}

#[test]
fn keys_of_a_draft_never_go_to_the_program() {
    let (_runtime, _service, mut program) = start_session(vec![], (80, 24), &[]);
    std::fs::write(program.project().join("s.sh"), format!("while ! test -e go; do sleep 0.05; done; {KEY}")).unwrap();
    submit_message(&mut program, "!sh s.sh");
    program.until("esc stops");
    program.type_text("my next");
    std::fs::write(program.project().join("go"), "").unwrap();
    program.until_all(&["Your command waits for keys", "waits for keys · enter in the empty composer"]);
    program.type_text(" idea");
    program.until("❯ my next idea");
    program.press_keys("\x15");
    program.press_keys("\r");
    until_attached(&mut program, "press now");
    program.send_bytes("y");
    program.until("got y");
}

#[test]
fn signals_of_keys_go_to_the_attached_program_alone() {
    let script =
        "stty -echo; trap 'echo caught; exit 4' INT; trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";
    let (_runtime, _service, mut program) = run_script(script, (80, 24));
    until_attached(&mut program, "ready");
    // The program has no shell to stop it, so ctrl-z does nothing.
    program.send_bytes("\x1a");
    program.resize(100, 30);
    program.until("30 100");
    program.send_bytes("\x03");
    let screen = program.until_all(&["✗ ! sh s.sh", "caught", "exit 4"]);
    assert!(screen.lines().count() > 24, "the screen has its new size: {screen}");
    quit(&mut program);
}

#[test]
fn an_attached_program_ends_with_aye_and_with_the_terminal() {
    for is_lost in [false, true] {
        let seconds = unique_sleep_seconds();
        // It prints something when the size changes, which a terminal that is about to be lost reads.
        let script = format!(
            "stty -echo; trap '' HUP INT; trap 'echo resized' WINCH; sleep {seconds} & echo ready; while :; do sleep 0.05; done"
        );
        let (_runtime, _service, mut program) = run_script(&script, (80, 24));
        until_attached(&mut program, "ready");
        program.until_condition("it sleeps", |_| count_sleeping(seconds) == 1);
        match is_lost {
            true => program.lose_terminal(),
            false => program.signal(Signal::TERM),
        }
        let code = program.wait_for_exit();
        assert_eq!(code, if is_lost { 129 } else { 143 });
        wait_until_none_sleeps(seconds);
        if !is_lost {
            assert_eq!(program.find_unrestored_modes(), [""; 0]);
        }
        let commands = wait_for_commands(&mut program, 1);
        assert_eq!(commands[0].status, "stopped");
    }
}

/// A kill cannot restore the terminal, but it ends the program.
#[test]
fn a_kill_ends_an_attached_program() {
    let seconds = unique_sleep_seconds();
    let (_runtime, _service, mut program) = run_script(&format!("stty -echo; echo ready; sleep {seconds}"), (80, 24));
    until_attached(&mut program, "ready");
    program.until_condition("it sleeps", |_| count_sleeping(seconds) == 1);
    program.signal(Signal::KILL);
    program.wait_for_exit();
    wait_until_none_sleeps(seconds);
}
