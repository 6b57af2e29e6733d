//! Answers to requests and notifications of a server.

// Roots and log messages are to be replaced in the protocol, but servers use them.
#![allow(deprecated)]

use crate::store::Journal;
use crate::text::hidden_chars::remove_hidden;
use crate::text::truncation::truncate_end;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorData, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProgressToken, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Maximum characters of a progress message.
const MAX_PROGRESS_CHARS: usize = 200;

/// Receives the progress of a call, as one line.
pub type OnProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// Receivers of progress by the token of their call.
#[derive(Clone, Default)]
pub(super) struct ProgressReceivers(Arc<Mutex<HashMap<ProgressToken, OnProgress>>>);

impl ProgressReceivers {
    pub(super) fn insert(&self, token: ProgressToken, receiver: OnProgress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, receiver);
    }

    pub(super) fn remove(&self, token: &ProgressToken) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn find(&self, token: &ProgressToken) -> Option<OnProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}

/// aye as its servers see it. It offers the project as root, and neither its model nor its user.
#[derive(Clone)]
pub(super) struct Client {
    /// Address of the project's folder.
    root: String,
    pub(super) progress: ProgressReceivers,
    /// Notified when the server says that its tools changed.
    pub(super) tools_changed: Arc<Notify>,
    journal: Journal,
}

impl Client {
    pub(super) fn new(project: &Path, journal: Journal) -> Self {
        let root = reqwest::Url::from_directory_path(project).map_or_else(|()| "file:///".to_owned(), String::from);
        Self { root, progress: ProgressReceivers::default(), tools_changed: Arc::default(), journal }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        ClientConfig::new(capabilities, Implementation::new("aye", env!("CARGO_PKG_VERSION")))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new(self.root.clone())]))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(receiver) = self.progress.find(&progress.progress_token) {
            receiver(&describe_progress(&progress));
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.journal.note("an MCP server logged a message");
        self.journal.content("mcp", || message.data.to_string());
    }
}

/// Describes progress in one line: `3 of 10: reading`.
fn describe_progress(progress: &ProgressNotificationParam) -> String {
    let mut text = progress.progress.to_string();
    if let Some(total) = progress.total {
        text.push_str(&format!(" of {total}"));
    }
    if let Some(message) = progress.message.as_deref().filter(|message| !message.trim().is_empty()) {
        text.push_str(&format!(": {}", remove_hidden(message).split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    truncate_end(&text, MAX_PROGRESS_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn progress_is_one_clean_line() {
        let describe = |value: Value| describe_progress(&serde_json::from_value(value).unwrap());
        assert_eq!(describe(json!({"progressToken": 1, "progress": 3, "total": 10})), "3 of 10");
        let hostile = json!({"progressToken": 1, "progress": 0.5, "message": "a\n\u{1B}[2J\u{202E}b"});
        assert_eq!(describe(hostile), "0.5: a [2Jb");
        let long = describe(json!({"progressToken": 1, "progress": 1, "message": "x".repeat(100_000)}));
        assert_eq!(long.chars().count(), MAX_PROGRESS_CHARS + 1, "with the mark of truncation");
    }
}
