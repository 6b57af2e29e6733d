//! State of the session shown, without its entries, which belong to the agent's state; and trust in its project.

use super::host::{Connection, CredentialRequest, FormRequest, InspectionReason, SamplingReview};
use super::session_saving::Saving;
use crate::chat::{Digest, SessionId};
use crate::config::ProjectFiles;
use std::path::PathBuf;
use std::sync::Arc;

/// State of the session shown, without its entries, which belong to the agent's state.
#[derive(Default)]
pub struct OpenSession {
    /// Id of the session.
    pub id: SessionId,
    /// Model and provider in use.
    pub connection: Connection,
    /// Save state of the session.
    pub saving: Saving,
    /// Formatted time of each entry that was on disk when a list that shows times was last opened. Empty before that.
    pub entry_times: Vec<String>,
    /// Trust in the project.
    pub trust: ProjectTrust,
    /// Credentials that tools wait for, oldest first.
    pub credential_requests: Vec<Arc<CredentialRequest>>,
    /// Forms of MCP servers that calls wait for, oldest first.
    pub form_requests: Vec<Arc<FormRequest>>,
    /// Requests of MCP servers for the model that wait for a decision, oldest first.
    pub sampling_reviews: Vec<Arc<SamplingReview>>,
    /// Servers with a request of this session that has not ended.
    pub open_samplings: Vec<String>,
}

/// Trust in the project: what the trust prompt asks, and what the user refused.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectTrust {
    /// Files the trust prompt asks about; `None` without a prompt.
    pub pending: Option<(Arc<ProjectFiles>, InspectionReason)>,
    /// Descriptions of project files that are not used.
    pub unused_files: Vec<String>,
    /// Message given at startup; empty if none. It is sent after the decision about the project's files.
    pub first_message: String,
    /// Projects refused since program start. The prompt does not open again for them unless their files change.
    pub(super) refused: Vec<RefusedProject>,
}

/// Folder and files of a project at the time the user refused to trust it.
type RefusedProject = (PathBuf, Vec<(String, Digest)>);

impl ProjectTrust {
    /// Records that the user does not trust these files.
    pub fn record_refusal(&mut self, files: &ProjectFiles) {
        self.refused.retain(|(folder, _)| *folder != files.folder);
        self.refused.push((files.folder.clone(), files.signature()));
    }

    /// Returns whether the user refused exactly these files before.
    pub fn was_refused(&self, files: &ProjectFiles) -> bool {
        self.refused.iter().any(|(folder, signature)| *folder == files.folder && *signature == files.signature())
    }
}
