//! Reads the project's own files for the screen's trust prompt, and saves the user's trust.

use super::rule_loading;
use super::screen_host::ScreenHost;
use crate::agent::Event;
use crate::chat::Digest;
use crate::config::project_files::{ProjectFiles, ProjectSource};
use crate::config::rules::RulesSource;
use crate::config::trust;
use crate::tui::host::{HostReply, InspectionReason};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for reading the files; a network drive may never answer.
const TIME_LIMIT: Duration = Duration::from_secs(5);

impl ScreenHost {
    /// Reads the project's own files.
    pub(super) fn load_project_files(&self, why: InspectionReason) {
        let (place, replies) = (self.wiring.project_files(&self.wiring.folder), self.replies.clone());
        let folder = place.folder.clone();
        let (tell, looked) = tokio::sync::oneshot::channel();
        // A separate thread, so that no pool thread is blocked. If it cannot start, the receiver reports an error.
        let _ = std::thread::Builder::new().spawn(move || tell.send(ProjectFiles::load(&place)));
        tokio::spawn(async move {
            let brought = match tokio::time::timeout(TIME_LIMIT, looked).await {
                Ok(Ok(brought)) => brought,
                Ok(Err(_)) | Err(_) => {
                    let words = "Cannot read the project's own files. None of them is used.";
                    let _ = replies.send(HostReply::Notice(words.to_owned())).await;
                    ProjectFiles { folder, ..ProjectFiles::default() }
                }
            };
            let _ = replies.send(HostReply::ProjectFiles { brought: Box::new(brought), why }).await;
        });
    }

    /// Trusts the files that the user saw, if they are unchanged.
    pub(super) fn trust_files(&self, folder: PathBuf, seen: Vec<(String, Digest)>) {
        let (place, book) = (self.wiring.project_files(&folder), self.rule_book());
        self.run_in_background(move || {
            Some(match ProjectFiles::trust(&place, &seen, &rule_loading::today_date()) {
                Ok(true) => trusted_reply(place, book),
                Ok(false) => HostReply::ProjectFiles {
                    brought: Box::new(ProjectFiles::load(&place)),
                    why: InspectionReason::FilesChanged,
                },
                Err(error) => {
                    HostReply::TrustFailed(format!("Cannot save the trust: {error}. No file of the project is used."))
                }
            })
        });
    }

    /// Removes the trust in the project's files.
    pub(super) fn remove_trust(&self, folder: PathBuf) {
        let (place, book) = (self.wiring.project_files(&folder), self.rule_book());
        self.run_in_background(move || {
            Some(match trust::revoke_trust(&place.trust_file, &place.folder, None) {
                Ok(()) => trusted_reply(place, book),
                Err(error) => HostReply::TrustFailed(format!("Cannot remove the trust: {error}.")),
            })
        });
    }
}

/// Returns the trusted instructions and rules.
fn trusted_reply(place: ProjectSource, book: RulesSource) -> HostReply {
    let book = RulesSource { folder: place.folder.clone(), ..book };
    let rules =
        Event::RulesLoaded { rules: Arc::new(book.load(&rule_loading::today_date()).rules), notices: Vec::new() };
    let instructions = Arc::new(ProjectFiles::trusted_instructions(&place));
    HostReply::TrustChanged { folder: place.folder, instructions, rules }
}
