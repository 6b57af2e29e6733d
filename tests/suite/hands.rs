//! Fast fingers and bad habits at the real program: what is typed, held or pasted while cards come and go.

use crate::support::often;
use crate::support::program::Program;
use crate::support::talking::{calls_after, runs, say, says, talks};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One trial after another in one program: a key again and again, while a card appears at some moment.
fn r03_trials(key: &str, seed: u64, trials: usize) {
    let mut random = seed;
    let mut below = |limit: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % limit
    };
    let call = |pause| calls_after(pause, &[("bash_exec", json!({ "command": "touch made" }))]);
    let answers = (0..trials).map(|_| call(Duration::from_millis(below(350)))).collect();
    let (_runtime, service, mut program) = talks(answers, (100, 24), &[]);
    for trial in 1..=trials {
        say(&mut program, "go");
        let (began, mut typed) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_millis(600) {
            program.keys(key);
            typed += 1;
            program.lets_pass(15 + below(170));
        }
        program.until("$ touch made");
        assert_eq!(program.file("made"), None, "trial {trial}: {key:?} answered");
        if key != "\r" {
            program.keys("x");
            program.until(&format!("❯ {}x", key.repeat(typed)));
        }
        for keys in ["\x1b", "\x1b", "\x15"] {
            program.keys(keys);
        }
        program.until("write a message");
        assert_eq!(service.received().len(), trial);
    }
}

#[test]
fn r03_type_ahead_never_answers_with_a_yes() {
    r03_trials("y", 1, often(15, 3));
}

#[test]
fn r03_type_ahead_never_answers_with_enter() {
    r03_trials("\r", 2, often(15, 3));
}

#[test]
fn r03_type_ahead_never_answers_with_a_digit() {
    r03_trials("1", 3, often(15, 3));
}

#[test]
fn r03_type_ahead_never_answers_with_a_blank() {
    r03_trials(" ", 4, often(15, 3));
}

#[test]
fn r04_a_key_that_is_held_approves_one_of_five() {
    let calls: Vec<(&str, Value)> =
        (0..5).map(|n| ("bash_exec", json!({ "command": format!("touch made{n}") }))).collect();
    let (_runtime, _service, mut program) = talks(vec![calls_after(Duration::ZERO, &calls)], (100, 24), &[]);
    say(&mut program, "go");
    program.until_asked("$ touch made0");
    for _ in 0..100 {
        program.keys("y");
        program.lets_pass(10);
    }
    let made = (0..5).filter(|n| program.file(&format!("made{n}")).is_some()).count();
    assert_eq!(made, 1);
    assert!(program.screen().contains("2 of 5"), "{}", program.screen());
    program.insists("y", "3 of 5");
}

#[test]
fn r05_no_paste_answers_and_none_locks_the_keyboard() {
    let (_runtime, _service, mut program) = talks(vec![runs("touch made"), says("Done.")], (100, 24), &[]);
    say(&mut program, "go");
    program.until_asked("$ touch made");
    let clear = |program: &mut Program, word: &str| {
        for _ in 0..4 {
            program.keys("\x15");
            program.keys("\x7f");
        }
        program.until_gone(word);
        program.until_asked("$ touch made");
    };
    // As marked, unmarked at once, unmarked letter by letter, and with its end lost.
    program.keys("\x1b[200~y\n\x1b[201~");
    program.until("❯ y");
    clear(&mut program, "❯ y");
    program.keys("y\n");
    program.until("❯ y");
    clear(&mut program, "❯ y");
    program.keys("y\rfoo bar\r");
    program.until("foo bar");
    clear(&mut program, "❯ y");
    program.keys("y");
    for letter in ["\r", "a", "b", "c"] {
        std::thread::sleep(Duration::from_millis(1));
        program.sends(letter);
    }
    program.until("abc");
    clear(&mut program, "❯ y");
    program.keys("\x1b[200~y\nlost");
    program.until("lost");
    assert_eq!(program.file("made"), None);
    clear(&mut program, "❯ y");
    program.keys("y");
    program.until("Done.");
    assert!(program.file("made").is_some(), "the keyboard works as before");
}

#[test]
fn r05_a_paste_without_an_end_does_not_take_the_way_out() {
    let (_runtime, _service, mut program) = talks(vec![says("Fine.")], (100, 24), &[]);
    program.keys("\x1b[200~lost");
    program.lets_pass(200);
    program.keys("!");
    program.until("❯ lost!");
    program.keys("\x1b[200~again");
    for _ in 0..2 {
        program.lets_pass(200);
        program.keys("\x03");
    }
    assert_eq!(program.ends(), 0);
}

#[test]
fn r06_what_brings_the_window_back_does_not_answer() {
    let (_runtime, _service, mut program) = talks(vec![runs("touch made"), says("Done.")], (100, 24), &[]);
    say(&mut program, "go");
    program.until_asked("$ touch made");
    program.keys("\x1b[O");
    program.keys("\x1b[I");
    program.keys("y");
    program.until("❯ y");
    program.keys("\x7f");
    program.until_gone("❯ y");
    program.until_asked("$ touch made");
    // The card stands in these rows: a click there is none of its keys either.
    for row in 14..24 {
        program.keys(&format!("\x1b[<0;5;{row}M\x1b[<0;5;{row}m"));
    }
    program.keys("y");
    program.until("❯ y");
    assert_eq!(program.file("made"), None);
}

#[test]
fn r07_a_long_command_is_armed_when_its_end_was_seen() {
    let command = format!("{}touch made", "true\n".repeat(60));
    let (_runtime, _service, mut program) = talks(vec![runs(&command), says("Done.")], (60, 15), &[]);
    say(&mut program, "go");
    program.until("$ true");
    let screen = program.until("more line");
    assert!(!screen.contains("touch made"), "{screen}");
    program.until_asked("more line");
    program.keys("y");
    program.lets_pass(200);
    assert_eq!(program.file("made"), None, "the end was not seen");
    program.until_asked("more line");
    program.keys("\x1b[6~");
    program.keys("y");
    program.lets_pass(200);
    assert_eq!(program.file("made"), None, "a page is not the end");
    program.keys("\x1b[F");
    program.until_asked("touch made");
    program.keys("y");
    program.until("Done.");
    assert!(program.file("made").is_some());
}

#[test]
fn what_destroys_needs_the_great_letter() {
    let (_runtime, _service, mut program) = talks(vec![runs("rm -rf gone"), says("Done.")], (100, 24), &[]);
    std::fs::create_dir(program.project().join("gone")).unwrap();
    say(&mut program, "go");
    program.until_asked("$ rm -rf gone");
    program.keys("y");
    program.lets_pass(200);
    assert!(program.project().join("gone").exists());
    program.until_asked("$ rm -rf gone");
    program.keys("Y");
    program.until("Done.");
    assert!(!program.project().join("gone").exists());
}
