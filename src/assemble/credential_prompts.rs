//! Asks the user on the screen for a credential that a tool needs, and stores it.

use super::request_credentials::{CredentialState, CredentialStore};
use crate::config::Key;
use crate::config::tool_credentials::{BoundOrigin, CredentialKind, SecretSource, ToolCredential};
use crate::text::clean::clean_line;
use crate::text::known_secrets::KnownSecrets;
use crate::tools::connect_credential::{Connection, CredentialConnector};
use crate::tui::host::{CredentialRequest, HostReply};
use crate::web::request_credentials::NamedCredential;
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Answer to a prompt; `None` if the user declined.
type Answer = Option<Key>;

/// The prompts for credentials of this run. Without a screen every credential that is not connected is missing.
pub struct CredentialPrompts {
    store: Arc<CredentialStore>,
    screen: OnceLock<mpsc::Sender<HostReply>>,
    open: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    last_id: AtomicU64,
    /// Held while the user is asked, so that two calls do not ask for the same credential.
    turn: tokio::sync::Mutex<()>,
}

impl CredentialPrompts {
    pub fn new(store: Arc<CredentialStore>) -> Self {
        let (screen, open, last_id, turn) = Default::default();
        Self { store, screen, open, last_id, turn }
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
        let _ = self.screen.set(replies);
    }

    /// Passes on the answer to a prompt. An answer to one that was withdrawn is dropped.
    pub fn answer(&self, id: u64, answer: Answer) {
        if let Some(waiting) = self.open().remove(&id) {
            let _ = waiting.send(answer);
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Answer>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the user; `None` if there is no screen.
    async fn ask(&self, credential: &NamedCredential, reason: &str) -> Option<Answer> {
        let screen = self.screen.get()?;
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.open().insert(id, sender);
        // If the turn is stopped meanwhile, this closes the prompt.
        let _withdrawal = Withdrawal { prompts: self, id, screen: screen.clone() };
        let (name, origins) = (credential.name.clone(), credential.origins.clone());
        let request = CredentialRequest { id, name, origins, reason: reason.to_owned() };
        screen.send(HostReply::CredentialRequested(Arc::new(request))).await.ok()?;
        answer.await.ok()
    }
}

/// Withdraws a prompt that is still open when it is dropped.
struct Withdrawal<'a> {
    prompts: &'a CredentialPrompts,
    id: u64,
    screen: mpsc::Sender<HostReply>,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if self.prompts.open().remove(&self.id).is_some() {
            let (screen, id) = (self.screen.clone(), self.id);
            // The screen may be busy.
            drop(tokio::spawn(async move { screen.send(HostReply::CredentialWithdrawn(id)).await }));
        }
    }
}

#[async_trait]
impl CredentialConnector for CredentialPrompts {
    async fn connect(&self, credential: &NamedCredential, reason: &str) -> Connection {
        let _turn = self.turn.lock().await;
        let (store, named) = (self.store.clone(), credential.clone());
        let state = tokio::task::spawn_blocking(move || store.check_credential(&named.name, &named.origins)).await;
        match state {
            Ok(CredentialState::Usable) => return Connection::Connected,
            Ok(CredentialState::Unusable(problem)) => return Connection::Missing(problem),
            Ok(CredentialState::Absent) => {}
            Err(error) => return Connection::Missing(error.to_string()),
        }
        let Some(answer) = self.ask(credential, reason).await else {
            let origins: Vec<String> = credential.origins.iter().map(|origin| format!(" --origin {origin}")).collect();
            let command = format!("aye credentials add {}{}", credential.name, origins.concat());
            return Connection::Missing(format!("No interactive user is available. The user must run: {command}"));
        };
        let Some(secret) = answer else { return Connection::Declined };
        let (store, named) = (self.store.clone(), credential.clone());
        let stored = tokio::task::spawn_blocking(move || {
            let parse = |text: &String| BoundOrigin::parse(text);
            let origins = named.origins.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
            let credential =
                ToolCredential { kind: CredentialKind::Bearer, origins, source: SecretSource::File(secret) };
            store.add(&named.name, &credential)
        });
        match stored.await.map_err(|error| error.to_string()).flatten() {
            Ok(()) => Connection::Connected,
            Err(reason) => Connection::Missing(format!("It could not be saved: {}", clean_line(&reason))),
        }
    }
}
