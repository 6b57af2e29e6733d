//! Asks the user on the screen for a credential that a tool needs, and stores it.

use super::request_credentials::{CredentialState, CredentialStore};
use super::screen_requests::ScreenRequests;
use crate::config::Key;
use crate::config::tool_credentials::{BoundOrigin, CredentialKind, SecretSource, ToolCredential};
use crate::text::clean::clean_line;
use crate::text::known_secrets::KnownSecrets;
use crate::tools::connect_credential::{Connection, CredentialConnector};
use crate::tui::host::{CredentialRequest, HostReply, ListedCredential, ListedState};
use crate::web::request_credentials::NamedCredential;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Answer to a prompt; `None` if the user declined.
type Answer = Option<Key>;

/// The prompts for credentials of this run. Without a screen every credential that is not connected is missing.
pub struct CredentialPrompts {
    store: Arc<CredentialStore>,
    requests: ScreenRequests<Answer>,
}

impl CredentialPrompts {
    pub fn new(store: Arc<CredentialStore>) -> Self {
        Self { store, requests: ScreenRequests::new(HostReply::CredentialWithdrawn) }
    }

    /// Returns the credentials.
    pub fn store(&self) -> &Arc<CredentialStore> {
        &self.store
    }

    /// Returns the secrets of this run.
    pub(super) fn known_secrets(&self) -> KnownSecrets {
        self.store.secrets.clone()
    }

    /// Shows the prompts on this screen from now on.
    pub fn set_screen(&self, replies: mpsc::Sender<HostReply>) {
        self.requests.set_screen(replies);
    }

    /// Returns the states of credentials. May block.
    pub(super) fn list_states(&self, named: Vec<NamedCredential>) -> Vec<ListedCredential> {
        let find_state = |NamedCredential { name, origins }| {
            let state = match self.store.check_credential(&name, &origins) {
                CredentialState::Usable => ListedState::Connected,
                CredentialState::Absent => ListedState::Missing,
                CredentialState::Unusable(problem) => ListedState::Unusable(problem),
            };
            ListedCredential { name, origins, state }
        };
        named.into_iter().map(find_state).collect()
    }

    /// Passes on the answer to a prompt. An answer to one that was withdrawn is dropped.
    pub fn answer(&self, id: u64, answer: Answer) {
        self.requests.answer(id, answer);
    }

    /// Asks the user; `None` if there is no screen. If the turn is stopped meanwhile, the prompt is closed.
    async fn ask(&self, credential: &NamedCredential, reason: &str) -> Option<Answer> {
        let (name, origins) = (credential.name.clone(), credential.origins.clone());
        let reason = reason.to_owned();
        let show = |id| HostReply::CredentialRequested(Arc::new(CredentialRequest { id, name, origins, reason }));
        self.requests.ask(show).await
    }

    /// Returns whether a credential is connected, or why it cannot be; `None` if there is none of this name.
    async fn find_connection(&self, credential: &NamedCredential) -> Option<Connection> {
        let (store, named) = (self.store.clone(), credential.clone());
        let state = tokio::task::spawn_blocking(move || store.check_credential(&named.name, &named.origins)).await;
        match state {
            Ok(CredentialState::Usable) => Some(Connection::Connected),
            Ok(CredentialState::Unusable(problem)) => Some(Connection::Missing(problem)),
            Ok(CredentialState::Absent) => None,
            Err(error) => Some(Connection::Missing(error.to_string())),
        }
    }

    /// Saves the secret of a credential as a bearer token for its origins.
    ///
    /// # Errors
    /// One sentence, if there is a credential of this name or the secret cannot be saved.
    pub async fn save_secret(&self, credential: &NamedCredential, secret: Key) -> Result<(), String> {
        if let Some(Connection::Missing(problem)) = self.find_connection(credential).await {
            return Err(problem);
        }
        let (store, named) = (self.store.clone(), credential.clone());
        let stored = tokio::task::spawn_blocking(move || {
            let parse = |text: &String| BoundOrigin::parse(text);
            let origins = named.origins.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
            let credential =
                ToolCredential { kind: CredentialKind::Bearer, origins, source: SecretSource::File(secret) };
            store.add(&named.name, credential)
        });
        let notices = stored
            .await
            .map_err(|error| error.to_string())
            .flatten()
            .map_err(|reason| format!("{} could not be saved: {}", credential.name, clean_line(&reason)))?;
        for notice in notices {
            self.requests.warn(notice).await;
        }
        Ok(())
    }
}

#[async_trait]
impl CredentialConnector for CredentialPrompts {
    async fn connect(&self, credential: &NamedCredential, reason: &str) -> Connection {
        // Two calls do not ask for the same credential.
        let _turn = self.requests.take_turn().await;
        if let Some(connection) = self.find_connection(credential).await {
            return connection;
        }
        let Some(answer) = self.ask(credential, reason).await else {
            let origins: Vec<String> = credential.origins.iter().map(|origin| format!(" --origin {origin}")).collect();
            let command = format!("aye credentials add {}{}", credential.name, origins.concat());
            return Connection::Missing(format!("No interactive user is available. The user must run: {command}"));
        };
        // The user may have connected it in the list of `/connect` meanwhile.
        if let Some(Connection::Connected) = self.find_connection(credential).await {
            return Connection::Connected;
        }
        let Some(secret) = answer else { return Connection::Declined };
        match self.save_secret(credential, secret).await {
            Ok(()) => Connection::Connected,
            Err(problem) => Connection::Missing(problem),
        }
    }
}
