//! Detection of mistyped commands, which must not be sent to a model by accident. A prompt that happens to begin with a
//! command's name is not one.

use super::commands::{command_names, subcommand_names};
use crate::config::problem::edit_distance;

/// Most words a mistyped command has before its arguments; longer input is taken for a sentence.
const MAX_COMMAND_WORDS: usize = 3;

/// Explains why the words look like a mistyped command and how to send them to the model; `None` if they are a prompt.
pub(super) fn explain_mistyped(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let second = rest.first().map(String::as_str);
    let meant = match command_names().find(|name| name == first) {
        Some(name) => {
            let verb = second.and_then(|word| find_closest(word, subcommand_names(name)));
            match name {
                // `audit the code` is a request to the model.
                "audit" if !second.is_some_and(is_session_id) => return None,
                _ if words.len() > MAX_COMMAND_WORDS && verb.is_none() => return None,
                _ => {}
            }
            match (verb, subcommand_names(name).next()) {
                (Some(verb), _) => suggest_command(name, Some(verb), rest),
                (None, Some(_)) => {
                    format!("aye {name} takes one of: {}", subcommand_names(name).collect::<Vec<_>>().join(", "))
                }
                (None, None) if name == "audit" => "aye audit takes one session, by its id".to_owned(),
                (None, None) => format!("aye {name} takes no arguments"),
            }
        }
        None => {
            let name = find_closest(first, command_names())?;
            let verb = second.and_then(|word| find_closest(word, subcommand_names(name)));
            let fits = second.is_none() || verb.is_some() || (name == "audit" && second.is_some_and(is_session_id));
            if !fits {
                return None;
            }
            suggest_command(name, verb, rest)
        }
    };
    let words = words.join(" ");
    let quotes = if rest.is_empty() { "" } else { "in quotes or " };
    Some(format!(
        "unknown command: aye {words}; {meant}. To send this to the model, put it {quotes}after --: aye -- {words}"
    ))
}

fn suggest_command(name: &str, verb: Option<&str>, rest: &[String]) -> String {
    let mut right = vec!["aye", name];
    right.extend(verb);
    right.extend(rest.iter().skip(usize::from(verb.is_some())).map(String::as_str));
    format!("did you mean: {}", right.join(" "))
}

/// Returns the closest known name: one edit away, or two for names of seven letters and more.
fn find_closest(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let far = |name: &&str| edit_distance(word, name);
    let best = known.min_by_key(far)?;
    let most = match best.len() {
        0..3 => 0,
        3..7 => 1,
        _ => 2,
    };
    (edit_distance(word, best) <= most).then_some(best)
}

/// Returns whether the word may be a session id: they begin with the time, in digits and capitals.
fn is_session_id(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Option<String> {
        explain_mistyped(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_mistyped_command_is_not_sent_to_a_model() {
        for (line, part) in [
            ("sesions list", "did you mean: aye sessions list. "),
            ("session", "did you mean: aye sessions. "),
            ("sessions lst", "did you mean: aye sessions list. "),
            ("sessions bogus", "aye sessions takes one of: list, show, search"),
            ("sessoins exprot 01J", "did you mean: aye sessions export 01J. "),
            ("doctor please", "aye doctor takes no arguments. "),
            ("rule explain ls?", "did you mean: aye rules explain ls?. "),
            ("docter", "did you mean: aye doctor. "),
            ("rule explain ls", "did you mean: aye rules explain ls. "),
            ("rules explan cargo test --all", "did you mean: aye rules explain cargo test --all. "),
            ("rehersal show", "did you mean: aye rehearsal show. "),
            ("modles", "did you mean: aye models. "),
            ("audti 01JABC", "did you mean: aye audit 01JABC. "),
            ("audit 01JABC more", "aye audit takes one session"),
            ("trust everything", "aye trust takes one of: list. "),
        ] {
            let told = said(line).unwrap_or_default();
            assert!(told.contains(part), "{line}: {told}");
            assert!(told.ends_with(&format!("after --: aye -- {line}")), "{told}");
        }
    }

    #[test]
    fn a_prompt_is_not_taken_for_a_command() {
        for line in [
            "explain this repo",
            "audit this module for me",
            "audit the code",
            "rules of hooks in this project",
            "models should not know the screen",
            "session handling is broken",
            "doctor the makefile so that it builds",
            "must I show the list?",
            "role of the policy",
            "help me",
            "fix it",
            "model the domain",
            "list sessions",
            "show me",
            "",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
        assert_eq!(explain_mistyped(&["sesions list".to_owned()]), None, "quoted words");
    }
}
