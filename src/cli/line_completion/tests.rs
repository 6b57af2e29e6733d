//! What is completed at the cursor.

use super::*;
use crate::policy::Mode;

/// Completes the last word of a line, which follows a `|`.
#[track_caller]
fn complete(line: &str) -> Completion {
    let (before, current) = line.rsplit_once('|').unwrap();
    let before: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
    complete_words(&before, current)
}

fn values(line: &str) -> Vec<String> {
    complete(line).candidates.into_iter().map(|candidate| candidate.value).collect()
}

#[test]
fn commands_are_completed_where_the_parser_finds_them() {
    assert_eq!(values("|ses"), ["sessions"]);
    assert_eq!(values("--profile sessions --mode auto |rul"), ["rules"]);
    assert_eq!(values("-C /tmp sessions |e"), ["export"]);
    assert_eq!(values("sessions --json |li"), ["list"]);
    assert_eq!(values("rules --mode auto |ex"), ["explain"], "the option belongs to the subcommand");
    for line in ["-p |ses", "-- |ses", "explain the |ses", "-pc |ses", "audit 01J |ses", "-m |ses", "--model=x -p |se"]
    {
        assert_eq!(values(line), [""; 0], "{line}");
    }
    assert!(values("|").iter().all(|value| !value.starts_with('-')) && values("|").len() > 15);
}

#[test]
fn options_are_those_of_the_command() {
    assert_eq!(values("|--prof"), ["--profile"]);
    assert_eq!(values("rehearsal apply |--h"), ["--hunks", "--help"]);
    assert_eq!(values("sessions rm |--hu"), [""; 0]);
    assert!(values("rehearsal apply |-").iter().all(|option| option != "--theme"), "hidden");
    assert_eq!(values("-- |--prof"), [""; 0], "words for the model");
}

#[test]
fn values_are_those_of_the_option() {
    assert_eq!(values("--mode |a"), ["ask", "auto"]);
    assert_eq!(values("|--mode=f"), ["full"]);
    assert_eq!(complete("|--mode=f").prefix, "--mode=");
    assert_eq!(values("sessions export --format |h"), ["html"]);
    assert_eq!(values("tools new x --kind |tr"), ["transfer"]);
    assert_eq!(values("completions |z"), ["zsh"]);
    for (line, expected) in [
        ("--resume |", Values::Sessions),
        ("-r |01", Values::Sessions),
        ("sessions rm 01J |", Values::Sessions),
        ("sessions rename |", Values::Sessions),
        ("sessions rename 01J |", Values::Unknown),
        ("rehearsal show |", Values::DryRuns),
        ("rehearsal diff 01J |", Values::Unknown),
        ("files ls --session |", Values::Sessions),
        ("checkpoints show |", Values::Unknown),
        ("doctor --profile |", Values::Profiles),
        ("|--profile=", Values::Profiles),
        ("--model |", Values::Models),
        ("--theme |", Values::Themes),
        ("tools show |", Values::Tools),
        ("skills show |", Values::Skills),
        ("tools disable |", Values::FileTools),
        ("mcp check |", Values::McpServers),
        ("credentials rotate |", Values::Credentials),
        ("-C |", Values::Folders),
        ("man --dir |", Values::Folders),
        ("sessions export --output |", Values::Files),
        ("tools check |", Values::Files),
        ("explain |src", Values::Files),
        ("-- |src", Values::Files),
    ] {
        assert_eq!(complete(line).values, expected, "{line}");
    }
    assert_eq!(complete("--profile work --model |").profile.as_deref(), Some("work"));
    assert_eq!(complete("--profile=work --model |").profile.as_deref(), Some("work"));
}

#[test]
fn pages_of_help_are_topics_commands_and_subcommands() {
    assert_eq!(values("help |san"), ["sandbox"]);
    assert_eq!(values("help |comp"), ["completions"]);
    assert_eq!(values("help |sess"), ["sessions"], "a topic and a command");
    assert_eq!(values("help sessions |ex"), ["export"]);
    assert_eq!(values("help sessions export |e"), [""; 0]);
}

#[test]
fn fixed_values_are_accepted_by_the_parser() {
    use crate::tools::tool_file::FileKind;
    for (option, values) in FIXED_VALUES {
        for (value, _) in *values {
            let is_accepted = match *option {
                "mode" => crate::config::settings::parse_mode(value).is_ok(),
                _ => FileKind::parse_name(value).is_ok(),
            };
            assert!(is_accepted, "{option}: {value}");
        }
    }
    assert_eq!((FIXED_VALUES[0].1.len(), FIXED_VALUES[1].1.len()), (Mode::ALL.len(), FileKind::ALL.len()));
}

#[test]
fn strange_words_do_not_fail() {
    for word in ["", "-", "--", "---", "--=", "-=", "-é", "--é=\u{1b}", "\n", "$(touch x)", "-p=é"] {
        for before in ["", "sessions", "--resume", word] {
            complete_words(&[before.to_owned()], word);
        }
    }
}
