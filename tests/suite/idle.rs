//! Nothing happens while nothing happens: no thread of the program wakes up, and nothing is written; and while something
//! is waited for, next to nothing.

use crate::support::often;
use crate::support::program::Program;
use crate::support::service::{Answer, Step};
use crate::support::talking::{runs, say, says, talks};
use std::time::Instant;

/// How often any thread of the program has begun to run, since each began.
fn runs_so_far(program: &Program) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", program.pid())).unwrap().flatten();
    let switches = |status: String| -> u64 {
        let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
        lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
    };
    // A thread may end while it is looked at.
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok()).map(switches).sum()
}

/// What the system says is the program's own memory, in kB.
fn own(program: &Program) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Within some windows of time, each of three seconds where the tests are thorough, there is one in which nothing ran and
/// nothing was written. What was begun before may still end in the others, a thread that is kept for ten seconds among it.
fn is_quiet(program: &mut Program, what: &str) {
    let milliseconds = often(3000, 1000) as u64;
    let mut seen = Vec::new();
    for _ in 0..18_000 / milliseconds {
        let (switches, bytes, before) = (runs_so_far(program), program.bytes().len(), own(program));
        program.lets_pass(milliseconds);
        let now = (runs_so_far(program).abs_diff(switches), program.bytes().len() - bytes);
        if now == (0, 0) {
            assert_eq!(own(program), before, "{what} nothing ran, and its memory is another");
            return;
        }
        seen.push(now);
    }
    panic!("{what} it ran and wrote, in each {milliseconds} ms: {seen:?}\n{}", program.screen());
}

#[test]
fn r61_nothing_wakes_up_and_nothing_grows_while_nobody_types_and_while_a_card_waits() {
    let (_runtime, _service, mut program) = talks(vec![runs("sleep 0"), says("Done.")], (100, 24), &[]);
    is_quiet(&mut program, "before a word");
    program.types("half a thought");
    is_quiet(&mut program, "with a draft");
    program.keys("\x15");
    say(&mut program, "go");
    program.until_asked("$ sleep 0");
    is_quiet(&mut program, "with a card");
    program.keys("y");
    program.until_quiet("Done.");
    is_quiet(&mut program, "after a turn");
    if let Some(seconds) = std::env::var("AYE_TEST_SECONDS").ok().and_then(|seconds| seconds.parse().ok()) {
        takes_nothing_for(&mut program, seconds);
    }
}

/// What somebody measures who has an hour.
#[allow(clippy::print_stdout, reason = "figures are there to be read")]
fn takes_nothing_for(program: &mut Program, seconds: u64) {
    let (switches, worked, before) = (runs_so_far(program), used(program), own(program));
    program.lets_pass(1000 * seconds);
    let (ran, worked) = (runs_so_far(program).abs_diff(switches), used(program) - worked);
    let after = own(program);
    println!("in {seconds} s it ran {ran} times for {} ms; own memory {before} kB, then {after} kB", 10 * worked);
    assert!(worked <= seconds, "a hundredth of a core at most");
    assert!(after < before + 20_000);
}

/// The processor time that the program has used, in hundredths of a second.
fn used(program: &Program) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", program.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn r61_a_spinner_costs_next_to_nothing() {
    let stalls = Answer::stream().says("Half a reply").then(Step::Stall);
    let (_runtime, _service, mut program) = talks(vec![stalls], (100, 24), &[]);
    say(&mut program, "go");
    program.until("Half a reply");
    let mut seen = Vec::new();
    // What came with the reply may still be done in the first.
    for _ in 0..4 {
        let (began, before) = (Instant::now(), used(&program));
        program.lets_pass(3000);
        let percent = (used(&program) - before) as f64 / began.elapsed().as_secs_f64();
        if percent < 5.0 {
            return;
        }
        seen.push(percent);
    }
    panic!("percent of a core, in each three seconds: {seen:?}");
}
