//! Text of a command's outcome, and limits of the overlay sandbox that may explain it.

use crate::chat::CommandLine;
use crate::chat::background::STOPPED_ON_REQUEST;
use crate::project::shell::CommandOutcome;
use crate::tools::ToolSettings;
use crate::tools::result_kind::append_status;

/// Returns the limit of the overlay sandbox because of which the command probably failed, as a clause.
pub(super) fn overlay_limit(line: &CommandLine, outcome: &CommandOutcome, is_disk_full: bool) -> Option<&'static str> {
    if outcome.exit == Some(0) {
        return None;
    }
    if is_disk_full || outcome.output.contains("No space left on device") {
        Some(
            "the disk that holds its overlay is full. Files that the command wrote may be incomplete. The user can free disk space, or discard the rehearsal with /rehearsal drop",
        )
    } else if outcome.output.to_lowercase().contains("cross-device link") {
        // rename(2) of a folder that the command did not create.
        Some(
            "it cannot rename a folder of the project or of an earlier command in one step. mv copies and deletes instead. Live it may work",
        )
    } else if outcome.output.contains("Value too large for defined data type") {
        // EOVERFLOW: the file belongs to a user who is unknown in the sandbox's user namespace.
        Some("its sandbox cannot change files of another user or group. Live it may work")
    } else if line.network.is_some() {
        Some("it has no network")
    } else {
        None
    }
}

/// Returns how a command ended: `exit 0`.
pub(super) fn describe_status(outcome: &CommandOutcome, seconds: u64, settings: &ToolSettings) -> String {
    match (outcome.timed_out, outcome.exceeded_output, outcome.signal, outcome.exit) {
        (true, _, _, _) if seconds == settings.max_timeout => format!("stopped after {seconds} s, the maximum"),
        (true, _, _, _) => format!("stopped after {seconds} s"),
        (false, true, _, _) => "stopped because its output exceeded the limit".to_owned(),
        (false, false, _, _) if outcome.stopped => STOPPED_ON_REQUEST.to_owned(),
        (false, false, Some(signal), _) => format!("killed by signal {signal}"),
        (false, false, None, Some(exit)) => format!("exit {exit}"),
        (false, false, None, None) => "ended, without exit status".to_owned(),
    }
}

/// Returns the outcome for the model. The exit status is the last line, where failures are detected.
pub(super) fn format_outcome(
    outcome: &CommandOutcome,
    seconds: u64,
    settings: &ToolSettings,
    hint: Option<String>,
) -> String {
    let status = describe_status(outcome, seconds, settings);
    match hint {
        Some(hint) => append_status(&append_status(&outcome.output, &hint), &status),
        None => append_status(&outcome.output, &status),
    }
}
