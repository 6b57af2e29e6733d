//! `aye doctor --bundle`: writes a report for bugs to one text file, which the user can review before sending it.
//!
//! It contains only fixed text and values of the settings: of sessions an outline, of the journal its notes. Everything
//! passes through `Redaction`, which removes keys. It cannot contain session text; a session is shared with `aye
//! sessions export`.

mod shape;
mod surroundings;

use super::finding::{self, Redacted};
use super::{LIMIT, Seen, settings};
use crate::assemble::{Mistake, folder, handed};
use crate::chat::SessionId;
use crate::cli::Cli;
use crate::store::journal::tail;
use crate::store::{Places, Sessions};
use crate::tools::Toolbox;
use crate::tui::text::clean::one_line;
use crate::tui::text::wrap;
use anyhow::Result;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A longer session is only measured, because reading it takes too long.
const LONGEST: u64 = 256 << 20;

/// Explains what the file contains, in the file and on the screen.
const IN_IT: &str = "the findings of aye doctor, the build, environment variables that affect aye, the settings and their sources, the \
    last notes of the journal, and kind, time and size of the last session's entries. This includes names of folders, \
    hosts, profiles, models and variables.";
const NOT_IN_IT: &str = "any text of sessions, file contents, commands and answers, keys, and the values of headers, queries, \
    parameters, commands and proxies. ~ is your home; … and [redacted] mark removed text.";

/// Returns the file to write: the named one, or a new one in the named folder.
pub(super) fn place(named: &Path) -> Result<PathBuf> {
    let file = match named.is_dir() {
        true => {
            let name = jiff::Timestamp::now().strftime("aye-doctor-%Y%m%d-%H%M%S.txt").to_string();
            if named == Path::new(".") { PathBuf::from(name) } else { named.join(name) }
        }
        false => named.to_owned(),
    };
    handed::may_write(&file, false, "it was not changed. Name another file with --bundle FILE")?;
    Ok(file)
}

/// Writes the file, and prints what it contains.
pub(super) async fn write(cli: &Cli, file: &Path, seen: Seen) -> Result<ExitCode> {
    let Seen { found, redacted, there } = seen;
    let mut sections = vec![
        ("Findings of aye doctor", finding::lines(&found, &redacted, finding::WIDEST)),
        ("Build and environment", surroundings::lines()),
    ];
    if let Some((settings, places)) = there {
        sections.push(("Effective settings", settings::as_they_hold(&settings)));
        let of_journal = places.clone();
        sections.push(("Last notes of the journal", aside(move || journal(&of_journal)).await));
        let (named, at) = (cli.resume.clone(), cli.folder.clone());
        let last = move || session(&places, named.as_deref(), at.as_deref());
        sections.push(("Outline of the last session", aside(last).await));
    }
    let text = in_one(&sections, &redacted);
    handed::write(file, &text, false)?;
    let mut out = std::io::stdout().lock();
    let kb = text.len().div_ceil(1024);
    let shown = redacted.tell(&std::path::absolute(file)?.display().to_string());
    writeln!(out, "Wrote {shown}: {kb} KB of plain text, readable only by you.")?;
    writeln!(out, "Nothing was sent. Review the file before you send it.\n")?;
    for (words, of) in [("Contains: ", IN_IT), ("Does not contain: ", NOT_IN_IT)] {
        writeln!(out, "{}", wrapped(&format!("{words}{of}")))?;
    }
    writeln!(
        out,
        "To share a session's text too, use aye sessions export, which redacts known forms of secrets."
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Collects lines that may take long, or returns why there are none.
async fn aside(look: impl FnOnce() -> Vec<String> + Send + 'static) -> Vec<String> {
    match tokio::time::timeout(LIMIT * 4, tokio::task::spawn_blocking(look)).await {
        Ok(Ok(lines)) => lines,
        Ok(Err(_)) => vec!["internal error; please report this bug".to_owned()],
        Err(_) => vec![format!("no answer within {:.0} s", (LIMIT * 4).as_secs_f32())],
    }
}

/// Formats the whole report, with secrets removed.
fn in_one(sections: &[(&str, Vec<String>)], redacted: &Redacted) -> String {
    let mut text = String::new();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC");
    let _ = writeln!(text, "aye doctor --bundle, {now}\n");
    for (words, of) in [("Contains: ", IN_IT), ("Does not contain: ", NOT_IN_IT)] {
        let _ = writeln!(text, "{}", wrapped(&format!("{words}{of}")));
    }
    for (title, lines) in sections {
        let _ = writeln!(text, "\n== {title}\n");
        for line in lines {
            // A name with a line break does not start a new line.
            let _ = writeln!(text, "{}", one_line(line));
        }
    }
    redacted.tell_all(&text)
}

fn wrapped(words: &str) -> String {
    let lines = wrap::plain(words, ratatui::style::Style::new(), finding::WIDEST.into());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn journal(places: &Places) -> Vec<String> {
    let parts = match tail::tail(&places.journal()) {
        Ok(parts) => parts,
        Err(error) => return vec![format!("cannot list it: {error}")],
    };
    if parts.is_empty() {
        return vec!["none".to_owned()];
    }
    let mut lines = Vec::new();
    for part in parts {
        lines.push(format!("-- {}", part.name));
        if part.before > 0 {
            lines.push(format!("({} earlier notes omitted)", part.before));
        }
        lines.extend(part.notes);
        if part.kept_back > 0 {
            lines.push(format!("({} lines of content omitted)", part.kept_back));
        }
    }
    lines
}

/// Outlines the named session, the newest of this folder, or the newest of all.
fn session(places: &Places, named: Option<&str>, at: Option<&Path>) -> Vec<String> {
    let sessions = Sessions::new(places.sessions());
    let listed = match sessions.all() {
        Ok(listed) if listed.is_empty() => return vec!["none".to_owned()],
        Ok(listed) => listed,
        Err(error) => return vec![format!("cannot list them: {error}")],
    };
    let id: Result<SessionId, _> = match named.filter(|name| !name.is_empty()) {
        Some(name) => sessions.find(name).map_err(Mistake::of),
        None => {
            let here =
                folder(at).ok().and_then(|folder| sessions.latest(&folder).ok()).map(|latest| latest.id);
            Ok(here.unwrap_or_else(|| listed[0].id.clone()))
        }
    };
    let id = match id {
        Ok(id) => id,
        Err(error) => return vec![error.to_string()],
    };
    let bytes = listed.iter().find(|listed| listed.id == id).map_or(0, |listed| listed.bytes);
    let open = if sessions.open_elsewhere().contains(&id) { " · open in another aye" } else { "" };
    let mut lines = vec![format!("{id} · {bytes} bytes{open}")];
    if bytes > LONGEST {
        lines.push("it is too long to outline".to_owned());
        return lines;
    }
    let specs = Toolbox::builtin(crate::tools::toolbox::Settings::default()).specs();
    let tools: Vec<String> = specs.into_iter().map(|spec| spec.name).collect();
    match sessions.read(&id) {
        Ok(read) => lines.extend(shape::lines(&read, &tools)),
        Err(error) => lines.push(error.to_string()),
    }
    lines
}
