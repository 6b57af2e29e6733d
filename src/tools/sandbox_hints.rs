//! Checks a command's request for network access, and explains failures that the sandbox may have caused.

use super::ToolSettings;
use crate::chat::{CommandLine, CommandSandbox};
use crate::project::shell::CommandOutcome;

/// Longest reason for network access, in characters.
const MAX_REASON_CHARS: usize = 120;

/// Checks the reason for network access. It is text of the model that the approval prompt shows.
pub fn check_network_reason(network: Option<String>, settings: &ToolSettings) -> Result<Option<Box<str>>, String> {
    let Some(words) = network else { return Ok(None) };
    let words = words.trim();
    if words.is_empty() || words.chars().count() > MAX_REASON_CHARS || words.chars().any(char::is_control) {
        return Err(format!(
            "“network” must be the reason for network access on one line, 1 to {MAX_REASON_CHARS} characters. Omit it for no network."
        ));
    }
    if !settings.allow_network {
        return Err("Commands have no network access: shell.network is \"off\" in the settings.".to_owned());
    }
    Ok(Some(words.into()))
}

/// Messages of programs that may not write.
pub(super) const WRITE_ERRORS: [&str; 8] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "os error 13",
    "os error 1)",
];
/// Messages of programs that cannot connect.
const NETWORK_ERRORS: [&str; 12] = [
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

/// Returns a line for the model and the user to add to the output of a command that may have failed because of the
/// sandbox.
pub fn sandbox_hint(line: &CommandLine, ran: &CommandOutcome) -> Option<String> {
    let CommandSandbox::Enforced(reach) = &line.sandbox else { return None };
    // The sandbox kills a 32-bit program at its first system call: SIGSYS.
    let foreign = ran.signal == Some(31);
    if ran.exit == Some(0) || (ran.exit.is_none() && !foreign) {
        return None;
    }
    let output = ran.output.to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
    let closed = says(&WRITE_ERRORS);
    let unreached = !reach.network && (closed || says(&NETWORK_ERRORS));
    if foreign {
        return Some("\nThe sandbox killed it: it cannot run programs for another processor.".to_owned());
    }
    if !closed && !unreached {
        return None;
    }
    let mut words = "\nThis may be caused by the sandbox: ".to_owned();
    if closed {
        let places: Vec<String> = reach.write.iter().map(|place| place.display().to_string()).collect();
        let places = ["the project".to_owned()].into_iter().chain(places).collect::<Vec<_>>().join(", ");
        words.push_str(&format!(
            "commands can write only to {places}; the user can allow more with the setting shell.write"
        ));
    }
    if unreached {
        let semicolon = if closed { "; " } else { "" };
        words.push_str(&format!("{semicolon}it had no network, not even localhost: request it with “network”"));
    }
    Some(words + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;
    use std::time::Duration;

    fn ran(exit: Option<i32>, signal: Option<i32>, output: &str) -> CommandOutcome {
        let output = output.to_owned();
        CommandOutcome {
            output,
            omitted: 0,
            exit,
            signal,
            timed_out: false,
            exceeded_output: false,
            duration: Duration::ZERO,
            changed_paths: Vec::new(),
        }
    }

    #[test]
    fn network_reason_is_one_line() {
        let settings = ToolSettings::default();
        let ask = |words: &str| check_network_reason(Some(words.to_owned()), &settings);
        assert_eq!(check_network_reason(None, &settings), Ok(None));
        assert_eq!(ask(" to fetch crates "), Ok(Some("to fetch crates".into())));
        for words in ["", "  ", "a\nallowed because you said so", "a\u{1b}[2J", &"x".repeat(MAX_REASON_CHARS + 1)] {
            assert!(ask(words).is_err_and(|error| error.contains("on one line")), "{words:?}");
        }
        let off = ToolSettings { allow_network: false, ..ToolSettings::default() };
        assert!(check_network_reason(Some("x".into()), &off).is_err_and(|error| error.contains("shell.network")));
        assert_eq!(check_network_reason(None, &off), Ok(None));
    }

    #[test]
    fn explains_only_failures_of_the_sandbox() {
        let reach = SandboxAccess { write: vec!["/tmp".into()], ..SandboxAccess::default() };
        let line = |walls| CommandLine { sandbox: walls, ..CommandLine::default() };
        let walled = line(CommandSandbox::enforced(reach.clone()));
        let open = line(CommandSandbox::enforced(SandboxAccess { network: true, ..reach }));
        let check = |line: &CommandLine, ran: CommandOutcome, parts: &[&str]| {
            let hint = sandbox_hint(line, &ran).unwrap_or_default();
            assert_eq!(hint.is_empty(), parts.is_empty(), "{hint}");
            assert!(parts.iter().all(|part| hint.contains(part)), "{hint}");
        };
        let denied = || ran(Some(1), None, "touch: cannot touch '/etc/x': Permission denied\n");
        let lost = || ran(Some(6), None, "curl: (6) Could not resolve host: example.com\n");
        check(&walled, denied(), &["only to the project, /tmp;", "shell.write", "“network”"]);
        check(&open, denied(), &["shell.write"]);
        check(&walled, lost(), &["request it with “network”"]);
        check(&open, lost(), &[]);
        check(&walled, ran(Some(0), None, "Permission denied"), &[]);
        check(&walled, ran(Some(1), None, "assertion failed"), &[]);
        check(&walled, ran(None, Some(31), ""), &["another processor"]);
        check(&line(CommandSandbox::Unspecified), denied(), &[]);
    }
}
