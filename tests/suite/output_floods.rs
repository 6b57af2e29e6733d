//! More output than anyone can read, from a command and from a model: memory and saved data stay small, and keys still
//! work.
//!
//! Figures for a gigabyte: `AYE_TEST_FLOOD=1000000000 AYE_TEST_PROGRAM=$PWD/target/release/aye cargo test --test suite
//! output_floods -- --nocapture`, after `cargo build --release`.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::{list_all_files, wait_for_turns};
use crate::support::terminal_session::{command_answer, start_session, submit_message, text_answer};
use crate::support::time_limits::is_within_limit;
use aye::project::output::MAX_LONG_OUTPUT_BYTES;
use std::time::{Duration, Instant};

/// Size of a part of a flood in bytes.
const PART: usize = 16_000_000;

/// Minimum output of the command in bytes.
fn flood_size() -> usize {
    let configured = std::env::var("AYE_TEST_FLOOD").ok().and_then(|bytes| bytes.parse().ok());
    configured.unwrap_or_else(|| pick_count(256_000_000, 64_000_000))
}

/// The resident memory of the program in kB: now, and at its highest.
fn read_memory(program: &Program) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Median time until a typed key is on the screen.
fn measure_key_latency(program: &mut Program) -> Duration {
    let mut elapsed = Vec::new();
    let mut typed = String::new();
    for key in "heard".chars() {
        typed.push(key);
        let pressed = Instant::now();
        program.press_keys(key.encode_utf8(&mut [0; 4]));
        program.until(&format!("❯ {typed}"));
        elapsed.push(pressed.elapsed());
    }
    elapsed.sort();
    elapsed[elapsed.len() / 2]
}

#[allow(clippy::print_stdout, reason = "figures are there to be read")]
#[test]
fn r23_a_flooding_command_uses_no_memory_and_delays_no_key() {
    let parts = flood_size().div_ceil(PART);
    let flood = format!(
        "n=0; until [ -e heard ] && [ $n -ge {parts} ]; do yes | head -c {PART}; n=$((n+1)); done; echo the-end"
    );
    let answers = [
        command_answer(&flood),
        text_answer("Dry again."),
        command_answer("cat /dev/zero"),
        text_answer("Zero no more."),
    ];
    let (_runtime, service, mut program) = start_session(answers.to_vec(), (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ n=0");
    let (idle, _) = read_memory(&program);
    program.press_keys("y");
    program.until_condition("the command runs", |program| program.screen().contains("y\n"));
    let key = measure_key_latency(&mut program);
    std::fs::write(program.project().join("heard"), "").unwrap();
    program.until_idle("Dry again.");
    let (after, peak) = read_memory(&program);
    println!("idle {idle} kB, after {} MB {after} kB, at most {peak} kB; a key {key:?}", parts * PART / 1_000_000);
    assert!(peak < idle + 300_000, "{idle} kB became {peak} kB");
    assert!(is_within_limit(Duration::from_millis(100), key), "a key took {key:?}");
    let messages = service.received()[1].body["messages"].to_string();
    assert!(messages.contains("bytes omitted") && messages.len() < 102_000, "{} bytes", messages.len());
    if pick_count(1, 0) == 1 {
        // An endless command is stopped at the output limit, at no higher cost.
        program.press_keys("\x15");
        submit_message(&mut program, "go on");
        program.until_prompt("$ cat /dev/zero");
        program.press_keys("y");
        program.until_idle("Zero no more.");
        let (after, peak) = read_memory(&program);
        println!("after a gigabyte of nothing {after} kB, at most {peak} kB");
        assert!(peak < idle + 300_000, "{idle} kB became {peak} kB");
    }
    // A byte that is not text takes six characters in the session file. Fewer than 70,000 bytes of an output are kept.
    let most = 300_000 + pick_count(6 * 70_000, 0) as u64;
    let workspaces = program.root.path().join("home/aye/data/workspace");
    for file in list_all_files(&program.root.path().join("home")) {
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        // The workspace has the beginning of each output.
        let most = if file.starts_with(&workspaces) { MAX_LONG_OUTPUT_BYTES as u64 } else { most };
        assert!(size <= most, "{} has {size} bytes", file.display());
    }
}

#[allow(clippy::print_stdout, reason = "figures are there to be read")]
#[test]
fn r35_a_flooding_model_uses_little_memory_and_delays_no_key() {
    let word = "x".repeat(200_000);
    let lines: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let phrase = "a word and another ";
    let large = phrase.repeat(pick_count(10_000_000, 3_000_000) / phrase.len());
    let answers = vec![text_answer(&word), text_answer(&lines), text_answer(&large)];
    let (_runtime, _service, mut program) = start_session(answers, (100, 24), &[]);
    let setup = Setup::with_home(&program.root, &[]);
    for (turns, what) in (1..).zip(["a word", "lines", "megabytes"]) {
        submit_message(&mut program, "go");
        // A long reply is shown in part, so the end of the turn is read from disk.
        wait_for_turns(&mut program, &setup, turns);
        let key = measure_key_latency(&mut program);
        let (now, peak) = read_memory(&program);
        println!("{what}: {now} kB, at most {peak} kB; a key {key:?}");
        assert!(peak < 600_000, "{what}: {peak} kB");
        assert!(is_within_limit(Duration::from_millis(100), key), "{what}: a key took {key:?}");
        program.press_keys("\x15");
        program.until_gone("❯ heard");
        program.press_keys("\x0c");
    }
}
