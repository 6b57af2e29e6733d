//! Time limits of commands in the real program.

use crate::support::stored_files::{NO_TITLES, read_session, write_settings};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::json;
use std::time::Duration;

/// The model learns the limit, the prompt shows the time that is left of the requested one, and the command ends then.
#[test]
fn the_setting_limits_the_timeout_that_the_model_requests() {
    let call = |command: &str, timeout: u64| {
        calls_answer_after(Duration::ZERO, &[("bash_exec", json!({ "command": command, "timeout": timeout }))])
    };
    let user = User::new(vec![call("sleep 50", 600), call("touch made", 2), text_answer("Done.")]);
    write_settings(&user.setup(&[]), &format!("{NO_TITLES}[shell]\ntimeout = 1\nmax_timeout = 3\n"));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("sleep 50");
    let screen = program.until_prompt("timeout 3 s");
    assert!(!screen.contains("600"), "{screen}");
    program.press_keys("y");
    // A shorter one is left as it is.
    program.until_all(&["touch made", "timeout 2 s"]);
    program.until_prompt("touch made");
    program.press_keys("y");
    program.until_idle("Done.");
    let outcomes = read_session(&user.setup(&[])).into_iter().filter_map(|entry| match entry {
        Entry::Settled { outcome, .. } => Some(outcome),
        _ => None,
    });
    let outcomes: Vec<Outcome> = outcomes.collect();
    let is_stopped = outcomes[0].text().contains("stopped after 3 s, the maximum");
    assert!(is_stopped && outcomes[1] == Outcome::Done("exit 0".into()), "{outcomes:?}");
    let sent = user.service.received()[0].body.to_string();
    assert!(sent.contains("Seconds, default 1, capped at 3"), "{sent}");
}
