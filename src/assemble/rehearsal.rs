//! Reads the rehearsal of a dry run, for the screen, for `aye rehearsal` and for the end of a headless dry run; applies
//! and discards it.

pub(crate) mod dry_run_report;

use super::sandbox_setup;
use super::session_builder::SessionBuilder;
use crate::agent::ApplyRequest;
use crate::chat::{ApplyOptions, DryRunCounts, DryRunSummary, Session, SessionId};
use crate::cli::UsageError;
use crate::project::change_summary;
use crate::project::rehearsal::Rehearsal;
use crate::store::{Places, Removal, Sessions};

use crate::tui::host;
use crate::tui::update::rehearsal_list::APPLY_MESSAGE;
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

/// Returns the named dry run, or the newest of this folder.
pub(crate) fn find_dry_run(sessions: &Sessions, folder: &Path, requested: Option<&str>) -> Result<SessionId> {
    if let Some(name) = requested {
        return Ok(sessions.find_id(name).map_err(UsageError::from_error)?);
    }
    let listed = sessions.list_by_project(folder).map_err(UsageError::from_error)?;
    let newest = listed.into_iter().find(|listed| listed.dry_run).map(|listed| listed.id);
    Ok(newest.ok_or_else(|| UsageError(format!("no dry run in {}. Start one with aye --dry-run", folder.display())))?)
}

/// Reads a dry run.
pub(crate) fn load_rehearsal(places: &Places, current_folder: &Path, id: &SessionId) -> Result<LoadedRehearsal> {
    let stored = Sessions::new(places.sessions()).read(id).map_err(UsageError::from_error)?;
    let (folder, dry_run) = match &stored.header {
        // A header cannot hold every folder name, so this folder's own name is used.
        Some(header) if header.is_in_project(current_folder) => (current_folder.to_owned(), header.dry_run),
        Some(header) => (header.folder.clone(), header.dry_run),
        None => (current_folder.to_owned(), true),
    };
    if !dry_run {
        return Err(UsageError(format!("session {id} is live: it has no rehearsal")).into());
    }
    if !folder.is_dir() {
        return Err(UsageError(format!(
            "session {id} belongs to {}, which no longer exists, so its changes cannot be compared",
            folder.display()
        ))
        .into());
    }
    let disk = Arc::new(sandbox_setup::open_project(places, &folder)?);
    let rehearsal = Rehearsal::new(disk, places.rehearsal(id));
    let mut summary = DryRunSummary::new(change_summary::list_changes(&rehearsal)?, &stored.entries);
    summary.outside = change_summary::list_outside_changes(&rehearsal)?;
    let changed_paths: Vec<String> =
        summary.changes.iter().map(|change| change.path.to_string_lossy().into_owned()).collect();
    for step in &mut summary.calls {
        // A change that a later command reverted is not applied, so running the command again does not repeat it.
        step.changed_paths.retain(|path| changed_paths.contains(path) || rehearsal.was_applied(Path::new(path)));
    }
    let counts = DryRunCounts::from_entries(&stored.entries);
    let notices = stored.notices.iter().map(ToString::to_string).collect();
    let session = Session::replay(stored.entries);
    let title = session.title().unwrap_or("empty session").to_owned();
    Ok(LoadedRehearsal { id: id.clone(), title, folder, rehearsal, summary, counts, notices })
}

/// Marks the steps that were already run live in copies of the dry run.
pub(crate) fn mark_applied(sessions: &Sessions, loaded: &mut LoadedRehearsal) {
    // Steps of an unreadable copy are offered again, with a prompt that shows what is applied.
    for listed in sessions.list_by_project(&loaded.folder).unwrap_or_default() {
        if listed.from.as_ref() == Some(&loaded.id)
            && !listed.dry_run
            && let Ok(copy) = sessions.read(&listed.id)
        {
            loaded.summary.mark_run_live(&copy.entries);
        }
    }
}

/// Returns the rehearsal of this session, or of the dry run that it is a copy of.
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
    match load_rehearsal(&session_builder.places, &session_builder.folder, &source_id) {
        Ok(mut loaded) => {
            mark_applied(&session_builder.stored_sessions(), &mut loaded);
            Ok(host::Rehearsal { session: source_id, summary: loaded.summary })
        }
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Returns the calls that apply a dry run, for the approval prompts. Fails if there are none.
pub(crate) fn build_apply_request(
    session_builder: &SessionBuilder,
    folder: &Path,
    requested: Option<&str>,
    options: ApplyOptions,
) -> Result<ApplyRequest> {
    let id = find_dry_run(&session_builder.stored_sessions(), folder, requested)?;
    let mut loaded = load_rehearsal(&session_builder.places, folder, &id)?;
    mark_applied(&session_builder.stored_sessions(), &mut loaded);
    let calls = loaded.summary.apply_calls(options);
    if calls.is_empty() {
        return Err(
            UsageError(format!("nothing to apply: session {id} has no changes, or all are already applied")).into()
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
