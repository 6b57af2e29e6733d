//! `aye doctor --bundle`: writes a bug report to one text file, which the user can review before sending it.
//!
//! It contains the findings, the environment, values of the settings, an outline of one session, and the last notes of
//! the journal. Everything passes through `Redaction`, which removes keys. It cannot contain session text; a session is
//! shared with `aye sessions export`.

mod environment;
mod session_outline;

use super::finding::{self, Redaction};
use super::{Report, TIME_LIMIT, settings_check};
use crate::chat::SessionId;
use crate::cli::commands::Doctor;
use crate::cli::{UsageError, resolve_folder};
use crate::commands::export_file;
use crate::store::journal::journal_tail;
use crate::store::{Places, Sessions};
use crate::text::clean::clean_line;
use crate::tools::Toolbox;
use crate::tui::text::wrap;
use anyhow::Result;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Maximum size of a session that is outlined. Of a larger one only the size is shown: reading it takes too long.
const MAX_SESSION_BYTES: u64 = 256 << 20;

/// Explains what the file contains, in the file and on the screen.
const CONTENTS: &str = "the findings of aye doctor, the build, environment variables that affect aye, the settings and their sources, the \
    last notes of the journal, and kind, time and size of the last session's entries. This includes names of folders, \
    hosts, profiles, models and variables.";
const EXCLUDED: &str = "any text of sessions, file contents, commands and answers, keys, and the values of headers, queries, \
    parameters, commands and proxies. ~ is your home; … and [redacted] mark removed text.";

/// Returns the file to write: the named one, or a new one in the named folder.
pub(super) fn target_file(target: &Path) -> Result<PathBuf> {
    let file = match target.is_dir() {
        true => {
            let name = jiff::Timestamp::now().strftime("aye-doctor-%Y%m%d-%H%M%S.txt").to_string();
            if target == Path::new(".") { PathBuf::from(name) } else { target.join(name) }
        }
        false => target.to_owned(),
    };
    let force = false;
    export_file::check_target(&file, force, "Name another file with --bundle FILE.")?;
    Ok(file)
}

/// Writes the file, and prints what it contains.
pub(super) async fn write_bundle(arguments: &Doctor, file: &Path, report: Report) -> Result<ExitCode> {
    let Report { findings, redaction, environment: loaded } = report;
    let mut sections = vec![
        ("Findings of aye doctor", finding::format_findings(&findings, &redaction, finding::MAX_COLUMNS)),
        ("Build and environment", environment::environment_lines()),
    ];
    if let Some((settings, places)) = loaded {
        sections.push(("Effective settings", settings_check::effective_settings(&settings)));
        let journal_places = places.clone();
        sections.push(("Last notes of the journal", collect_with_limit(move || journal_lines(&journal_places)).await));
        let (session_name, folder) = (arguments.resume.clone(), arguments.place.folder.clone());
        let outline = move || session_lines(&places, session_name.as_deref(), folder.as_deref());
        sections.push(("Outline of the last session", collect_with_limit(outline).await));
    }
    let text = format_report(&sections, &redaction);
    let force = false;
    export_file::write_file(file, &text, force)?;
    let mut out = std::io::stdout().lock();
    let kb = text.len().div_ceil(1024);
    let shown_path = redaction.redact_line(&std::path::absolute(file)?.display().to_string());
    writeln!(out, "Wrote {shown_path}: {kb} KB of plain text, readable only by you.")?;
    writeln!(out, "Nothing was sent. Review the file before you send it.\n")?;
    write!(out, "{}", describe_content())?;
    writeln!(out, "To share a session's text too, use aye sessions export, which redacts known forms of secrets.")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Collects lines, or returns a line that says why there are none. The time limit is four times that of a check,
/// because reading a large session takes longer.
async fn collect_with_limit(collect: impl FnOnce() -> Vec<String> + Send + 'static) -> Vec<String> {
    match tokio::time::timeout(TIME_LIMIT * 4, tokio::task::spawn_blocking(collect)).await {
        Ok(Ok(lines)) => lines,
        Ok(Err(_)) => vec!["internal error; please report this bug".to_owned()],
        Err(_) => vec![format!("no answer within {:.0} s", (TIME_LIMIT * 4).as_secs_f32())],
    }
}

/// Formats the whole report, with secrets removed.
fn format_report(sections: &[(&str, Vec<String>)], redaction: &Redaction) -> String {
    let mut text = String::new();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC");
    let _ = writeln!(text, "aye doctor --bundle, {now}\n");
    text.push_str(&describe_content());
    for (title, lines) in sections {
        let _ = writeln!(text, "\n== {title}\n");
        for line in lines {
            // A line break in a name becomes a space, so that the name stays on one line.
            let _ = writeln!(text, "{}", clean_line(line));
        }
    }
    redaction.redact_text(&text)
}

/// Describes what the file contains, in wrapped lines with an empty line after each part.
fn describe_content() -> String {
    let wrap_part = |(label, content): (&str, &str)| {
        let columns = finding::MAX_COLUMNS.into();
        let lines = wrap::wrap_plain(&format!("{label}{content}"), ratatui::style::Style::new(), columns);
        lines.iter().map(|line| format!("{line}\n")).collect::<String>() + "\n"
    };
    [("Contains: ", CONTENTS), ("Does not contain: ", EXCLUDED)].map(wrap_part).concat()
}

fn journal_lines(places: &Places) -> Vec<String> {
    let parts = match journal_tail::read_tail(&places.journal()) {
        Ok(parts) => parts,
        Err(error) => return vec![format!("cannot list it: {error}")],
    };
    if parts.is_empty() {
        return vec!["none".to_owned()];
    }
    let mut lines = Vec::new();
    for part in parts {
        lines.push(format!("-- {}", part.name));
        if part.omitted_count > 0 {
            lines.push(format!("({} earlier notes omitted)", part.omitted_count));
        }
        lines.extend(part.notes);
        if part.other_count > 0 {
            lines.push(format!("({} lines of content omitted)", part.other_count));
        }
    }
    lines
}

/// Outlines the named session, the newest of this folder, or the newest of all.
fn session_lines(places: &Places, session_name: Option<&str>, folder: Option<&Path>) -> Vec<String> {
    let sessions = Sessions::new(places.sessions());
    let listed = match sessions.list_all() {
        Ok(listed) if listed.is_empty() => return vec!["none".to_owned()],
        Ok(listed) => listed,
        Err(error) => return vec![format!("cannot list them: {error}")],
    };
    let id: Result<SessionId, _> = match session_name.filter(|name| !name.is_empty()) {
        Some(name) => sessions.find_id(name).map_err(UsageError::from_error),
        None => {
            let folder_latest = resolve_folder(folder)
                .ok()
                .and_then(|folder| sessions.find_latest(&folder).ok())
                .map(|latest| latest.id);
            Ok(folder_latest.unwrap_or_else(|| listed[0].id.clone()))
        }
    };
    let id = match id {
        Ok(id) => id,
        Err(error) => return vec![error.to_string()],
    };
    let bytes = listed.iter().find(|listed| listed.id == id).map_or(0, |listed| listed.bytes);
    let open_label = if sessions.open_elsewhere().contains(&id) { " · open in another aye" } else { "" };
    let mut lines = vec![format!("{id} · {bytes} bytes{open_label}")];
    if bytes > MAX_SESSION_BYTES {
        lines.push("the session is too long to outline".to_owned());
        return lines;
    }
    let specs = Toolbox::with_builtin_tools(crate::tools::toolbox::ToolSettings::default()).tool_specs().into_iter();
    let tools: Vec<String> =
        specs.chain(Toolbox::workspace_specs()).chain(Toolbox::doc_specs()).map(|spec| spec.name).collect();
    match sessions.read(&id) {
        Ok(stored) => lines.extend(session_outline::outline_lines(&stored, &tools)),
        Err(error) => lines.push(error.to_string()),
    }
    lines
}
