//! Connects sessions with the checkpoints of their projects, for the screen, `aye undo` and `aye checkpoints`.

use super::sandbox_setup;
use super::session_builder::SessionBuilder;
use crate::agent::ApplyRequest;
use crate::chat::apply_message::UNDO_MESSAGE;
use crate::chat::checkpoint::{join_spans, list_rewind_points, list_undo_steps, restore_call};
use crate::chat::{Checkpoint, CheckpointSpan, RewindPoint, Session, SessionId};
use crate::cli::{UsageError, bail_usage};
use crate::project::Reader;
use crate::project::checkpoints::{Checkpoints, RecordedCall, Restoration, SessionCheckpoints};
use crate::store::{Places, Sessions};
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;

/// A session with what its calls changed.
pub(crate) struct SessionChanges {
    session: Session,
    /// Changes of the session and of those it was copied from, oldest first.
    pub(crate) checkpoints: Vec<Checkpoint>,
    pub(crate) restoration: Restoration,
    /// Records what is restored.
    pub(crate) recording: SessionCheckpoints,
}

impl SessionBuilder {
    /// Reads a live session with what its calls changed.
    pub(super) fn load_changes(&self, id: &SessionId) -> Result<SessionChanges> {
        if self.checkpoint_bytes == 0 {
            bail_usage!("Cannot undo: nothing is kept, because undo.max_mb is 0 MB. Increase it in the settings.");
        }
        load_changes(&self.places, &self.folder, id, self.checkpoint_bytes)
    }

    /// Returns the user's messages in a session, with what their turns changed if that is known.
    pub(super) fn list_rewind_points(&self, id: &SessionId) -> Result<Vec<RewindPoint>> {
        if let Ok(changes) = self.load_changes(id) {
            return Ok(changes.rewind_points());
        }
        let stored = self.stored_sessions().read(id).map_err(UsageError::from_error)?;
        Ok(list_rewind_points(&Session::replay(stored.entries), &[]))
    }
}

/// Opens the checkpoints of the project in `folder`.
pub(crate) fn open_checkpoints(
    places: &Places,
    folder: &Path,
    session: &SessionId,
    limit: u64,
) -> Result<(Restoration, SessionCheckpoints)> {
    let disk = Arc::new(sandbox_setup::open_project(places, folder)?);
    let root = disk.root().to_owned();
    let checkpoints = Arc::new(Checkpoints::new(places.checkpoints(&root), limit));
    let restoration = Restoration::new(checkpoints.clone(), disk);
    Ok((restoration, SessionCheckpoints { checkpoints, session: session.clone(), root }))
}

/// Reads a live session with what its calls changed. `limit` is the maximum bytes of its project's checkpoints.
pub(crate) fn load_changes(places: &Places, folder: &Path, id: &SessionId, limit: u64) -> Result<SessionChanges> {
    let sessions = Sessions::new(places.sessions());
    let stored = sessions.read(id).map_err(UsageError::from_error)?;
    let (folder, dry_run) = stored.folder_and_kind(folder);
    if dry_run {
        bail_usage!(
            "Cannot undo session {id}: it is a dry run, which changed no files. Discard it with `aye rehearsal drop {id}`."
        );
    }
    if !folder.is_dir() {
        bail_usage!("Cannot undo session {id}: its folder {} no longer exists. Restore the folder.", folder.display());
    }
    let (restoration, recording) = open_checkpoints(places, &folder, id, limit)?;
    let lineage = list_lineage(&sessions, id);
    let belongs = |call: &RecordedCall| {
        let ancestor = lineage.iter().find(|(session, _)| *session == call.session);
        // What the original did after it was copied is not part of the copy.
        ancestor.is_some_and(|(_, copied)| copied.as_ref().is_none_or(|copy| call.id < copy.0))
    };
    let calls = recording.checkpoints.read_calls();
    let checkpoints = calls.iter().filter(|call| belongs(call)).map(RecordedCall::summary).collect();
    Ok(SessionChanges { session: Session::replay(stored.entries), checkpoints, restoration, recording })
}

/// Returns the session and those it was copied from, each of these with its copy.
fn list_lineage(sessions: &Sessions, id: &SessionId) -> Vec<(SessionId, Option<SessionId>)> {
    let mut lineage: Vec<(SessionId, Option<SessionId>)> = vec![(id.clone(), None)];
    let mut current = id.clone();
    while let Some(from) = sessions.read(&current).ok().and_then(|stored| stored.header?.from) {
        // A damaged header could name a copy as its own original.
        if lineage.iter().any(|(known, _)| *known == from) {
            break;
        }
        lineage.push((from.clone(), Some(current)));
        current = from;
    }
    lineage
}

impl SessionChanges {
    /// Returns the messages of the user with what their turns changed, oldest first.
    pub(crate) fn rewind_points(&self) -> Vec<RewindPoint> {
        list_rewind_points(&self.session, &self.checkpoints)
    }

    /// Returns the changes of the last turn that can still be undone.
    ///
    /// # Errors
    /// A sentence if there are none, with what cannot be restored.
    pub(crate) fn find_undo(&self) -> Result<Vec<CheckpointSpan>, String> {
        let (mut checkpoints, mut not_restored) = (Vec::new(), Vec::new());
        for step in list_undo_steps(&self.session, &self.checkpoints) {
            checkpoints.splice(0..0, step);
            let spans = join_spans(&checkpoints);
            // A turn whose files already have their previous state is passed over, and what else it did is named.
            match self.restoration.plan(&spans) {
                Ok(plan) if !plan.is_empty() => return Ok(spans),
                Ok(plan) => not_restored = plan.not_restored,
                Err(_) => {}
            }
        }
        Err(match not_restored.is_empty() {
            true => "Nothing to undo".to_owned(),
            false => format!("Nothing to undo. Not restored: {}", crate::chat::join_first(&not_restored, 4)),
        })
    }
}

/// Returns the call that undoes the last turn of a session, for the approval prompt, or why there is none.
pub(crate) fn build_undo_request(changes: Result<SessionChanges>) -> Result<ApplyRequest, String> {
    let spans = changes.map_err(|error| format!("{error:#}"))?.find_undo()?;
    Ok(ApplyRequest { message: UNDO_MESSAGE.to_owned(), calls: vec![restore_call(&spans)] })
}
