//! The file of a workspace that a call names.

use super::summary_line::first_line;
use super::{Error, RehearsalContext, RehearsalOutcome};
use crate::chat::{Access, Plan, SessionId, WorkspaceAccess};
use crate::project::Writer;
use crate::text::workspace_address::{AddressTarget, SCHEME, ScopedPath, WorkspaceAddress};
use crate::workspace::{self, StoredFile, Workspace};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Maximum characters of a path in the summary of a call.
const MAX_SUMMARY_CHARS: usize = 120;

/// A file of a workspace, by id or path.
pub(super) struct WorkspaceTarget {
    pub workspace: Arc<Workspace>,
    /// The session if it is not the one of the call.
    pub session: Option<SessionId>,
    pub target: AddressTarget,
}

/// A version of a file as it was when the call was planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlannedFile {
    pub session: Option<SessionId>,
    pub id: String,
    pub version: u64,
}

impl From<workspace::Error> for Error {
    fn from(error: workspace::Error) -> Self {
        let hint = match &error {
            workspace::Error::Missing(_) => " list_workspace_files lists all.",
            _ => "",
        };
        Self::Failed(format!("{error}{hint}"))
    }
}

/// Finds what the arguments `file_id` and `path` name: an id, a path, or an address in either. The id wins; an empty
/// text counts as absent.
pub(super) fn parse_target(
    own: &Arc<Workspace>,
    file_id: Option<&str>,
    path: Option<&str>,
) -> Result<WorkspaceTarget, Error> {
    let given = |text: Option<&str>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (text, is_id) = match (given(file_id), given(path)) {
        (Some(id), _) => (id, true),
        (None, Some(path)) => (path, false),
        (None, None) => return Err(Error::Arguments("Give file_id or path.".to_owned())),
    };
    let target = match (text.starts_with(SCHEME), is_id) {
        (true, _) => text.parse::<WorkspaceAddress>().map(|address| address.target),
        (false, true) => text.parse(),
        (false, false) => ScopedPath::parse(&text).map(AddressTarget::Path),
    };
    let target = target.map_err(|reason| {
        Error::Arguments(format!("Cannot use “{}”: {reason}.", first_line(&text, MAX_SUMMARY_CHARS)))
    })?;
    let (workspace, session) = open_workspace(own, target.session().map(str::to_owned))?;
    Ok(WorkspaceTarget { workspace, session, target })
}

/// Opens the workspace of a session that was named. Also returns the session, if it is another one.
pub(super) fn open_workspace(
    own: &Arc<Workspace>,
    named: Option<String>,
) -> Result<(Arc<Workspace>, Option<SessionId>), Error> {
    match named.map(SessionId).filter(|session| session != own.session()) {
        None => Ok((own.clone(), None)),
        Some(session) => Ok((Arc::new(own.of_session(&session)?), Some(session))),
    }
}

/// Formats a path for the user and the model: with its session, if that is another one.
pub(super) fn display_path(session: Option<&SessionId>, path: &str) -> String {
    match session {
        None => path.to_owned(),
        Some(session) => format!("/sessions/{session}/{path}"),
    }
}

/// Returns the summary of a call about a path.
pub(super) fn summarize_path(session: Option<&SessionId>, path: &str) -> String {
    first_line(&display_path(session, path), MAX_SUMMARY_CHARS)
}

impl WorkspaceTarget {
    /// Returns the access of a call that reads the file.
    pub fn read_access(&self, file: &StoredFile) -> Access {
        if file.origin.needs_approval(self.session.is_none()) {
            let path = display_path(self.session.as_ref(), file.path.as_str());
            // With the scheme: a rule for a file of the project does not name it.
            return Access::ReadSensitive(format!("{SCHEME}/{}", path.trim_start_matches('/')).into());
        }
        Access::Workspace(Box::new(WorkspaceAccess {
            path: file.path.to_string(),
            session: self.session.clone(),
            untrusted_source: file.origin.untrusted_source.clone(),
            ..WorkspaceAccess::default()
        }))
    }

    /// Records a version for the plan.
    pub fn record(&self, file: &StoredFile) -> PlannedFile {
        PlannedFile { session: self.session.clone(), id: file.id.clone(), version: file.version }
    }
}

impl PlannedFile {
    /// Finds the planned version again.
    pub fn find_again(&self, own: &Arc<Workspace>) -> Result<(Arc<Workspace>, StoredFile), Error> {
        let (workspace, _) = open_workspace(own, self.session.clone().map(|session| session.0))?;
        let file = workspace.find(&AddressTarget::Id(self.id.clone(), Some(self.version)))?;
        Ok((workspace, file))
    }
}

/// Runs work on a workspace on a thread that may block.
pub(super) async fn run_in_workspace<T, F>(own: &Arc<Workspace>, project: Arc<dyn Writer>, work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnOnce(&Arc<Workspace>) -> Result<T, Error> + Send + 'static,
{
    let own = own.clone();
    super::run_blocking(project, move |_| work(&own)).await
}

/// Rehearses a call: a dry run is a session with a workspace of its own, in which its calls run. The workspaces of other
/// sessions are not changed.
pub(super) async fn rehearse_in_workspace(
    tool: &str,
    plan: &Plan,
    context: &RehearsalContext,
    run: impl Future<Output = Result<String, Error>> + Send,
) -> Result<RehearsalOutcome, Error> {
    match &plan.access {
        Access::Workspace(access) if access.changes && access.session.is_some() => {
            Ok(RehearsalOutcome::Simulate("The workspace of another session is not changed.".to_owned()))
        }
        Access::ReadSensitive(_) if !context.is_approved => {
            Ok(RehearsalOutcome::NotRun(super::describe_skipped_read(context, tool, plan)))
        }
        Access::Workspace(_) | Access::ReadSensitive(_) => run.await.map(RehearsalOutcome::Ran),
        _ => Ok(RehearsalOutcome::NotRun(super::describe_skipped_call(tool, plan))),
    }
}

#[cfg(test)]
mod tests;
