//! Entry point: runs the program, prints its error, returns the exit code. On other systems than Linux, the
//! system decides whether programs of the same user can read its memory.

use aye::cli::{self, ParseError, Request, UsageError};
use aye::commands::{self, completions, help, version};
use aye::store::Error as StoreError;
use aye::text::clean::clean_text;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Each command runs under a second process of this program, its guard, which kills the command and everything that
    // it started when aye exits.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "guard") {
        return aye::project::guard::run_guard();
    }
    // Firefox is started by a process that enters a network of its own.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == aye::browser::firefox::launcher::ARGUMENT) {
        return aye::browser::firefox::launcher::run_launcher();
    }
    // With `alone`, this process becomes the program that prints an API key, detached from the terminal. With `terminal`
    // it becomes the user's command, in a terminal of its own.
    if std::env::args_os().nth(2).is_some_and(|argument| argument == "--") {
        let error = match std::env::args_os().nth(1) {
            Some(argument) if argument == "alone" => Some(aye::project::detached::exec_detached()),
            Some(argument) if argument == "terminal" => Some(aye::project::detached::exec_in_terminal()),
            Some(_) | None => None,
        };
        if let Some(error) = error {
            let _ = writeln!(std::io::stderr(), "cannot start the program: {error}");
            return ExitCode::from(127);
        }
    }
    // The memory of this process contains keys: no allowed command may read it, and no core file may contain it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    aye::documents::remember_reader();
    // The completion script of a shell asks for candidates.
    if let Some(shell) = std::env::var_os(completions::VARIABLE)
        && let Some(code) = completions::answer_script(&shell)
    {
        return code;
    }
    let request = match cli::parse_arguments(std::env::args_os().skip(1)) {
        Ok(request) => request,
        Err(ParseError::Clap(error)) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
        Err(ParseError::Usage(why)) => return print_error(&UsageError(why).into()),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return print_error(&error.into()),
    };
    let exit_code = runtime.block_on(async {
        match request {
            Request::Chat(options) => commands::run_chat(*options).await,
            Request::Command(command) => commands::run(command).await,
            Request::Help(page) => help::show_page(page),
            Request::DetailedVersion => version::print_build(),
        }
    });
    // A tool that reads a file which never answers must not keep the program from exiting.
    runtime.shutdown_background();
    exit_code.unwrap_or_else(|error| print_error(&error))
}

/// Returns what to do about an error of the system, which itself only says what failed and why.
fn advise_io_error(error: &anyhow::Error) -> Option<&'static str> {
    let error = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>())?;
    Some(match error.kind() {
        ErrorKind::PermissionDenied => "Check its permissions.",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => "Free some space.",
        ErrorKind::ReadOnlyFilesystem => "Use a folder that is writable.",
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => "Check the path.",
        _ => return None,
    })
}

/// Prints the error: what failed, the reason, and what to do. The exit code is 2 for a mistake of the caller, else 1.
fn print_error(error: &anyhow::Error) -> ExitCode {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Most of our errors already end with their cause.
        if message.is_empty() {
            message = cause;
        } else if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    if let Some(StoreError::Io { .. }) = error.downcast_ref() {
        message = format!("Cannot use {message}");
    }
    if let Some(advice) = advise_io_error(error) {
        message = format!("{}. {advice}", message.trim_end_matches('.'));
    }
    let _ = writeln!(std::io::stderr(), "aye: {}", clean_text(&message));
    ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
}
