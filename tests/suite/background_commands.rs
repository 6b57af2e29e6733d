//! Background commands in the real program: moving a running command there, what the model and the user can do with it,
//! and how it ends.

use crate::support::program::{
    Program, Setup, count_sleeping, list_descendants, unique_sleep_seconds, wait_until_none_sleeps,
};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{
    calls_answer_after, command_answer, start_session, submit_message, text_answer,
};
use aye::chat::audit::{Integrity, collect_records};
use aye::chat::{BackgroundEnd, Entry};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

const ALT_UP: &str = "\x1b[1;3A";
const ESC: &str = "\x1b";

fn call_answer(name: &str, arguments: Value) -> Answer {
    calls_answer_after(Duration::ZERO, &[(name, arguments)])
}

/// A reply that begins with this text and does not end.
fn stalled_answer(text: &str) -> Answer {
    Answer::stream().text(text).with_step(Step::Stall)
}

/// A command that prints `ready` and then sleeps for so many seconds. Its row on the screen has another text.
fn server(seconds: u32) -> String {
    format!("echo rea''dy; sleep {seconds}")
}

/// Approves the command of the call that waits, and moves it to the background once it has printed this text.
fn move_command(program: &mut Program, output: &str) {
    program.until_prompt("Run a command?");
    program.press_keys("y");
    program.until(output);
    program.press_keys(ALT_UP);
    program.until("b to background");
    program.press_keys("b");
    program.until("in background");
}

/// Presses a key until a text is gone, because a confirmation accepts no key at first.
fn press_until_gone(program: &mut Program, key: &str, text: &str) {
    program.until_condition(&format!("{key} closes {text}"), |program| {
        if program.screen().contains(text) {
            program.press_keys(key);
            program.wait_ms(600);
        }
        !program.screen().contains(text)
    });
}

/// Starts the program with a command in the background, and the model's reply after it.
fn start_with_server(
    size: (u16, u16),
    later_answers: impl IntoIterator<Item = Answer>,
) -> (tokio::runtime::Runtime, Service, Program, u32) {
    let seconds = unique_sleep_seconds();
    let answers = [command_answer(&server(seconds))].into_iter().chain(later_answers);
    let (runtime, service, mut program) = start_session(answers.collect(), size, &[]);
    submit_message(&mut program, "go");
    move_command(&mut program, "ready");
    (runtime, service, program, seconds)
}

fn entries(program: &Program) -> Vec<Entry> {
    read_session(&Setup::with_home(&program.root, &[]))
}

fn ends(program: &Program) -> Vec<BackgroundEnd> {
    let ends = entries(program).into_iter().filter_map(|entry| match entry {
        Entry::BackgroundEnded(end) => Some(end),
        _ => None,
    });
    ends.collect()
}

fn last_body(service: &Service) -> String {
    service.received().last().unwrap().body.to_string()
}

/// The names of the tools that a request offers.
fn offered_tools(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_model_reads_and_stops_a_command_that_the_user_moved() {
    let later =
        [call_answer("read_output", json!({ "id": 1 })), call_answer("kill", json!({ "id": 1 })), text_answer("Done.")];
    let (_runtime, service, mut program, seconds) = start_with_server((100, 30), later);
    let screen = program.until_prompt("Stop a background command?");
    assert!(screen.contains("background command 1: echo rea''dy"), "{screen}");
    assert!(screen.contains("moved to background 1"), "{screen}");
    assert_eq!(count_sleeping(seconds), 1, "it runs until the call is approved");
    program.press_keys("y");
    let screen = program.until_idle("Done.");
    assert!(screen.contains("Background 1") && screen.contains("stopped by the model"), "{screen}");
    assert!(!screen.contains("in background"), "{screen}");
    wait_until_none_sleeps(seconds);
    let requests = service.received();
    let background_tools = ["read_output".to_owned(), "kill".to_owned()];
    assert!(!offered_tools(&requests[0].body).contains(&background_tools[0]), "not before there is a command");
    assert!(offered_tools(&requests[1].body).ends_with(&background_tools));
    let bodies: Vec<String> = requests.iter().map(|request| request.body.to_string()).collect();
    assert!(bodies[1].contains("as background command 1. It keeps running") && bodies[1].contains("ready"));
    assert!(bodies[2].contains("[no new output]\\n[running]"), "{}", bodies[2]);
    assert!(bodies[3].contains("[ended: stopped on request]"), "{}", bodies[3]);
    let entries = entries(&program);
    assert!(collect_records(&entries).iter().all(|record| record.verify() == Integrity::Intact));
    let (audit, _, _) = Setup::with_home(&program.root, &["audit"]).run_piped("");
    assert!(audit.contains("you moved it to the background as 1"), "{audit}");
    let (shown, _, _) = Setup::with_home(&program.root, &["sessions", "show"]).run_piped("");
    assert!(shown.contains("Background command 1 ended: stopped by the model."), "{shown}");
}

/// `esc` after `b` stops the turn only. The user stops the command in the list, and the model learns it with the next
/// message.
#[test]
fn the_turn_ends_without_the_command_and_the_user_stops_it() {
    let later = [stalled_answer("I wait"), text_answer("I see.")];
    let (_runtime, service, mut program, seconds) = start_with_server((80, 24), later);
    program.until("I wait");
    program.press_keys(ESC);
    let screen = program.until("cut short: stopped");
    assert!(screen.contains("1 in background"), "{screen}");
    assert_eq!(count_sleeping(seconds), 1, "esc stopped the turn and not the command");
    submit_message(&mut program, "/background");
    program.until_all(&["Background commands", "1 · echo rea''dy", "running · "]);
    program.press_keys("\r");
    program.until_all(&["[running]", "Background command 1"]);
    program.press_keys(ESC);
    program.until_gone("[running]");
    program.press_keys("x");
    program.until("Stop this command?");
    program.press_until("y", "ended: stopped by the user");
    wait_until_none_sleeps(seconds);
    program.press_keys(ESC);
    program.until_gone("Background commands");
    submit_message(&mut program, "and now?");
    program.until("I see.");
    let note = "[Background command 1 ended: stopped by the user. Last lines:\\nready]\\n\\nand now?";
    assert!(last_body(&service).contains(note), "{}", last_body(&service));
    assert_eq!(service.received().len(), 3, "the end started no turn");
}

#[test]
fn a_command_that_ends_by_itself_shows_its_status_and_last_lines() {
    let answers = vec![command_answer("echo rea''dy; sleep 2; echo oh no; exit 3"), text_answer("It serves.")];
    let (_runtime, _service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "go");
    move_command(&mut program, "ready");
    let screen = program.until("Background command 1 ended: exit 3");
    let row = screen.lines().find(|line| line.contains("✗ Background 1")).unwrap_or_default();
    assert!(row.contains("echo rea''dy") && row.contains("exit 3"), "{screen}");
    assert!(screen.contains("    oh no"), "{screen}");
    let end = ends(&program).pop().unwrap();
    assert_eq!((end.status.as_str(), end.output.as_str()), ("exit 3", "ready\noh no"));
    assert!(end.took_ms >= 2_000, "also the time before it was moved");
}

/// The time limit of a command ends with the move.
#[test]
fn a_moved_command_outlives_its_time_limit() {
    let command = json!({ "command": "echo rea''dy; sleep 5; echo late; sleep 60", "timeout": 3 });
    let answers = vec![
        call_answer("bash_exec", command),
        call_answer("read_output", json!({ "id": 1, "wait": 60 })),
        text_answer("Done."),
    ];
    let (_runtime, service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "go");
    move_command(&mut program, "ready");
    program.until_all(&["Done.", "1 in background"]);
    assert!(last_body(&service).contains("late\\n[running]"), "{}", last_body(&service));
}

#[test]
fn a_kill_of_the_program_ends_the_command_and_resuming_shows_it() {
    let (_runtime, service, mut program, seconds) = start_with_server((80, 24), [text_answer("It serves.")]);
    program.until("It serves.");
    program.signal(Signal::KILL);
    program.wait_for_exit();
    wait_until_none_sleeps(seconds);
    assert_eq!(ends(&program), [], "nobody recorded the end");
    let arguments = ["--base-url", &service.base_url, "--model", "scripted-7b", "--continue"];
    let mut resumed = Setup::with_home(&program.root, &arguments).start();
    let screen = resumed.until("ended with its session");
    assert!(screen.contains("Background 1") && !screen.contains("in background"), "{screen}");
    assert_eq!(ends(&resumed).len(), 1);
    submit_message(&mut resumed, "/jobs");
    resumed.until_all(&["Background commands", "1 · echo rea''dy", "ended with its session"]);
    resumed.press_keys("x");
    resumed.until("It has ended");
    resumed.press_keys(ESC);
    resumed.until_gone("Background commands");
    // The row of its end and that of its call: neither can be moved again.
    for _ in 0..2 {
        resumed.press_keys(ALT_UP);
        resumed.press_keys("b");
        resumed.until("Not possible: the call has ended");
    }
    resumed.press_keys(ESC);
    submit_message(&mut resumed, "/jobs");
    resumed.until("1 of 1");
}

/// Quitting says what ends, with one more key at most.
#[test]
fn quitting_and_leaving_name_the_commands_that_end() {
    let (_runtime, _service, mut program, seconds) = start_with_server((80, 24), [text_answer("It serves.")]);
    program.until("It serves.");
    submit_message(&mut program, "/new");
    let screen = program.until("Leave this session?");
    assert!(screen.contains("1 · echo rea''dy"), "{screen}");
    press_until_gone(&mut program, "n", "Leave this session?");
    program.press_keys("\x04");
    program.until("Quit?");
    press_until_gone(&mut program, "n", "Quit?");
    assert_eq!(count_sleeping(seconds), 1);
    submit_message(&mut program, "/new");
    program.until("Leave this session?");
    program.press_until("y", "Messages go to");
    wait_until_none_sleeps(seconds);
    assert_eq!(ends(&program).len(), 1);

    let (_runtime, _service, mut program, seconds) = start_with_server((80, 24), [text_answer("It serves.")]);
    program.until("It serves.");
    program.press_keys("\x03");
    program.until("again to quit; 1 in background ends");
    program.press_keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
    wait_until_none_sleeps(seconds);
    assert_eq!(ends(&program)[0].status, "ended with its session");
}

/// `b` pressed too often, on a call that has ended, and on two commands in a row; on the smallest screen.
#[test]
fn keys_at_the_wrong_moment_say_why_and_do_nothing() {
    let seconds = unique_sleep_seconds();
    let answers = vec![
        command_answer("echo short"),
        command_answer(&server(seconds)),
        command_answer(&format!("echo sec''ond; sleep {seconds}")),
        text_answer("Both serve."),
    ];
    let (_runtime, _service, mut program) = start_session(answers, (60, 15), &[]);
    submit_message(&mut program, "go");
    // The short command only reads, so it runs without approval. Its row may be above the prompt's rows.
    program.until_prompt("$ echo rea");
    program.press_keys("y");
    program.until("ready");
    program.press_keys(ALT_UP);
    program.until("b to background");
    program.press_keys("\r");
    program.until("─ Run echo rea");
    program.press_keys(ESC);
    program.until_gone("─ Run echo rea");
    // Only the first press counts: its repeats neither answer the next prompt nor go into the composer.
    program.send_bytes("b");
    for _ in 0..4 {
        program.wait_ms(60);
        program.send_bytes("b");
    }
    program.until_prompt("Run a command?");
    program.press_keys("y");
    program.until("second");
    program.press_keys(ALT_UP);
    program.until("b to background");
    program.press_keys("b");
    let screen = program.until_all(&["2 in background", "Both serve."]);
    assert!(!screen.contains("❯ b"), "no key went into the composer: {screen}");
    program.until_condition("both run", |_| count_sleeping(seconds) == 2);
    program.press_keys(ALT_UP);
    program.press_keys("b");
    program.until("in the background already");
    program.press_keys(ALT_UP);
    program.press_keys(ALT_UP);
    program.press_keys("b");
    program.until("Not possible: the call has ended");
    program.press_keys(ESC);
    submit_message(&mut program, "/jobs");
    let screen = program.until_all(&["1 · echo", "2 · echo"]);
    assert_eq!(screen.matches("running").count(), 2, "{screen}");
    program.press_keys("x");
    program.until("Stop this command?");
    program.press_until("y", "2 ended: stopped by the user");
    program.until_condition("one is left", |_| count_sleeping(seconds) == 1);
}

/// A flood does not stop the program, and the model receives a bounded part of it.
#[test]
fn a_flood_in_the_background_is_bounded() {
    let answers = vec![
        command_answer("echo rea''dy; sleep 1; yes flood | head -c 200000000; sleep 50"),
        call_answer("read_output", json!({ "id": 1, "wait": 30 })),
        text_answer("It floods."),
        text_answer("Still here."),
    ];
    let (_runtime, service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "go");
    move_command(&mut program, "ready");
    program.until("It floods.");
    let body = last_body(&service);
    assert!(body.contains("flood") && body.len() < 150_000, "{} bytes", body.len());
    submit_message(&mut program, "/background");
    program.until_all(&["1 · echo rea''dy", "flood"]);
    program.press_keys("x");
    program.until("Stop this command?");
    program.press_until("y", "ended: stopped by the user");
    program.press_keys(ESC);
    program.until_gone("Background commands");
    submit_message(&mut program, "hello");
    program.until("Still here.");
    let end = ends(&program).pop().unwrap();
    assert!(end.output.len() < 70_000, "{} bytes", end.output.len());
    assert!(list_descendants(program.pid()).is_empty(), "nothing runs");
}

/// Output that tries to clear the screen, set the title and imitate the program stays where it belongs.
#[test]
fn hostile_output_cannot_draw_outside() {
    let command =
        r"echo rea''dy; sleep 1; printf '\033[2J\033[H\033]0;owned\007\033[31mred\r\u202eevil\nlast\033[2J'; sleep 50";
    let answers =
        vec![command_answer(command), call_answer("read_output", json!({ "id": 1, "wait": 30 })), text_answer("Done.")];
    let (_runtime, service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "go");
    move_command(&mut program, "ready");
    program.until("Done.");
    assert!(last_body(&service).contains("<U+001B>[2J"), "the model receives marks: {}", last_body(&service));
    submit_message(&mut program, "/background");
    let screen = program.until_all(&["Background commands", "1 · echo rea''dy", "running · "]);
    assert!(screen.lines().next().is_some_and(|line| line.contains("aye")), "{screen}");
    program.press_keys("\r");
    let screen = program.until_all(&["[running]", "last"]);
    assert!(screen.contains("Background command 1"), "{screen}");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(!bytes.contains("\u{1b}]0;owned") && !bytes.contains('\u{202e}'));
}

#[test]
fn a_dry_run_moves_nothing_and_says_why() {
    if !crate::overlay_sandbox_escapes::has_overlay_sandbox() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service =
        runtime.block_on(Service::start(vec![command_answer("echo rea''dy; sleep 20"), text_answer("Done.")]));
    let arguments = ["--base-url", &service.base_url, "--model", "scripted-7b", "--dry-run"];
    let mut program = Setup::new(&arguments).start();
    program.until("DRY RUN");
    submit_message(&mut program, "go");
    program.until("ready");
    program.press_keys(ALT_UP);
    program.press_keys("b");
    program.until("Not in a dry run");
    assert!(!offered_tools(&service.received()[0].body).contains(&"kill".to_owned()));
}
