//! Lists and connects the credentials of tools for the screen.

use super::ScreenHost;
use crate::tools::connect_credential::{Connection, CredentialConnector};
use crate::tui::host::HostReply;
use crate::web::request_credentials::NamedCredential;
use std::sync::PoisonError;

impl ScreenHost {
    /// Returns the credentials that the tools of the open session name.
    fn named_credentials(&self) -> Vec<NamedCredential> {
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner).context.tools.named_credentials()
    }

    pub(super) fn list_credentials(&self) {
        let (prompts, named) = (self.session_builder.credentials.clone(), self.named_credentials());
        self.run_in_background(move || Some(HostReply::Credentials(prompts.list_states(named))));
    }

    /// Asks for the secret of a credential and stores it.
    pub(super) fn connect_credential(&self, name: String) {
        let (prompts, named) = (self.session_builder.credentials.clone(), self.named_credentials());
        let Some(credential) = named.iter().find(|named| named.name == name).cloned() else { return };
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let reply = match prompts.connect(&credential, None).await {
                Connection::Connected => Some(HostReply::CredentialConnected(name)),
                Connection::Missing(problem) => Some(HostReply::Notice(problem)),
                Connection::Declined => None,
            };
            let listed = tokio::task::spawn_blocking(move || prompts.list_states(named)).await;
            // The screen may be closed.
            if let Ok(listed) = listed {
                let _ = replies.send(HostReply::Credentials(listed)).await;
            }
            if let Some(reply) = reply {
                let _ = replies.send(reply).await;
            }
        });
    }
}
