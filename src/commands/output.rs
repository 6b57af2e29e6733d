//! What commands print: lines, notices, and the width of a page.

use crate::text::clean::clean_text;
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Maximum width of a page, for narrow terminals and pipes.
const MAX_COLUMNS: u16 = 80;

/// Returns the line width of a page on standard output.
pub(super) fn page_width() -> usize {
    let columns = crossterm::terminal::size().map_or(MAX_COLUMNS, |(columns, _)| columns);
    usize::from(if io::stdout().is_terminal() { columns.clamp(20, MAX_COLUMNS) } else { MAX_COLUMNS })
}

/// Prints a notice to standard error.
pub(super) fn print_notice(message: &str) -> io::Result<()> {
    writeln!(io::stderr(), "aye: {}", clean_text(message))
}

/// Prints the lines. Stops without an error if the pipe was closed.
pub(super) fn print_lines(lines: &[String]) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for line in lines {
        match writeln!(out, "{line}") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written?,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
