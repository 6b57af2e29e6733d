//! `aye doctor --bundle`: what a bug report needs, in one plain file that a person can read through before they send it.
//!
//! Its words are ours and the settings' alone: of sessions it has the shape, of the journal the notes. All of it goes
//! through the one place that takes keys out ([`Redacted`]). There is no way to put content in: whoever wants to show a
//! session exports it, and sees then what is in it.

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

/// A longer session is only measured: reading it takes longer than anybody waits.
const LONGEST: u64 = 256 << 20;

/// What is in it and what is not, in the file and on the screen.
const IN_IT: &str = "what aye doctor finds, the build, the variables that bear on it, the settings and where each came from, the \
    last notes of the journal, and of the last session what kinds of entries it has, when and how long. Names of folders, \
    hosts, profiles, models and variables are among that.";
const NOT_IN_IT: &str = "what was said, read, written, run or answered in any session, keys, and the values of headers, queries, \
    parameters, commands and proxies. ~ is your home; … and [redacted] stand where something was taken out.";

/// The file that is meant: this one, or a new one in this folder.
pub(super) fn place(named: &Path) -> Result<PathBuf> {
    let file = match named.is_dir() {
        true => {
            let name = jiff::Timestamp::now().strftime("aye-doctor-%Y%m%d-%H%M%S.txt").to_string();
            if named == Path::new(".") { PathBuf::from(name) } else { named.join(name) }
        }
        false => named.to_owned(),
    };
    handed::may_write(&file, false, "it is left as it is; name another with --bundle FILE")?;
    Ok(file)
}

/// Writes it, and says what it came to.
pub(super) async fn write(cli: &Cli, file: &Path, seen: Seen) -> Result<ExitCode> {
    let Seen { found, redacted, there } = seen;
    let mut sections = vec![
        ("What aye doctor finds", finding::lines(&found, &redacted, finding::WIDEST)),
        ("The build, and variables", surroundings::lines()),
    ];
    if let Some((settings, places)) = there {
        sections.push(("The settings as they hold", settings::as_they_hold(&settings)));
        let of_journal = places.clone();
        sections.push(("The last notes of the journal", aside(move || journal(&of_journal)).await));
        let (named, at) = (cli.resume.clone(), cli.folder.clone());
        let last = move || session(&places, named.as_deref(), at.as_deref());
        sections.push(("The shape of the last session", aside(last).await));
    }
    let text = in_one(&sections, &redacted);
    handed::write(file, &text, false)?;
    let mut out = std::io::stdout().lock();
    let kb = text.len().div_ceil(1024);
    let shown = redacted.tell(&std::path::absolute(file)?.display().to_string());
    writeln!(out, "Written to {shown}: {kb} KB of plain text that you alone can read.")?;
    writeln!(out, "Nothing was sent. Look through it before you send it.\n")?;
    for (words, of) in [("In it: ", IN_IT), ("Not in it: ", NOT_IN_IT)] {
        writeln!(out, "{}", wrapped(&format!("{words}{of}")))?;
    }
    writeln!(out, "To show what was said too: aye sessions export, which redacts what looks like a secret.")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Lines that may take long to be had, or the reason why they are not.
async fn aside(look: impl FnOnce() -> Vec<String> + Send + 'static) -> Vec<String> {
    match tokio::time::timeout(LIMIT * 4, tokio::task::spawn_blocking(look)).await {
        Ok(Ok(lines)) => lines,
        Ok(Err(_)) => vec!["looking at it broke down: that is a bug".to_owned()],
        Err(_) => vec![format!("no answer within {:.0} s", (LIMIT * 4).as_secs_f32())],
    }
}

/// All of it as one text, with nothing in it that is nobody else's business.
fn in_one(sections: &[(&str, Vec<String>)], redacted: &Redacted) -> String {
    let mut text = String::new();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC");
    let _ = writeln!(text, "aye doctor --bundle, {now}\n");
    for (words, of) in [("In it: ", IN_IT), ("Not in it: ", NOT_IN_IT)] {
        let _ = writeln!(text, "{}", wrapped(&format!("{words}{of}")));
    }
    for (title, lines) in sections {
        let _ = writeln!(text, "\n== {title}\n");
        for line in lines {
            // A name with a line end in it makes no line of its own.
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
        Err(error) => return vec![format!("it cannot be listed: {error}")],
    };
    if parts.is_empty() {
        return vec!["there is none".to_owned()];
    }
    let mut lines = Vec::new();
    for part in parts {
        lines.push(format!("-- {}", part.name));
        if part.before > 0 {
            lines.push(format!("({} notes before these are left out)", part.before));
        }
        lines.extend(part.notes);
        if part.kept_back > 0 {
            lines.push(format!("({} lines of content are left out)", part.kept_back));
        }
    }
    lines
}

/// The session that is named, or the last of this folder, or the last of all.
fn session(places: &Places, named: Option<&str>, at: Option<&Path>) -> Vec<String> {
    let sessions = Sessions::new(places.sessions());
    let listed = match sessions.all() {
        Ok(listed) if listed.is_empty() => return vec!["there is none".to_owned()],
        Ok(listed) => listed,
        Err(error) => return vec![format!("they cannot be listed: {error}")],
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
        lines.push("it is too long to be looked through here".to_owned());
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
