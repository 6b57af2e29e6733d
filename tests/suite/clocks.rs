//! The system's clock set back, far ahead and over a change of the hour, in the middle of everything: what came first stays
//! first, nothing ends too early, and no time is less than none.
//!
//! The program knows of no clock but the system's. A small library that a C compiler makes stands between the two, and adds
//! to the clock what a file says; it leaves the clock alone by which times are measured, as a system does.

use crate::support::kept::{ALONE, ended, session, settings, until_ended};
use crate::support::leave_out;
use crate::support::often;
use crate::support::preload;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::talking::{calls_after, runs, say, says};
use aye::chat::{Entry, Outcome};
use aye::store::{StoredSession, read};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

const HOUR: i64 = 3600;
const TEN_YEARS: i64 = 3652 * 24 * HOUR;

/// Reads the file anew each time it is asked, so that the clock jumps at once.
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

/// The library, if a C compiler is there to make it.
fn library() -> Option<&'static Path> {
    static MADE: LazyLock<Option<PathBuf>> = LazyLock::new(|| preload::build("clock", SOURCE));
    MADE.as_deref()
}

/// A clock that a test sets.
struct Clock(PathBuf);

impl Clock {
    /// The real time and so many seconds; the file is replaced, so that it is never seen empty.
    fn set(&self, seconds: i64) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, seconds.to_string()).unwrap();
        std::fs::rename(next, &self.0).unwrap();
    }
}

fn with_clock(setup: Setup, library: &Path) -> (Setup, Clock) {
    let file = setup.place.path().join("clock");
    let clock = Clock(file.clone());
    clock.set(0);
    let (library, file) = (library.to_string_lossy().into_owned(), file.to_string_lossy().into_owned());
    (setup.env("LD_PRELOAD", &library).env("AYE_TEST_CLOCK", &file), clock)
}

fn now() -> i64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64
}

/// The one session of this home, with the times of its entries in seconds from now.
fn on_disk(setup: &Setup) -> (StoredSession, Vec<i64>) {
    let folder = setup.place.path().join("home/aye/data/sessions");
    let read = read(&std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()).unwrap();
    let times = read.times.iter().map(|at| (*at / 1000) as i64 - now()).collect();
    (read, times)
}

fn words(entries: &[Entry]) -> Vec<&str> {
    let said = entries.iter().filter_map(|entry| match entry {
        Entry::UserMessage { text } | Entry::Replied { text, .. } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    said.collect()
}

/// Every time that an entry or the journal measured is one that this test can have taken.
fn none_is_strange(setup: &Setup, entries: &[Entry]) {
    const MOST: u64 = 600_000;
    for entry in entries {
        match entry {
            Entry::Settled { took_ms, .. } => assert!(*took_ms < MOST, "{entry:?}"),
            Entry::Replied { thought_ms, .. } => assert!(*thought_ms < MOST, "{entry:?}"),
            _ => {}
        }
    }
    let folder = setup.place.path().join("home/aye/data/journal");
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[1].trim_end_matches([',', ':', ';']) == "ms") {
            let ms: u64 = pair[0].parse().unwrap_or_else(|_| panic!("{pair:?} in {text}"));
            assert!(ms < MOST, "{text}");
        }
    }
}

#[test]
fn r55_the_clock_set_back_and_far_ahead_changes_no_order_and_ends_nothing_early() {
    let Some(library) = library() else { return leave_out("no C compiler makes a library here") };
    let runtime = Runtime::new().unwrap();
    let slow = Answer::stream().says("Half and ").then(Step::Pause(Duration::from_millis(500))).says("whole.");
    let waits = "touch begun; until test -e go; do sleep 0.02; done; echo over";
    let answers = [
        says("First."),
        says("An hour before."),
        slow.finish("stop").done(),
        calls_after(Duration::ZERO, &[("bash_exec", json!({ "command": waits, "timeout": 100 }))]),
        says("Ten years on."),
    ];
    let service = runtime.block_on(Service::start(answers));
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags).size(100, 30);
    settings(&setup, ALONE);
    let again = Setup::again(&setup.place, &[&flags[..], &["--continue"]].concat()).size(100, 30);
    let home = Setup::again(&setup.place, &[]);
    let (setup, clock) = with_clock(setup, library);
    let mut program = setup.start();
    program.until("Connected to");
    say(&mut program, "one");
    until_ended(&mut program, &home, 1);
    clock.set(-HOUR);
    say(&mut program, "two");
    until_ended(&mut program, &home, 2);
    // In the middle of a reply: what is waited for is not given up.
    say(&mut program, "three");
    program.until("Half and");
    clock.set(TEN_YEARS);
    until_ended(&mut program, &home, 3);
    program.until("Half and whole.");
    // A card that came before the jump takes its answer behind it, and a command has its time.
    say(&mut program, "four");
    program.until_asked("$ touch begun");
    clock.set(-HOUR);
    program.keys("y");
    program.until_that("the command runs", |program| program.file("begun").is_some());
    clock.set(TEN_YEARS);
    program.lets_pass(100);
    std::fs::write(program.project().join("go"), "").unwrap();
    until_ended(&mut program, &home, 4);
    program.keys("\x04");
    assert_eq!(program.ends(), 0);

    let (read, times) = on_disk(&home);
    let told = ["one", "First.", "two", "An hour before.", "three", "Half and whole.", "four", "Ten years on."];
    assert_eq!((words(&read.entries), &read.notices), (told.to_vec(), &vec![]));
    let near = |at: i64, what: i64| (at - what).abs() < 600;
    assert!(near(times[0], 0) && times.iter().any(|at| near(*at, -HOUR)), "the clock was set: {times:?}");
    assert!(near(*times.last().unwrap(), TEN_YEARS) && !times.is_sorted(), "{times:?}");
    let settled = read.entries.iter().find_map(|entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text), .. } => Some(text.as_str()),
        _ => None,
    });
    assert!(settled.is_some_and(|text| text.contains("over\nexit 0")), "{settled:?}");
    none_is_strange(&home, &read.entries);

    // Gone on with by a clock that is right again, and read by one that is.
    let service = runtime.block_on(Service::start([says("Now.")]));
    let (again, _clock) = with_clock(again, library);
    let mut program = again.start();
    let screen = program.until("Ten years on.");
    assert!(!screen.contains("-1") && !screen.contains("NaN"), "{screen}");
    program.keys("\x04");
    program.ends();
    let flags = ["-p", "--continue", "--base-url", &service.base_url, "--model", "m", "five"];
    assert_eq!(Setup::again(&home.place, &flags).print("").0, "Now.\n");
    let entries = session(&home);
    assert_eq!((words(&entries)[8..].to_vec(), ended(&entries)), (vec!["five", "Now."], 5));
    let asked = service.received()[0].body["messages"].to_string();
    let places: Vec<usize> = told.iter().map(|text| asked.find(&format!("\"{text}\"")).expect(text)).collect();
    assert!(places.is_sorted(), "the model is told all in its order: {asked}");
}

#[test]
fn r55_an_hour_that_comes_twice_and_a_year_before_all_are_as_good_as_any() {
    let Some(library) = library() else { return leave_out("no C compiler makes a library here") };
    let runtime = Runtime::new().unwrap();
    // The last second of summer time in 2026, in a place that has it; the middle of the night before there was time.
    let (autumn, before) = (1_792_889_999 - now(), -now() - 86_400);
    for shift in [autumn, before].into_iter().take(often(2, 1)) {
        let service = runtime.block_on(Service::start([runs("sleep 1.1"), says("Through.")]));
        let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
        let (setup, clock) = with_clock(setup.env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"), library);
        settings(&setup, ALONE);
        let place = setup.place.clone();
        clock.set(shift);
        let mut program: Program = setup.start();
        program.until("Connected to");
        say(&mut program, "go");
        program.until_asked("$ sleep 1.1");
        program.keys("y");
        program.until("Through.");
        program.keys("\x04");
        assert_eq!(program.ends(), 0);
        let home = Setup::again(&place, &[]);
        let (read, _) = on_disk(&home);
        assert_eq!((words(&read.entries), read.notices), (vec!["go", "Through."], vec![]));
        none_is_strange(&home, &read.entries);
        for does in ["show", "list", "export"].into_iter().take(often(3, 1)) {
            let (again, clock) = with_clock(Setup::again(&place, &["sessions", does]), library);
            clock.set(shift);
            let (out, err, code) = again.env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3").print("");
            assert!(code == 0 && out.contains("go"), "{does}: {out}{err}");
        }
    }
}
