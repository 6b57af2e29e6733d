//! `--show-keys`: the keys that act are in recordings, also in those of demos, and typed text and secrets are not.

use crate::support::program::{Program, Setup};
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;
use std::fs;
use std::path::Path;

/// A demo with answers in prompts, a list and repeated keys.
const SCRIPT: &str = r#"
size = "80x24"
typing = 50

[[step]]
type = "Add a line, yes"
[[step]]
press = "enter"
[[step]]
reply = "I add it."
[[step.call]]
tool = "bash_exec"
arguments = { command = "touch made.txt" }
[[step]]
press = "y"
[[step]]
reply = "Done."
[[step]]
press = "ctrl-p"
[[step]]
press = ["down", "down", "down", "esc"]
[[step]]
pause = 3
"#;

/// An event of a recording: the time since the start, and the text of the screen with the cells that are drawn as caps.
type Shown = (f64, String, String);

/// Plays a recording. A cap is a run of cells in reverse video, bold and in the lower rows.
fn play(file: &Path, size: (u16, u16)) -> Vec<Shown> {
    let text = fs::read_to_string(file).unwrap();
    let mut terminal = vt100::Parser::new(size.1.try_into().unwrap(), size.0.try_into().unwrap(), 0);
    let mut time = 0.0;
    let mut frames = Vec::new();
    for line in text.lines().skip(1) {
        let (pause, code, data): (f64, String, String) = serde_json::from_str(line).unwrap();
        time += pause;
        if code != "o" {
            continue;
        }
        terminal.process(data.as_bytes());
        let screen = terminal.screen();
        let cells = (0..size.1).flat_map(|y| (0..size.0).map(move |x| (y, x)));
        let caps = cells
            .filter_map(|(y, x)| screen.cell(y, x))
            .map(|cell| if cell.inverse() && cell.bold() { cell.contents().to_owned() } else { "|".to_owned() });
        let caps: String = caps.collect();
        let caps: Vec<&str> = caps.split('|').map(str::trim).filter(|cap| !cap.is_empty()).collect();
        frames.push((time, screen.contents(), caps.join(",")));
    }
    frames
}

/// The caps in the order in which they appear.
fn caps(frames: &[Shown]) -> Vec<&str> {
    let mut caps: Vec<&str> = frames.iter().map(|(.., caps)| caps.as_str()).collect();
    caps.dedup();
    caps
}

fn record(setup: &Setup, script: &str, options: &[&str]) -> Vec<u8> {
    let file = setup.root.path().join("project/out.cast");
    let arguments = [&["demo", "play", script, "--record", "out.cast", "--force"], options].concat();
    let (out, error, code) = Setup::with_home(&setup.root, &arguments).run_piped("");
    assert_eq!(code, 0, "{out}{error}");
    fs::read(file).unwrap()
}

#[test]
fn a_demo_shows_its_keys_if_it_or_its_player_says_so_and_is_the_same_otherwise() {
    let setup = Setup::new(&[]).with_file("a.toml", SCRIPT).with_file("b.toml", &format!("show_keys = true\n{SCRIPT}"));
    let file = setup.root.path().join("project/out.cast");
    let plain = record(&setup, "a.toml", &[]);
    let without = play(&file, (80, 24));
    assert_eq!(caps(&without), [""]);
    let with_option = record(&setup, "a.toml", &["--show-keys"]);
    let frames = play(&file, (80, 24));
    assert_eq!(caps(&frames), ["", "↵", "", "y", "", "ctrl-p", "↓", "↓,↓", "↓ ×3", "↓ ×3,esc", ""]);
    assert!(with_option == record(&setup, "a.toml", &["--show-keys", "--speed", "9"]), "each play is the same");
    assert!(plain == record(&setup, "a.toml", &[]));
    record(&setup, "b.toml", &[]);
    let of_script = play(&file, (80, 24));
    assert_eq!(caps(&of_script), caps(&frames));
    // The caps disappear after 1.5 seconds, and nothing else is later or different.
    let start = frames.iter().find(|(.., caps)| caps == "y").unwrap().0;
    let end = frames.iter().find(|(time, _, caps)| *time > start && caps.is_empty()).unwrap().0;
    assert!((end - start - 1.5).abs() < 0.002, "{start} {end}");
    let uncapped: Vec<&Shown> = frames.iter().filter(|(.., caps)| caps.is_empty()).collect();
    for (time, text, _) in &uncapped {
        assert!(without.iter().any(|(_, other, _)| other == text), "at {time}:\n{text}");
    }
    assert!((frames.last().unwrap().0 - without.last().unwrap().0).abs() < 1e-6);
}

#[test]
fn a_script_waits_for_what_the_program_shows_and_not_for_a_cap() {
    let wait = SCRIPT.replace("[[step]]\npause = 3", "[[step]]\nwait = \"esc\"");
    let setup = Setup::new(&[]).with_file("a.toml", &wait);
    let arguments = ["demo", "play", "a.toml", "--record", "out.cast", "--show-keys"];
    let (out, error, code) = Setup::with_home(&setup.root, &arguments).run_piped("");
    assert!(code == 1 && error.contains("the screen does not show \"esc\""), "{out}{error}");
}

fn start(user: &User, arguments: &[&str]) -> Program {
    let mut program = user.setup(arguments).size(80, 24).start();
    program.until("Messages go to");
    program
}

#[test]
fn a_live_session_shows_and_records_keys_but_no_typed_text() {
    let user = User::new(vec![command_answer("touch made.txt"), text_answer("It is done.")]);
    let mut program = start(&user, &["--record", "demo.cast", "--show-keys"]);
    submit_message(&mut program, "password=correct-horse-battery ny");
    program.until(" ↵ ");
    program.until_prompt("touch made.txt");
    program.press_keys("y");
    program.until(" y ");
    program.until_idle("It is done.");
    program.until_gone(" y ");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let frames = play(&program.project().join("demo.cast"), (80, 24));
    let mut shown = caps(&frames);
    shown.retain(|caps| !caps.is_empty());
    let keys: Vec<&str> = shown.iter().flat_map(|caps| caps.split(',')).collect();
    assert!(keys.starts_with(&["↵"]) && keys.contains(&"y"), "{shown:?}");
    assert!(keys.iter().all(|key| ["↵", "y", "ctrl-d"].contains(key)), "{shown:?}");
    let text = fs::read_to_string(program.project().join("demo.cast")).unwrap();
    assert!(!text.contains("correct-h"), "{text}");
}

#[test]
fn record_shows_keys_until_it_is_stopped() {
    let user = User::new(vec![]);
    let mut program = start(&user, &[]);
    submit_message(&mut program, "/record demo.cast --show-keys");
    program.until(" ● REC ");
    program.press_keys("\x10");
    program.until(" ctrl-p ");
    program.press_keys("\x1b");
    program.until(" esc ");
    program.until_gone(" esc ");
    submit_message(&mut program, "/record");
    program.until("Recorded: demo.cast");
    program.press_keys("\x10");
    program.until("filter");
    program.wait_ms(200);
    let screen = program.screen();
    assert!(!screen.contains(" ctrl-p   ") && !screen.contains("─ ctrl-p"), "{screen}");
    let frames = play(&program.project().join("demo.cast"), (80, 24));
    assert!(caps(&frames).iter().any(|caps| caps.contains("ctrl-p")), "{:?}", caps(&frames));
}
