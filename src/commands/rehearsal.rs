//! `aye rehearsal`: shows, applies or discards the changes of a dry run.

pub(super) mod dry_run_report;
mod patch;

use super::folder::open_places;
use super::output::{confirm, print_notices};
use crate::assemble::rehearsal::{LoadedRehearsal, discard, load_rehearsal, mark_applied};
use crate::chat::SessionId;
use crate::cli::commands::RehearsalCommand;
use crate::cli::{UsageError, bail_usage};
use crate::store::{self, Places, Removal, Sessions};
use anyhow::Result;
use dry_run_report::{print_json, print_text};
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs the command. The caller handles `Apply`, which needs the screen; here it would only print the report.
pub(super) fn run(command: &RehearsalCommand) -> Result<ExitCode> {
    let (requested_id, place) = match command {
        RehearsalCommand::Show { id, options } | RehearsalCommand::Diff { id, options, .. } => (id, &options.place),
        RehearsalCommand::Drop { id, place, .. } => (id, place),
        RehearsalCommand::Apply(apply) => (&apply.id, &apply.place),
    };
    let (places, folder) = open_places(place)?;
    let sessions = Sessions::new(places.sessions());
    // A single argument of `diff` that matches no session may be a path.
    let only_argument = if let RehearsalCommand::Diff { id, path: None, .. } = command { id.as_deref() } else { None };
    let path_argument =
        only_argument.filter(|argument| matches!(sessions.find_id(argument), Err(store::Error::Missing(_))));
    let requested_id = requested_id.as_deref().filter(|_| path_argument.is_none());
    let id = sessions.find_dry_run(&folder, requested_id).map_err(UsageError::from_error)?;
    let load = || -> Result<LoadedRehearsal> {
        let mut loaded = load_rehearsal(&places, &folder, &id)?;
        mark_applied(&sessions, &mut loaded);
        print_notices(&loaded.notices)?;
        Ok(loaded)
    };
    let mut out = io::stdout().lock();
    let result = match command {
        RehearsalCommand::Drop { yes, .. } => discard_after_asking(&places, &id, *yes),
        RehearsalCommand::Diff { path, options, .. } => {
            let (mut loaded, path) = (load()?, path.as_deref().or(path_argument));
            if let Some(argument) = path_argument
                && !patch::has_changes(&loaded.rehearsal, argument)?
            {
                bail_usage!(
                    "Cannot show {argument}: it matches no session and no rehearsed change. List the changes with `aye rehearsal`."
                );
            }
            match (options.json, path) {
                (true, path) => {
                    patch::keep_changes(&mut loaded, path)?;
                    print_json(&loaded, "rehearsal", &mut out)
                }
                (false, path) => patch::print_patch(&loaded.rehearsal, path, &mut out),
            }
        }
        RehearsalCommand::Show { options, .. } if options.json => print_json(&load()?, "rehearsal", &mut out),
        RehearsalCommand::Show { .. } | RehearsalCommand::Apply(_) => print_text(&load()?, &mut out),
    };
    result.map(|()| ExitCode::SUCCESS)
}

/// Discards the rehearsal of a session, if it has one. Asks for confirmation unless `skip_confirmation`.
fn discard_after_asking(places: &Places, id: &SessionId, skip_confirmation: bool) -> Result<()> {
    let stored = Sessions::new(places.sessions()).read(id).map_err(UsageError::from_error)?;
    if stored.header.is_some_and(|header| !header.dry_run) {
        bail_usage!(
            "Cannot find a rehearsal of session {id}: the session is live. Name a dry run: `aye sessions` lists them."
        );
    }
    let overlay = places.rehearsal(id);
    let mut out = io::stdout().lock();
    if !overlay.exists() {
        writeln!(out, "Session {id} has no rehearsal.")?;
        return Ok(());
    }
    // Reports a locked session before asking.
    std::mem::drop(Removal::lock_all(places, std::slice::from_ref(id)).map_err(UsageError::from_error)?);
    let question = || Ok(format!("To discard the rehearsal of session {id}"));
    let no_terminal =
        format!("Cannot ask before discarding the rehearsal of session {id}: not a terminal. Confirm with --yes.");
    if !skip_confirmation && !confirm(question, &no_terminal)? {
        writeln!(out, "Nothing was discarded.")?;
        return Ok(());
    }
    let open_session = None;
    discard(places, id, open_session)?;
    writeln!(out, "Discarded the rehearsal of session {id}. The session is kept.")?;
    Ok(())
}
