//! Replies cut off by killing the program: the part that was received is saved.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::terminal_session::{submit_message, text_answer};
use rustix::process::Signal;
use std::time::Duration;
use tokio::runtime::Runtime;

fn start_service(answers: Vec<Answer>) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

/// Reads the only session file.
fn read_session_file(program: &Program) -> String {
    let files = std::fs::read_dir(program.root.path().join("home/aye/data/sessions"));
    let files: Vec<_> = files.into_iter().flatten().flatten().collect();
    files.first().map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()).unwrap_or_default()
}

#[test]
fn r51_killed_during_a_reply_saves_the_received_part() {
    let slow =
        |answer: Answer, n: usize| answer.text(&format!("word{n} ")).with_step(Step::Pause(Duration::from_millis(100)));
    let stalls = (0..15).fold(Answer::stream(), slow).with_step(Step::Stall);
    let (_runtime, service) = start_service(vec![stalls, text_answer("Calm.")]);
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let mut program = Setup::new(&flags).start();
    program.until("Messages go to");
    submit_message(&mut program, "go on");
    program.until("word14");
    // No more text comes and no key is pressed; the part is saved all the same.
    program.until_condition("the last word is saved", |program| read_session_file(program).contains("word14"));
    // The rate of writes is tested with virtual time, which does not depend on the load of the machine.
    let pieces = read_session_file(&program).matches("\"kind\":\"grown\"").count();
    assert!((1..=15).contains(&pieces), "at most one write per piece: {pieces}");
    assert!(!read_session_file(&program).contains("\"replied\""));
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let root = program.root.clone();
    let (page, _, code) = Setup::with_home(&root, &["audit"]).run_piped("");
    assert_eq!(code, 0, "{page}");
    let mut program = Setup::with_home(&root, &[&flags[..], &["--continue"]].concat()).start();
    let screen = program.until("word14");
    assert!(screen.contains("word0 ") && screen.contains("aye exited before it was"), "{screen}");
    assert_eq!(
        read_session_file(&program).matches("\"kind\":\"replied\"").count(),
        1,
        "the resumed session has the reply as one entry"
    );
    submit_message(&mut program, "and now");
    program.until_idle("Calm.");
    let received = service.received();
    let messages = received[1].body["messages"].to_string();
    assert!(messages.contains("word14") && messages.contains("the reply was cut short here"), "{messages}");
}

#[test]
fn r51_killed_without_a_screen_saves_the_received_part() {
    let (_runtime, service) = start_service(vec![Answer::stream().text("Half a reply").with_step(Step::Stall)]);
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "go"]);
    let root = setup.root.clone();
    let mut program = setup.start();
    program.until_condition("the part is saved", |program| read_session_file(program).contains("Half a reply"));
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let file = std::fs::read_dir(root.path().join("home/aye/data/sessions")).unwrap().next().unwrap();
    let read = aye::store::read(&file.unwrap().path()).unwrap();
    assert_eq!(read.incomplete_count, 1, "{:?}", read.entries);
}

/// Each character of the reply takes six bytes in the session file.
#[test]
fn r51_a_large_reply_of_control_characters_is_saved_whole_and_sent_once() {
    const PIECES: usize = 6;
    let piece = "\u{1b}".repeat(512 << 10);
    let stream = (0..PIECES).fold(Answer::stream().text("begin "), |answer, _| answer.text(&piece));
    let (_runtime, service) = start_service(vec![stream.text(" end").finish("stop").done(), text_answer("Calm.")]);
    let flags = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&[&flags[..], &["go"]].concat());
    let root = setup.root.clone();
    assert_eq!(setup.run_piped("").2, 0);
    let files = std::fs::read_dir(root.path().join("home/aye/data/sessions"));
    let file = files.unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read(&file).unwrap();
    assert!(text.len() > 6 * PIECES * piece.len(), "{}", text.len());
    let read = aye::store::read(&file).unwrap();
    let full_text = format!("begin {} end", piece.repeat(PIECES));
    let is_whole =
        |entry: &aye::chat::Entry| matches!(entry, aye::chat::Entry::Replied { text, .. } if *text == full_text);
    assert_eq!(read.entries.iter().filter(|entry| is_whole(entry)).count(), 1);
    // Even if the file has every line twice, the reply is sent once.
    std::fs::write(&file, text.repeat(2)).unwrap();
    let (_, error, code) = Setup::with_home(&root, &[&flags[..], &["--continue", "and now"]].concat()).run_piped("");
    assert_eq!(code, 0, "{error}");
    let received = service.received();
    let messages: Vec<&serde_json::Value> = received[1].body["messages"].as_array().unwrap().iter().collect();
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let reply = messages[2]["content"].as_str().unwrap();
    assert!(reply.starts_with("begin ") && reply.ends_with(" end"));
    // The model receives hidden characters as a mark with their number.
    assert!(reply.contains(&format!("x{}>", PIECES * piece.len())), "{reply}");
}
