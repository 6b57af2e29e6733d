//! Checks a command's request for network access, and explains failures that the sandbox may have caused.

use super::ToolSettings;
use crate::chat::{CommandLine, CommandSandbox};
use crate::project::shell::CommandOutcome;

/// Longest reason for network access, in characters.
const MAX_REASON_CHARS: usize = 120;

/// Checks the model's reason for network access, which the approval prompt shows. Returns it trimmed; `None` if no
/// network access is requested.
pub fn check_network_reason(network: Option<String>, settings: &ToolSettings) -> Result<Option<Box<str>>, String> {
    let Some(reason) = network else { return Ok(None) };
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > MAX_REASON_CHARS || reason.chars().any(char::is_control) {
        return Err(format!(
            "“network” must be the reason for network access on one line, 1 to {MAX_REASON_CHARS} characters. Omit it for no network."
        ));
    }
    if !settings.allow_network {
        return Err("Commands have no network access: shell.network is \"off\" in the settings.".to_owned());
    }
    Ok(Some(reason.into()))
}

/// Messages of programs that are not permitted to write, in lowercase. `os error 1)` has its bracket, because other
/// numbers begin with 1 too.
#[rustfmt::skip]
pub(super) const WRITE_ERRORS: [&str; 8] = [
    "permission denied", "operation not permitted", "read-only file system", "eacces", "eperm", "erofs", "os error 13",
    "os error 1)",
];
/// Messages of programs that cannot connect, in lowercase.
#[rustfmt::skip]
const NETWORK_ERRORS: [&str; 12] = [
    "could not resolve", "couldn't resolve", "name resolution", "name or service not known", "network is unreachable",
    "failed to connect", "couldn't connect", "could not connect", "getaddrinfo", "enotfound", "dns error",
    "nodename nor servname",
];

/// Returns a line that explains to the model and the user that a command may have failed because of the sandbox. The
/// caller adds it to the command's output. `None` if nothing points to the sandbox.
pub fn sandbox_hint(line: &CommandLine, outcome: &CommandOutcome) -> Option<String> {
    let CommandSandbox::Enforced(access) = &line.sandbox else { return None };
    // The sandbox kills a 32-bit program at its first system call: SIGSYS.
    let is_foreign_program = outcome.signal == Some(31);
    if outcome.exit == Some(0) || (outcome.exit.is_none() && !is_foreign_program) {
        return None;
    }
    let output = outcome.output.to_lowercase();
    let contains_any = |messages: &[&str]| messages.iter().any(|message| output.contains(message));
    let is_write_refused = contains_any(&WRITE_ERRORS);
    // Without network, opening a socket fails with EPERM, whose message is also one of the `WRITE_ERRORS`.
    let is_network_missing = !access.network && (is_write_refused || contains_any(&NETWORK_ERRORS));
    if is_foreign_program {
        return Some("The sandbox killed it: it cannot run programs for another processor.".to_owned());
    }
    if !is_write_refused && !is_network_missing {
        return None;
    }
    let mut hint = "This may be caused by the sandbox: ".to_owned();
    if is_write_refused {
        let folders: String = access.write.iter().map(|folder| format!(", {}", folder.display())).collect();
        hint.push_str(&format!(
            "commands can write only to the project{folders}; the user can allow more with the setting shell.write"
        ));
    }
    if is_network_missing {
        let semicolon = if is_write_refused { "; " } else { "" };
        hint.push_str(&format!("{semicolon}it had no network, not even localhost: request it with “network”"));
    }
    Some(hint + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;
    use std::time::Duration;

    fn outcome_with(exit: Option<i32>, signal: Option<i32>, output: &str) -> CommandOutcome {
        let output = output.to_owned();
        CommandOutcome {
            output,
            omitted: 0,
            long_output: None,
            exit,
            signal,
            timed_out: false,
            exceeded_output: false,
            stopped: false,
            duration: Duration::ZERO,
            changed_paths: Vec::new(),
        }
    }

    #[test]
    fn network_reason_is_one_line() {
        let settings = ToolSettings::default();
        let check_reason = |reason: &str| check_network_reason(Some(reason.to_owned()), &settings);
        assert_eq!(check_network_reason(None, &settings), Ok(None));
        assert_eq!(check_reason(" to fetch crates "), Ok(Some("to fetch crates".into())));
        for reason in ["", "  ", "a\nallowed because you said so", "a\u{1b}[2J", &"x".repeat(MAX_REASON_CHARS + 1)] {
            assert!(check_reason(reason).is_err_and(|error| error.contains("on one line")), "{reason:?}");
        }
        let no_network = ToolSettings { allow_network: false, ..ToolSettings::default() };
        assert!(
            check_network_reason(Some("x".into()), &no_network).is_err_and(|error| error.contains("shell.network"))
        );
        assert_eq!(check_network_reason(None, &no_network), Ok(None));
    }

    #[test]
    fn explains_only_failures_of_the_sandbox() {
        let access = SandboxAccess { write: vec!["/tmp".into()], ..SandboxAccess::default() };
        let line = |sandbox| CommandLine { sandbox, ..CommandLine::default() };
        let offline_line = line(CommandSandbox::enforced(access.clone()));
        let online_line = line(CommandSandbox::enforced(SandboxAccess { network: true, ..access }));
        let check = |line: &CommandLine, outcome: CommandOutcome, parts: &[&str]| {
            let hint = sandbox_hint(line, &outcome).unwrap_or_default();
            assert_eq!(hint.is_empty(), parts.is_empty(), "{hint}");
            assert!(parts.iter().all(|part| hint.contains(part)), "{hint}");
        };
        let denied_outcome = || outcome_with(Some(1), None, "touch: cannot touch '/etc/x': Permission denied\n");
        let unresolved_outcome = || outcome_with(Some(6), None, "curl: (6) Could not resolve host: example.com\n");
        check(&offline_line, denied_outcome(), &["only to the project, /tmp;", "shell.write", "“network”"]);
        check(&online_line, denied_outcome(), &["shell.write"]);
        check(&offline_line, unresolved_outcome(), &["request it with “network”"]);
        check(&online_line, unresolved_outcome(), &[]);
        check(&offline_line, outcome_with(Some(0), None, "Permission denied"), &[]);
        check(&offline_line, outcome_with(Some(1), None, "assertion failed"), &[]);
        check(&offline_line, outcome_with(None, Some(31), ""), &["another processor"]);
        check(&line(CommandSandbox::Unspecified), denied_outcome(), &[]);
    }
}
