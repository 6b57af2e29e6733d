//! MCP servers on the screen: their list, and accepting changed tools.

use super::ScreenHost;
use crate::chat::{Digest, pluralize};
use crate::tui::host::HostReply;

impl ScreenHost {
    /// Sends the list at once. If servers may be connected to, sends it again once those with changed tools have answered.
    pub(super) fn list_servers(&self, connects: bool) {
        let (servers, replies) = (self.session_builder.mcp_servers.clone(), self.replies.clone());
        tokio::spawn(async move {
            let send_reports = async || {
                let servers = servers.clone();
                let reports = tokio::task::spawn_blocking(move || servers.reports()).await;
                // The screen may be closed.
                let _ = replies.send(HostReply::Servers(reports.unwrap_or_default())).await;
            };
            send_reports().await;
            if connects {
                servers.load_changes().await;
                send_reports().await;
            }
        });
    }

    pub(super) fn accept_server_tools(&self, server: String, digest: Digest) {
        let (servers, replies) = (self.session_builder.mcp_servers.clone(), self.replies.clone());
        self.run_in_background(move || {
            let reply = match servers.accept_change(&server, &digest) {
                Ok(count) => HostReply::Done(format!("Accepted {} of MCP server {server}", pluralize(count, "tool"))),
                Err(problem) => HostReply::Notice(problem),
            };
            // The screen may be closed.
            let _ = replies.blocking_send(reply);
            Some(HostReply::Servers(servers.reports()))
        });
    }
}
