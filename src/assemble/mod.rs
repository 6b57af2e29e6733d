//! Assembles the program: connects the model, the project, the tools, the session and the frontend of a run.

pub(crate) mod connected_model;
mod connector;
pub(crate) mod rehearsal;
mod reviewers;
pub(crate) mod sandbox_setup;
mod screen;
mod screen_host;
pub(crate) mod session;
pub(crate) mod session_builder;
mod session_provider;
mod start;

use crate::cli::ChatOptions;
use crate::cli::commands::ApplyRehearsal;
use anyhow::Result;
pub(crate) use screen::{command_folder, resolve_folder};
pub(crate) use own_program::own_program;
pub(crate) use start::{Start, parse_mode, parse_overrides, prepare_start};
use std::io::IsTerminal;
use std::process::ExitCode;
pub use usage_error::UsageError;

/// Runs a chat: on the screen, or headless with one printed reply.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub(crate) async fn run_chat(options: ChatOptions) -> Result<ExitCode> {
    run_frontend(options, None).await
}

/// Opens the screen with the approval prompts that apply a rehearsal.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub(crate) async fn run_apply(apply: ApplyRehearsal) -> Result<ExitCode> {
    let options = ChatOptions {
        connection: apply.connection.clone(),
        mode: apply.mode.clone(),
        theme: apply.theme.clone(),
        folder: apply.place.folder.clone(),
        tour: apply.place.tour,
        debug_content: apply.debug_content,
        ..ChatOptions::default()
    };
    run_frontend(options, Some(apply)).await
}

async fn run_frontend(options: ChatOptions, apply: Option<ApplyRehearsal>) -> Result<ExitCode> {
    let is_headless = options.print;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !is_headless && !is_terminal {
        return Err(UsageError(
            "standard input and output are not a terminal, which the screen needs. Use -p to print the reply instead"
                .to_owned(),
        )
        .into());
    }
    if !is_headless && std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err(UsageError(
            "this terminal cannot show a screen (TERM=dumb). Use -p to print the reply instead, or, if it can after all, \
             start with: TERM=xterm aye"
                .to_owned(),
        )
        .into());
    }
    answers::check_flags(&options)?;
    if options.fork && !options.continue_last && options.resume.is_none() {
        return Err(UsageError(
            "--fork needs a session to copy: --resume with an ID or to pick from a list, or --continue".to_owned(),
        )
        .into());
    }
    let start = prepare_start(options, apply)?;
    let journal = start.session_builder.journal.clone();
    let frontend = if is_headless { "printing" } else { "with a screen" };
    journal.note(format_args!("aye {} begins, {frontend}, process {}", env!("CARGO_PKG_VERSION"), std::process::id()));
    let (default_hook, panic_journal) = (std::panic::take_hook(), journal.clone());
    std::panic::set_hook(Box::new(move |info| {
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        panic_journal.note(format_args!("a panic at {location}"));
        default_hook(info);
    }));
    let result = if is_headless { headless_run::run(start).await } else { screen::run(start).await };
    match &result {
        Ok(_) => journal.note("aye ends"),
        Err(error) => {
            let cause = if error.is::<UsageError>() { "the caller's mistake" } else { "an error" };
            journal.note(format_args!("aye ends with {cause}"));
            journal.content("why", || format!("{error:#}"));
        }
    }
    result
}
