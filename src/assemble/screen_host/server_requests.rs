//! MCP servers on the screen: their list, accepting changed tools, and their resources and prompts. Also what is attached to
//! a message.

use super::ScreenHost;
use crate::assemble::attached_files::read_session_files;
use crate::assemble::skills::{find_skills, format_skills};
use crate::chat::attachments::{Attachment, Content, attach};
use crate::chat::user_command::unescape_message;
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

    /// Sends the list of tools.
    pub(super) fn send_tools(&self) {
        let (builder, limit) = (self.session_builder.clone(), self.model.connection_info.tool_limit);
        self.run_in_background(move || {
            Some(HostReply::TextPage("Tools of the model", builder.list_tools(&builder.folder, limit)))
        });
    }

    /// Sends the list of skills.
    pub(super) fn send_skills(&self) {
        let builder = self.session_builder.clone();
        self.run_in_background(move || {
            let skills = find_skills(&builder.places, &builder.project_source(&builder.folder));
            let mut lines = format_skills(&skills, &builder.places);
            lines.push("changes have effect in sessions that start or are resumed later, and after /trust".to_owned());
            Some(HostReply::TextPage("Skills", lines.join("\n")))
        });
    }

    /// Sends the resources and prompts of the servers, and the custom commands.
    pub(in crate::assemble) fn send_offers(&self) {
        let builder = self.session_builder.clone();
        self.run_in_background(move || {
            Some(HostReply::Offers(builder.mcp_servers.offers(), builder.custom_commands(&builder.folder)))
        });
    }

    /// Attaches resources, and the files that the message names.
    pub(super) fn attach_to_message(&self, message: String, resources: Vec<(String, String)>, max_bytes: usize) {
        let (servers, replies) = (self.session_builder.mcp_servers.clone(), self.replies.clone());
        let secrets = self.session_builder.credentials.known_secrets();
        let (session_builder, id) = (self.session_builder.clone(), self.session.clone());
        tokio::spawn(async move {
            let draft = message.clone();
            let files = tokio::task::spawn_blocking(move || {
                read_session_files(&session_builder, &id, unescape_message(&draft), max_bytes)
            });
            let read = resources.iter().map(async |(server, uri)| {
                let text = servers.read_resource(server, uri).await?;
                let content = Content::Resource(secrets.mask(&text).into_owned());
                Ok(Attachment { source: format!("{server}:{uri}"), content })
            });
            let resources: Result<Vec<_>, String> = futures::future::try_join_all(read).await;
            // If reading panicked, the message is sent without its files.
            let files = files.await.unwrap_or_default();
            let result = resources.map(|resources| attach(&message, &[files, resources].concat()));
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
