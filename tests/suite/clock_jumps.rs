//! The system clock set back, set far ahead and passing a daylight saving change, in the middle of a session: entries
//! keep their order, nothing times out early, and no duration is negative.
//!
//! A small C library, loaded into the program, adds the number of seconds in a file to the wall clock. It leaves the
//! monotonic clock alone, as a system does.

use crate::support::pick_count;
use crate::support::preload;
use crate::support::program::{Program, Setup};
use crate::support::report_skipped;
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, count_ended_turns, read_session, wait_for_turns, write_settings};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use aye::chat::{Entry, Outcome};
use aye::store::{StoredSession, read};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

const HOUR: i64 = 3600;
const TEN_YEARS: i64 = 3652 * 24 * HOUR;

/// Reads the file on every call, so that a change takes effect at once.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long shift(void) {
    char text[32] = {0};
    const char *path = getenv("AYE_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
    close(file);
    return atol(text);
}
int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"#;

/// The library, or `None` without a C compiler.
fn build_clock_library() -> Option<&'static Path> {
    static MADE: LazyLock<Option<PathBuf>> = LazyLock::new(|| preload::build_library("clock", SOURCE));
    MADE.as_deref()
}

/// A clock that a test sets.
struct Clock(PathBuf);

impl Clock {
    /// Sets the clock to the real time plus this many seconds. The file is replaced, so that it is never seen empty.
    fn set(&self, seconds: i64) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, seconds.to_string()).unwrap();
        std::fs::rename(next, &self.0).unwrap();
    }
}

fn preload_clock(setup: Setup, library: &Path) -> (Setup, Clock) {
    let file = setup.root.path().join("clock");
    let clock = Clock(file.clone());
    clock.set(0);
    let (library, file) = (library.to_string_lossy().into_owned(), file.to_string_lossy().into_owned());
    (setup.env("LD_PRELOAD", &library).env("AYE_TEST_CLOCK", &file), clock)
}

fn now() -> i64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64
}

/// Reads the only session, with the times of its entries in seconds from now.
fn read_with_times(setup: &Setup) -> (StoredSession, Vec<i64>) {
    let folder = setup.root.path().join("home/aye/data/sessions");
    let read = read(&std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()).unwrap();
    let times = read.times.iter().map(|at| (*at / 1000) as i64 - now()).collect();
    (read, times)
}

fn list_texts(entries: &[Entry]) -> Vec<&str> {
    let texts = entries.iter().filter_map(|entry| match entry {
        Entry::UserMessage { text } | Entry::Replied { text, .. } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Checks that every duration in the entries and in the journal is plausible for this test.
fn check_durations(setup: &Setup, entries: &[Entry]) {
    const MAX_MS: u64 = 600_000;
    for entry in entries {
        match entry {
            Entry::Settled { took_ms, .. } => assert!(*took_ms < MAX_MS, "{entry:?}"),
            Entry::Replied { thought_ms, .. } => assert!(*thought_ms < MAX_MS, "{entry:?}"),
            _ => {}
        }
    }
    let folder = setup.root.path().join("home/aye/data/journal");
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[1].trim_end_matches([',', ':', ';']) == "ms") {
            let ms: u64 = pair[0].parse().unwrap_or_else(|_| panic!("{pair:?} in {text}"));
            assert!(ms < MAX_MS, "{text}");
        }
    }
}

#[test]
fn r55_clock_jumps_change_no_order_and_cause_no_timeout() {
    let Some(library) = build_clock_library() else { return report_skipped("no C compiler makes a library here") };
    let runtime = Runtime::new().unwrap();
    let slow = Answer::stream().text("Half and ").with_step(Step::Pause(Duration::from_millis(500))).text("whole.");
    let waits = "touch begun; until test -e go; do sleep 0.02; done; echo over";
    let answers = [
        text_answer("First."),
        text_answer("An hour before."),
        slow.finish("stop").done(),
        calls_answer_after(Duration::ZERO, &[("bash_exec", json!({ "command": waits, "timeout": 100 }))]),
        text_answer("Ten years on."),
    ];
    let service = runtime.block_on(Service::start(answers));
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let next_setup = Setup::with_home(&setup.root, &[&flags[..], &["--continue"]].concat()).size(100, 30);
    let home = Setup::with_home(&setup.root, &[]);
    let (setup, clock) = preload_clock(setup, library);
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "one");
    wait_for_turns(&mut program, &home, 1);
    clock.set(-HOUR);
    submit_message(&mut program, "two");
    wait_for_turns(&mut program, &home, 2);
    // The clock jumps in the middle of a reply, which must not time out.
    submit_message(&mut program, "three");
    program.until("Half and");
    clock.set(TEN_YEARS);
    wait_for_turns(&mut program, &home, 3);
    program.until("Half and whole.");
    // The clock jumps while a prompt is open, which still takes an answer, and while a command runs, which keeps its
    // time limit.
    submit_message(&mut program, "four");
    program.until_prompt("$ touch begun");
    clock.set(-HOUR);
    program.press_keys("y");
    program.until_condition("the command runs", |program| program.file("begun").is_some());
    clock.set(TEN_YEARS);
    program.wait_ms(100);
    std::fs::write(program.project().join("go"), "").unwrap();
    wait_for_turns(&mut program, &home, 4);
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);

    let (read, times) = read_with_times(&home);
    let texts = ["one", "First.", "two", "An hour before.", "three", "Half and whole.", "four", "Ten years on."];
    assert_eq!((list_texts(&read.entries), &read.notices), (texts.to_vec(), &vec![]));
    let is_near = |at: i64, expected: i64| (at - expected).abs() < 600;
    assert!(is_near(times[0], 0) && times.iter().any(|at| is_near(*at, -HOUR)), "the clock was not set: {times:?}");
    assert!(is_near(*times.last().unwrap(), TEN_YEARS) && !times.is_sorted(), "{times:?}");
    let settled = read.entries.iter().find_map(|entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text), .. } => Some(text.as_str()),
        _ => None,
    });
    assert!(settled.is_some_and(|text| text.contains("over\nexit 0")), "{settled:?}");
    check_durations(&home, &read.entries);

    // The session continues with the right clock.
    let service = runtime.block_on(Service::start([text_answer("Now.")]));
    let (again, _clock) = preload_clock(next_setup, library);
    let mut program = again.start();
    let screen = program.until("Ten years on.");
    assert!(!screen.contains("-1") && !screen.contains("NaN"), "{screen}");
    program.press_keys("\x04");
    program.wait_for_exit();
    let flags = ["-p", "--continue", "--base-url", &service.base_url, "--model", "m", "five"];
    assert_eq!(Setup::with_home(&home.root, &flags).run_piped("").0, "Now.\n");
    let entries = read_session(&home);
    assert_eq!((list_texts(&entries)[8..].to_vec(), count_ended_turns(&entries)), (vec!["five", "Now."], 5));
    let request = service.received()[0].body["messages"].to_string();
    let places: Vec<usize> = texts.iter().map(|text| request.find(&format!("\"{text}\"")).expect(text)).collect();
    assert!(places.is_sorted(), "the messages are out of order: {request}");
}

#[test]
fn r55_works_in_a_repeated_hour_and_before_1970() {
    let Some(library) = build_clock_library() else { return report_skipped("no C compiler makes a library here") };
    let runtime = Runtime::new().unwrap();
    // The last second of summer time in 2026 in central Europe, and a day before 1970.
    let (autumn, before) = (1_792_889_999 - now(), -now() - 86_400);
    for shift in [autumn, before].into_iter().take(pick_count(2, 1)) {
        let service = runtime.block_on(Service::start([command_answer("sleep 1.1"), text_answer("Through.")]));
        let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
        let (setup, clock) = preload_clock(setup.env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"), library);
        write_settings(&setup, NO_TITLES);
        let root = setup.root.clone();
        clock.set(shift);
        let mut program: Program = setup.start();
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt("$ sleep 1.1");
        program.press_keys("y");
        program.until("Through.");
        program.press_keys("\x04");
        assert_eq!(program.wait_for_exit(), 0);
        let home = Setup::with_home(&root, &[]);
        let (read, _) = read_with_times(&home);
        assert_eq!((list_texts(&read.entries), read.notices), (vec!["go", "Through."], vec![]));
        check_durations(&home, &read.entries);
        for command in ["show", "list", "export"].into_iter().take(pick_count(3, 1)) {
            let (next_setup, clock) = preload_clock(Setup::with_home(&root, &["sessions", command]), library);
            clock.set(shift);
            let (out, err, code) = next_setup.env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3").run_piped("");
            assert!(code == 0 && out.contains("go"), "{command}: {out}{err}");
        }
    }
}
