//! Labels of calls that did not run or were stopped, for the right side of their rows.

use super::layout_context::LayoutContext;
use crate::chat::Outcome;
use crate::chat::reviewer::describe_hooks_not_run;
use crate::chat::session::CallState;
use crate::text::{clean, width};
use ratatui::text::{Line, Span};

/// Returns the row that lists hooks skipped in a dry run, shown below their call.
pub fn skipped_hooks_row(context: &LayoutContext<'_>, call: &CallState) -> Option<Line<'static>> {
    let hooks = describe_hooks_not_run(&call.plan.as_ref()?.hooks_not_run)?;
    let hooks = clean::clean_line(&hooks);
    let hooks = width::fit_start(&hooks, context.width.saturating_sub(4));
    Some(Line::from(Span::styled(format!("    {hooks}"), context.theme.dim)))
}

/// Starts of refusals as the model receives them, and their labels. The first start that matches counts. A label that
/// ends in a blank is followed by the reason from the text. Session files store the texts, so the wording of older
/// versions stays in the list.
const REFUSAL_STARTS: [(&str, &str); 14] = [
    ("Refused in every mode: ", "denied: "),
    ("Refused, in every mode and whatever was allowed: ", "denied: "),
    ("Refused by a rule of the user: ", "denied by your rule: "),
    ("Refused by a rule of the person: ", "denied by your rule: "),
    ("Refused: plan mode", "denied: plan mode"),
    ("Refused: the session is in plan mode", "denied: plan mode"),
    ("Refused: this call of ", "not retried: "),
    ("Not retried: this call of ", "not retried: "),
    ("STOP: this call of ", "not retried: "),
    ("Denied: no interactive user", "denied: no user available"),
    ("Nobody was there to say yes", "denied: no user available"),
    ("Refused by ", "denied by "),
    ("Refused: ", "denied: "),
    ("Denied: ", "denied: "),
];
/// Ends of the reason, at which the advice to the model starts.
const REASON_ENDS: [&str; 5] =
    [". Do not ", ". It was not run", ". The call was not run", ". Nothing was done", " with the same arguments"];
/// Phrases for a stop by the user, in lower case.
const USER_STOP_PHRASES: [&str; 4] = ["user stopped", "person stopped", "user interrupted", "by the user"];
/// Phrases for the end of the program, in lower case.
const EXIT_PHRASES: [&str; 4] = ["program ended", "program exited", "aye ended", "aye exited"];

/// Returns the label; `None` for a call that succeeded, failed or was rehearsed. `denial` is the message of the user's
/// denial, if any.
pub fn label_outcome(outcome: &Outcome, denial: Option<&str>) -> Option<String> {
    let text = outcome.text();
    let first_line = || text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match (outcome, denial) {
        (Outcome::Refused(_), Some("")) => Some("denied by you".to_owned()),
        (Outcome::Refused(_), Some(message)) => Some(format!("denied by you: {message}")),
        (Outcome::Refused(_), None) => Some(label_refusal(text).unwrap_or_else(|| first_line().to_owned())),
        (Outcome::Interrupted(_), _) => Some(label_stop(first_line()).unwrap_or_else(first_line).to_owned()),
        (Outcome::Done(_) | Outcome::Failed(_) | Outcome::Rehearsed(_), _) => None,
    }
}

/// Returns the label of a refusal with a known start.
fn label_refusal(text: &str) -> Option<String> {
    let strip_start = |(start, label): &(&str, &'static str)| Some((*label, text.strip_prefix(start)?));
    let (label, rest) = REFUSAL_STARTS.iter().find_map(strip_start)?;
    if !label.ends_with(' ') {
        return Some(label.to_owned());
    }
    let ends = REASON_ENDS.iter().filter_map(|end| rest.find(end));
    Some(format!("{label}{}", &rest[..ends.min().unwrap_or(rest.len())]))
}

/// Returns the label of a stopped call, from a known phrase in the first line of its outcome. The other words of that
/// line differ between calls, commands and sub-agents.
fn label_stop(line: &str) -> Option<&'static str> {
    let line = line.to_lowercase();
    let has_any = |phrases: &[&str]| phrases.iter().any(|phrase| line.contains(phrase));
    let is_unstarted = line.starts_with("not ");
    match (has_any(&USER_STOP_PHRASES), has_any(&EXIT_PHRASES)) {
        (true, _) if is_unstarted => Some("stopped by you"),
        (true, _) => Some("stopped by you while it ran"),
        (false, true) if is_unstarted => Some("not run: aye exited"),
        (false, true) => Some("aye exited while it ran"),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_refusal(text: &str, expected: &str) {
        assert_eq!(label_outcome(&Outcome::Refused(text.into()), None).as_deref(), Some(expected));
    }

    #[test]
    fn a_refusal_shows_its_reason_without_the_advice_to_the_model() {
        assert_refusal(
            "Refused, in every mode and whatever was allowed: sudo gives a command more rights than yours. Do not try it another way; say what the person can do themselves.",
            "denied: sudo gives a command more rights than yours",
        );
        assert_refusal(
            "Refused: the session is in plan mode, where nothing but reading inside the project runs. Say what you would do instead.",
            "denied: plan mode",
        );
        assert_refusal(
            "STOP: this call of read_file failed 3 times with the same arguments and was not tried again. Do something else.",
            "not retried: read_file failed 3 times",
        );
        assert_refusal(
            "Refused: this call of read_file failed 3 times with the same arguments. It was not run. Try something else.",
            "not retried: read_file failed 3 times",
        );
        assert_refusal(
            "Refused in every mode: sudo gives a command more rights than yours. Do not retry it in another form.",
            "denied: sudo gives a command more rights than yours",
        );
        assert_refusal(
            "Refused by a rule of the user: no pushes. Do not retry it in another form; report it.",
            "denied by your rule: no pushes",
        );
        assert_refusal(
            "Refused: plan mode allows only reading inside the project. Describe what you would do instead.",
            "denied: plan mode",
        );
        assert_refusal(
            "Denied: no interactive user is available to approve this call. It was not run.",
            "denied: no user available",
        );
        assert_refusal(
            "Refused by hook “check”: no writes. The call was not run. Do not retry it in another form.",
            "denied by hook “check”: no writes",
        );
        assert_refusal("\n another server's words\nand more", " another server's words");
        assert_refusal("", "");
    }

    #[test]
    fn a_stopped_call_shows_who_stopped_it() {
        for (text, expected) in [
            ("Not done: the person stopped the turn before it began.", "stopped by you"),
            ("The person stopped it in the middle. What it had done", "stopped by you while it ran"),
            ("Not done: the program ended before its turn came.", "not run: aye exited"),
            ("Not run: the user stopped the turn first.", "stopped by you"),
            ("The user stopped the sub-agent. Completed calls keep their effects.", "stopped by you while it ran"),
            ("The program exited while this ran: its outcome is unknown.", "aye exited while it ran"),
            ("something else", "something else"),
        ] {
            assert_eq!(label_outcome(&Outcome::Interrupted(text.into()), None).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_denial_shows_the_users_message() {
        let denied = Outcome::Refused("The person said no. Nothing was done.".into());
        assert_eq!(label_outcome(&denied, Some("")).as_deref(), Some("denied by you"));
        assert_eq!(label_outcome(&denied, Some("not now")).as_deref(), Some("denied by you: not now"));
        assert_eq!(label_outcome(&Outcome::Done("x".into()), None), None);
    }
}
