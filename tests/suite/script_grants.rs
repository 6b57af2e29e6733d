//! Grants and rules for a line that runs a script, in the real program: they end when the script changes.

use crate::support::program::Setup;
use crate::support::service::Answer;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;
use std::path::Path;

const DOWN: &str = "\x1b[B";

/// Returns how many times the script ran. Each run appends one byte to the file `ran`.
fn count_runs(root: &Path) -> usize {
    std::fs::read(root.join("project/ran")).map_or(0, |bytes| bytes.len())
}

fn run_script_answers(count: usize) -> Vec<Answer> {
    (0..count).flat_map(|turn| [command_answer("bash run.sh"), text_answer(&format!("That was {turn}."))]).collect()
}

#[test]
fn r11_rule_for_a_script_ends_when_the_script_changes() {
    let user = User::new(run_script_answers(3)).with_project_file("run.sh", "echo >> ran\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("bash run.sh");
    program.press_until("a", "Allow without asking");
    program.until("exactly this command, in this folder (run.sh unchanged)");
    program.press_until(DOWN, "scripts = { \"run.sh\" = \"");
    program.press_until("\r", "That was 0.");
    assert_eq!(count_runs(user.root.path()), 1);
    let rules = std::fs::read_to_string(user.rules()).unwrap();
    assert!(rules.contains("command = \"bash run.sh\"") && rules.contains("scripts = { \"run.sh\""), "{rules}");

    // The unchanged script runs without a prompt.
    submit_message(&mut program, "again");
    program.until_idle("That was 1.");
    assert_eq!(count_runs(user.root.path()), 2);
    let output = user.run_headless(&["rules", "explain", "bash run.sh"]).0;
    assert!(output.contains("matches: allow bash_exec exactly: bash run.sh (run.sh unchanged)"), "{output}");

    // After a change of one byte it asks and states why.
    std::fs::write(user.path("project/run.sh"), "echo >> ran \n").unwrap();
    submit_message(&mut program, "once more");
    program.until_prompt("run.sh has changed since you allowed it by a rule");
    assert_eq!(count_runs(user.root.path()), 2, "nothing ran");
    let output = user.run_headless(&["rules", "explain", "bash run.sh"]).0;
    for part in ["does not match: allow bash_exec exactly: bash run.sh", "run.sh has changed", "\nask\n"] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn r11_rule_without_script_digests_is_off_and_explain_prints_them() {
    let user = User::new(run_script_answers(1)).with_project_file("run.sh", "echo >> ran\n");
    let file = user.rules();
    let rule = "[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\ncommand = \"bash run.sh\"\n";
    std::fs::write(&file, rule).unwrap();
    let (output, _, code) = Setup::with_home(&user.root, &["rules", "check"]).run_piped("");
    assert!(code == 2 && output.contains("the command runs run.sh, but the rule does not list its digest"), "{output}");
    let output = user.run_headless(&["rules", "explain", "bash run.sh"]).0;
    let line =
        output.lines().find_map(|line| line.trim().strip_prefix("scripts = ")).unwrap_or_else(|| panic!("{output}"));
    assert!(output.contains("\nask\n"), "{output}");
    std::fs::write(&file, format!("{rule}scripts = {line}\n")).unwrap();
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("That was 0.");
    assert_eq!(count_runs(user.root.path()), 1, "with the printed line the rule applies");
}

#[test]
fn r11_session_grant_ends_too_and_grants_and_explain_state_why() {
    let user = User::new(run_script_answers(3)).with_project_file("run.sh", "echo >> ran\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("bash run.sh");
    program.press_until("a", "Allow without asking");
    program.press_until("\r", "That was 0.");
    let output = user.run_headless(&["rules", "explain", "--continue", "bash run.sh"]).0;
    for part in ["grants of this session", "before with enter, on call 1 of this session", "\nallow\n"] {
        assert!(output.contains(part), "{part}: {output}");
    }
    assert!(user.run_headless(&["rules", "explain", "bash run.sh"]).0.contains("\nask\n"), "without the session");
    std::fs::write(user.path("project/run.sh"), "rm -f ran\n").unwrap();
    submit_message(&mut program, "again");
    program.until_prompt("run.sh has changed since you allowed it on call 1 of this session");
    let output = user.run_headless(&["rules", "explain", "--continue", "bash run.sh"]).0;
    assert!(output.contains("outdated: run.sh has changed since you allowed it on call 1"), "{output}");
    program.press_until("n", "That was 1.");
    assert_eq!(count_runs(user.root.path()), 1);
    // `press_until` may have pressed `n` twice, the second time in the composer; ctrl-u clears the composer.
    program.press_keys("\x15");
    // Every call is listed with its reason.
    submit_message(&mut program, "/grants");
    program.until("bash run.sh (run.sh unchanged)");
    program.until("you denied · run.sh has changed");
    program.until("you granted · runs the script run.sh");
    // Each listed call opens its record.
    program.press_keys(DOWN);
    program.press_until("\r", "since you allowed it on call 1 of this session");
}

#[test]
fn r11_line_with_unknown_scripts_offers_no_grant_and_states_why() {
    let person = User::new(vec![command_answer("for f in *.sh; do bash $f; done"), text_answer("Done.")])
        .with_project_file("run.sh", "echo >> ran\n");
    let mut program = person.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("for f in");
    program.press_until("a", "Needs approval each time: ");
    program.press_until("y", "Done.");
    assert_eq!(count_runs(person.root.path()), 1);
}
