//! Lists and connects the credentials of tools for the screen.

use super::ScreenHost;
use crate::config::Key;
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

    /// Stores the secret of a credential that the user chose.
    pub(super) fn connect_credential(&self, credential: NamedCredential, secret: Key) {
        let (prompts, named) = (self.session_builder.credentials.clone(), self.named_credentials());
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let reply = match prompts.save_secret(&credential, secret).await {
                Ok(()) => HostReply::CredentialConnected(credential.name),
                Err(problem) => HostReply::Notice(problem),
            };
            let listed = tokio::task::spawn_blocking(move || prompts.list_states(named)).await;
            // The screen may be closed.
            if let Ok(listed) = listed {
                let _ = replies.send(HostReply::Credentials(listed)).await;
            }
            let _ = replies.send(reply).await;
        });
    }
}
