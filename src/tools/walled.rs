//! What a command asks of its walls, and what is said where they may be why it failed.

use super::Settings;
use crate::chat::{CommandLine, Walls};
use crate::project::shell::Ran;

/// Letters of what a command wants the network for.
const LONGEST: usize = 120;

/// What a call wants the network for, checked: it is the model's words on the person's card.
pub fn asked(network: Option<String>, settings: &Settings) -> Result<Option<Box<str>>, String> {
    let Some(words) = network else { return Ok(None) };
    let words = words.trim();
    if words.is_empty() || words.chars().count() > LONGEST || words.chars().any(char::is_control) {
        return Err(format!(
            "“network” says on one line, in 1 to {LONGEST} letters, what the command needs the network for; leave it out where it needs none."
        ));
    }
    if !settings.may_ask {
        return Err("Commands get no network here: shell.network is \"off\" in the settings.".to_owned());
    }
    Ok(Some(words.into()))
}

/// What programs print when they may not write.
pub(super) const CLOSED: [&str; 8] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "os error 13",
    "os error 1)",
];
/// What they print when they reach nobody.
const UNREACHED: [&str; 12] = [
    "could not resolve",
    "couldn't resolve",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "failed to connect",
    "couldn't connect",
    "could not connect",
    "getaddrinfo",
    "enotfound",
    "dns error",
    "nodename nor servname",
];

/// A line for the model and the person behind the output of a command that failed as one does that ran into its walls.
pub fn hint(line: &CommandLine, ran: &Ran) -> Option<String> {
    let Walls::Raised(reach) = &line.walls else { return None };
    // A 32-bit program is ended at its first call: SIGSYS.
    let foreign = ran.signal == Some(31);
    if ran.exit == Some(0) || (ran.exit.is_none() && !foreign) {
        return None;
    }
    let output = ran.output.to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
    let closed = says(&CLOSED);
    let unreached = !reach.network && (closed || says(&UNREACHED));
    if foreign {
        return Some("\nThe sandbox ended it: it runs no programs for another processor.".to_owned());
    }
    if !closed && !unreached {
        return None;
    }
    let mut words = "\nThe sandbox may be why: ".to_owned();
    if closed {
        let places: Vec<String> = reach.write.iter().map(|place| place.display().to_string()).collect();
        let places = ["the project".to_owned()].into_iter().chain(places).collect::<Vec<_>>().join(", ");
        words.push_str(&format!(
            "a command writes in {places} and nowhere else, unless the person names the place in the settings as shell.write"
        ));
    }
    if unreached {
        let semicolon = if closed { "; " } else { "" };
        words.push_str(&format!(
            "{semicolon}it had no network, this machine's own included: ask for it with “network”"
        ));
    }
    Some(words + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Openings;
    use std::time::Duration;

    fn ran(exit: Option<i32>, signal: Option<i32>, output: &str) -> Ran {
        let output = output.to_owned();
        Ran {
            output,
            omitted: 0,
            exit,
            signal,
            timed_out: false,
            flooded: false,
            took: Duration::ZERO,
            changed: Vec::new(),
        }
    }

    #[test]
    fn what_the_network_is_for_stands_on_one_line_of_the_card() {
        let settings = Settings::default();
        let ask = |words: &str| asked(Some(words.to_owned()), &settings);
        assert_eq!(asked(None, &settings), Ok(None));
        assert_eq!(ask(" to fetch crates "), Ok(Some("to fetch crates".into())));
        for words in ["", "  ", "a\nallowed because you said so", "a\u{1b}[2J", &"x".repeat(LONGEST + 1)] {
            assert!(ask(words).is_err_and(|error| error.contains("on one line")), "{words:?}");
        }
        let off = Settings { may_ask: false, ..Settings::default() };
        assert!(asked(Some("x".into()), &off).is_err_and(|error| error.contains("shell.network")));
        assert_eq!(asked(None, &off), Ok(None));
    }

    #[test]
    fn who_runs_into_a_wall_is_told_so_and_nobody_else() {
        let reach = Openings { write: vec!["/tmp".into()], ..Openings::default() };
        let line = |walls| CommandLine { walls, ..CommandLine::default() };
        let walled = line(Walls::raised(reach.clone()));
        let open = line(Walls::raised(Openings { network: true, ..reach }));
        let check = |line: &CommandLine, ran: Ran, parts: &[&str]| {
            let hint = hint(line, &ran).unwrap_or_default();
            assert_eq!(hint.is_empty(), parts.is_empty(), "{hint}");
            assert!(parts.iter().all(|part| hint.contains(part)), "{hint}");
        };
        let denied = || ran(Some(1), None, "touch: cannot touch '/etc/x': Permission denied\n");
        let lost = || ran(Some(6), None, "curl: (6) Could not resolve host: example.com\n");
        check(&walled, denied(), &["the project, /tmp and nowhere else", "shell.write", "“network”"]);
        check(&open, denied(), &["shell.write"]);
        check(&walled, lost(), &["ask for it with “network”"]);
        check(&open, lost(), &[]);
        check(&walled, ran(Some(0), None, "Permission denied"), &[]);
        check(&walled, ran(Some(1), None, "assertion failed"), &[]);
        check(&walled, ran(None, Some(31), ""), &["another processor"]);
        check(&line(Walls::Unsaid), denied(), &[]);
    }
}
