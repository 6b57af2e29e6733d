//! Detection of mistyped commands, which must not be sent to a model by accident. A prompt that happens to begin with a
//! command's name is not a mistyped command.

use super::help::explain_unknown_page;
use crate::config::problem::edit_distance;
use clap::Command;

/// Maximum number of words of a mistyped command, without its session ID. Longer input is treated as a prompt.
const MAX_COMMAND_WORDS: usize = 2;

/// Arguments of the subcommands that have any.
const EXPECTED_ARGUMENTS: &[(&str, &str)] = &[
    ("sessions list", "no arguments; --all lists the sessions of every folder"),
    ("sessions show", "one session ID or its beginning, or none for the newest of this folder"),
    ("sessions search", "words to search for: aye sessions search retry test"),
    ("sessions rename", "a session ID and a new title: aye sessions rename ID the flaky test"),
    ("sessions rm", "one or more session IDs or their beginnings"),
    ("sessions fork", "one session ID or its beginning"),
    ("sessions export", "one session ID or its beginning, or none for the newest of this folder"),
    ("rehearsal show", "[ID]"),
    ("rehearsal diff", "[ID] [PATH]"),
    ("rehearsal apply", "[ID]"),
    ("rehearsal drop", "[ID]"),
    ("rules explain", "one command, in quotes: aye rules explain 'cargo test'"),
];

/// Explains why the words look like a mistyped command and how to send them to the model; `None` if they are a prompt.
/// Call it only if the words are not a command of `tree`.
pub(super) fn explain_mistyped(tree: &Command, words: &[String]) -> Option<String> {
    let (first, arguments) = words.split_first()?;
    let second = arguments.first().map(String::as_str);
    let names = || tree.get_subcommands().map(Command::get_name);
    // The names of the subcommands of a command.
    let verbs =
        |name: &str| tree.find_subcommand(name).into_iter().flat_map(Command::get_subcommands).map(Command::get_name);
    let suggestion = match names().find(|name| name == first) {
        Some("help") => {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            return explain_unknown_page(&arguments);
        }
        Some(name) => {
            if let Some(verb) = verbs(name).find(|verb| second == Some(verb)) {
                let path = format!("{name} {verb}");
                let known = EXPECTED_ARGUMENTS.iter().find(|(known, _)| *known == path);
                let reason = match known {
                    Some((_, expected)) => format!("aye {path} takes {expected}."),
                    None => explain_arguments(tree, &[name, verb]),
                };
                let words = words.join(" ");
                return Some(format!("Cannot run aye {words}: {reason} To send this to the model, quote it."));
            }
            let verb = second.and_then(|word| find_closest(word, verbs(name)));
            match name {
                // `audit the code` is a request to the model.
                "audit" if !second.is_some_and(is_session_id) => return None,
                "audit" => {}
                _ if verb.is_none() && !is_command_like(words) => return None,
                _ => {}
            }
            match (verb, verbs(name).next()) {
                (Some(verb), _) => suggest_command(name, Some(verb), arguments),
                (None, Some(_)) => format!("aye {name} takes one of: {}.", verbs(name).collect::<Vec<_>>().join(", ")),
                (None, None) if name == "audit" => "aye audit takes one session, by its id.".to_owned(),
                (None, None) => explain_arguments(tree, &[name]),
            }
        }
        None => {
            let name = find_closest(first, names())?;
            let verb = second.and_then(|word| find_closest(word, verbs(name)));
            let is_close = second.is_none() || verb.is_some() || (name == "audit" && second.is_some_and(is_session_id));
            if !is_close {
                return None;
            }
            suggest_command(name, verb, arguments)
        }
    };
    let words = words.join(" ");
    let quotes = if arguments.is_empty() { "" } else { "in quotes or " };
    Some(format!(
        "Cannot run aye {words}: {suggestion} To send this to the model, put it {quotes}after --: aye -- {words}"
    ))
}

fn suggest_command(name: &str, verb: Option<&str>, arguments: &[String]) -> String {
    let mut corrected = vec!["aye", name];
    corrected.extend(verb);
    corrected.extend(arguments.iter().skip(usize::from(verb.is_some())).map(String::as_str));
    format!("there is no such command. Did you mean `{}`?", corrected.join(" "))
}

/// Explains which arguments a command takes, which is named by its path.
fn explain_arguments(tree: &Command, path: &[&str]) -> String {
    let name = format!("aye {}", path.join(" "));
    let command = path.iter().try_fold(tree, |command, word| command.find_subcommand(word));
    let Some((command, argument)) = command.and_then(|command| Some((command, command.get_positionals().next()?)))
    else {
        return format!("{name} takes no arguments.");
    };
    let values: Vec<String> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !values.is_empty() {
        return format!("{name} takes one of: {}.", values.join(", "));
    }
    let usage = command.clone().bin_name(name).render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("an argument is missing, or there are too many. Use `{usage}`.")
}

/// Returns the closest known name: at most one edit away, or two for names of seven or more characters. A name of one
/// or two characters must be equal.
pub(super) fn find_closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&'a str| edit_distance(word, name);
    let closest = known.min_by_key(distance)?;
    let max_distance = match closest.len() {
        0..3 => 0,
        3..7 => 1,
        _ => 2,
    };
    (edit_distance(word, closest) <= max_distance).then_some(closest)
}

/// Returns whether the words are as few as those of a command.
fn is_command_like(words: &[String]) -> bool {
    words.len() <= MAX_COMMAND_WORDS
        || (words.len() == MAX_COMMAND_WORDS + 1 && is_session_id(&words[MAX_COMMAND_WORDS]))
}

/// Returns whether the word may be a session ID or its beginning. IDs begin with the time, whose first digit is 0 for
/// the next thousand years. A shorter word may be a number in a sentence.
fn is_session_id(word: &str) -> bool {
    const MIN_CHARACTERS: usize = 3;
    word.len() >= MIN_CHARACTERS && word.starts_with('0') && word.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn explain(line: &str) -> Option<String> {
        explain_mistyped(&Cli::command(), &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_mistyped_command_is_not_sent_to_a_model() {
        for (line, part) in [
            ("sesions list", "Did you mean `aye sessions list`? To"),
            ("session", "Did you mean `aye sessions`? To"),
            ("sessions lst", "Did you mean `aye sessions list`? To"),
            ("sessions bogus", "aye sessions takes one of: list, show, search"),
            ("sessions delete 01J", "aye sessions takes one of: list, show, search"),
            ("sessoins exprot 01J", "Did you mean `aye sessions export 01J`? To"),
            ("doctor please", "aye doctor takes no arguments. "),
            ("rule explain ls?", "Did you mean `aye rules explain ls?`? To"),
            ("docter", "Did you mean `aye doctor`? To"),
            ("rule explain ls", "Did you mean `aye rules explain ls`? To"),
            ("rules explan cargo test --all", "Did you mean `aye rules explain cargo test --all`? To"),
            ("rehersal show", "Did you mean `aye rehearsal show`? To"),
            ("modles", "Did you mean `aye models`? To"),
            ("audti 01JABC", "Did you mean `aye audit 01JABC`? To"),
            ("audit 01JABC more", "aye audit takes one session"),
            ("trust everything", "aye trust takes one of: list. "),
            ("completions", "aye completions takes one of: bash, zsh, fish, powershell, elvish, nushell. "),
            ("completions tcsh", "aye completions takes one of: bash, "),
            ("open", "Use `aye open [OPTIONS] <LINK>`. "),
        ] {
            let explanation = explain(line).unwrap_or_default();
            assert!(explanation.contains(part), "{line}: {explanation}");
            assert!(explanation.ends_with(&format!("after --: aye -- {line}")), "{explanation}");
        }
    }

    #[test]
    fn a_prompt_is_not_taken_for_a_command() {
        for line in [
            "explain this repo",
            "audit this module for me",
            "audit the code",
            "audit 3 files for leaks",
            "audit 2026 changes",
            "help 3 users",
            "rules of hooks in this project",
            "models should not know the screen",
            "models are fun",
            "rules are rules",
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
            assert_eq!(explain(line), None, "{line}");
        }
        assert_eq!(explain_mistyped(&Cli::command(), &["sesions list".to_owned()]), None, "quoted words");
    }
}
