//! What became of a call that was not done, in the few words at the right of its row.

use super::Ground;
use crate::chat::Outcome;
use crate::chat::adviser::words_of_hooks_not_run;
use crate::chat::session::Call;
use crate::tui::text::{clean, width};
use ratatui::text::{Line, Span};

/// The row below a call of a dry run whose hooks were not run.
pub fn hooks_not_run(ground: &Ground<'_>, call: &Call) -> Option<Line<'static>> {
    let words = words_of_hooks_not_run(&call.shown.as_ref()?.hooks_not_run)?;
    let words = clean::one_line(&words);
    let words = width::fit(&words, ground.width.saturating_sub(4));
    Some(Line::from(Span::styled(format!("    {words}"), ground.theme.dim)))
}

/// How outcomes begin that were written for the model, and what stands for that beginning; then what follows there, up to
/// the end of its sentence.
const REFUSED: [(&str, &str); 5] = [
    ("Refused, in every mode and whatever was allowed: ", "refused: "),
    ("Refused by a rule of the person: ", "refused by your rule: "),
    ("Refused: the session is in plan mode", "refused: plan mode"),
    ("STOP: this call of ", "not tried again: "),
    ("Nobody was there to say yes", "nobody was there to say yes"),
];
/// The same of what was stopped, which says nothing more.
const STOPPED: [(&str, &str); 6] = [
    ("Not done: the person stopped", "stopped by you"),
    ("The person stopped it", "stopped by you, in the middle"),
    ("The person stopped the sub-agent", "stopped by you, in the middle"),
    ("Not done: the program ended", "not done: the program ended"),
    ("The program ended while this ran", "the program ended while it ran"),
    ("The program ended while the sub-agent", "the program ended meanwhile"),
];
/// Where the reason ends and what the model is to do about it begins.
const TOLD: [&str; 3] = [". Do not try", ", where nothing but", " with the same arguments"];

/// The words; nothing for a call that was done, or failed by itself. `no` are the words of the person's no, where it was one.
pub fn verdict(outcome: &Outcome, no: Option<&str>) -> Option<String> {
    let text = outcome.text();
    let first = || text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match (outcome, no) {
        (Outcome::Refused(_), Some("")) => Some("you said no".to_owned()),
        (Outcome::Refused(_), Some(words)) => Some(format!("you said no: {words}")),
        (Outcome::Refused(_), None) => Some(match begins(&REFUSED, text) {
            Some((words, reason)) => format!("{words}{}", reason_of(reason)),
            None => first().to_owned(),
        }),
        (Outcome::Interrupted(_), _) => Some(match begins(&STOPPED, text) {
            Some((words, _)) => words.to_owned(),
            None => first().to_owned(),
        }),
        (Outcome::Done(_) | Outcome::Failed(_) | Outcome::Rehearsed(_), _) => None,
    }
}

fn begins<'a>(table: &[(&str, &'static str)], text: &'a str) -> Option<(&'static str, &'a str)> {
    table.iter().find_map(|(begins, words)| Some((*words, text.strip_prefix(begins)?)))
}

fn reason_of(text: &str) -> &str {
    let ends = TOLD.iter().filter_map(|end| text.find(end));
    // What was cut off with its first words says the rest itself.
    if text.starts_with([',', ' ']) { "" } else { &text[..ends.min().unwrap_or(text.len())] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        assert_eq!(verdict(&Outcome::Refused(text.into()), None).as_deref(), Some(expected));
    }

    #[test]
    fn a_refusal_says_its_reason_and_not_what_the_model_was_told() {
        refused(
            "Refused, in every mode and whatever was allowed: sudo gives a command more rights than yours. Do not try it another way; say what the person can do themselves.",
            "refused: sudo gives a command more rights than yours",
        );
        refused(
            "Refused: the session is in plan mode, where nothing but reading inside the project runs. Say what you would do instead.",
            "refused: plan mode",
        );
        refused(
            "STOP: this call of read_file failed 3 times with the same arguments and was not tried again. Do something else.",
            "not tried again: read_file failed 3 times",
        );
        refused("\n another server's words\nand more", " another server's words");
        refused("", "");
    }

    #[test]
    fn what_was_stopped_says_by_whom() {
        for (text, expected) in [
            ("Not done: the person stopped the turn before it began.", "stopped by you"),
            ("The person stopped it in the middle. What it had done", "stopped by you, in the middle"),
            ("Not done: the program ended before its turn came.", "not done: the program ended"),
            ("something else", "something else"),
        ] {
            assert_eq!(verdict(&Outcome::Interrupted(text.into()), None).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_persons_own_words_stay() {
        let no = Outcome::Refused("The person said no. Nothing was done.".into());
        assert_eq!(verdict(&no, Some("")).as_deref(), Some("you said no"));
        assert_eq!(verdict(&no, Some("not now")).as_deref(), Some("you said no: not now"));
        assert_eq!(verdict(&Outcome::Done("x".into()), None), None);
    }
}
