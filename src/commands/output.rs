//! What commands print: lines, notices, and the width of a page; and their question whether to go on.

use crate::cli::bail_usage;
use crate::text::clean::clean_text;
use anyhow::Result;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Maximum width of a page in a terminal, and its width in a pipe.
const MAX_COLUMNS: u16 = 80;

/// Returns the line width of a page on standard output.
pub(super) fn page_width() -> usize {
    usize::from(terminal_columns(MAX_COLUMNS).map_or(MAX_COLUMNS, |columns| columns.clamp(20, MAX_COLUMNS)))
}

/// Returns the columns of the terminal, or `default` if they are unknown; `None` if standard output is not a terminal.
pub(super) fn terminal_columns(default: u16) -> Option<u16> {
    io::stdout().is_terminal().then(|| crossterm::terminal::size().map_or(default, |(columns, _)| columns))
}

/// Prints a notice to standard error.
pub(super) fn print_notice(message: &str) -> io::Result<()> {
    writeln!(io::stderr(), "aye: {}", clean_text(message))
}

/// Prints notices to standard error.
pub(super) fn print_notices(notices: impl IntoIterator<Item: Display>) -> io::Result<()> {
    notices.into_iter().try_for_each(|notice| print_notice(&notice.to_string()))
}

/// Prints each line before it takes the next one. Stops without an error if the pipe was closed.
pub(super) fn print_lines(lines: impl IntoIterator<Item = String>) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    let printed = lines.into_iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
    ignore_closed_pipe(printed.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}

/// Turns a broken-pipe error into success: the reader of standard output has closed it.
pub(super) fn ignore_closed_pipe(result: Result<ExitCode>) -> Result<ExitCode> {
    match result {
        Err(error)
            if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(ExitCode::SUCCESS)
        }
        result => result,
    }
}

/// Asks the user to confirm by typing yes. Fails with the text of `no_terminal` if there is no terminal, before it needs
/// the question.
pub(super) fn confirm(question: impl FnOnce() -> Result<String>, no_terminal: &str) -> Result<bool> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        bail_usage!("{no_terminal}");
    }
    write!(io::stdout(), "{}, type yes: ", question()?)?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}

/// Formats the number of redacted secrets; `None` if zero.
pub(super) fn redaction_notice(redacted: usize) -> Option<String> {
    match redacted {
        0 => None,
        1 => Some("1 secret of a known form was redacted; there may be others".to_owned()),
        count => Some(format!("{count} secrets of known forms were redacted; there may be others")),
    }
}
