//! Connects the session of a dry run with its overlay, for the screen, for `aye rehearsal` and for the end of a
//! headless dry run.

use super::sandbox_setup;
use super::session_builder::SessionBuilder;
use crate::agent::ApplyRequest;
use crate::chat::apply_message::APPLY_MESSAGE;
use crate::chat::{ApplyOptions, DryRunCounts, DryRunSummary, Session, SessionId};
use crate::cli::{UsageError, bail_usage};
use crate::project::change_summary;
use crate::project::rehearsal::Rehearsal;
use crate::store::{Places, Removal, Sessions};
use crate::tui::host;
use anyhow::Result;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A dry run that was read.
pub(crate) struct LoadedRehearsal {
    pub id: SessionId,
    pub title: String,
    pub folder: std::path::PathBuf,
    pub rehearsal: Rehearsal,
    pub summary: DryRunSummary,
    pub counts: DryRunCounts,
    pub notices: Vec<String>,
}

/// Reads a dry run. If the session's file does not name its folder, `current_folder` is used.
pub(crate) fn load_rehearsal(places: &Places, current_folder: &Path, id: &SessionId) -> Result<LoadedRehearsal> {
    let stored = Sessions::new(places.sessions()).read(id).map_err(UsageError::from_error)?;
    let (folder, dry_run) = stored.folder_and_kind(current_folder);
    if !dry_run {
        bail_usage!(
            "Cannot find a rehearsal of session {id}: the session is live. Name a dry run: `aye sessions` lists them."
        );
    }
    if !folder.is_dir() {
        bail_usage!(
            "Cannot compare the changes of session {id}: its folder {} no longer exists. Restore the folder.",
            folder.display()
        );
    }
    let disk = Arc::new(sandbox_setup::open_project(places, &folder)?);
    let rehearsal = Rehearsal::new(disk, places.rehearsal(id));
    let summary = change_summary::summarize(&rehearsal, &stored.entries)?;
    let counts = DryRunCounts::from_entries(&stored.entries);
    let notices = stored.notices.iter().map(ToString::to_string).collect();
    let session = Session::replay(stored.entries);
    let title = session.title().unwrap_or("empty session").to_owned();
    Ok(LoadedRehearsal { id: id.clone(), title, folder, rehearsal, summary, counts, notices })
}

/// Marks the steps that were already run live in copies of the dry run.
pub(crate) fn mark_applied(sessions: &Sessions, loaded: &mut LoadedRehearsal) {
    // Steps of an unreadable copy are offered again, with a prompt that shows what is applied.
    for copy in sessions.read_live_copies(&loaded.folder, &loaded.id) {
        loaded.summary.mark_run_live(&copy.entries);
    }
}

/// Returns the rehearsal of this session, or of the dry run that it is a copy of. The error says why there is none.
pub(crate) fn screen_rehearsal(session_builder: &SessionBuilder, id: &SessionId) -> Result<host::Rehearsal, String> {
    let header = |id: &SessionId| session_builder.stored_sessions().read(id).ok().and_then(|stored| stored.header);
    let source_id = match header(id) {
        None => return Err("nothing was rehearsed yet".to_owned()),
        Some(header) if header.dry_run => id.clone(),
        Some(header) => match header.from.filter(|from| session_builder.places.rehearsal(from).is_dir()) {
            Some(from) => from,
            None => {
                return Err("this session is live and has no rehearsal. /fork dry rehearses in a copy".to_owned());
            }
        },
    };
    let mut loaded = load_rehearsal(&session_builder.places, &session_builder.folder, &source_id)
        .map_err(|error| format!("{error:#}"))?;
    mark_applied(&session_builder.stored_sessions(), &mut loaded);
    Ok(host::Rehearsal { session: source_id, summary: loaded.summary })
}

/// Returns the calls that apply a dry run, for the approval prompts. Fails if there are none.
pub(crate) fn build_apply_request(
    session_builder: &SessionBuilder,
    folder: &Path,
    requested: Option<&str>,
    options: ApplyOptions,
) -> Result<ApplyRequest> {
    let id = session_builder.stored_sessions().find_dry_run(folder, requested).map_err(UsageError::from_error)?;
    let mut loaded = load_rehearsal(&session_builder.places, folder, &id)?;
    mark_applied(&session_builder.stored_sessions(), &mut loaded);
    let calls = loaded.summary.apply_calls(options);
    if calls.is_empty() {
        bail_usage!(
            "Cannot apply session {id}: it has no changes, or all are already applied. Show it with `aye rehearsal show {id}`."
        );
    }
    Ok(ApplyRequest { message: APPLY_MESSAGE.to_owned(), calls })
}

/// Discards the rehearsal of a session, if there is one. `open_session` is the session that this process has open.
///
/// # Errors
/// Fails if another process has the session open, or if one of its commands still runs.
pub(crate) fn discard(places: &Places, id: &SessionId, open_session: Option<&SessionId>) -> Result<()> {
    let overlay = places.rehearsal(id);
    let _lock = match open_session {
        Some(open) if open == id => None,
        Some(_) | None => Some(Removal::lock_all(places, std::slice::from_ref(id)).map_err(UsageError::from_error)?),
    };
    crate::project::rehearsal::remove_overlay(&overlay).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => UsageError(error.to_string()).into(),
        _ => anyhow::anyhow!("{}: {error}", overlay.display()),
    })
}
