//! A yes for a line that runs a script, in the real program: it ends when the script changes.

use crate::support::program::Setup;
use crate::support::service::Answer;
use crate::support::terminal_session::{runs, say, says};
use crate::support::user::User;
use std::path::Path;

const DOWN: &str = "\x1b[B";

/// How often the script ran.
fn ran(place: &Path) -> usize {
    std::fs::read(place.join("project/ran")).map_or(0, |bytes| bytes.len())
}

fn turns(count: usize) -> Vec<Answer> {
    (0..count).flat_map(|turn| [runs("bash run.sh"), says(&format!("That was {turn}."))]).collect()
}

#[test]
fn r11_a_rule_for_a_line_that_runs_a_script_ends_when_the_script_changes() {
    let person = User::new(turns(3)).with("run.sh", "echo >> ran\n");
    let mut program = person.start(&[]);
    program.until("Connected to");
    say(&mut program, "go");
    program.until_asked("bash run.sh");
    program.press_until("a", "Allow without asking");
    program.until("exactly this command, in this folder (run.sh unchanged)");
    program.press_until(DOWN, "scripts = { \"run.sh\" = \"");
    program.press_until("\r", "That was 0.");
    assert_eq!(ran(person.place.path()), 1);
    let rules = std::fs::read_to_string(person.rules()).unwrap();
    assert!(rules.contains("command = \"bash run.sh\"") && rules.contains("scripts = { \"run.sh\""), "{rules}");

    // As it was, it runs without a card.
    say(&mut program, "again");
    program.until_quiet("That was 1.");
    assert_eq!(ran(person.place.path()), 2);
    let told = person.run_headless(&["rules", "explain", "bash run.sh"]).0;
    assert!(told.contains("matches: allow bash_exec exactly: bash run.sh (run.sh unchanged)"), "{told}");

    // Changed by a letter it asks, and says why.
    std::fs::write(person.path("project/run.sh"), "echo >> ran \n").unwrap();
    say(&mut program, "once more");
    program.until_asked("run.sh has changed since you allowed it by a rule");
    assert_eq!(ran(person.place.path()), 2, "nothing ran");
    let told = person.run_headless(&["rules", "explain", "bash run.sh"]).0;
    for part in ["does not match: allow bash_exec exactly: bash run.sh", "run.sh has changed", "\nask\n"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn r11_a_rule_without_its_scripts_is_off_and_explain_prints_what_is_missing() {
    let person = User::new(turns(1)).with("run.sh", "echo >> ran\n");
    let file = person.rules();
    let rule = "[[rule]]\nsays = \"allow\"\ntool = \"bash_exec\"\ncommand = \"bash run.sh\"\n";
    std::fs::write(&file, rule).unwrap();
    let (said, _, code) = Setup::again(&person.place, &["rules", "check"]).print("");
    assert!(code == 2 && said.contains("the command runs run.sh, but the rule does not list its digest"), "{said}");
    let told = person.run_headless(&["rules", "explain", "bash run.sh"]).0;
    let line = told.lines().find_map(|line| line.trim().strip_prefix("scripts = ")).unwrap_or_else(|| panic!("{told}"));
    assert!(told.contains("\nask\n"), "{told}");
    std::fs::write(&file, format!("{rule}scripts = {line}\n")).unwrap();
    let mut program = person.start(&[]);
    program.until("Connected to");
    say(&mut program, "go");
    program.until_quiet("That was 0.");
    assert_eq!(ran(person.place.path()), 1, "with the line that was printed it speaks");
}

#[test]
fn r11_a_yes_for_the_session_ends_too_and_both_grants_and_explain_say_why() {
    let person = User::new(turns(3)).with("run.sh", "echo >> ran\n");
    let mut program = person.start(&[]);
    program.until("Connected to");
    say(&mut program, "go");
    program.until_asked("bash run.sh");
    program.press_until("a", "Allow without asking");
    program.press_until("\r", "That was 0.");
    let told = person.run_headless(&["rules", "explain", "--continue", "bash run.sh"]).0;
    for part in ["grants of this session", "before with enter, on call 1 of this session", "\nallow\n"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(person.run_headless(&["rules", "explain", "bash run.sh"]).0.contains("\nask\n"), "without the session");
    std::fs::write(person.path("project/run.sh"), "rm -f ran\n").unwrap();
    say(&mut program, "again");
    program.until_asked("run.sh has changed since you allowed it on call 1 of this session");
    let told = person.run_headless(&["rules", "explain", "--continue", "bash run.sh"]).0;
    assert!(told.contains("outdated: run.sh has changed since you allowed it on call 1"), "{told}");
    program.press_until("n", "That was 1.");
    assert_eq!(ran(person.place.path()), 1);
    // Every call is there, with why it went ahead or was asked. A no too many is no word of it.
    program.keys("\x15");
    say(&mut program, "/grants");
    program.until("in this folder (run.sh unchanged), for this session");
    program.until("asked you: run.sh has changed");
    program.until("asked you: script run.sh");
    // Each opens what is recorded of it.
    program.keys(DOWN);
    program.press_until("\r", "since you allowed it on call 1 of this session");
}

#[test]
fn r11_where_a_script_cannot_be_seen_nothing_lasting_is_offered_and_it_is_said_why() {
    let person =
        User::new(vec![runs("for f in *.sh; do bash $f; done"), says("Done.")]).with("run.sh", "echo >> ran\n");
    let mut program = person.start(&[]);
    program.until("Connected to");
    say(&mut program, "go");
    program.until_asked("for f in");
    program.press_until("a", "Needs approval each time: ");
    program.press_until("y", "Done.");
    assert_eq!(ran(person.place.path()), 1);
}
