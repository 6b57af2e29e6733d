//! `aye` itself: a chat on the screen, or headless with `-p`.

mod answers;
mod headless;

use crate::assemble::session::Session;
use crate::assemble::{Start, prepare_screen_start, prepare_start, run_screen};
use crate::chat::pluralize;
use crate::cli::commands::ApplyRehearsal;
use crate::cli::{ChatOptions, UsageError, bail_usage};
use crate::print::Answers;
use crate::store::Journal;
use crate::store::session_header::session_path;
use crate::text::clean::clean_line;
use crate::tui::{Exit, Recorded};
use anyhow::Result;
pub(super) use headless::untrusted_notices;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs a chat: on the screen, or headless with one printed reply.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub async fn run_chat(options: ChatOptions) -> Result<ExitCode> {
    run_frontend(options, None).await
}

/// Opens the screen with the approval prompts that apply a rehearsal.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub(super) async fn run_apply(apply: ApplyRehearsal) -> Result<ExitCode> {
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
        let advice = if apply.is_some() { "Run it in a terminal." } else { "Use -p to print the reply instead." };
        bail_usage!("Cannot show the screen: standard input and output are not a terminal. {advice}");
    }
    if !is_headless && std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        bail_usage!(
            "Cannot show the screen: TERM=dumb names a terminal without one. Use -p to print the reply instead, or, if it \
             has one after all, start with: TERM=xterm aye"
        );
    }
    answers::check_flags(&options)?;
    if options.fork && !options.continue_last && options.resume.is_none() {
        bail_usage!(
            "Cannot copy a session: --fork names none. Add --resume with an ID or to choose from a list, or --continue."
        );
    }
    let start = if is_headless { prepare_start(options) } else { prepare_screen_start(options, apply) }?;
    let journal = start.session_builder.journal.clone();
    let frontend = if is_headless { "printing" } else { "with a screen" };
    journal.note(format_args!("aye {} begins, {frontend}, process {}", env!("CARGO_PKG_VERSION"), std::process::id()));
    note_panics(journal.clone());
    let result = if is_headless { headless::run(start).await } else { run_on_screen(start).await };
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

/// Notes the place of every panic in the journal.
pub(super) fn note_panics(journal: Journal) {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        journal.note(format_args!("a panic at {location}"));
        default_hook(info);
    }));
}

async fn run_on_screen(start: Start) -> Result<ExitCode> {
    let sessions = start.session_builder.places.sessions();
    let exit = run_screen(start, open_session).await?;
    Ok(print_farewell(&exit, &session_path(&sessions, &exit.session)))
}

/// Opens the session that the command line asks for, and applies an answers file.
fn open_session(start: &Start) -> Result<Session> {
    let answers = start.options.answers.as_deref().map(Answers::read).transpose().map_err(UsageError)?;
    let mut session = start.open_session()?;
    if let Some(mut answers) = answers {
        answers::apply_answers(&mut answers, &mut session)?;
    }
    Ok(session)
}

/// Prints the session's title and how to resume it, unless it is empty or a signal ended the program. If its file could
/// not be written, prints an error instead: where the session is, or what is lost. Returns the exit code.
fn print_farewell(exit: &Exit, session_file: &Path) -> ExitCode {
    if let (Some(title), None, None, None) = (&exit.title, exit.exit_signal, &exit.loss, &exit.saved_to) {
        let title = clean_line(title);
        // If this cannot be written, there is no reader.
        let _ = writeln!(std::io::stdout(), "{title}\naye --resume {}", exit.session);
        if exit.rehearsed > 0 {
            let calls = pluralize(exit.rehearsed, "call");
            let _ =
                writeln!(std::io::stdout(), "{calls} rehearsed. To review them:\naye rehearsal show {}", exit.session);
        }
    }
    if let Some(Recorded { file, failure }) = &exit.recorded {
        let file = clean_line(&file.display().to_string()).into_owned();
        let _ = match failure {
            None => writeln!(std::io::stdout(), "Recorded: {file}"),
            Some(failure) => writeln!(std::io::stderr(), "aye: the end of the recording {file} is missing: {failure}"),
        };
    }
    let id = &exit.session;
    let message = match (&exit.saved_to, &exit.loss) {
        (Some(file), _) => Some(format!(
            "session {id} is in {}. To continue it, move it to {}, then: aye --resume {id}",
            file.display(),
            session_file.display()
        )),
        (None, Some(loss)) => Some(format!("session {id} is not saved: {loss}")),
        (None, None) => None,
    };
    if let Some(message) = &message {
        let _ = writeln!(std::io::stderr(), "aye: {}", clean_line(message));
    }
    match exit.exit_signal {
        None if message.is_some() => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
        Some(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
    }
}
