//! MCP servers on the screen: their list, accepting changed tools, and their resources and prompts.

use super::ScreenHost;
use crate::chat::attachments::{Attachment, attach};
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

    /// Sends the resources and prompts of the servers.
    pub(in crate::assemble) fn send_offers(&self) {
        self.send(HostReply::Offers(self.session_builder.mcp_servers.offers()));
    }

    pub(super) fn attach_resources(&self, message: String, resources: Vec<(String, String)>) {
        let (servers, replies) = (self.session_builder.mcp_servers.clone(), self.replies.clone());
        let secrets = self.session_builder.credentials.known_secrets();
        tokio::spawn(async move {
            let read = resources.iter().map(async |(server, uri)| {
                let text = servers.read_resource(server, uri).await?;
                Ok(Attachment { source: format!("{server}:{uri}"), text: secrets.mask(&text).into_owned() })
            });
            let attachments: Result<Vec<_>, String> = futures::future::try_join_all(read).await;
            let result = attachments.map(|attachments| attach(&message, &attachments));
            // The screen may be closed.
            let _ = replies.send(HostReply::MessageAttached { message, result }).await;
        });
    }

    pub(super) fn get_server_prompt(
        &self,
        draft: String,
        server: String,
        prompt: String,
        arguments: Vec<(String, String)>,
    ) {
        let (servers, replies) = (self.session_builder.mcp_servers.clone(), self.replies.clone());
        let secrets = self.session_builder.credentials.known_secrets();
        tokio::spawn(async move {
            let text = servers.get_prompt(&server, &prompt, &arguments).await;
            let result = text.map(|text| secrets.mask(&text).into_owned());
            // The screen may be closed.
            let _ = replies.send(HostReply::PromptReceived { draft, server, result }).await;
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
