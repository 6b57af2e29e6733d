//! Runs a command on trial and reports what it did.

use super::outcome_text::{describe_status, format_outcome, overlay_limit};
use crate::chat::{CommandLine, TrialReport};
use crate::project::overlay_sandbox::View;
use crate::project::shell::CommandOutcome;
use crate::project::trial::Trial;
use crate::tools::{Error, ToolSettings, TrialContext, overlay_command, read_only_commands, sandbox_hints};

/// Runs a command on trial.
pub(super) async fn try_command(
    line: &CommandLine,
    settings: &ToolSettings,
    context: &TrialContext,
) -> Result<(Trial, TrialReport), Error> {
    // The user sees the output before the model does. Git's stored content may hold secrets that the policy has not
    // judged, so without the user's eyes it stays closed where it may.
    let view = match read_only_commands::runs_git(&line.command) && !context.is_automatic {
        true => View::Repository,
        false => View::WithoutSecrets,
    };
    let mut trial = context.runner.run_trial(line, view, &*context.progress).await?;
    let outcome = &trial.outcome;
    let withheld = overlay_command::describe_withheld(line, outcome, &trial.withheld);
    let limit = overlay_limit(line, outcome, trial.is_disk_full);
    // A live run in the sandbox would add the same hint.
    let hint = sandbox_hints::sandbox_hint(line, outcome).filter(|_| withheld.is_none());
    let no_network = match &line.network {
        Some(_) => Some("it asks for the network, and a trial has none".to_owned()),
        None => line.sandbox.has_network().then(|| "it has network access then, and a trial has none".to_owned()),
    };
    let hint = match &no_network {
        Some(_) => Some("It ran on trial, without network access.".to_owned()),
        None => hint,
    };
    let report = TrialReport {
        result: format_outcome(outcome, line.seconds, settings, hint),
        status: describe_status(outcome, line.seconds, settings),
        duration: outcome.duration,
        doubt: no_network
            .or_else(|| limit.map(str::to_owned))
            .or(withheld)
            .or_else(|| describe_cut(outcome))
            .or_else(|| describe_missing_program(outcome)),
        changes: std::mem::take(&mut trial.effects.changes),
        outside: std::mem::take(&mut trial.effects.outside),
        temporary_files: trial.effects.temporary_files,
        unkeepable: std::mem::take(&mut trial.effects.unkeepable),
        digest: trial.effects.digest.clone(),
    };
    Ok((trial, report))
}

/// Returns why a command may have found a program live that it did not find here. Shells end with 126 or 127 then.
fn describe_missing_program(outcome: &CommandOutcome) -> Option<String> {
    matches!(outcome.exit, Some(126 | 127))
        .then(|| "a program was not found, or is unreadable in the sandbox".to_owned())
}

/// Returns why a command that was stopped may have left its work half done.
fn describe_cut(outcome: &CommandOutcome) -> Option<String> {
    let is_cut = outcome.timed_out || outcome.exceeded_output || outcome.signal.is_some();
    is_cut.then(|| "it was stopped before it had finished".to_owned())
}
