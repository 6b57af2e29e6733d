//! Resources and prompts of a server, which the user names in a message or a command.

use super::Server;
use crate::chat::ServerOffer;
use crate::mcp::connection::Connection;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for reading a resource or a prompt from a connected server.
const LIMIT: Duration = Duration::from_secs(30);

impl Server {
    /// Returns what the server offered when it was last connected.
    pub(in crate::mcp) fn offer(&self) -> ServerOffer {
        self.state().offer.clone()
    }

    /// Asks the server what it offers, and keeps it for the next run. Errors are ignored: nothing depends on it.
    pub(super) async fn update_offer(&self, connection: &Connection) {
        let listed = tokio::time::timeout(self.config.discovery_limit, connection.list_offer()).await;
        let Ok(offer) = listed else { return };
        let is_same = std::mem::replace(&mut self.state().offer, offer.clone()) == offer;
        if !is_same {
            let (catalogue, identity) = (self.catalogue.clone(), self.config.endpoint.identity());
            let _ = tokio::task::spawn_blocking(move || catalogue.save_offer(&identity, offer)).await;
        }
    }

    /// Reads a resource as text. Connects first if necessary.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(in crate::mcp) async fn read_resource(self: &Arc<Self>, uri: &str) -> Result<String, String> {
        let connection = self.connect_for_user().await?;
        let read = tokio::time::timeout(LIMIT, connection.read_resource(uri)).await;
        read.unwrap_or_else(|_| Err(no_answer()))
            .map_err(|reason| format!("Cannot read {uri} of MCP server {}: {reason}.", self.config.name))
    }

    /// Returns the messages of a prompt as one text. Connects first if necessary.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(in crate::mcp) async fn get_prompt(
        self: &Arc<Self>,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<String, String> {
        let connection = self.connect_for_user().await?;
        let received = tokio::time::timeout(LIMIT, connection.get_prompt(name, arguments)).await;
        received
            .unwrap_or_else(|_| Err(no_answer()))
            .map_err(|reason| format!("Cannot get the prompt {name} of MCP server {}: {reason}.", self.config.name))
    }

    async fn connect_for_user(self: &Arc<Self>) -> Result<Arc<Connection>, String> {
        self.connect().await.map_err(|reason| {
            self.mark_down(&reason);
            format!("MCP server {} cannot be used: {reason}.", self.config.name)
        })
    }
}

fn no_answer() -> String {
    format!("it did not answer within {} s", LIMIT.as_secs())
}
