//! `aye help`: shows the usage of a command, or a page of the manual.

use super::output::ignore_closed_pipe;
use crate::cli::UsageError;
use crate::cli::commands::Help;
use crate::cli::help::{HelpPage, find_page};
use crate::manual::Topic;
use crate::text::link::Existence;
use crate::tui::text::markdown::{NoPictures, lay_out_markdown};
use crate::tui::theme::Theme;
use anyhow::Result;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, ExitCode, Stdio};

/// Maximum line width in a terminal.
const MAX_COLUMNS: u16 = 100;

/// SGR codes of the modifiers that headings, emphasis and code have.
const CODES: [(Modifier, u8); 5] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
];

/// Shows the page named by the arguments.
pub(super) fn run(arguments: &Help) -> Result<ExitCode> {
    let words: Vec<&str> = arguments.words.iter().map(String::as_str).collect();
    let page = find_page(&words).ok_or_else(|| {
        UsageError(format!(
            "Cannot show help for {}: there is no such page. List all with `aye help`.",
            words.join(" ")
        ))
    })?;
    show_page(page)
}

/// Shows a page: usage as it is, a topic rendered in a terminal and in Markdown otherwise.
///
/// # Errors
/// If standard output cannot be written.
pub fn show_page(page: HelpPage) -> Result<ExitCode> {
    let result = match page {
        HelpPage::Topic(topic) => show_topic(topic),
        HelpPage::Usage(..) => page.print_usage(),
    };
    ignore_closed_pipe(result.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}

fn show_topic(topic: &Topic) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if !out.is_terminal() {
        out.write_all(topic.text.as_bytes())?;
        return out.flush();
    }
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    let width = usize::from(columns.clamp(20, MAX_COLUMNS));
    // No target is looked up: links are plain text, and pictures have no caption.
    let lines = lay_out_markdown(
        &topic.terminal_text(),
        width,
        &Theme::without_colours(),
        &|_| Existence::Unknown,
        &NoPictures,
    )
    .lines;
    if lines.len() >= usize::from(rows) && show_in_pager(&lines) {
        return Ok(());
    }
    let is_styled = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    for line in &lines {
        match is_styled {
            true => writeln!(out, "{}", line.spans.iter().map(format_span).collect::<String>())?,
            false => writeln!(out, "{}", plain_text(line))?,
        }
    }
    out.flush()
}

/// Shows the lines in the user's pager until it ends; false if there is none, or it cannot be started.
fn show_in_pager(lines: &[Line<'_>]) -> bool {
    let Some(pager) = std::env::var_os("PAGER").filter(|pager| !pager.is_empty()) else { return false };
    // Catch SIGINT while the pager runs, so that ctrl-c does not end this program before the pager.
    let _interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    // As in git, PAGER is a shell command line.
    let spawned = Command::new("sh").arg("-c").arg(pager).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else { return false };
    if let Some(mut input) = child.stdin.take() {
        let text: String = lines.iter().map(|line| plain_text(line) + "\n").collect();
        // The user may leave the pager before it has read everything.
        let _ = input.write_all(text.as_bytes());
    }
    // The shell exits with 126 or 127 if it cannot run the program.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

fn plain_text(line: &Line<'_>) -> String {
    line.to_string().trim_end().to_owned()
}

fn format_span(span: &Span<'_>) -> String {
    let codes: Vec<String> = CODES
        .iter()
        .filter(|(modifier, _)| span.style.add_modifier.contains(*modifier))
        .map(|(_, code)| code.to_string())
        .collect();
    if codes.is_empty() {
        span.content.to_string()
    } else {
        format!("\x1b[{}m{}\x1b[0m", codes.join(";"), span.content)
    }
}
