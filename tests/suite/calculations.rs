//! The calculator in the real program.

use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_calculation_runs_without_approval_live_and_in_a_dry_run() {
    for arguments in [&[][..], &["--dry-run"], &["--mode", "plan"]] {
        let calculation = ("calculator", json!({ "expression": "(0.1 + 0.2) * 10 ** 2 - 1 / 3" }));
        let wrong = ("calculator", json!({ "expression": "9 ** 9 ** 9" }));
        let calls = calls_answer_after(Duration::ZERO, &[calculation, wrong]);
        let user = User::new(vec![calls, text_answer("Done.")]);
        let mut program = user.start(arguments);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until("Done.");
        let outcomes = || -> Vec<Outcome> {
            let settled = |entry| match entry {
                Entry::Settled { outcome, .. } => Some(outcome),
                _ => None,
            };
            read_session(&user.setup(&[])).into_iter().filter_map(settled).collect()
        };
        program.until_condition("both are settled", |_| outcomes().len() == 2);
        let outcomes = outcomes();
        // The calls run at the same time and may end in either order.
        assert!(outcomes.contains(&Outcome::Done("89/3 ≈ 29.66666666666666666667".to_owned())), "{outcomes:?}");
        let is_too_large =
            |outcome: &Outcome| matches!(outcome, Outcome::Failed(text) if text.starts_with("too_large: "));
        assert!(outcomes.iter().any(is_too_large), "{outcomes:?}");
    }
}
