//! The session shown, apart from its entries, which are the agent's.

use super::host::Connection;
use super::project_trust::ProjectTrust;
use super::session_saving::Saving;
use crate::chat::SessionId;

/// The session shown, apart from its entries, which are the agent's.
pub struct OpenSession {
    /// Id of the session.
    pub id: SessionId,
    /// Model and provider in use.
    pub connection: Connection,
    /// Save state of the session.
    pub saving: Saving,
    /// Formatted times of the session's entries that were requested so far.
    pub entry_times: Vec<String>,
    /// Trust in the project.
    pub trust: ProjectTrust,
}

impl OpenSession {
    /// Creates the state of a session whose entries are all saved.
    pub fn new(id: SessionId, connection: Connection) -> Self {
        Self { id, connection, saving: Saving::default(), entry_times: Vec::new(), trust: ProjectTrust::default() }
    }
}
