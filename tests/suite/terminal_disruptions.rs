//! Turns in a terminal that is resized, suspended or limited, and exits while a turn runs.

use crate::support::pick_count;
use crate::support::program::{Setup, count_sleeping, list_descendants, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Step};
use crate::support::terminal_session::{
    calls_answer_after, command_answer, start_session, submit_message, text_answer,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(2);

#[test]
fn r63_ctrl_c_twice_exits_during_a_stalled_reply_and_a_running_command() {
    let (stalled, seconds) = (Answer::stream().with_step(Step::Stall), unique_sleep_seconds());
    let trapped = command_answer(&format!("trap '' TERM; sleep {seconds}"));
    for (answers, approve) in [(vec![stalled], false), (vec![trapped], true)] {
        let (_runtime, service, mut program) = start_session(answers, (100, 24), &[]);
        submit_message(&mut program, "go");
        if approve {
            program.until_prompt("$ trap");
            program.press_keys("y");
            program.until_condition("the command runs", |_| count_sleeping(seconds) == 1);
        } else {
            program.until_condition("the provider received the request", |_| service.received().len() == 1);
        }
        program.press_keys("\x03");
        program.press_keys("\x03");
        assert_eq!(program.wait_for_exit_within(SOON), 0);
        assert!(program.is_restored());
        wait_until_none_sleeps(seconds);
    }
}

/// Clears the flag when it is dropped.
struct ClearOnDrop<'a>(&'a AtomicBool);

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Sends a signal to each process that still exists.
fn send_signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        let _ = kill_process(*process, signal);
    }
}

#[test]
fn r63_ctrl_c_twice_exits_although_a_command_cannot_be_killed() {
    let seconds = unique_sleep_seconds();
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer(&format!("trap '' TERM; sleep {seconds}; true"))], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ trap");
    program.press_keys("y");
    program.until_condition("the command runs", |_| count_sleeping(seconds) == 1);
    let guards: Vec<Pid> = list_descendants(program.pid())
        .into_iter()
        .filter(|pid| {
            let guard_argument = b"\0guard\0";
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.windows(guard_argument.len()).any(|part| part == guard_argument))
        })
        .filter_map(Pid::from_raw)
        .collect();
    assert!(!guards.is_empty());
    // The guard is stopped again whenever it wakes, like a process that the kernel blocks in a call to a disk that is
    // gone.
    let is_stopped = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while is_stopped.load(Ordering::Relaxed) {
                send_signal(&guards, Signal::STOP);
                std::thread::yield_now();
            }
        });
        // Clears the flag even if an assertion below fails; otherwise the thread above would never end.
        let _clear = ClearOnDrop(&is_stopped);
        program.press_keys("\x03");
        program.press_keys("\x03");
        let code = program.wait_for_exit_within(SOON);
        assert_eq!((code, program.is_restored()), (0, true));
    });
    // Once it continues, the guard ends the command.
    send_signal(&guards, Signal::CONT);
    wait_until_none_sleeps(seconds);
}

#[test]
fn r60_resuming_with_an_open_prompt_answers_nothing() {
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("touch made"), text_answer("Done.")], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ touch made");
    program.press_keys("\x1a");
    program.until_suspended();
    // Typed into the terminal while the program was suspended, and read by it when it continues.
    program.send_bytes("y");
    program.signal(Signal::CONT);
    program.until("❯ y");
    assert_eq!(program.file("made"), None);
    program.press_keys("\x15");
    program.until_gone("❯ y");
    program.until_prompt("$ touch made");
    program.press_keys("y");
    program.until("Done.");
}

#[test]
fn r60_resuming_during_a_reply_continues_it() {
    let mut slow = Answer::stream();
    for n in 0..20 {
        slow = slow.text(&format!("word{n} ")).with_step(Step::Pause(Duration::from_millis(50)));
    }
    let (_runtime, _service, mut program) = start_session(vec![slow.finish("stop").done()], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until("word3");
    program.press_keys("\x1a");
    program.until_suspended();
    program.signal(Signal::CONT);
    program.until("word19");
}

#[test]
fn r34_many_resizes_during_a_reply() {
    let resizes = pick_count(200, 40) as u16;
    let mut slow = Answer::stream();
    for n in 0..resizes {
        slow = slow.text(&format!("| 漢字 {n} | 🦀 |\n\n")).with_step(Step::Pause(Duration::from_millis(15)));
    }
    let (_runtime, _service, mut program) =
        start_session(vec![slow.text("the end").finish("stop").done(), text_answer("Again.")], (80, 24), &[]);
    submit_message(&mut program, "go");
    for n in 0..resizes {
        program.resize(1 + n * 137 % 500, 1 + n * 53 % 200);
        program.wait_ms(15);
    }
    program.resize(80, 24);
    program.until("the end");
    submit_message(&mut program, "again");
    program.until("Again.");
}

#[test]
fn it_works_without_colour() {
    let (_runtime, _service, mut program) =
        start_session(vec![text_answer("Plain **words**.")], (80, 24), &[("NO_COLOR", "1")]);
    submit_message(&mut program, "go");
    program.until("Plain words.");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(!bytes.contains("\x1b[38;"), "a colour");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit_within(SOON), 0);
    assert!(program.is_restored());
}

#[test]
fn dumb_terminal_gets_one_sentence_with_the_alternative() {
    let mut program = Setup::new(&[]).env("TERM", "dumb").start();
    program.until("Use -p to print the reply instead");
    assert_eq!(program.wait_for_exit_within(SOON), 2);
    let bytes = program.bytes();
    assert!(!bytes.contains(&0x1b), "an escape: {}", String::from_utf8_lossy(&bytes));
}

#[test]
fn r65_repeated_calls_open_a_prompt() {
    let same = || calls_answer_after(Duration::ZERO, &[("read_file", json!({ "path": "a.txt" }))]);
    let answers = (0..5).map(|_| same()).chain([text_answer("Enough.")]).collect();
    let (_runtime, service, mut program) = start_session(answers, (100, 24), &[]);
    std::fs::write(program.project().join("a.txt"), "one\n").unwrap();
    submit_message(&mut program, "go");
    let prompt = program.until_prompt("3 equal calls with the same outcome in this turn");
    assert!(prompt.contains("a.txt"), "{prompt}");
    assert_eq!(service.received().len(), 4);
    program.press_keys("y");
    program.until_idle("Enough.");
    assert_eq!(service.received().len(), 6, "an approval lasts for as many repetitions again");
}

#[test]
fn r34_brief_resize_leaves_nothing_cut_off() {
    let (_runtime, _service, mut program) = start_session(vec![text_answer("Words.")], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_idle("Words.");
    // The program is stopped and does not see the first of the two sizes.
    program.signal(Signal::STOP);
    program.resize(20, 5);
    program.resize(100, 24);
    assert!(!program.screen().contains("Words."), "the terminal cut it off");
    program.signal(Signal::CONT);
    program.until("Words.");
}
