//! The cost of an idle program: no thread wakes up and nothing is written; while it waits for a reply, it uses very
//! little.

use crate::support::pick_count;
use crate::support::program::Program;
use crate::support::service::{Answer, Step};
use crate::support::terminal_session::{command_answer, start_session, submit_message, text_answer};
use std::time::Instant;

/// Counts the context switches of all threads since they started.
fn count_switches(program: &Program) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", program.pid())).unwrap().flatten();
    let switches = |status: String| -> u64 {
        let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
        lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
    };
    // A thread may end before its status is read.
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok()).map(switches).sum()
}

/// The anonymous memory of the program in kB.
fn read_memory_kb(program: &Program) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Waits for a window of time (three seconds in a thorough run, otherwise one) in which no thread runs and nothing is
/// written. In the windows before, earlier work may still end, for example a pooled thread after ten seconds.
fn check_idle(program: &mut Program, description: &str) {
    let milliseconds = pick_count(3000, 1000) as u64;
    let mut seen = Vec::new();
    for _ in 0..18_000 / milliseconds {
        let (switches, bytes, before) = (count_switches(program), program.bytes().len(), read_memory_kb(program));
        program.wait_ms(milliseconds);
        let cost = (count_switches(program).abs_diff(switches), program.bytes().len() - bytes);
        if cost == (0, 0) {
            assert_eq!(read_memory_kb(program), before, "{description}: no thread ran, but the memory changed");
            return;
        }
        seen.push(cost);
    }
    panic!(
        "{description}: context switches and bytes written in each {milliseconds} ms: {seen:?}\n{}",
        program.screen()
    );
}

#[test]
fn r61_no_thread_wakes_up_while_idle_or_while_a_prompt_waits() {
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("sleep 0"), text_answer("Done.")], (100, 24), &[]);
    check_idle(&mut program, "before the first message");
    program.type_text("half a thought");
    check_idle(&mut program, "with a draft");
    program.press_keys("\x15");
    submit_message(&mut program, "go");
    program.until_prompt("$ sleep 0");
    check_idle(&mut program, "with a prompt");
    program.press_keys("y");
    program.until_idle("Done.");
    check_idle(&mut program, "after a turn");
    if let Some(seconds) = std::env::var("AYE_TEST_SECONDS").ok().and_then(|seconds| seconds.parse().ok()) {
        check_idle_for(&mut program, seconds);
    }
}

/// Measures the idle program for this many seconds, and prints the figures. Runs only if `AYE_TEST_SECONDS` is set.
#[allow(clippy::print_stdout, reason = "figures are there to be read")]
fn check_idle_for(program: &mut Program, seconds: u64) {
    let (switches, ticks, before) = (count_switches(program), read_cpu_ticks(program), read_memory_kb(program));
    program.wait_ms(1000 * seconds);
    let (ran, ticks) = (count_switches(program).abs_diff(switches), read_cpu_ticks(program) - ticks);
    let after = read_memory_kb(program);
    println!("in {seconds} s it ran {ran} times for {} ms; own memory {before} kB, then {after} kB", 10 * ticks);
    assert!(ticks <= seconds, "used more than a hundredth of a core");
    assert!(after < before + 20_000);
}

/// The processor time of the program, in hundredths of a second.
fn read_cpu_ticks(program: &Program) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", program.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // The time in user mode and the time in the kernel.
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn r61_a_spinner_uses_little_processor_time() {
    let stalls = Answer::stream().text("Half a reply").with_step(Step::Stall);
    let (_runtime, _service, mut program) = start_session(vec![stalls], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until("Half a reply");
    let mut seen = Vec::new();
    // The first window may include work on the reply.
    for _ in 0..4 {
        let (started, before) = (Instant::now(), read_cpu_ticks(&program));
        program.wait_ms(3000);
        let percent = (read_cpu_ticks(&program) - before) as f64 / started.elapsed().as_secs_f64();
        if percent < 5.0 {
            return;
        }
        seen.push(percent);
    }
    panic!("percent of a core, in each three seconds: {seen:?}");
}
