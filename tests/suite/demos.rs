//! `aye demo`: scripts are played in the real program with real tools, and every play is the same.

use crate::support::program::{Program, Setup};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use crate::support::user::User;
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A script with a call that asks, and a command that prints its environment.
const SCRIPT: &str = r#"
title = "An approval"
size = "80x24"
typing = 50
folder = "notes"

[[file]]
path = "notes.txt"
text = "one\n"

[[step]]
type = "Add a line"
[[step]]
press = "enter"
[[step]]
reasoning = "Where is it?"
reply = "I add it."
[[step.call]]
id = "add"
tool = "bash_exec"
arguments = { command = "echo two >> notes.txt && cat notes.txt " }
[[step]]
wait = "echo two"
[[step]]
press = "y"
[[step]]
reply = "It has two lines: {{add.first_line}}, two."
[[step]]
wait = "one, two."
"#;

fn write_script(setup: &Setup, name: &str, text: &str) -> PathBuf {
    let file = setup.root.path().join("project").join(name);
    fs::write(&file, text).unwrap();
    file
}

/// Runs `aye demo` in the project of a user. Returns output, errors and the exit code.
fn run(setup: &Setup, arguments: &[&str]) -> (String, String, i32) {
    let arguments = [&["demo"], arguments].concat();
    Setup::with_home(&setup.root, &arguments).env("OPENAI_API_KEY", KEY).run_piped("")
}

/// A key of the user, which no demo may show.
const KEY: &str = "sk-of-the-user-0123456789";

fn project(setup: &Setup) -> PathBuf {
    setup.root.path().join("project")
}

fn file_count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn two_recordings_of_a_demo_are_equal_whatever_the_speed_and_show_nothing_of_the_user() {
    let setup = Setup::new(&[]);
    let command = "env | grep -E 'sk-of|AYE_' || echo nothing; echo $LC_ALL $HOME; date +%s >> notes.txt";
    let text =
        SCRIPT.replace("echo two >> notes.txt && cat notes.txt ", command).replace("wait = \"echo two", "wait = \"env");
    write_script(&setup, "a.toml", &text.replace("one, two.", "nothing, two."));
    let (out, error, code) = run(&setup, &["play", "a.toml", "--record", "1.cast"]);
    assert!(code == 0 && out.starts_with("Recorded: 1.cast, "), "{out}{error}");
    let (_, error, code) = run(&setup, &["play", "a.toml", "--record", "2.cast", "--speed", "7", "--hidden"]);
    assert_eq!(code, 0, "{error}");
    let read = |name: &str| fs::read_to_string(project(&setup).join(name)).unwrap();
    let recording = read("1.cast");
    assert_eq!(recording, read("2.cast"));
    for hidden in [KEY, "AYE_HOME", &*project(&setup).to_string_lossy()] {
        assert!(!recording.contains(hidden), "{hidden}");
    }
    assert!(!project(&setup).join("notes.txt").exists(), "the demo has a project of its own");
}

#[test]
fn a_script_that_does_not_fit_stops_with_its_line_and_the_screen() {
    let setup = Setup::new(&[]);
    let with = |from: &str, to: &str| SCRIPT.replace(from, to);
    let cases = [
        (
            with("wait = \"one, two.\"", "wait = \"three\""),
            "wait = \"three",
            "the screen does not show \"three\"",
            "one, two.",
        ),
        (with("press = \"y\"", "press = \"n\"\n[[step]]\ngone = \"I add it\""), "gone = ", "still shows", "I add it."),
        (
            with("press = \"enter\"", "press = \"esc\""),
            "reply = \"I add",
            "the model was not asked for this reply",
            "Add a line",
        ),
        (with("bash_exec", "no_such_tool"), "reply = \"I add", "no_such_tool failed", "I add it."),
        (
            with("[[step]]\nreply = \"It has", "[[file]]\npath = \"x\"\ntext = \"\"\n#"),
            "wait = \"one",
            "no further reply",
            "I add it.",
        ),
        (
            with("echo two >> notes.txt && cat notes.txt", "cat notes.txt")
                .replace("wait = \"echo two\"", "wait = \"cat\""),
            "press = \"y",
            "the model went on before this step",
            "one, two.",
        ),
        (
            with("type = \"Add a line\"", "type = \"!touch /tmp/made\""),
            "reply = \"I add",
            "no command of the user",
            "Write a message",
        ),
        (
            with(
                "bash_exec\"\narguments = { command = \"echo two >> notes.txt && cat notes.txt \" }",
                "write_file\"\narguments = { path = \"/tmp/aye-outside\", content = \"x\" }",
            )
            .replace("press = \"y\"", "press = \"Y\"")
            .replace("wait = \"echo two\"", "wait = \"aye-outside\""),
            "reply = \"It has",
            "reaches beyond the project",
            "I add it.",
        ),
        (with("press = \"y\"", "press = \"ctrl-nonsense\""), "press = \"ctrl", "is not a key", ""),
    ];
    for (text, step, part, shown) in cases {
        let before = &text[..text.find(step).unwrap()];
        let line = before[..before.rfind("[[step]]").unwrap()].lines().count() + 1;
        write_script(&setup, "a.toml", &text);
        let (out, error, code) = run(&setup, &["check", "a.toml"]);
        let expected = format!("aye: a.toml:{line}: ");
        assert!(
            code == 1 && error.starts_with(&expected) && error.contains(part) && error.contains(shown),
            "{out}{error}"
        );
    }
    write_script(&setup, "b.toml", "[[step]]\ntipe = \"a\"\n");
    let (_, error, code) = run(&setup, &["check", "b.toml"]);
    assert!(code == 2 && error.contains("b.toml:2: unknown field `tipe`"), "{error}");
    let (_, error, code) = run(&setup, &["check", "missing.toml"]);
    assert!(code == 2 && error.contains("Cannot read missing.toml") && error.contains("aye demo new"), "{error}");
}

#[test]
fn the_starter_and_the_tour_are_checked_together() {
    let setup = Setup::new(&[]);
    let (out, error, code) = run(&setup, &["new", "first.toml"]);
    assert!(code == 0 && out.contains("aye demo play first.toml"), "{out}{error}");
    let (_, error, code) = run(&setup, &["new", "first.toml"]);
    assert!(code == 2 && error.contains("already exists"), "{error}");
    let (out, error, code) = run(&setup, &["check", "first.toml", "tour"]);
    assert!(code == 0 && out.contains("first.toml: ok") && out.contains("tour: ok"), "{out}{error}");
    write_script(&setup, "bad.toml", "[[step]]\nwait = \"nothing shows this\"\n");
    let (out, error, code) = run(&setup, &["check", "bad.toml", "first.toml"]);
    assert!(code == 1 && error.contains("bad.toml:1: ") && out.contains("first.toml: ok"), "{out}{error}");
}

#[test]
fn the_demos_of_the_manual_play_and_their_pictures_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/demos");
    let files = fs::read_dir(&folder).unwrap().flatten().map(|file| file.path());
    let scripts: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    let names: Vec<&str> = scripts.iter().map(|script| script.to_str().unwrap()).collect();
    assert!(names.len() >= 2, "{names:?}");
    let (out, error, code) = run(&Setup::new(&[]), &[&["check"], &names[..]].concat());
    assert_eq!(code, 0, "{out}{error}");
    for script in &scripts {
        let picture = folder.join("../pictures").join(script.with_extension("svg").file_name().unwrap());
        assert!(picture.is_file(), "{} is missing: run docs/demos/draw", picture.display());
    }
}

#[test]
fn nothing_is_overwritten_and_a_terminal_is_needed_to_show_a_demo() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    fs::write(project(&setup).join("mine.cast"), "mine").unwrap();
    let (_, error, code) = run(&setup, &["play", "a.toml", "--record", "mine.cast"]);
    assert!(code == 2 && error.contains("already exists"), "{error}");
    assert_eq!(fs::read_to_string(project(&setup).join("mine.cast")).unwrap(), "mine");
    let (_, error, code) = run(&setup, &["play", "a.toml", "--record", "mine.cast", "--force"]);
    assert_eq!(code, 0, "{error}");
    let (_, error, code) = run(&setup, &["play", "a.toml"]);
    assert!(code == 2 && error.contains("not a terminal") && error.contains("--record"), "{error}");
    for (option, value) in [("--speed", "0"), ("--speed", "fast"), ("--size", "5x5")] {
        let (_, error, code) = run(&setup, &["play", "a.toml", "--record", "b.cast", option, value]);
        assert!(code == 2 && error.contains(value), "{error}");
    }
}

fn start(setup: &Setup, arguments: &[&str]) -> Program {
    Setup::with_home(&setup.root, &[&["demo", "play"], arguments].concat()).size(100, 30).start()
}

#[test]
fn a_demo_is_shown_in_the_terminal_paused_stepped_and_left() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    let mut program = start(&setup, &["a.toml", "--step"]);
    for shown in ["Write a message", "Add a line", "echo two"] {
        program.until(shown);
        program.until("any key next step");
        program.press_keys("x");
        program.until_gone("any key next step");
    }
    program.until("end of the demo · press any key");
    program.press_keys("x");
    program.until("Played: a.toml");
    assert_eq!(program.wait_for_exit(), 0);

    let mut program = start(&setup, &["a.toml", "--speed", "0.1"]);
    program.until("Write a message");
    program.press_keys(" ");
    program.until("paused · space continue · q quit");
    program.press_keys(" ");
    program.until_gone("paused");
    program.press_keys("q");
    assert_eq!(program.wait_for_exit(), 0);

    let mut program = Setup::with_home(&setup.root, &["demo", "play", "a.toml"]).size(60, 15).start();
    program.until("the demo needs 80x24 and the terminal has 60x15");
    assert_eq!(program.wait_for_exit(), 2);
}

#[test]
fn a_demo_is_not_played_twice_at_a_time_and_leaves_a_recording_if_it_is_killed() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    let mut program = start(&setup, &["a.toml", "--record", "slow.cast", "--speed", "0.5"]);
    program.until("Add a");
    let (_, error, code) = run(&setup, &["check", "a.toml"]);
    assert!(code == 2 && error.contains("another aye is playing it"), "{error}");
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let recording = fs::read_to_string(project(&setup).join("slow.cast")).unwrap();
    assert!(recording.lines().count() > 3 && recording.starts_with("{\"version\":3"), "{recording}");
    let (_, error, code) = run(&setup, &["check", "a.toml"]);
    assert_eq!(code, 0, "what the killed one left does not matter: {error}");
}

/// Waits at most thirty seconds until this is true.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "not in 30 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a child of a process, if there is one.
fn child_of(process: &str) -> Option<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    threads.flatten().find_map(|thread| {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        list.split_whitespace().next().map(str::to_owned)
    })
}

#[test]
fn what_plays_a_demo_ends_with_the_program_that_started_it() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", &SCRIPT.replace("echo two >> notes.txt && cat notes.txt", "sleep 100; echo two"));
    for arguments in [&["demo", "check", "a.toml"][..], &["export", "svg", "a.toml", "--output", "a.svg"]] {
        let mut program = Setup::with_home(&setup.root, arguments).spawn_piped(std::process::Stdio::null());
        let id = program.id().to_string();
        // The player and the command that it runs.
        let mut children = (String::new(), String::new());
        until(&format!("{arguments:?} runs the command"), || {
            let player = child_of(&id).unwrap_or_default();
            children = (player.clone(), child_of(&player).unwrap_or_default());
            !children.1.is_empty()
        });
        program.kill().unwrap();
        program.wait().unwrap();
        for process in [children.0, children.1] {
            until(&format!("process {process} of {arguments:?} has ended"), || {
                fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z "))
            });
        }
        assert!(!project(&setup).join("a.svg").exists());
    }
}

#[test]
fn a_result_in_the_script_replaces_the_run_but_not_the_approval() {
    let setup = Setup::new(&[]);
    let text =
        SCRIPT.replace("[[step]]\nwait = \"echo two\"", "result = \"from the script\"\n[[step]]\nwait = \"echo two\"");
    write_script(&setup, "a.toml", &text.replace("\"one, two.\"", "\"from the script, two.\""));
    let (out, error, code) = run(&setup, &["check", "a.toml"]);
    assert!(code == 0, "{out}{error}");
    let folder = setup.root.path().join("home/aye/demos");
    let demo = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_to_string(demo.join("home/notes/notes.txt")).unwrap(), "one\n", "{}", file_count(&demo));
}

#[test]
fn a_recording_is_replaced_by_a_whole_one_only_and_never_the_script() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    write_script(&setup, "bad.toml", &SCRIPT.replace("one, two.", "three"));
    fs::write(project(&setup).join("old.cast"), "old").unwrap();
    let (_, error, code) = run(&setup, &["play", "bad.toml", "--record", "old.cast", "--force"]);
    assert_eq!(code, 1, "{error}");
    assert_eq!(fs::read_to_string(project(&setup).join("old.cast")).unwrap(), "old");
    let (_, error, code) = run(&setup, &["play", "bad.toml", "--record", "new.cast"]);
    assert_eq!((code, file_count(&project(&setup))), (1, 3), "{error}");
    let (_, error, code) = run(&setup, &["play", "a.toml", "--record", "a.toml", "--force"]);
    assert!(code == 2 && error.contains("it is the script"), "{error}");
    assert_eq!(fs::read_to_string(project(&setup).join("a.toml")).unwrap(), SCRIPT);
    let (_, error, code) = run(&setup, &["check", "/dev/null"]);
    assert!(code == 2 && error.contains("it is not a file"), "{error}");
}

#[test]
fn a_link_in_place_of_the_home_folder_of_a_demo_is_not_followed() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    assert_eq!(run(&setup, &["check", "a.toml"]).2, 0);
    let demos = fs::read_dir(setup.root.path().join("home/aye/demos")).unwrap();
    let home = demos.flatten().next().unwrap().path().join("home");
    fs::remove_dir_all(&home).unwrap();
    std::os::unix::fs::symlink(project(&setup), &home).unwrap();
    assert_eq!(run(&setup, &["check", "a.toml"]).2, 0);
    assert_eq!(fs::read_to_string(project(&setup).join("a.toml")).unwrap(), SCRIPT);
    assert!(!home.is_symlink());
}

#[test]
fn a_demo_is_left_while_a_tool_runs() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", &SCRIPT.replace("cat notes.txt", "sleep 100"));
    let mut program = start(&setup, &["a.toml", "--speed", "20"]);
    program.until("Add a line");
    program.until("sleep 100");
    program.until_gone("Run a command?");
    program.press_keys("q");
    assert_eq!(program.wait_for_exit(), 0);
}

#[test]
fn the_keys_of_the_user_are_closed_to_the_commands_of_a_demo() {
    let setup = Setup::new(&[]);
    let keys = setup.root.path().join("home/aye/config/credentials.toml");
    fs::create_dir_all(keys.parent().unwrap()).unwrap();
    fs::write(&keys, "[keys]\nx = \"the-key-of-the-user\"\n").unwrap();
    let command = format!("cat {0} 2>/dev/null || echo closed; echo x >> {0} || echo kept", keys.display());
    let text = SCRIPT.replace("echo two >> notes.txt && cat notes.txt ", "sh keys.sh").replace("echo two", "keys.sh");
    let file = format!("[[file]]\npath = \"keys.sh\"\ntext = '{command}'\n\n[[step]]\ntype");
    let text = text.replacen("[[step]]\ntype", &file, 1).replace("{{add.first_line}}, two.", "{{add.first_line}}");
    write_script(&setup, "a.toml", &text.replace("wait = \"one, two.\"", "wait = \"lines: closed\""));
    let (out, error, code) = run(&setup, &["check", "a.toml"]);
    assert!(code == 0 && !error.contains("the-key-of"), "{out}{error}");
    assert!(!fs::read_to_string(&keys).unwrap().ends_with("x\n"));
}

#[test]
fn an_error_of_the_provider_is_followed_by_the_next_reply_and_found_in_a_session() {
    let setup = Setup::new(&[]);
    let text = "[[step]]\ntype = \"hi\"\n[[step]]\npress = \"enter\"\n[[step]]\nerror = \"the provider is overloaded\"\n\
                [[step]]\nwait = \"overloaded\"\n[[step]]\ntype = \"again\u{3000}!\"\n[[step]]\npress = \"enter\"\n[[step]]\nreply = \"Hello.\"\n\
                [[step]]\nwait = \"again\u{3000}!\"\n";
    write_script(&setup, "a.toml", text);
    let (out, error, code) = run(&setup, &["check", "a.toml"]);
    assert_eq!(code, 0, "{out}{error}");
}

#[test]
fn a_foreign_folder_in_the_variable_is_refused_and_kept() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    let folder = project(&setup).join("mine");
    fs::create_dir_all(folder.join("home")).unwrap();
    fs::write(folder.join("home/file"), "mine").unwrap();
    let (_, error, code) = Setup::with_home(&setup.root, &["demo", "check", "a.toml"])
        .env("AYE_DEMO_FOLDER", &folder.to_string_lossy())
        .run_piped("");
    assert!(code == 2 && error.contains("AYE_DEMO_FOLDER is set to another folder"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("home/file")).unwrap(), "mine");
}

#[test]
fn a_named_folder_is_used_as_it_is() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    let folder = project(&setup).join("work");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.txt"), "mine\n").unwrap();
    // A play finds nothing of the one before.
    let text = SCRIPT.replace("one, two.", "mine, two.").replace("has two", "has {{add.first_line}} two");
    write_script(&setup, "b.toml", &text);
    let (_, error, code) = run(&setup, &["play", "b.toml", "--folder", "work", "--record", "b.cast"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(fs::read_to_string(folder.join("notes.txt")).unwrap(), "mine\ntwo\n");
}

#[test]
fn the_script_of_a_session_plays_it_without_its_files_or_a_model_and_without_its_secrets() {
    let question = json!({ "questions": [{ "question": "Which one?", "keyword": "which", "options": [
        { "label": "red" }, { "label": "blue" }
    ] }] });
    let user = User::new(vec![
        calls_answer_after(Duration::ZERO, &[("ask_question", question)]),
        command_answer("cat notes.txt; echo token=ghp_0123456789abcdefghij0123456789abcdef; touch made.txt"),
        text_answer("The {{notes}} are read."),
    ])
    .with_project_file("notes.txt", "one\n");
    let mut program = user.setup(&[]).size(100, 30).start();
    program.until("Messages go to");
    submit_message(&mut program, "read it");
    program.until("Which one?");
    program.press_until("2", "2 ✓ blue");
    program.press_keys("\r");
    program.until_prompt("touch made.txt");
    program.press_keys("y");
    program.until_idle("are read.");
    program.press_keys("\x04");
    program.wait_for_exit();
    let sessions = fs::read_dir(user.path("home/aye/data/sessions")).unwrap();
    let session = sessions.flatten().next().unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
    let demo = |arguments: &[&str]| Setup::with_home(&user.root, &[&["demo"], arguments].concat()).run_piped("");
    let (out, error, code) = demo(&["new", "s.toml", "--from", &session]);
    assert!(code == 0 && error.contains("secret"), "{out}{error}");
    let script = fs::read_to_string(user.project().join("s.toml")).unwrap();
    assert!(!script.contains("ghp_0123456789") && script.contains("Which one?"), "{script}");
    fs::remove_file(user.project().join("made.txt")).unwrap();
    let (out, error, code) = demo(&["check", "s.toml"]);
    assert!(code == 0 && out.contains("s.toml: ok"), "{out}{error}\n{script}");
    let (_, error, code) = demo(&["play", "s.toml", "--record", "s.cast"]);
    assert_eq!(code, 0, "{error}");
    let recording = fs::read_to_string(user.project().join("s.cast")).unwrap();
    assert!(recording.contains("made.txt") && !recording.contains("ghp_0123456789"), "{recording}");
    assert!(!user.project().join("made.txt").exists(), "nothing runs again");
    let mut program = Setup::with_home(&user.root, &["replay", &session]).size(100, 31).start();
    program.until("are read.");
    program.press_keys("q");
    assert_eq!(program.wait_for_exit(), 0);
    let left = fs::read_dir(user.path("home/aye/demos")).unwrap().flatten();
    let left: Vec<_> = left.map(|folder| folder.file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with("s-")), "{left:?}");
}

#[test]
fn a_script_is_exported_without_a_recording_of_its_own_and_not_replayed() {
    let setup = Setup::new(&[]);
    write_script(&setup, "a.toml", SCRIPT);
    let export = |arguments: &[&str]| Setup::with_home(&setup.root, &[&["export"], arguments].concat()).run_piped("");
    let (out, error, code) = export(&["svg", "a.toml", "--output", "a.svg"]);
    assert!(code == 0 && out.is_empty(), "{out}{error}");
    assert!(fs::read_to_string(project(&setup).join("a.svg")).unwrap().contains("one, two."));
    write_script(&setup, "bad.toml", &SCRIPT.replace("one, two.", "three"));
    let (_, error, code) = export(&["svg", "bad.toml", "--output", "bad.svg"]);
    assert!(code == 2 && error.contains("bad.toml:") && error.contains("does not fit"), "{error}");
    assert!(!project(&setup).join("bad.svg").exists());
    for (name, reason) in [("a.toml", "it is a demo script, which runs tools"), ("nothing", "no file and no session")] {
        let (_, error, code) = Setup::with_home(&setup.root, &["replay", name]).run_piped("");
        assert!(code == 2 && error.contains(reason), "{error}");
    }
    write_script(&setup, "theme.toml", &format!("theme = \"lihgt\"\n{SCRIPT}"));
    let (_, error, code) = run(&setup, &["check", "theme.toml"]);
    assert!(code == 2 && error.contains("\"lihgt\"") && error.contains("light"), "{error}");
}
