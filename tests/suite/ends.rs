//! Every way in which the program ends, in the middle of everything: the terminal is as it was, what was said is on
//! disk, nothing goes on running, and the exit code says how it came.

use crate::support::folder::Folder;
use crate::support::hand::PATIENCE;
use crate::support::kept::session;
use crate::support::often;
use crate::support::program::{Program, Setup, asleep, nobody_elses_sleep, none_sleeps, program};
use crate::support::promise::thrice;
use crate::support::service::{Answer, Service, Step};
use crate::support::talking::{runs, say};
use aye::chat::Entry;
use rustix::process::Signal;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const SOON: Duration = Duration::from_secs(2);

/// What the program is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Amid {
    /// Nobody has said anything.
    Nothing,
    /// A reply has begun, and no more of it comes.
    Reply,
    /// A card waits for an answer.
    Card,
    /// A command runs that hears no signal that can be unheard, and so do those that it has started and let go.
    Command,
    /// The help is open.
    Help,
}

/// How it is ended.
#[derive(Debug, Clone, Copy)]
enum How {
    Signal(Signal),
    /// By these keys.
    Keys(&'static [&'static str]),
    /// Its terminal goes away.
    Lost,
}

const AMID: [Amid; 5] = [Amid::Nothing, Amid::Reply, Amid::Card, Amid::Command, Amid::Help];
/// With the exit codes.
const WAYS: [(How, u32); 6] = [
    (How::Signal(Signal::TERM), 143),
    (How::Signal(Signal::HUP), 129),
    (How::Signal(Signal::INT), 130),
    (How::Signal(Signal::QUIT), 131),
    (How::Keys(&["\x03", "\x03"]), 0),
    (How::Lost, 129),
];

/// The program in the middle of something. Its command sleeps three times for so many seconds.
fn amid(what: Amid, seconds: u32) -> (Runtime, Service, Program, Setup) {
    let begun = Answer::stream().says("Half a reply").then(Step::Stall);
    let sleeps =
        format!("trap '' TERM HUP INT QUIT; setsid sleep {seconds} & (sleep {seconds} &) ; sleep {seconds}; true");
    let answer = match what {
        Amid::Nothing | Amid::Help | Amid::Reply => begun,
        Amid::Card | Amid::Command => runs(&sleeps),
    };
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([answer]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 24);
    let again = Setup::again(&setup.place, &[]);
    let mut program = setup.start();
    program.until("Connected to");
    match what {
        Amid::Nothing => {}
        Amid::Help => {
            program.keys("?");
            program.until("Key bindings");
        }
        Amid::Reply => {
            say(&mut program, "go");
            program.until("Half a reply");
        }
        Amid::Card | Amid::Command => {
            say(&mut program, "go");
            program.until_asked("$ trap");
        }
    }
    if what == Amid::Command {
        program.keys("y");
        program.until_that("all three sleep", |_| asleep(seconds) == 3);
    }
    (runtime, service, program, again)
}

/// Ends it in this way, and looks at everything that it leaves.
fn ends(what: Amid, how: How, code: u32, seconds: u32) {
    let (_runtime, _service, mut program, setup) = amid(what, seconds);
    assert!(program.left_on().len() > 4, "a program that has the terminal has changed it");
    match how {
        How::Signal(signal) => program.signal(signal),
        How::Keys(keys) => keys.iter().for_each(|key| program.keys(key)),
        How::Lost => program.lose_terminal(),
    }
    assert_eq!(program.ends_within(SOON), code, "{how:?} amid {what:?}");
    if !matches!(how, How::Lost) {
        assert_eq!(program.left_on(), [""; 0], "{how:?} amid {what:?}");
    }
    none_sleeps(seconds);
    if [Amid::Nothing, Amid::Help].contains(&what) {
        return;
    }
    let entries = session(&setup);
    assert_eq!(entries.first(), Some(&Entry::UserMessage { text: "go".into() }), "{how:?} amid {what:?}");
    let replied = entries.iter().any(|entry| match entry {
        Entry::Replied { text, incomplete, .. } => {
            what != Amid::Reply || (text == "Half a reply" && incomplete.is_some())
        }
        _ => false,
    });
    assert!(replied, "{how:?} amid {what:?}: {entries:?}");
}

#[test]
fn r22_r58_r59_however_it_is_ended_the_terminal_is_as_it_was_and_nothing_is_lost() {
    let seconds = nobody_elses_sleep();
    let all = WAYS.iter().enumerate().flat_map(|(at, way)| AMID.iter().map(move |what| (at, way, what)));
    for (nth, (at, (how, code), what)) in all.enumerate() {
        // While a person waits for the tests, every way and every moment once.
        if often(1, 0) == 1 || nth % AMID.len() == (at + 1) % AMID.len() {
            ends(*what, *how, *code, seconds);
        }
    }
}

#[test]
fn r58_every_way_to_quit_gives_back_every_mode() {
    let quits: [&[&str]; 3] = [&["\x04"], &["\x03", "\x03"], &["/", "q", "u", "i", "t", "\r"]];
    for keys in quits {
        ends(Amid::Nothing, How::Keys(keys), 0, nobody_elses_sleep());
    }
    for thread in ["main", "other"] {
        let mut program = Setup::new(&[]).env("AYE_PANIC", thread).start();
        assert_eq!(program.ends(), 101);
        assert_eq!(program.left_on(), [""; 0], "a panic in thread {thread}");
    }
}

#[test]
fn r58_a_start_that_fails_touches_no_terminal() {
    for arguments in [&["--resume", "01NOTHERE"][..], &["-C", "/not/there"], &["--mode", "odd"], &["--odd"]] {
        let mut program = Setup::new(arguments).start();
        assert_eq!(program.ends(), 2, "{arguments:?}");
        let told = String::from_utf8_lossy(&program.bytes()).into_owned();
        assert!(!told.contains("\x1b[?") && told.trim().len() > 10, "{arguments:?}: {told:?}");
        assert_eq!(program.left_on(), [""; 0], "{arguments:?}");
    }
}

#[test]
fn r58_ended_while_it_is_stopped_it_leaves_the_terminal_as_it_is() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::KILL, 9)] {
        let (_runtime, _service, mut program, _) = amid(Amid::Reply, 1);
        program.keys("\x1a");
        program.until_suspended();
        assert_eq!(program.left_on(), [""; 0], "it is stopped");
        program.signal(signal);
        program.signal(Signal::CONT);
        let ended = program.ends_within(SOON);
        assert!(ended == code || signal == Signal::KILL, "{signal:?}: {ended}");
        assert_eq!(program.left_on(), [""; 0], "{signal:?}");
    }
}

#[test]
fn r60_it_is_the_same_screen_when_it_goes_on() {
    let (_runtime, _service, mut program, _) = amid(Amid::Card, 1);
    let shown = |program: &mut Program| program.screen().lines().take(20).collect::<Vec<_>>().join("\n");
    let before = shown(&mut program);
    program.keys("\x1a");
    program.until_suspended();
    assert!(program.echoes(), "the shell's line");
    // What the shell writes meanwhile.
    program.signal(Signal::CONT);
    program.until_asked("$ trap");
    assert_eq!(shown(&mut program), before);
    assert!(!program.echoes());
}

/// The program with its three standard files as a shell's words say.
fn with_files(words: &str) -> (i32, String) {
    let place = Folder::new();
    let line = format!("exec \"$0\" {words} 2> {}/err", place.path().display());
    let status = Command::new("sh")
        .args(["-c", &line])
        .arg(program())
        .env_clear()
        .env("AYE_HOME", place.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    (status.code().unwrap_or(-1), std::fs::read_to_string(place.path().join("err")).unwrap())
}

#[test]
fn r59_without_a_terminal_to_read_or_to_write_it_says_so_and_ends() {
    for words in ["", "< /dev/null", "<&-", "< /dev/null > /dev/null", "<&- >&-", "< /dev/zero", "hello <&-"] {
        let (code, told) = with_files(words);
        assert_eq!(code, 2, "{words:?}: {told}");
        assert!(told.contains("Use -p to print the reply instead"), "{words:?}: {told}");
    }
}

/// The processor time that a process has used, all its threads together, in milliseconds; also of one that has ended
/// and was not asked for yet.
fn used(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // Ticks are hundredths of a second wherever this runs.
    10 * (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap())
}

fn has_ended(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

#[test]
fn r59_a_terminal_that_is_gone_costs_no_processor_time() {
    for what in [Amid::Nothing, Amid::Reply, Amid::Card] {
        // Looked at from outside: what a machine does beside it counts for nothing. A tick may be counted that was not
        // used, so the best of three counts.
        thrice("the processor time after the terminal is gone", || {
            let (_runtime, _service, mut program, _) = amid(what, 1);
            let pid = program.pid();
            let before = used(pid);
            program.lose_terminal();
            let gone = Instant::now();
            while !has_ended(pid) && gone.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            let cost = used(pid) - before;
            assert_eq!(program.ends(), 129);
            if cost < 50 { Ok(()) } else { Err(format!("{cost} ms amid {what:?}")) }
        });
    }
}
