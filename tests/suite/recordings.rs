//! Recordings of the real program: asciicasts that play as the terminal showed it, whatever ended the program.

use crate::support::program::{Program, Setup};
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;
use rustix::process::Signal;
use std::path::Path;

/// Columns and rows.
const SIZE: (u16, u16) = (80, 24);
/// A key without a known form.
const KEY: &str = "tuesday-tuesday-tuesday";

/// Reads a recording: the header, and the events with their time since the start.
fn read_recording(path: &Path) -> (serde_json::Value, Vec<(f64, String, String)>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header = serde_json::from_str(lines.next().unwrap()).unwrap();
    // Only the last line may be cut.
    let events = lines.map_while(|line| serde_json::from_str::<(f64, String, String)>(line).ok()).collect::<Vec<_>>();
    assert!(events.len() + 2 >= text.lines().count(), "{text}");
    (header, events)
}

/// Plays a recording to its end, and returns what is on the screen then.
fn play(path: &Path) -> String {
    let mut terminal = vt100::Parser::new(SIZE.1.try_into().unwrap(), SIZE.0.try_into().unwrap(), 0);
    for (_, code, data) in read_recording(path).1 {
        match (code.as_str(), data.split_once('x')) {
            ("o", _) => terminal.process(data.as_bytes()),
            ("r", Some((columns, rows))) => {
                terminal.screen_mut().set_size(rows.parse().unwrap(), columns.parse().unwrap());
            }
            _ => {}
        }
    }
    terminal.screen().contents()
}

fn trim_lines(text: &str) -> Vec<String> {
    text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

fn start(user: &User, arguments: &[&str]) -> Program {
    let mut program = user.setup(arguments).env("OPENAI_API_KEY", KEY).size(SIZE.0, SIZE.1).start();
    program.until("Messages go to");
    program
}

#[test]
fn a_killed_program_leaves_a_recording_that_plays_to_its_last_frame() {
    let user = User::new(vec![text_answer("It is **done**."), command_answer("touch made.txt")]);
    let mut program = start(&user, &["--record", "demo.cast"]);
    submit_message(&mut program, "go");
    program.until_idle("It is done.");
    submit_message(&mut program, "again");
    program.until("touch made.txt");
    program.wait_ms(700);
    // The mark of a recording is not recorded.
    let marked = program.screen();
    assert_eq!(marked.matches(" ● REC ").count(), 1, "{marked}");
    let shown = marked.replace(" ● REC ", &"─".repeat(7));
    let file = program.project().join("demo.cast");
    program.signal(Signal::KILL);
    program.wait_ms(200);
    let (header, events) = read_recording(&file);
    assert_eq!(header["version"], 3);
    assert_eq!(trim_lines(&play(&file)), trim_lines(&shown));
    let chapters: Vec<&str> = events.iter().filter(|(_, code, _)| code == "m").map(|(.., name)| &**name).collect();
    assert_eq!(chapters, ["go", "again", "Approval: Run touch made.txt"]);
}

#[test]
fn a_recording_is_started_and_stopped_by_a_command_and_follows_the_size() {
    let user = User::new(vec![text_answer("First."), text_answer("Second.")]);
    let mut program = start(&user, &["--record-version", "2"]);
    submit_message(&mut program, "/record");
    program.until("Name a file: /record demo.cast");
    submit_message(&mut program, "/record demo.cast");
    program.until("once this notice is gone");
    let file = program.project().join("demo.cast");
    program.until(" ● REC ");
    program.until_condition("the first frame is written", |_| !read_recording(&file).1.is_empty());
    let (_, events) = read_recording(&file);
    let first = events.first().map(|(.., data)| data.as_str()).unwrap_or_default();
    assert!(first.contains("Messages go to"), "the recording begins with what is on the screen: {events:?}");
    assert!(!first.contains("this notice is gone"), "{events:?}");
    submit_message(&mut program, "one");
    program.until_idle("First.");
    program.resize(100, 15);
    program.until_idle("First.");
    submit_message(&mut program, "/record demo2.cast");
    program.until("the screen is being recorded to");
    submit_message(&mut program, "/record");
    program.until("Recorded: ");
    let (header, events) = read_recording(&file);
    assert_eq!((&header["version"], &header["width"], &header["height"]), (&2.into(), &80.into(), &24.into()));
    assert!(events.windows(2).all(|pair| pair[0].0 <= pair[1].0), "times are absolute");
    assert!(events.iter().any(|(_, code, data)| code == "r" && data == "100x15"), "{events:?}");
    let played = play(&file);
    assert!(played.contains("First.") && !played.contains("REC"), "{played}");
    let length = std::fs::metadata(&file).unwrap().len();
    submit_message(&mut program, "two");
    program.until_idle("Second.");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), length, "nothing is added after the end");
    submit_message(&mut program, "/record demo.cast");
    program.until("exists.");
}

#[test]
fn keys_and_secrets_of_a_session_are_in_no_recording() {
    let secret = "ghp_Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdE";
    let user = User::new(vec![text_answer(&format!("The token is {secret}, and the key is {}.", KEY))]);
    let mut program = start(&user, &["--record", "demo.cast"]);
    submit_message(&mut program, "what is password=correct-horse-battery?");
    program.until_idle("The token is");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let end = program.screen();
    assert!(end.contains("Recorded: "), "{end}");
    let text = std::fs::read_to_string(program.project().join("demo.cast")).unwrap();
    for secret in [secret, KEY, "correct-horse-battery"] {
        assert!(!text.contains(&secret[..secret.len() / 2]), "{secret}: {text}");
    }
    assert!(text.contains("The token is"), "{text}");
}

#[test]
fn an_existing_file_is_not_replaced_and_print_has_no_screen_to_record() {
    let setup = Setup::new(&["--tour", "--record", "demo.cast"]).with_file("demo.cast", "mine");
    let mut program = setup.start();
    assert_eq!(program.wait_for_exit(), 1);
    let end = program.screen().replace('\n', " ");
    assert!(
        end.contains("Cannot record: ") && end.contains("demo.cast exists. Remove it, or choose another name."),
        "{end}"
    );
    assert_eq!(program.file("demo.cast").as_deref(), Some("mine"));
    let (_, errors, code) = Setup::new(&["-p", "hi", "--record", "a.cast"]).run_piped("");
    assert!(code == 2 && errors.contains("--record"), "{errors}");
}

#[test]
fn a_recording_is_drawn_as_a_picture_with_its_text() {
    let user = User::new(vec![text_answer("It is **done** & <dusted>.")]);
    let mut program = start(&user, &["--record", "demo.cast"]);
    submit_message(&mut program, "go");
    program.until_idle("It is done");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let recording = program.project().join("demo.cast").display().to_string();
    let picture = program.project().join("demo.svg").display().to_string();
    let export = |arguments: &[&str]| user.run_headless(&[&["export", "svg"][..], arguments].concat());
    assert_eq!(export(&[&recording, "--output", &picture]), (String::new(), String::new(), 0));
    let svg = program.file("demo.svg").unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("@keyframes") && svg.contains("&amp; &lt;dusted&gt;."), "{svg}");
    assert!(!svg.contains("<script") && !svg.contains("http://127") && !svg.contains("url("), "{svg}");
    let (_, errors, code) = export(&[&recording, "--output", &picture]);
    assert!(code == 2 && errors.contains("it already exists") && errors.contains("--force"), "{errors}");
    assert_eq!(export(&["--force", "--no-window", &recording, "--output", &picture]).2, 0);
    assert!(!program.file("demo.svg").unwrap().contains("<circle"));
    let (_, errors, code) = export(&[&picture, "--output", &format!("{picture}.svg")]);
    assert!(code == 2 && errors.contains("line 1 is not the header of an asciicast"), "{errors}");
    let (_, errors, code) = export(&["missing.cast", "--output", &format!("{picture}.svg")]);
    assert!(code == 2 && errors.contains("Cannot read missing.cast"), "{errors}");
}
