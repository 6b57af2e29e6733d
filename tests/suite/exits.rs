//! Every way the program can exit, in every state: the terminal is restored, the session is on disk, no process keeps
//! running, and the exit code tells the cause.

use crate::support::folder::Folder;
use crate::support::keyboard::PATIENCE;
use crate::support::pick_count;
use crate::support::program::{Program, Setup, count_sleeping, program, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{command_answer, submit_message};
use crate::support::time_limits::try_three_times;
use aye::chat::Entry;
use rustix::process::Signal;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// What the program is doing when it exits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Activity {
    /// Waits for the first message.
    Nothing,
    /// Receives a reply that has stalled.
    Reply,
    /// Shows an approval prompt.
    Prompt,
    /// Runs a command that ignores signals, with two background processes.
    Command,
    /// Shows the help.
    Help,
}

/// How the program is ended.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Signal(Signal),
    /// With these keys.
    Keys(&'static [&'static str]),
    /// With the loss of its terminal.
    Lost,
}

const ACTIVITIES: [Activity; 5] =
    [Activity::Nothing, Activity::Reply, Activity::Prompt, Activity::Command, Activity::Help];
/// Each with its exit code.
const ENDINGS: [(Ending, u32); 6] = [
    (Ending::Signal(Signal::TERM), 143),
    (Ending::Signal(Signal::HUP), 129),
    (Ending::Signal(Signal::INT), 130),
    (Ending::Signal(Signal::QUIT), 131),
    (Ending::Keys(&["\x03", "\x03"]), 0),
    (Ending::Lost, 129),
];

/// Starts the program and brings it into this state. The command and its background processes sleep this many seconds.
/// Returns the program with the runtime and the service it needs, and a setup with the same home to read the session.
fn start_in(activity: Activity, seconds: u32) -> (Runtime, Service, Program, Setup) {
    let half_reply = Answer::stream().text("Half a reply").with_step(Step::Stall);
    let sleeps =
        format!("trap '' TERM HUP INT QUIT; setsid sleep {seconds} & (sleep {seconds} &) ; sleep {seconds}; true");
    let answer = match activity {
        Activity::Nothing | Activity::Help | Activity::Reply => half_reply,
        Activity::Prompt | Activity::Command => command_answer(&sleeps),
    };
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([answer]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 24);
    let next_setup = Setup::with_home(&setup.root, &[]);
    let mut program = setup.start();
    program.until("Messages go to");
    match activity {
        Activity::Nothing => {}
        Activity::Help => {
            program.press_keys("\x1bOP");
            program.until("Key bindings");
        }
        Activity::Reply => {
            submit_message(&mut program, "go");
            program.until("Half a reply");
        }
        Activity::Prompt | Activity::Command => {
            submit_message(&mut program, "go");
            program.until_prompt("$ trap");
        }
    }
    if activity == Activity::Command {
        program.press_keys("y");
        program.until_condition("all three processes sleep", |_| count_sleeping(seconds) == 3);
    }
    (runtime, service, program, next_setup)
}

/// Ends the program in this way, and checks the terminal, the processes and the session.
fn check_exit(activity: Activity, ending: Ending, code: u32, seconds: u32) {
    let (_runtime, _service, mut program, setup) = start_in(activity, seconds);
    assert!(program.find_unrestored_modes().len() > 4, "a program that has the terminal has changed it");
    match ending {
        Ending::Signal(signal) => program.signal(signal),
        Ending::Keys(keys) => keys.iter().for_each(|key| program.press_keys(key)),
        Ending::Lost => program.lose_terminal(),
    }
    assert_eq!(program.wait_for_exit_within(EXIT_LIMIT), code, "{ending:?} during {activity:?}");
    if !matches!(ending, Ending::Lost) {
        assert_eq!(program.find_unrestored_modes(), [""; 0], "{ending:?} during {activity:?}");
    }
    wait_until_none_sleeps(seconds);
    if [Activity::Nothing, Activity::Help].contains(&activity) {
        return;
    }
    let entries = read_session(&setup);
    assert_eq!(entries.first(), Some(&Entry::UserMessage { text: "go".into() }), "{ending:?} during {activity:?}");
    let replied = entries.iter().any(|entry| match entry {
        Entry::Replied { text, incomplete, .. } => {
            activity != Activity::Reply || (text == "Half a reply" && incomplete.is_some())
        }
        _ => false,
    });
    assert!(replied, "{ending:?} during {activity:?}: {entries:?}");
}

#[test]
fn r22_r58_r59_restores_the_terminal_and_saves_the_session_however_it_exits() {
    let seconds = unique_sleep_seconds();
    let is_thorough = pick_count(1, 0) == 1;
    for (ending_index, (ending, code)) in ENDINGS.iter().enumerate() {
        for (activity_index, activity) in ACTIVITIES.iter().enumerate() {
            // A quick run tries every ending once and every activity at least once.
            if is_thorough || activity_index == (ending_index + 1) % ACTIVITIES.len() {
                check_exit(*activity, *ending, *code, seconds);
            }
        }
    }
}

#[test]
fn r58_every_way_to_quit_restores_the_terminal() {
    let quits: [&[&str]; 3] = [&["\x04"], &["\x03", "\x03"], &["/", "q", "u", "i", "t", "\r"]];
    for keys in quits {
        check_exit(Activity::Nothing, Ending::Keys(keys), 0, unique_sleep_seconds());
    }
    for thread in ["main", "other"] {
        let mut program = Setup::new(&[]).env("AYE_PANIC", thread).start();
        assert_eq!(program.wait_for_exit(), 101);
        assert_eq!(program.find_unrestored_modes(), [""; 0], "a panic in thread {thread}");
    }
}

#[test]
fn r58_a_failed_start_leaves_the_terminal_alone() {
    for arguments in [&["--resume", "01NOTHERE"][..], &["-C", "/not/there"], &["--mode", "odd"], &["--odd"]] {
        let mut program = Setup::new(arguments).start();
        assert_eq!(program.wait_for_exit(), 2, "{arguments:?}");
        let output = String::from_utf8_lossy(&program.bytes()).into_owned();
        assert!(!output.contains("\x1b[?") && output.trim().len() > 10, "{arguments:?}: {output:?}");
        assert_eq!(program.find_unrestored_modes(), [""; 0], "{arguments:?}");
    }
}

#[test]
fn r58_ended_while_stopped_leaves_the_terminal_alone() {
    // A killed program has no exit code of its own.
    for (signal, code) in [(Signal::TERM, Some(143)), (Signal::HUP, Some(129)), (Signal::KILL, None)] {
        let (_runtime, _service, mut program, _) = start_in(Activity::Reply, 1);
        program.press_keys("\x1a");
        program.until_suspended();
        assert_eq!(program.find_unrestored_modes(), [""; 0], "after the stop");
        program.signal(signal);
        program.signal(Signal::CONT);
        let ended = program.wait_for_exit_within(EXIT_LIMIT);
        assert!(code.is_none_or(|code| ended == code), "{signal:?}: {ended}");
        assert_eq!(program.find_unrestored_modes(), [""; 0], "{signal:?}");
    }
}

#[test]
fn r60_restores_the_screen_when_continued() {
    let (_runtime, _service, mut program, _) = start_in(Activity::Prompt, 1);
    let shown = |program: &mut Program| program.screen().lines().take(20).collect::<Vec<_>>().join("\n");
    let before = shown(&mut program);
    program.press_keys("\x1a");
    program.until_suspended();
    assert!(program.is_echoing(), "the terminal is in its normal mode");
    // The program redraws the screen over the output of the shell.
    program.signal(Signal::CONT);
    program.until_prompt("$ trap");
    assert_eq!(shown(&mut program), before);
    assert!(!program.is_echoing());
}

/// Runs the program with its standard streams redirected as given in shell syntax; returns the exit code and the
/// errors.
fn run_redirected(redirections: &str) -> (i32, String) {
    let root = Folder::new();
    let line = format!("exec \"$0\" {redirections} 2> {}/err", root.path().display());
    let status = Command::new("sh")
        .args(["-c", &line])
        .arg(program())
        .env_clear()
        .env("AYE_HOME", root.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    (status.code().unwrap_or(-1), std::fs::read_to_string(root.path().join("err")).unwrap())
}

#[test]
fn r59_exits_with_an_error_without_a_terminal() {
    for redirections in ["", "< /dev/null", "<&-", "< /dev/null > /dev/null", "<&- >&-", "< /dev/zero", "hello <&-"] {
        let (code, output) = run_redirected(redirections);
        assert_eq!(code, 2, "{redirections:?}: {output}");
        assert!(output.contains("Use -p to print the reply instead"), "{redirections:?}: {output}");
    }
}

/// The processor time that a process and all its threads have used, in milliseconds; works until an ended process is
/// reaped.
fn read_cpu_ms(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // Clock ticks in user mode and in system mode, counted from the field after the process's name.
    let [user_ticks, system_ticks] = [11, 12].map(|index| fields[index].parse::<u64>().unwrap());
    // A clock tick is a hundredth of a second on every system that the tests run on.
    10 * (user_ticks + system_ticks)
}

fn has_ended(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

#[test]
fn r59_uses_no_processor_time_after_the_terminal_disconnects() {
    for activity in [Activity::Nothing, Activity::Reply, Activity::Prompt] {
        // Processor time does not depend on other load. A tick may be counted that was not used, so the best of three
        // trials counts.
        try_three_times("the processor time after the terminal is gone", || {
            let (_runtime, _service, mut program, _) = start_in(activity, 1);
            let pid = program.pid();
            let before = read_cpu_ms(pid);
            program.lose_terminal();
            let disconnected_at = Instant::now();
            while !has_ended(pid) && disconnected_at.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            let cost = read_cpu_ms(pid) - before;
            assert_eq!(program.wait_for_exit(), 129);
            if cost < 50 { Ok(()) } else { Err(format!("{cost} ms during {activity:?}")) }
        });
    }
}
