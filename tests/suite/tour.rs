//! The tour in the real program, from the first message to the audit, with the keys that its prompts name.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::print_uncaptured;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::submit_message;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A user who presses only keys that the screen names, and counts them.
struct Visitor {
    program: Program,
    key_count: usize,
}

impl Visitor {
    /// Waits for a prompt with this text that names the key, and presses it. Returns the screen of the prompt.
    fn answer(&mut self, text: &str, hint: &str, key: &str) -> String {
        self.program.until_prompt(text);
        let screen = self.program.until(hint);
        self.press(key);
        screen
    }

    fn press(&mut self, key: &str) {
        self.program.press_keys(key);
        self.key_count += 1;
    }

    fn send(&mut self, text: &str) {
        submit_message(&mut self.program, text);
        self.key_count += text.chars().count() + 1;
    }

    /// The text of a file of the tour's project.
    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.project().join(name)).ok()
    }

    fn project(&self) -> PathBuf {
        self.program.root.path().join("home/aye/tour")
    }
}

/// Every file in a folder with its content.
fn read_tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten();
    let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap())).collect()
}

/// Returns whether the text is drawn in a color with more red than anything else.
fn is_red(program: &mut Program, text: &str) -> bool {
    let (screen, width) = (program.screen(), program.screen_width());
    let Some(row) = screen.lines().position(|line| line.contains(text)) else { return false };
    let line = screen.lines().nth(row).unwrap_or_default();
    let column = line[..line.find(text).unwrap_or_default()].chars().count();
    let style = program.cell_styles().swap_remove(row * width + column);
    let Some((_, color)) = style.split_once("Rgb(") else { return false };
    let parts: Vec<u8> = color[..color.find(')').unwrap_or(0)].split(", ").map(|part| part.parse().unwrap()).collect();
    parts[0] > parts[1].saturating_add(40) && parts[0] > parts[2].saturating_add(40)
}

/// What the tour says on the way is checked against its project. The time and the keys are printed.
#[test]
fn the_tour_shows_approvals_a_trial_a_question_a_dry_run_and_the_audit() {
    if !has_overlay_sandbox() {
        return;
    }
    let started = Instant::now();
    let mut program = Setup::new(&["--tour"]).size(100, 40).start();
    program.until("Connected to the tour");
    let mut visitor = Visitor { program, key_count: 0 };
    visitor.send("hello");
    let screen = visitor.answer("Write an answer", "n note", "n");
    for option in ["1   tokio::time::pause", "2   a Clock trait", "3   the real clock"] {
        assert!(screen.contains(option), "{option}: {screen}");
    }
    visitor.program.until_gone("x decline");
    visitor.program.type_text("faster");
    visitor.key_count += "faster".len();
    visitor.program.until("faster");
    visitor.program.wait_ms(600);
    visitor.press("\r");
    visitor.program.until_prompt("n note");
    visitor.program.press_until("\r", "Your note: “faster”.");
    visitor.key_count += 1;
    let screen = visitor.answer("Change a file?", "y approve", "y");
    assert!(
        screen.contains("− #[tokio::test]") && screen.contains("+ #[tokio::test(start_paused = true)]"),
        "{screen}"
    );
    visitor.answer("$ sh check.sh", "y approve", "y");
    visitor.program.until("The check says: “ok: the test runs in virtual time”");
    assert!(visitor.read("tests/retry.rs").unwrap().contains("start_paused = true"));

    // Only the capital letter approves the deletion, whose warning is red.
    visitor.program.until_prompt("$ rm notes.old");
    visitor.program.until("Y approve");
    assert!(is_red(&mut visitor.program, "warning: this deletes notes.old"), "{}", visitor.program.screen());
    assert!(!is_red(&mut visitor.program, "$ rm notes.old"), "the command itself is not");
    visitor.press("y");
    visitor.program.until("Destructive: y is not enough · Y to approve");
    assert!(visitor.read("notes.old").is_some());
    visitor.answer("$ rm notes.old", "Y to approve", "Y");

    visitor.answer("$ sh report.sh", "t try it first", "t");
    assert_eq!(visitor.read("notes.old"), None);
    visitor.program.until_prompt("Keep what the trial did?");
    let screen = visitor.program.until("k keep these changes");
    assert!(screen.contains("+ build/report.txt") && screen.contains("~ README.md"), "{screen}");
    assert_eq!(visitor.read("build/report.txt"), None, "nothing is real yet");
    visitor.press("k");
    let screen = visitor.program.until_idle("If you kept a trial, the line of the command above says so.");
    let line = screen.lines().find(|line| line.contains("Run sh report.sh")).unwrap_or_else(|| panic!("{screen}"));
    assert!(line.contains("kept: 1 created, 1 changed"), "{screen}");
    assert!(visitor.read("build/report.txt").is_some());

    let before = read_tree(&visitor.project());
    visitor.program.until("Type /fork dry and send any message");
    visitor.send("/fork dry");
    visitor.program.until("Dry run from here on");
    visitor.send("go on");
    visitor.program.until("This is the end of the tour");
    let screen = visitor.program.until("aye --base-url http://127.0.0.1:8080/v1 --model NAME");
    let text = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["start with /mode auto if this system can try commands", "not harmless or if it cannot be tried"] {
        assert!(text.contains(part), "{part}: {screen}");
    }
    visitor.program.until_gone("replying");
    assert_eq!(read_tree(&visitor.project()), before, "the dry run changed nothing");
    visitor.send("/rehearsal");
    visitor.program.until_all(&["Rehearsed: 2 files changed, +0 −38", "− lib.rs", "− retry.rs", "$ rm -r src && ls"]);
    visitor.press("\x1b");
    visitor.program.until_gone("Rehearsed: 2 files");
    visitor.send("/audit");
    let calls = [
        "✓ read_file     allowed, done · tests/retry.rs",
        "✓ search_text   allowed, done · Instant::now in .",
        "✓ ask_question  you answered",
        "✓ edit_file     you approved, done · tests/retry.rs",
        "✓ bash_exec     you approved, done · sh check.sh",
        "✓ bash_exec     you approved, done · rm notes.old",
        "✓ bash_exec     you kept the trial, done · sh report.sh",
        "◇ bash_exec     rehearsed · rm -r src && ls",
    ];
    visitor.program.until_all(&[&["Calls and decisions", "8 of 8"][..], &calls].concat());
    // Who decided, when, and with which key.
    visitor.press("\x1b[A");
    visitor.press("\r");
    visitor.program.until_all(&["7 of 8 · bash_exec", "sh report.sh", "you kept the changes of trial", " · k · "]);
    print_uncaptured(&format!("the tour: {} keys, {:.0?}", visitor.key_count, started.elapsed()));

    // It says how to return to it.
    let end = "This is the end of the tour";
    visitor.program.signal(Signal::TERM);
    visitor.program.wait_for_exit();
    let mut program = Setup::with_home(&visitor.program.root, &["--tour", "--continue"]).size(100, 40).start();
    program.until(end);
    for hint in ["try /help", "/fork dry continues in a dry run", "aye --tour --continue: the session is restored"] {
        submit_message(&mut program, "and now");
        program.until(hint);
        program.until_gone("replying");
    }
}

/// The texts of the tour describe prompts, which a rule of the user would answer.
#[test]
fn rules_that_allow_answer_no_prompt_of_the_tour() {
    let setup = Setup::new(&["--tour"]).size(100, 30);
    write_settings(&setup, "");
    let rules = "[[rule]]\nverdict = \"allow\"\ntool = \"edit_file\"\npath = \"**\"\n";
    std::fs::write(setup.root.path().join("home/aye/config/rules.toml"), rules).unwrap();
    let mut program = setup.start();
    program.until("Connected to the tour");
    let mut visitor = Visitor { program, key_count: 0 };
    visitor.send("hello");
    visitor.program.until_prompt("Write an answer");
    visitor.program.press_until("\r", "tokio::time::pause it is.");
    visitor.answer("Change a file?", "y approve", "n");
}

/// Whatever mode is given or configured, the tour asks as its texts say.
#[test]
fn the_tour_starts_in_ask_mode() {
    for (arguments, settings) in [
        (&["--tour", "--mode", "auto"][..], ""),
        (&["--tour", "--mode", "plan"], ""),
        (&["--tour"], "[approval]\nmode = \"full\"\n"),
    ] {
        let setup = Setup::new(arguments).size(100, 30);
        write_settings(&setup, settings);
        let mut program = setup.start();
        program.until_all(&[" is ignored: the tour always starts in ask mode.", "ask mode"]);
        let mut visitor = Visitor { program, key_count: 0 };
        visitor.send("hello");
        visitor.program.until_prompt("Write an answer");
        visitor.program.press_until("\r", "tokio::time::pause it is.");
        visitor.answer("Change a file?", "y approve", "n");
        visitor.answer("$ sh check.sh", "y approve", "n");
    }
}
