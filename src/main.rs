//! Runs the program, reports its error, gives the exit code.

use aye::assemble::{self, Mistake};
use aye::cli::Cli;
use aye::tui::text::clean::clean;
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A command is run by this program under another name, which ends with all that it started when we do.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "guard") {
        return aye::project::guard::run();
    }
    // So is the program that prints a key, which is to have no terminal.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "alone")
        && std::env::args_os().nth(2).is_some_and(|argument| argument == "--")
    {
        let error = aye::project::alone::become_it();
        let _ = writeln!(std::io::stderr(), "it cannot be started: {error}");
        return ExitCode::from(127);
    }
    // Keys are in this process: no command that was allowed, and no core file, gets to read them out of it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {
            let _ = aye::cli::help::asked(std::env::args_os()).print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    if let Some(help) = cli.help() {
        let _ = help.print();
        return ExitCode::SUCCESS;
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    let ended = runtime.block_on(assemble::run(cli));
    // A tool that looks at a file which never answers must not hold the program.
    runtime.shutdown_background();
    ended.unwrap_or_else(|error| failed(&error))
}

/// One sentence, and whose fault it is: 2 the caller's, 1 the system's.
fn failed(error: &anyhow::Error) -> ExitCode {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Most sentences of ours end with their cause.
        if told.is_empty() {
            told = cause;
        } else if !told.ends_with(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    let _ = writeln!(std::io::stderr(), "aye: {}", clean(&told));
    ExitCode::from(if error.is::<Mistake>() { 2 } else { 1 })
}
