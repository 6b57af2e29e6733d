//! Why a call ran, in the real program: the line of the call says so once it is opened, and `w` shows the whole reason.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use crate::support::user::User;
use serde_json::json;
use std::time::Duration;

const ALT_UP: &str = "\x1b[1;3A";

/// Read-only, a rule, an approval of the user, and a kept trial.
#[test]
fn every_call_says_why_it_ran_opened_and_on_the_page_of_its_reason() {
    let has_trials = has_overlay_sandbox();
    let mut answers = vec![
        calls_answer_after(Duration::ZERO, &[("read_file", json!({ "path": "a.txt" }))]),
        command_answer("touch by-rule"),
        command_answer("touch by-me"),
    ];
    answers.extend(has_trials.then(|| command_answer("touch by-trial")));
    answers.push(text_answer("Done."));
    let user = User::new(answers).with_project_file("a.txt", "one\n");
    let project = user.project().canonicalize().unwrap().display().to_string();
    let user = user.with_rules(&format!(
        "[[rule]]\nverdict = \"allow\"\nprefix = [\"touch\", \"by-rule\"]\nproject = \"{project}\"\ncreated = {}\n",
        days_ago(2)
    ));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("touch by-me");
    // The reason has the time from the prompt to the answer.
    program.wait_ms(1500);
    program.press_keys("y");
    if has_trials {
        program.until_prompt("touch by-trial");
        program.press_keys("t");
        program.until_prompt("Keep what the trial did?");
        program.press_keys("k");
    }
    program.until_idle("Done.");
    // From the last call to the first one.
    let calls: [(&str, &[&str]); 4] = [
        ("touch by-trial", &["kept from a trial by you after "]),
        ("touch by-me", &["approved by you after "]),
        ("touch by-rule", &["allowed by rule: touch by-rule … (this project, saved 2 days ago, "]),
        ("a.txt", &["read-only"]),
    ];
    for (call, reason) in calls.into_iter().skip(usize::from(!has_trials)) {
        program.press_keys(ALT_UP);
        program.until("w why");
        let in_place = [&["    tool "], reason].concat();
        program.press_keys("\r");
        program.until_all(&in_place);
        program.press_keys("\r");
        program.until_gone("    tool ");
        program.press_keys("w");
        let page = program.until_all(&[&["Why it ran", call], reason].concat());
        // A rule is shown as its file has it.
        assert_eq!(page.contains("prefix = [\"touch\", \"by-rule\"]"), call == "touch by-rule", "{page}");
        if let Some((_, time)) = page.split_once("approved by you after ") {
            let mut words = time.split_whitespace();
            let seconds: f64 = words.next().unwrap().parse().unwrap();
            assert!(seconds >= 1.5 && words.next() == Some("s"), "{page}");
        }
        program.press_keys("\x1b");
        program.until_gone("Why it ran");
    }
}

/// The date of this many days ago, as in a rules file.
pub fn days_ago(days: i64) -> String {
    jiff::Zoned::now().date().saturating_sub(jiff::Span::new().days(days)).to_string()
}
