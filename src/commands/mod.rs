//! What each command does: one file or folder per subcommand, named after it.

mod audit;
mod doctor;
mod export_file;
mod models;
mod rehearsal;
mod rules;
mod sessions;
mod trust;

use crate::assemble::{self, UsageError};
use crate::cli::Cli;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the command, or the chat if there is none.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub async fn run(cli: Cli) -> Result<ExitCode> {
    let print = cli.print;
    if cli.is_models() {
        return models::run(assemble::prepare_start(cli)?).await;
    }
    if let Some(named) = cli.audit_arguments() {
        let resumed = cli.resume.as_deref().filter(|id| !id.is_empty());
        return audit::run(&cli, named.or(resumed));
    }
    if let Some(words) = cli.rules_arguments() {
        return rules::run(&cli, &words);
    }
    if let Some(words) = cli.rehearsal_arguments() {
        rehearsal::check_arguments(&cli, &words)?;
        if cli.apply_arguments().is_none() {
            return rehearsal::run(&cli, &words);
        }
    }
    if cli.apply_arguments().is_none() {
        let flags = [("--hunks", cli.hunks), ("--ignored", cli.ignored), ("--commands", cli.commands)];
        if let Some((flag, _)) = flags.into_iter().find(|(_, is)| *is) {
            return Err(UsageError(format!("{flag} can only be used with aye rehearsal apply")).into());
        }
    }
    if let Some(words) = cli.trust_arguments() {
        return trust::run(&cli, &words);
    }
    if let Some(words) = cli.sessions_arguments() {
        return sessions::run(&cli, &words);
    }
    if cli.apply_arguments().is_none()
        && !cli.is_doctor()
        && let Some(why) = cli.explain_mistyped()
    {
        return Err(UsageError(why).into());
    }
    if let Some((flag, with)) = cli.sessions.set_options().next() {
        return Err(
            UsageError(format!("{flag} can only be used with: aye sessions {}", with.join(", aye sessions "))).into()
        );
    }
    if cli.is_doctor() {
        return doctor::run(&cli).await;
    }
    if cli.bundle.is_some() {
        return Err(UsageError("--bundle can only be used with aye doctor".to_owned()).into());
    }
    if cli.json && !print {
        return Err(UsageError(
            "--json can only be used with -p, or with: aye models, aye audit, aye doctor, aye rules, aye trust list, aye rehearsal, \
             aye sessions list, aye sessions search"
                .to_owned(),
        )
        .into());
    }
    assemble::run_chat(cli).await
}
