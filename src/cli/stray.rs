//! Words that are taken for a command that was mistyped: they go to no model before the person has said so. Ordinary words
//! for a model are let alone, whatever they begin with.

use super::commands::{names, verbs};
use crate::config::problem::distance;

/// Words of a command at most, beside what it takes: more of them are a sentence.
const MOST: usize = 3;

/// Why they are held back, and how they are said to a model all the same; `None` where they are words for a model.
pub(super) fn of(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let second = rest.first().map(String::as_str);
    let meant = match names().find(|name| name == first) {
        Some(name) => {
            let verb = second.and_then(|word| near(word, verbs(name)));
            match name {
                // It says what to do, as a person would to a model.
                "audit" if !second.is_some_and(is_id) => return None,
                _ if words.len() > MOST && verb.is_none() => return None,
                _ => {}
            }
            match (verb, verbs(name).next()) {
                (Some(verb), _) => meant(name, Some(verb), rest),
                (None, Some(_)) => {
                    format!("aye {name} takes one of: {}", verbs(name).collect::<Vec<_>>().join(", "))
                }
                (None, None) if name == "audit" => "aye audit takes one session, by its id".to_owned(),
                (None, None) => format!("aye {name} takes nothing behind it"),
            }
        }
        None => {
            let name = near(first, names())?;
            let verb = second.and_then(|word| near(word, verbs(name)));
            let fits = second.is_none() || verb.is_some() || (name == "audit" && second.is_some_and(is_id));
            if !fits {
                return None;
            }
            meant(name, verb, rest)
        }
    };
    let words = words.join(" ");
    let quotes = if rest.is_empty() { "" } else { "in quotes or " };
    Some(format!(
        "there is no command: aye {words}; {meant}. To say it to a model, put it {quotes}behind --: aye -- {words}"
    ))
}

fn meant(name: &str, verb: Option<&str>, rest: &[String]) -> String {
    let mut right = vec!["aye", name];
    right.extend(verb);
    right.extend(rest.iter().skip(usize::from(verb.is_some())).map(String::as_str));
    format!("did you mean: {}", right.join(" "))
}

/// The one that this may have been meant for: another by one letter, or by two where it is long.
fn near(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let far = |name: &&str| distance(word, name);
    let best = known.min_by_key(far)?;
    let most = match best.len() {
        0..3 => 0,
        3..7 => 1,
        _ => 2,
    };
    (distance(word, best) <= most).then_some(best)
}

/// Whether it may be the id of a session: those begin with the time, written in digits and capitals.
fn is_id(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Option<String> {
        of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_that_was_mistyped_goes_to_no_model() {
        for (line, part) in [
            ("sesions list", "did you mean: aye sessions list. "),
            ("session", "did you mean: aye sessions. "),
            ("sessions lst", "did you mean: aye sessions list. "),
            ("sessions bogus", "aye sessions takes one of: list, show, search"),
            ("sessoins exprot 01J", "did you mean: aye sessions export 01J. "),
            ("doctor please", "aye doctor takes nothing behind it. "),
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
            assert!(told.ends_with(&format!("behind --: aye -- {line}")), "{told}");
        }
    }

    #[test]
    fn ordinary_words_for_a_model_are_let_alone() {
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
        assert_eq!(of(&["sesions list".to_owned()]), None, "what was put in quotes");
    }
}
