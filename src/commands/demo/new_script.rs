//! `aye demo new`: writes a script to start from, or that of a session.

use super::{name_of, script_name};
use crate::chat::SessionId;
use crate::cli::UsageError;
use crate::cli::demo::NewDemo;
use crate::commands::export_file::{check_target, write_file};
use crate::commands::output::{print_notice, redaction_notice};
use crate::demo::script_writer::write_script;
use crate::demo::session_script::{SessionFacts, script_of_session};
use crate::store::{Places, Sessions, StoredSession};
use anyhow::Result;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// A script with one of each: a question, an approval and a dry run.
const STARTER: &str = include_str!("starter.toml");

/// Runs the command.
pub(super) fn run(new: &NewDemo) -> Result<ExitCode> {
    check_target(&new.file, new.force, "Name another file, or overwrite it with --force.")?;
    match &new.from {
        None => write_file(&new.file, STARTER, new.force)?,
        Some(id) => {
            let id = open_sessions()?.find_id(id).map_err(UsageError::from_error)?;
            let (text, notices) = session_text(&new.file, &id)?;
            write_file(&new.file, text, new.force)?;
            for notice in notices {
                print_notice(&notice)?;
            }
        }
    }
    let name = name_of(&new.file);
    let _ = writeln!(std::io::stdout(), "Written: {name}\nPlay it: aye demo play {name}");
    Ok(ExitCode::SUCCESS)
}

/// Writes the script of a session to a new file.
pub(super) fn write_session(file: &Path, id: &SessionId) -> Result<()> {
    write_file(file, session_text(file, id)?.0, false)
}

fn open_sessions() -> Result<Sessions> {
    Ok(Sessions::new(Places::find(std::env::var_os("AYE_HOME"))?.sessions()))
}

/// Returns the script of a session for this file, and notices about it.
fn session_text(file: &Path, id: &SessionId) -> Result<(String, Vec<String>)> {
    let stored = open_sessions()?.read(id).map_err(UsageError::from_error)?;
    let (script, mut notices) = script_of_session(&script_name(file), session_facts(&stored), &stored.entries);
    let (text, redacted) = write_script(&script);
    notices.extend(redaction_notice(redacted));
    Ok((text, notices))
}

/// Returns what a script says about the whole session.
fn session_facts(stored: &StoredSession) -> SessionFacts {
    let header = stored.header.as_ref();
    let name = header.and_then(|header| header.folder.file_name());
    let folder = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let session = crate::chat::Session::replay(stored.entries.clone());
    SessionFacts {
        title: session.title().map(str::to_owned),
        model: header.map(|header| header.model.clone()).unwrap_or_default(),
        folder,
        is_dry_run: header.is_none_or(|header| header.dry_run),
    }
}
