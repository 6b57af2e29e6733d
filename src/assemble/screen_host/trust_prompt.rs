//! Reads the project's own files for the screen's trust prompt, and saves the user's trust.

use super::ScreenHost;
use crate::agent::Event;
use crate::assemble::mcp_setup::apply_trust;
use crate::chat::Digest;
use crate::config::project_files::ProjectFiles;
use crate::config::rules::rule_watcher::RuleWatcher;
use crate::config::rules::today_date;
use crate::config::trust;
use crate::mcp::server_pool::ServerPool;
use crate::tui::host::{HostReply, InspectionReason};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Time limit for reading the files; a network drive may never answer.
const TIME_LIMIT: Duration = Duration::from_secs(5);

impl ScreenHost {
    /// Reads the project's own files.
    pub(super) fn load_project_files(&self, reason: InspectionReason) {
        let (source, replies) = (self.project_source(), self.replies.clone());
        let folder = source.folder.clone();
        let (sender, loaded) = tokio::sync::oneshot::channel();
        // A separate thread, so that no pool thread is blocked. If it cannot start, the receiver reports an error.
        let _ = std::thread::Builder::new().spawn(move || sender.send(ProjectFiles::load(&source)));
        tokio::spawn(async move {
            let project_files = match tokio::time::timeout(TIME_LIMIT, loaded).await {
                Ok(Ok(project_files)) => project_files,
                Ok(Err(_)) | Err(_) => {
                    let message = "Cannot read the project's own files. None of them is used.";
                    let _ = replies.send(HostReply::Notice(message.to_owned())).await;
                    ProjectFiles { folder, ..ProjectFiles::default() }
                }
            };
            let _ = replies.send(HostReply::ProjectFiles { files: Box::new(project_files), reason }).await;
        });
    }

    /// Trusts the files that the user saw, if they are unchanged.
    pub(super) fn trust_files(&self, folder: PathBuf, files: Vec<(String, Digest)>) {
        let source = self.session_builder.project_source(&folder);
        let apply = self.trust_change(&folder);
        self.run_in_background(move || {
            Some(match ProjectFiles::trust(&source, &files, &today_date()) {
                Ok(true) => apply(),
                Ok(false) => HostReply::ProjectFiles {
                    files: Box::new(ProjectFiles::load(&source)),
                    reason: InspectionReason::FilesChanged,
                },
                Err(error) => {
                    HostReply::TrustFailed(format!("Cannot save the trust: {error}. No file of the project is used."))
                }
            })
        });
    }

    /// Returns the MCP servers, and whether the open session is a dry run.
    fn servers_for_trust(&self) -> (Arc<ServerPool>, bool) {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        (self.session_builder.mcp_servers.clone(), runtime.context.shell.is_none())
    }

    /// Removes the trust in the project's files.
    pub(super) fn remove_trust(&self, folder: PathBuf) {
        let source = self.session_builder.project_source(&folder);
        let apply = self.trust_change(&folder);
        self.run_in_background(move || {
            let every_file = None;
            Some(match trust::revoke_trust(&source.trust_file, &source.folder, every_file) {
                Ok(()) => apply(),
                Err(error) => {
                    HostReply::TrustFailed(format!("Cannot remove the trust: {error}. Correct this and try again."))
                }
            })
        });
    }

    /// Returns what applies a change of trust that was stored: it gives the session the tools, MCP servers and rules that
    /// apply now, and creates the reply with the rules, the tools and the instructions.
    fn trust_change(&self, folder: &Path) -> impl FnOnce() -> HostReply + use<> {
        let (builder, runtime, folder) = (self.session_builder.clone(), self.runtime.clone(), folder.to_owned());
        let (servers, dry_run) = self.servers_for_trust();
        move || {
            let source = builder.project_source(&folder);
            let tools_event = {
                let mut runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner);
                // The watcher of the session does not know the names of new tools.
                let watcher = RuleWatcher::new(source.clone());
                runtime.set_rules_poll(move || {
                    watcher.reload_if_changed().map(|(rules, notices)| Event::RulesLoaded { rules, notices })
                });
                builder.reload_project_tools(&mut runtime, &source)
            };
            let rules = Arc::new(source.load(&today_date()).rules);
            let rules_event = Event::RulesLoaded { rules, notices: Vec::new() };
            let instructions = Arc::new(ProjectFiles::trusted_instructions(&source));
            apply_trust(&servers, &source, dry_run);
            HostReply::TrustChanged { folder: source.folder, instructions, rules_event, tools_event }
        }
    }
}
