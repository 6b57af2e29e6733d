//! `aye undo`: undoes the last turn of a session after a confirmation.

use super::folder::open_places;
use super::output::{confirm, ignore_closed_pipe, page_width};
use crate::assemble::undo::load_changes;
use crate::chat::batch::{Batch, Item};
use crate::chat::{CallId, CheckpointSpan, DryRunChange, RESTORE_FILES, SessionId};
use crate::cli::commands::Undo;
use crate::cli::{UsageError, bail_usage};
use crate::config::{Overrides, Settings};
use crate::project::checkpoints::{Restoration, SessionCheckpoints};
use crate::store::{Places, Sessions};
use crate::text::clean::clean_line;
use crate::tools::batch_call::apply_items;
use crate::tools::restore_files::{describe_outcome, describe_problem};
use crate::tui::parts::rehearsal_lines::change_lines;
use crate::tui::theme::Theme;
use anyhow::Result;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(arguments: &Undo) -> Result<ExitCode> {
    let (places, folder) = open_places(&arguments.place)?;
    let limit = checkpoint_limit(&places)?;
    let session = find_session(&places, &folder, arguments.session.as_deref())?;
    let changes = load_changes(&places, &folder, &session, limit)?;
    match changes.find_undo() {
        Ok(spans) => restore_after_asking(&changes.restoration, &changes.recording, &spans, arguments.yes),
        Err(reason) => super::output::print_lines([format!("{reason}.")]),
    }
}

/// Returns the maximum bytes of the checkpoints of a project. Fails if they are turned off.
pub(super) fn checkpoint_limit(places: &Places) -> Result<u64> {
    let environment = |name: &str| std::env::var(name).ok();
    match Settings::load(&places.settings(), &environment, &Overrides::default()).config.undo.max_mb {
        0 => bail_usage!("Cannot undo: nothing is kept, because undo.max_mb is 0 MB. Increase it in the settings."),
        max_mb => Ok(max_mb << 20),
    }
}

/// Returns the named session, or the last live one of a folder.
fn find_session(places: &Places, folder: &Path, requested: Option<&str>) -> Result<SessionId> {
    let sessions = Sessions::new(places.sessions());
    if let Some(name) = requested {
        return Ok(sessions.find_id(name).map_err(UsageError::from_error)?);
    }
    let listed = sessions.list_by_project(folder).map_err(UsageError::from_error)?;
    match listed.into_iter().find(|session| !session.dry_run && !session.is_served && session.problem.is_none()) {
        Some(session) => Ok(session.id),
        None => bail_usage!("Cannot find a live session of {}: there is none. Start one with `aye`.", folder.display()),
    }
}

/// Shows what restoring checkpoints changes, and does it if the user confirms. The exit code is 1 if a file could not be
/// restored.
pub(super) fn restore_after_asking(
    restoration: &Restoration,
    recording: &SessionCheckpoints,
    spans: &[CheckpointSpan],
    skip_confirmation: bool,
) -> Result<ExitCode> {
    let plan = restoration.plan(spans).map_err(UsageError)?;
    let (batch, work) = restoration.draft_batch(&plan);
    let mut out = io::stdout().lock();
    print_batch(&batch, &mut out)?;
    if let Some(problem) = describe_problem(&plan, &batch) {
        print_text(&problem, &mut out)?;
        return Ok(if plan.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    drop(out);
    let question = || Ok(format!("To restore these files: {}", batch.describe_batch()));
    let no_terminal = "Cannot ask before restoring: not a terminal. Nothing was restored. Confirm with --yes.";
    if !skip_confirmation && !confirm(question, no_terminal)? {
        return super::output::print_lines(["Nothing was restored.".to_owned()]);
    }
    // Files may have changed while the user read.
    let plan = restoration.plan(spans).map_err(UsageError)?;
    let call = CallId(format!("undo-{}", crate::store::new_id()));
    let recorder = recording.recorder(&call, RESTORE_FILES).with_undone(plan.undoes.clone());
    let outcome = apply_items(&batch, &work, &|_| {}, &|operations, rejected| {
        restoration.restore_item(&plan, operations, rejected, &recorder)
    });
    restoration.remove_emptied(&plan, &recorder);
    let text = describe_outcome(outcome.to_text("files", "restored"), &recorder, &batch);
    let printed = print_text(&text, &mut io::stdout().lock()).map(|()| ExitCode::SUCCESS);
    let code = ignore_closed_pipe(printed.map_err(Into::into))?;
    Ok(if outcome.is_complete() { code } else { ExitCode::FAILURE })
}

/// Prints each change in full, and why it cannot be made if so.
pub(super) fn print_batch(batch: &Batch, out: &mut dyn Write) -> io::Result<()> {
    let theme = Theme::without_colours();
    for item in &batch.items {
        for line in change_lines(&as_change(item), page_width(), &theme) {
            writeln!(out, "{}", line.to_string().trim_end())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn as_change(item: &Item) -> DryRunChange {
    let Item { path, kind, is_folder, diff, notes, blocked, .. } = item.clone();
    let notes = blocked.into_iter().chain(notes).collect();
    DryRunChange { path, kind, is_folder, diff, notes, has_conflict: false, group: Default::default() }
}

fn print_text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "{}", clean_line(line))?;
    }
    out.flush()
}
