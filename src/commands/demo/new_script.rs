//! `aye demo new`: writes a script to start from, or that of a session.

use super::{name_of, script_name};
use crate::cli::UsageError;
use crate::cli::demo::NewDemo;
use crate::commands::export_file::{check_target, write_file};
use crate::commands::output::print_notice;
use crate::demo::script_writer::write_script;
use crate::demo::session_script::{SessionFacts, script_of_session};
use crate::store::{Places, Sessions, StoredSession};
use crate::text::redaction::redact;
use anyhow::Result;
use std::io::Write;
use std::process::ExitCode;

/// A script with one of each: a question, an approval and a dry run.
const STARTER: &str = include_str!("starter.toml");

/// Runs the command.
pub(super) fn run(new: &NewDemo) -> Result<ExitCode> {
    check_target(&new.file, new.force, "Name another file, or overwrite it with --force.")?;
    let text = match &new.from {
        None => STARTER.to_owned(),
        Some(id) => session_text(new, id)?,
    };
    write_file(&new.file, text, new.force)?;
    let name = name_of(&new.file);
    let _ = writeln!(std::io::stdout(), "Written: {name}\nPlay it: aye demo play {name}");
    Ok(ExitCode::SUCCESS)
}

fn session_text(new: &NewDemo, id: &str) -> Result<String> {
    let sessions = Sessions::new(Places::find(std::env::var_os("AYE_HOME"))?.sessions());
    let id = sessions.find_id(id).map_err(UsageError::from_error)?;
    let stored = sessions.read(&id).map_err(UsageError::from_error)?;
    let (script, notices) = script_of_session(&script_name(&new.file), session_facts(&stored), &stored.entries);
    let mut redacted = 0;
    let text = write_script(&script, &mut |text| {
        let (shown, count) = redact(text);
        redacted += count;
        shown.into_owned()
    });
    for notice in notices {
        print_notice(&notice)?;
    }
    if redacted > 0 {
        print_notice(&format!("{redacted} possible secrets are masked"))?;
    }
    Ok(text)
}

/// Returns what a script says about the whole session.
fn session_facts(stored: &StoredSession) -> SessionFacts {
    let header = stored.header.as_ref();
    let name = header.and_then(|header| header.folder.file_name());
    let folder = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let folder: String = folder.chars().filter(|c| is_plain(*c)).collect();
    let session = crate::chat::Session::replay(stored.entries.clone());
    SessionFacts {
        title: session.title().map(str::to_owned),
        model: header.map(|header| header.model.clone()).unwrap_or_default(),
        folder: if folder.is_empty() { "project".to_owned() } else { folder },
        is_dry_run: header.is_none_or(|header| header.dry_run),
    }
}
