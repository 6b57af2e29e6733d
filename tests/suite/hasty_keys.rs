//! Hasty keys in the real program: keys typed, held or pasted while prompts appear and disappear.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{
    calls_answer_after, command_answer, start_session, submit_message, text_answer,
};
use crate::support::{Dice, trial_count};
use aye::chat::{Decider, Entry};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Maximum number of programs that run at the same time. Each of them mostly waits.
const SIDE_BY_SIDE: usize = 10;

/// Divides the trials among at most `SIDE_BY_SIDE` programs, one for every six trials, and prints the number of trials.
/// `run_share` makes the trials of one program.
#[allow(clippy::print_stdout, reason = "figures are there to be read")]
fn run_trials(description: &str, trials: usize, seed: u64, run_share: impl Fn(&mut Dice, usize) + Sync) {
    let programs = trials.div_ceil(6).min(SIDE_BY_SIDE);
    std::thread::scope(|scope| {
        for program in 0..programs {
            let share = trials / programs + usize::from(program < trials % programs);
            let run_share = &run_share;
            scope.spawn(move || run_share(&mut Dice(seed * 1000 + program as u64), share));
        }
    });
    println!("{description}: {trials} trials, none failed");
}

/// Title of the prompt with the result of a trial.
const TRIAL_RESULT: &str = "Keep what the trial did?";

/// Counts the decisions and the trials in all sessions of a program.
fn count_decisions(program: &Program) -> usize {
    let decided =
        |entry: &&Entry| matches!(entry, Entry::Decided { .. } | Entry::Answered { .. } | Entry::Tried { .. });
    read_session(&Setup::with_home(&program.root, &[])).iter().filter(decided).count()
}

/// The keys that answer the prompt of a command: approval, and a trial where there are any.
fn answer_keys() -> &'static [&'static str] {
    if has_overlay_sandbox() { &["y", "t"] } else { &["y"] }
}

/// Stops the turn and empties the composer.
fn reset_composer(program: &mut Program) {
    // On a busy machine, two presses of Esc may come a second apart and then do not count as a double press.
    program.until_condition("an empty composer and no prompt", |program| {
        for keys in ["\x1b", "\x1b", "\x15", "\x7f", "\x15"] {
            program.press_keys(keys);
            program.wait_ms(60);
        }
        program.wait_ms(100);
        program.screen().contains("Write a message")
    });
}

/// Repeats trials in which a key is typed again and again while a prompt appears at a random moment.
fn run_type_ahead_trials(key: &str, seed: u64) {
    run_trials(&format!("{key:?} typed while a prompt appears"), trial_count(3), seed, |dice, trials| {
        let call = |pause| calls_answer_after(pause, &[("bash_exec", json!({ "command": "touch made" }))]);
        let answers = (0..trials).map(|_| call(Duration::from_millis(dice.below(350)))).collect();
        let (_runtime, service, mut program) = start_session(answers, (100, 24), &[]);
        for trial in 1..=trials {
            submit_message(&mut program, "go");
            // On a busy machine, keys that follow at once are read together with the message, as one paste.
            program.until_condition("the message is sent", |_| service.received().len() == trial);
            let (started, mut typed) = (Instant::now(), 0);
            while started.elapsed() < Duration::from_millis(600) {
                program.press_keys(key);
                typed += 1;
                program.wait_ms(30 + dice.below(170));
            }
            program.until("$ touch made");
            assert_eq!(program.file("made"), None, "trial {trial}: {key:?} answered");
            if key != "\r" {
                program.press_keys("x");
                program.until(&format!("❯ {}x", key.repeat(typed)));
            }
            reset_composer(&mut program);
            assert_eq!((service.received().len(), count_decisions(&program)), (trial, 0));
        }
    });
}

#[test]
fn r03_type_ahead_of_y_never_answers() {
    run_type_ahead_trials("y", 1);
}

#[test]
fn r03_type_ahead_of_t_never_starts_a_trial() {
    run_type_ahead_trials("t", 9);
}

#[test]
fn r03_type_ahead_of_enter_never_answers() {
    run_type_ahead_trials("\r", 2);
}

#[test]
fn r03_type_ahead_of_a_digit_never_answers() {
    run_type_ahead_trials("1", 3);
}

#[test]
fn r03_type_ahead_of_a_blank_never_answers() {
    run_type_ahead_trials(" ", 4);
}

/// Enter is held after sending a message: the keyboard starts to repeat it after a pause, and the question appears at a
/// random moment before.
#[test]
fn r03_enter_held_after_sending_answers_no_question() {
    let choice = |label: &str| json!({ "label": label });
    let question = json!({ "questions": [{ "keyword": "clock", "question": "Which clock?",
        "options": [choice("tokio"), choice("real")] }] });
    run_trials("Enter held from sending", trial_count(6), 8, |dice, trials| {
        let call = |pause| calls_answer_after(pause, &[("ask_question", question.clone())]);
        let pauses: Vec<u64> = (0..trials).map(|_| 200 + dice.below(1_300)).collect();
        let answers = pauses.iter().enumerate().flat_map(|(at, pause)| {
            [call(Duration::from_millis(dice.below(*pause))), text_answer(&format!("Reply {at}."))]
        });
        let (_runtime, _service, mut program) = start_session(answers.collect(), (100, 24), &[]);
        let mut uneven_count = 0;
        for (trial, pause) in pauses.into_iter().enumerate() {
            submit_message(&mut program, "go");
            program.wait_ms(pause);
            for _ in 0..30 {
                program.press_keys("\r");
                program.wait_ms(33);
            }
            program.until("Which clock?");
            let is_answered = count_decisions(&program) > trial;
            // A stall of the machine between two repeats is the same as a key that was released and pressed again.
            uneven_count += usize::from(is_answered);
            assert!(uneven_count <= trials.div_ceil(6), "after a pause of {pause} ms:\n{}", program.screen());
            // The key was released, so this is a deliberate answer.
            program.until_condition("a deliberate answer is taken", |program| {
                // Only while the question is asked: after it, the keys would be the next message.
                if program.has_active_prompt() {
                    for key in ["2", "\r"] {
                        program.wait_ms(700);
                        program.press_keys(key);
                    }
                    program.wait_ms(200);
                } else if program.screen().contains("keys go to the composer") {
                    // On a busy machine the repeats may come together as a paste, which leaves line breaks in the draft.
                    program.press_keys("\x15");
                    program.press_keys("\x7f");
                }
                program.screen().contains(&format!("Reply {trial}."))
            });
            program.press_keys("\x15");
            program.wait_ms(100);
        }
    });
}

/// The first half second of a prompt, with nothing typed before it: without the waiting time this test fails at once.
#[test]
fn r03_a_key_in_the_first_half_second_of_a_prompt_answers_nothing() {
    answer_keys().iter().for_each(|key| press_in_the_first_half_second(key));
}

fn press_in_the_first_half_second(key: &str) {
    let wanted = trial_count(3);
    // On a busy machine the key may be read too late for the trial to count.
    let max_trials = wanted * 10;
    let call = || calls_answer_after(Duration::ZERO, &[("bash_exec", json!({ "command": "touch made" }))]);
    let (_runtime, service, mut program) = start_session((0..max_trials).map(|_| call()).collect(), (100, 24), &[]);
    let mut counted = 0;
    for trial in 1..=max_trials {
        let before = count_decisions(&program);
        program.type_text("go");
        let sent = Instant::now();
        program.press_keys("\r");
        program.until("$ touch made");
        program.press_keys(key);
        // The next key is sent once this one was read.
        program.press_keys("x");
        let is_early = sent.elapsed() < Duration::from_millis(490);
        if is_early {
            program.until(&format!("❯ {key}x"));
            assert_eq!((program.file("made"), count_decisions(&program)), (None, before), "trial {trial}");
            counted += 1;
        }
        if counted == wanted {
            return;
        }
        reset_composer(&mut program);
        let _ = std::fs::remove_file(program.project().join("made"));
        assert_eq!(service.received().len(), trial);
    }
    assert!(counted > 0, "no key was read within half a second in {max_trials} trials");
}

/// Sends a message whose reply has two calls, and waits until the first prompt takes an answer.
fn wait_for_two_calls(program: &mut Program) {
    submit_message(program, "go");
    program.until("1 of 2");
    program.wait_ms(700);
}

fn two_calls_reply() -> Answer {
    let calls = ["sleep 0", "touch second"].map(|command| ("bash_exec", json!({ "command": command })));
    calls_answer_after(Duration::ZERO, &calls)
}

#[test]
fn r04_a_double_press_answers_one_prompt() {
    run_trials("a double press", trial_count(4).div_ceil(4), 5, |dice, trials| {
        let (_runtime, _service, mut program) = start_session(vec![two_calls_reply()], (100, 24), &[]);
        let mut counted = 0;
        while counted < trials {
            wait_for_two_calls(&mut program);
            let before = count_decisions(&program);
            program.press_keys("y");
            program.wait_ms(20 + dice.below(230));
            program.press_keys("y");
            // On a busy machine the first press may come too early to be an answer; it is then typed into the composer.
            let pressed = Instant::now();
            while !["2 of 2", "❯ y"].iter().any(|words| program.screen().contains(words)) {
                assert!(pressed.elapsed() < Duration::from_secs(20), "{}", program.screen());
                program.wait_ms(10);
            }
            program.wait_ms(150);
            let screen = program.screen();
            let after = count_decisions(&program);
            assert_eq!(program.file("second"), None, "the second prompt was answered:\n{screen}");
            assert!(after <= before + 1, "{screen}");
            counted += usize::from(after == before + 1);
            reset_composer(&mut program);
        }
    });
}

#[test]
fn r05_a_pasted_key_answers_nothing() {
    run_trials("a paste of y or t and Enter", trial_count(4).div_ceil(4), 6, |dice, trials| {
        let keys = answer_keys();
        let replies = vec![two_calls_reply(); trials * keys.len()];
        let (_runtime, _service, mut program) = start_session(replies, (100, 24), &[]);
        for key in (0..trials).flat_map(|_| keys) {
            wait_for_two_calls(&mut program);
            let paste = if dice.below(2) == 0 { format!("\x1b[200~{key}\n\x1b[201~") } else { format!("{key}\r") };
            program.press_keys(&paste);
            program.until(&format!("❯ {key}"));
            program.wait_ms(100);
            reset_composer(&mut program);
            assert_eq!(count_decisions(&program), 0);
        }
    });
}

#[test]
fn r04_a_held_key_approves_one_of_five_calls() {
    let calls: Vec<(&str, Value)> =
        (0..5).map(|n| ("bash_exec", json!({ "command": format!("touch made{n}") }))).collect();
    let (_runtime, _service, mut program) =
        start_session(vec![calls_answer_after(Duration::ZERO, &calls)], (100, 24), &[]);
    // On a busy machine the first presses are read together, as a paste; then the trial is repeated.
    program.until_condition("the key answers the first prompt", |program| {
        submit_message(program, "go");
        program.until_prompt("$ touch made0");
        for _ in 0..100 {
            program.press_keys("y");
            program.wait_ms(10);
        }
        program.until_condition("the key has an effect", |program| {
            ["2 of 5", "❯ y"].iter().any(|words| program.screen().contains(words))
        });
        let answered = program.screen().contains("2 of 5");
        if !answered {
            reset_composer(program);
        }
        answered
    });
    let counted = (0..5).filter(|n| program.file(&format!("made{n}")).is_some()).count();
    assert_eq!(counted, 1);
    // Keys that were read together after the answer go to the composer, and may arrive late.
    program.until_condition("another press answers the second prompt", |program| {
        let is_typed = program.screen().contains("❯ y");
        if !program.screen().contains("3 of 5") {
            program.press_keys(if is_typed { "\x15" } else { "y" });
            program.wait_ms(600);
        }
        program.screen().contains("3 of 5")
    });
}

/// A key that comes this much later than the key before it is not part of a paste.
const KEY_GAP: Duration = Duration::from_millis(8);

/// Sends these keys without a pause. Returns whether they were sent fast enough; a busy machine may delay them.
fn send_without_pause(program: &mut Program, keys: [&str; 5]) -> bool {
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for key in keys {
        std::thread::sleep(Duration::from_millis(1));
        program.send_bytes(key);
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    longest < KEY_GAP
}

#[test]
fn r05_no_paste_answers_or_locks_the_keyboard() {
    let pasted = (0..50).any(|_| try_pastes());
    assert!(pasted, "no paste was sent as fast as a terminal sends one");
}

/// Removes a draft from the composer, and waits until the prompt takes keys again.
fn clear_draft(program: &mut Program, draft: &str, prompt: &str) {
    for _ in 0..4 {
        program.press_keys("\x15");
        program.press_keys("\x7f");
    }
    program.until_gone(draft);
    program.until_prompt(prompt);
}

/// Returns whether every paste was fast enough to count as one.
fn try_pastes() -> bool {
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("touch made"), text_answer("Done.")], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ touch made");
    let clear = |program: &mut Program, word: &str| clear_draft(program, word, "$ touch made");
    // Pasted with markers, without markers at once, without markers key by key, and with the end marker lost.
    program.press_keys("\x1b[200~y\n\x1b[201~");
    program.until("❯ y");
    clear(&mut program, "❯ y");
    program.press_keys("y\n");
    program.until("❯ y");
    clear(&mut program, "❯ y");
    program.press_keys("y\rfoo bar\r");
    program.until("foo bar");
    clear(&mut program, "❯ y");
    if !send_without_pause(&mut program, ["y", "\r", "a", "b", "c"]) {
        return false;
    }
    program.until("abc");
    clear(&mut program, "❯ y");
    program.press_keys("\x1b[200~y\nlost");
    program.until("lost");
    assert_eq!(program.file("made"), None);
    clear(&mut program, "❯ y");
    program.press_keys("y");
    program.until("Done.");
    assert!(program.file("made").is_some(), "the keyboard works as before");
    true
}

#[test]
fn r05_can_quit_during_a_paste_without_an_end() {
    let (_runtime, _service, mut program) = start_session(vec![text_answer("Fine.")], (100, 24), &[]);
    program.press_keys("\x1b[200~lost");
    program.wait_ms(200);
    program.press_keys("!");
    program.until("❯ lost!");
    program.press_keys("\x1b[200~again");
    for _ in 0..2 {
        program.wait_ms(200);
        program.press_keys("\x03");
    }
    assert_eq!(program.wait_for_exit(), 0);
}

#[test]
fn r06_a_key_or_click_that_focuses_the_window_does_not_answer() {
    answer_keys().iter().for_each(|key| press_while_focusing(key));
}

fn press_while_focusing(key: &str) {
    let typed = format!("❯ {key}");
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("touch made"), text_answer("Done.")], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ touch made");
    program.press_keys("\x1b[O");
    program.press_keys("\x1b[I");
    program.press_keys(key);
    program.until(&typed);
    program.press_keys("\x7f");
    program.until_gone(&typed);
    program.until_prompt("$ touch made");
    // The prompt is in these rows; a click on it is not an answer either.
    for row in 14..24 {
        program.press_keys(&format!("\x1b[<0;5;{row}M\x1b[<0;5;{row}m"));
    }
    program.press_keys(key);
    program.until(&typed);
    assert_eq!((program.file("made"), count_decisions(&program)), (None, 0), "{key}");
}

/// While the composer has a draft, keys are text, whatever they would answer; Tab moves the keyboard to the prompt.
#[test]
fn r03_keys_that_answer_are_text_in_a_draft() {
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("touch made"), text_answer("Done.")], (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ touch made");
    program.type_text("hi");
    for key in ["y", "a", "n", "t"] {
        program.wait_ms(700);
        program.press_keys(key);
    }
    let screen = program.until("❯ hiyant");
    assert!(screen.contains("tab to answer") && screen.contains("Run a command?"), "{screen}");
    assert_eq!((program.file("made"), count_decisions(&program)), (None, 0));
    program.press_keys("\t");
    program.until_prompt("y approve");
    program.wait_ms(700);
    if has_overlay_sandbox() {
        program.press_keys("t");
        program.until_prompt("Keep what the trial did?");
        assert_eq!((program.file("made"), count_decisions(&program)), (None, 1));
    }
}

#[test]
fn r04_a_held_t_starts_one_trial() {
    if !has_overlay_sandbox() {
        return;
    }
    let (_runtime, _service, mut program) = start_session(vec![command_answer("echo tried")], (100, 24), &[]);
    // On a busy machine the first presses are read together, as a paste; then the trial is repeated.
    program.until_condition("the key starts a trial", |program| {
        submit_message(program, "go");
        program.until_prompt("t try");
        for _ in 0..150 {
            program.press_keys("t");
            program.wait_ms(10);
        }
        program.until_condition("the key has an effect", |program| {
            let screen = program.screen();
            let is_typed = screen.contains("❯ t") && !screen.contains("Trying the command");
            is_typed || screen.contains("Keep what the trial did?")
        });
        let is_tried = program.screen().contains("Keep what the trial did?");
        if !is_tried {
            reset_composer(program);
        }
        is_tried
    });
    // One that is pressed again does not start another either.
    program.wait_ms(700);
    if program.has_active_prompt() {
        program.press_keys("t");
        program.until("The command was tried");
    }
    assert_eq!(count_decisions(&program), 1);
}

/// Starts a trial of this command in a project with the file `a.txt`, and waits until the prompt takes an answer.
fn show_trial_result(command: &str) -> (Runtime, Service, Program) {
    let answers = vec![command_answer(command), text_answer("Done.")];
    let (runtime, service, mut program) = start_session(answers, (100, 24), &[]);
    std::fs::write(program.project().join("a.txt"), "one\n").unwrap();
    submit_message(&mut program, "go");
    program.until_prompt("t try");
    program.press_keys("t");
    program.until_prompt(TRIAL_RESULT);
    (runtime, service, program)
}

/// Keys that were pasted, that focus the window, or that follow a draft are no answer to the result of a trial.
#[test]
fn r05_keys_that_are_not_meant_as_an_answer_keep_no_trial() {
    if !has_overlay_sandbox() {
        return;
    }
    for (command, keep_key) in [("rm a.txt", "K"), ("touch made", "k")] {
        let (_runtime, _service, mut program) = show_trial_result(command);
        for key in ["k", "K", "y"] {
            let typed = [format!("❯ {key}"), format!("❯ hi{key}")];
            let inputs: [(&[&str], &str); 4] = [
                (&[&format!("\x1b[200~{key}\n\x1b[201~")], &typed[0]),
                (&[&format!("{key}\r")], &typed[0]),
                (&["\x1b[O", "\x1b[I", key], &typed[0]),
                (&["h", "i", key], &typed[1]),
            ];
            for (keys, draft) in inputs {
                for part in keys {
                    program.press_keys(part);
                    // A letter after this time would be an answer, but for the draft.
                    program.wait_ms(if *part == "i" { 700 } else { 0 });
                }
                program.until(draft);
                program.wait_ms(100);
                // The decision that is counted is the trial itself.
                let state = (program.file("a.txt"), program.file("made"), count_decisions(&program));
                assert_eq!(state, (Some("one\n".to_owned()), None, 1), "{command}: {keys:?}\n{}", program.screen());
                clear_draft(&mut program, draft, TRIAL_RESULT);
            }
        }
        program.press_keys(keep_key);
        program.until("Done.");
        let is_kept = (program.file("a.txt").is_none(), program.file("made").is_some());
        assert_eq!(is_kept, (command == "rm a.txt", command == "touch made"), "the keys work as before");
    }
}

#[test]
fn r04_a_double_press_keeps_one_trial() {
    if !has_overlay_sandbox() {
        return;
    }
    press_keep_twice("ask", "touch", "k");
    // In the mode auto the result of the second trial appears by itself.
    press_keep_twice("auto", "rm", "K");
}

/// Returns whether a key in the first half second of a prompt decided.
fn has_hasty_decision(program: &Program) -> bool {
    let is_hasty = |entry: &Entry| matches!(entry, Entry::Decided { by: Decider::User { after_ms: ..500, .. }, .. });
    read_session(&Setup::with_home(&program.root, &[])).iter().any(is_hasty)
}

/// Keeps the trial of the first of two calls by a double press. The second call must wait for its own answer.
fn press_keep_twice(mode: &str, program_name: &str, key: &str) {
    run_trials(&format!("{key} pressed twice in the mode {mode}"), trial_count(2), 10, |dice, trials| {
        let runtime = Runtime::new().unwrap();
        let commands = ["a", "b"].map(|file| format!("{program_name} {file}"));
        let calls = commands.each_ref().map(|command| ("bash_exec", json!({ "command": command })));
        let service = runtime.block_on(Service::start(vec![calls_answer_after(Duration::ZERO, &calls)]));
        let arguments = ["--base-url", &service.base_url, "--model", "scripted-7b", "--mode", mode];
        let mut program = Setup::new(&arguments).size(100, 24).start();
        program.until("Messages go to");
        let mut counted = 0;
        while counted < trials {
            let files = ["a", "b"].map(|name| program.project().join(name));
            for file in &files {
                let _ = if program_name == "rm" { std::fs::write(file, "") } else { std::fs::remove_file(file) };
            }
            let is_done = |file: usize| files[file].exists() == (program_name == "touch");
            submit_message(&mut program, "go");
            if mode == "ask" {
                program.until_prompt("t try");
                program.press_keys("t");
            }
            program.until_prompt(TRIAL_RESULT);
            program.press_keys(key);
            program.wait_ms(20 + dice.below(230));
            program.press_keys(key);
            // On a busy machine the first press may come too early to be an answer; it is then typed into the composer.
            program.until_condition("the key has an effect", |program| {
                is_done(0) || program.screen().contains(&format!("❯ {key}"))
            });
            if is_done(0) {
                program.until_all(&["2 of 2", if mode == "ask" { "Run a command?" } else { TRIAL_RESULT }]);
                // Pressed once more as soon as the second prompt is there.
                program.press_keys(key);
                program.wait_ms(700);
                let screen = program.screen();
                assert!(mode == "auto" || !is_done(1), "a call that was not tried was kept:\n{screen}");
                // A busy machine may read the last press so late that it is an answer.
                assert!(!has_hasty_decision(&program), "the second prompt was answered:\n{screen}");
                counted += 1;
            }
            reset_composer(&mut program);
        }
    });
}

#[test]
fn r07_a_long_command_needs_scrolling_to_its_end_before_approval() {
    let command = format!("{}touch made", "true\n".repeat(60));
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer(&command), text_answer("Done.")], (60, 15), &[]);
    submit_message(&mut program, "go");
    program.until("$ true");
    let screen = program.until("lines below");
    assert!(!screen.contains("touch made"), "{screen}");
    program.until_prompt("lines below");
    program.press_keys("y");
    program.wait_ms(200);
    assert_eq!(program.file("made"), None, "the end was not seen");
    program.until_prompt("lines below");
    program.press_keys("\x1b[6~");
    program.press_keys("y");
    program.wait_ms(200);
    assert_eq!(program.file("made"), None, "a page is not the end");
    program.press_keys("\x1b[F");
    // Where nothing can be tried, the reason takes the rows of the last lines.
    program.until_gone("lines below");
    program.until_prompt("lines above");
    program.press_keys("y");
    program.until("Done.");
    assert!(program.file("made").is_some());
}

#[test]
fn destructive_call_needs_a_capital() {
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("rm -rf gone"), text_answer("Done.")], (100, 24), &[]);
    std::fs::create_dir(program.project().join("gone")).unwrap();
    submit_message(&mut program, "go");
    program.until_prompt("$ rm -rf gone");
    program.press_keys("y");
    program.wait_ms(200);
    assert!(program.project().join("gone").exists());
    program.until_prompt("$ rm -rf gone");
    program.press_keys("Y");
    program.until("Done.");
    assert!(!program.project().join("gone").exists());
}
