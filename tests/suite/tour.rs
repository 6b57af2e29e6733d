//! The tour in the real program, from the first message to the audit, with the keys that its prompts name.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::Setup;
use crate::support::terminal_session::submit_message;

/// What the tour says on the way is checked against its project.
#[test]
fn the_tour_shows_approvals_a_trial_a_question_a_dry_run_and_the_audit() {
    if !has_overlay_sandbox() {
        return;
    }
    let mut program = Setup::new(&["--tour"]).size(100, 40).start();
    program.until("Connected to the tour");
    submit_message(&mut program, "hello");
    program.until_prompt("Write an answer");
    program.press_keys("n");
    program.until_gone("x decline");
    program.press_keys("faster");
    program.until("faster");
    program.wait_ms(600);
    program.press_keys("\r");
    program.until_prompt("n note");
    program.press_until("\r", "Your note: “faster”.");
    let project = program.root.path().join("home/aye/tour");
    let read = |name: &str| std::fs::read_to_string(project.join(name)).ok();
    let answer = |program: &mut crate::support::program::Program, title: &str, key: &str| {
        program.until_prompt(title);
        program.press_keys(key);
    };
    answer(&mut program, "Change a file?", "y");
    answer(&mut program, "$ sh check.sh", "y");
    program.until("The check says: “ok: the test runs in virtual time”");
    assert!(read("tests/retry.rs").unwrap().contains("start_paused = true"));
    let screen = program.until_prompt("$ rm notes.old");
    assert!(screen.contains("Y approve") && screen.contains("warning: this deletes notes.old"), "{screen}");
    assert!(read("notes.old").is_some());
    program.press_keys("Y");
    program.until_prompt("$ sh report.sh");
    assert_eq!(read("notes.old"), None);
    program.until("t try it first");
    program.press_keys("t");
    program.until_prompt("Keep what the trial did?");
    assert_eq!(read("build/report.txt"), None, "nothing is real yet");
    program.press_keys("k");
    program.until("kept: 1 created, 1 changed");
    assert!(read("build/report.txt").is_some());
    program.until_idle("nothing real is changed");
    submit_message(&mut program, "/fork dry");
    program.until("Dry run from here on");
    submit_message(&mut program, "go on");
    program.until("This is the end of the tour");
    let screen = program.until("aye --base-url");
    let text = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the mode auto is a good start where commands can be tried"), "{screen}");
    assert!(read("src/lib.rs").is_some(), "the dry run deleted nothing");
    submit_message(&mut program, "/audit");
    let screen = program.until("Calls and decisions");
    for call in
        ["you kept the trial, done · sh report.sh", "you approved, done · rm notes.old", "rehearsed · rm -r src"]
    {
        assert!(screen.contains(call), "{call}: {screen}");
    }
}
