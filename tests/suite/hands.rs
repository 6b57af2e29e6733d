//! Fast fingers and bad habits at the real program: what is typed, held or pasted while cards come and go.

use crate::support::kept::session;
use crate::support::program::{Program, Setup};
use crate::support::service::Answer;
use crate::support::talking::{calls_after, runs, say, says, talks};
use crate::support::{Dice, trials};
use aye::chat::Entry;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Programs side by side where many trials are made: each of them mostly waits.
const SIDE_BY_SIDE: usize = 10;

/// Makes so many trials, shared out among programs, and says how many it made.
#[allow(clippy::print_stdout, reason = "figures are there to be read")]
fn share(what: &str, trials: usize, seed: u64, make: impl Fn(&mut Dice, usize) + Sync) {
    let programs = trials.div_ceil(6).min(SIDE_BY_SIDE);
    std::thread::scope(|scope| {
        for program in 0..programs {
            let share = trials / programs + usize::from(program < trials % programs);
            let make = &make;
            scope.spawn(move || make(&mut Dice(seed * 1000 + program as u64), share));
        }
    });
    println!("{what}: {trials} trials, none went wrong");
}

/// How many calls were decided in all of a program's sessions.
fn decisions(program: &Program) -> usize {
    let decided = |entry: &&Entry| matches!(entry, Entry::Decided { .. } | Entry::Answered { .. });
    session(&Setup::again(&program.place, &[])).iter().filter(decided).count()
}

/// Stops the turn and empties the composer.
fn starts_over(program: &mut Program) {
    // Where the machine is so busy that two presses of Esc come a second apart, they are two first ones.
    program.until_that("an empty composer and no card", |program| {
        for keys in ["\x1b", "\x1b", "\x15", "\x7f", "\x15"] {
            program.keys(keys);
            program.lets_pass(60);
        }
        program.lets_pass(100);
        program.screen().contains("Write a message")
    });
}

/// One trial after another: a key again and again, while a card appears at some moment.
fn r03_trials(key: &str, seed: u64) {
    share(&format!("{key:?} typed while a card comes"), trials(3), seed, |dice, trials| {
        let call = |pause| calls_after(pause, &[("bash_exec", json!({ "command": "touch made" }))]);
        let answers = (0..trials).map(|_| call(Duration::from_millis(dice.below(350)))).collect();
        let (_runtime, service, mut program) = talks(answers, (100, 24), &[]);
        for trial in 1..=trials {
            say(&mut program, "go");
            // What comes right behind it, on a machine so busy that both are read at once, would be one paste with it.
            program.until_that("it is sent", |_| service.received().len() == trial);
            let (began, mut typed) = (Instant::now(), 0);
            while began.elapsed() < Duration::from_millis(600) {
                program.keys(key);
                typed += 1;
                program.lets_pass(30 + dice.below(170));
            }
            program.until("$ touch made");
            assert_eq!(program.file("made"), None, "trial {trial}: {key:?} answered");
            if key != "\r" {
                program.keys("x");
                program.until(&format!("❯ {}x", key.repeat(typed)));
            }
            starts_over(&mut program);
            assert_eq!((service.received().len(), decisions(&program)), (trial, 0));
        }
    });
}

#[test]
fn r03_type_ahead_never_answers_with_a_yes() {
    r03_trials("y", 1);
}

#[test]
fn r03_type_ahead_never_answers_with_enter() {
    r03_trials("\r", 2);
}

#[test]
fn r03_type_ahead_never_answers_with_a_digit() {
    r03_trials("1", 3);
}

#[test]
fn r03_type_ahead_never_answers_with_a_blank() {
    r03_trials(" ", 4);
}

/// Enter is held from sending on: the keyboard repeats it after a pause, and the question comes at some moment before.
#[test]
fn r03_an_enter_that_is_held_from_the_send_answers_no_question() {
    let choice = |label: &str| json!({ "label": label });
    let question = json!({ "questions": [{ "keyword": "clock", "question": "Which clock?",
        "options": [choice("tokio"), choice("real")] }] });
    share("Enter held from sending", trials(6), 8, |dice, trials| {
        let call = |pause| calls_after(pause, &[("ask_question", question.clone())]);
        let pauses: Vec<u64> = (0..trials).map(|_| 200 + dice.below(1_300)).collect();
        let answers = pauses
            .iter()
            .enumerate()
            .flat_map(|(at, pause)| [call(Duration::from_millis(dice.below(*pause))), says(&format!("Reply {at}."))]);
        let (_runtime, _service, mut program) = talks(answers.collect(), (100, 24), &[]);
        for (trial, pause) in pauses.into_iter().enumerate() {
            say(&mut program, "go");
            program.lets_pass(pause);
            for _ in 0..30 {
                program.keys("\r");
                program.lets_pass(33);
            }
            program.until("Which clock?");
            assert_eq!(decisions(&program), trial, "after a pause of {pause} ms:\n{}", program.screen());
            // It was let go, and a digit is meant.
            program.until_that("a deliberate answer is taken", |program| {
                for key in ["2", "\r"] {
                    program.lets_pass(700);
                    program.keys(key);
                }
                program.lets_pass(200);
                program.screen().contains(&format!("Reply {trial}."))
            });
            program.keys("\x15");
            program.lets_pass(100);
        }
    });
}

/// The first half second of a prompt, with nothing typed before it: a waiting time of zero fails this at once.
#[test]
fn r03_a_key_in_the_first_half_second_of_a_prompt_answers_nothing() {
    let wanted = trials(3);
    // On a busy machine the key may be read too late to count.
    let most = wanted * 10;
    let call = || calls_after(Duration::ZERO, &[("bash_exec", json!({ "command": "touch made" }))]);
    let (_runtime, service, mut program) = talks((0..most).map(|_| call()).collect(), (100, 24), &[]);
    let mut counted = 0;
    for trial in 1..=most {
        program.types("go");
        let sent = Instant::now();
        program.keys("\r");
        program.until("$ touch made");
        program.keys("y");
        // The next key is sent when this one was read.
        program.keys("x");
        let is_early = sent.elapsed() < Duration::from_millis(490);
        if is_early {
            program.until("❯ yx");
            assert_eq!((program.file("made"), decisions(&program)), (None, 0), "trial {trial}");
            counted += 1;
        }
        if counted == wanted {
            return;
        }
        starts_over(&mut program);
        let _ = std::fs::remove_file(program.project().join("made"));
        assert_eq!(service.received().len(), trial);
    }
    assert!(counted > 0, "no key was read within half a second in {most} trials");
}

/// Two calls of one reply, and the program at the first of their cards.
fn two_wait(program: &mut Program) {
    say(program, "go");
    program.until("1 of 2");
    program.lets_pass(700);
}

fn two_calls() -> Answer {
    let calls = ["sleep 0", "touch second"].map(|command| ("bash_exec", json!({ "command": command })));
    calls_after(Duration::ZERO, &calls)
}

#[test]
fn r04_a_double_press_answers_one_card() {
    share("a double press", trials(4).div_ceil(4), 5, |dice, trials| {
        let (_runtime, _service, mut program) = talks(vec![two_calls()], (100, 24), &[]);
        let mut made = 0;
        while made < trials {
            two_wait(&mut program);
            let before = decisions(&program);
            program.keys("y");
            program.lets_pass(20 + dice.below(230));
            program.keys("y");
            // On a machine that was busy the first press may have come too soon to be an answer: it is written then.
            let pressed = Instant::now();
            while !["2 of 2", "❯ y"].iter().any(|words| program.screen().contains(words)) {
                assert!(pressed.elapsed() < Duration::from_secs(20), "{}", program.screen());
                program.lets_pass(10);
            }
            program.lets_pass(150);
            let screen = program.screen();
            let after = decisions(&program);
            assert_eq!(program.file("second"), None, "the second card was answered:\n{screen}");
            assert!(after <= before + 1, "{screen}");
            made += usize::from(after == before + 1);
            starts_over(&mut program);
        }
    });
}

#[test]
fn r05_a_pasted_yes_answers_nothing() {
    share("a paste of y and Enter", trials(4).div_ceil(4), 6, |dice, trials| {
        let (_runtime, _service, mut program) = talks(vec![two_calls(); trials], (100, 24), &[]);
        for _ in 0..trials {
            two_wait(&mut program);
            let paste = if dice.below(2) == 0 { "\x1b[200~y\n\x1b[201~" } else { "y\r" };
            program.keys(paste);
            program.until("❯ y");
            program.lets_pass(100);
            starts_over(&mut program);
            assert_eq!(decisions(&program), 0);
        }
    });
}

#[test]
fn r04_a_key_that_is_held_approves_one_of_five() {
    let calls: Vec<(&str, Value)> =
        (0..5).map(|n| ("bash_exec", json!({ "command": format!("touch made{n}") }))).collect();
    let (_runtime, _service, mut program) = talks(vec![calls_after(Duration::ZERO, &calls)], (100, 24), &[]);
    // On a machine that was busy the first presses are read together, which is a paste: then it is tried again.
    program.until_that("the key answers the first card", |program| {
        say(program, "go");
        program.until_asked("$ touch made0");
        for _ in 0..100 {
            program.keys("y");
            program.lets_pass(10);
        }
        program.until_that("the key did something", |program| {
            ["2 of 5", "❯ y"].iter().any(|words| program.screen().contains(words))
        });
        let answered = program.screen().contains("2 of 5");
        if !answered {
            starts_over(program);
        }
        answered
    });
    let made = (0..5).filter(|n| program.file(&format!("made{n}")).is_some()).count();
    assert_eq!(made, 1);
    // What was read together after the answer goes to the composer, and may come there late.
    program.until_that("another press answers the second card", |program| {
        let is_written = program.screen().contains("❯ y");
        if !program.screen().contains("3 of 5") {
            program.keys(if is_written { "\x15" } else { "y" });
            program.lets_pass(600);
        }
        program.screen().contains("3 of 5")
    });
}

/// What comes so much later than what was before it is a key of its own.
const A_KEY: Duration = Duration::from_millis(8);

/// Sends these one soon behind the other; whether that was so. A machine that is busy holds up the hand too.
fn sends_at_once(program: &mut Program, letters: [&str; 5]) -> bool {
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for letter in letters {
        std::thread::sleep(Duration::from_millis(1));
        program.sends(letter);
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    longest < A_KEY
}

#[test]
fn r05_no_paste_answers_and_none_locks_the_keyboard() {
    let pasted = (0..50).any(|_| no_paste_answers());
    assert!(pasted, "nothing was pasted letter by letter as fast as a terminal does");
}

/// Whether every paste was one.
fn no_paste_answers() -> bool {
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
    if !sends_at_once(&mut program, ["y", "\r", "a", "b", "c"]) {
        return false;
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
    true
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
