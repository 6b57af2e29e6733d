//! Credentials for the requests of tools, from the key store, their file, a variable or a command; tokens are refreshed.

use super::connected_model::home_folder;
use super::required_scopes::ScopeDemands;
use crate::config::key_store::KeyStoreError;
use crate::config::tool_credentials::{
    CredentialKind, LockedCredentials, OAuthClient, SecretSource, StoredSecrets, ToolCredential, ToolCredentials,
    check_name, header_of_secret,
};
use crate::config::{Key, SecretStore};
use crate::llm::KeySource;
use crate::llm::key_command::KeyCommand;
use crate::project::guard::own_program;
use crate::store::Places;
use crate::text::clean::clean_line;
use crate::text::known_secrets::KnownSecrets;
use crate::web::oauth::{self, OAuthTokens, RegisteredClient};
use crate::web::request_credentials::RequestCredentials;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::runtime::{Handle, RuntimeFlavor};

/// The user's credentials. The file is read for each request, so a change of another process counts at once.
pub struct CredentialStore {
    file: PathBuf,
    /// Path of aye, which starts key commands.
    pub aye_program: PathBuf,
    /// Receives each secret before it is used.
    pub(super) secrets: KnownSecrets,
    pub(super) scope_demands: ScopeDemands,
    stored_secrets: StoredSecrets,
}

/// State of a credential for some origins.
pub(super) enum CredentialState {
    /// There is none of this name.
    Absent,
    /// It cannot be sent. Holds a sentence with the reason.
    Unusable(String),
    Usable,
}

impl CredentialStore {
    /// `store` is the place of new secrets.
    pub fn new(places: &Places, secrets: KnownSecrets, store: SecretStore) -> Self {
        let (file, stored_secrets) = (places.tool_credentials(), StoredSecrets::new(store));
        Self { file, aye_program: own_program(), secrets, scope_demands: ScopeDemands::default(), stored_secrets }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Adds a credential. Returns notices for the user. May block.
    ///
    /// # Errors
    /// One sentence, if it exists or cannot be saved.
    pub(super) fn add(&self, name: &str, credential: ToolCredential) -> Result<Vec<String>, String> {
        if let SecretSource::File(secret) = &credential.source {
            self.secrets.add(secret.expose());
        }
        let save = || {
            let locked = LockedCredentials::open(&self.file)?;
            if locked.load()?.get(name).is_some() {
                return Err(io::Error::other("it was added meanwhile"));
            }
            self.stored_secrets.save(&locked, name, credential)
        };
        save().map(|saved| saved.notices).map_err(|error| format!("{error}."))
    }

    /// Returns whether a credential can be sent to each of these origins. May block.
    pub(super) fn check_credential(&self, name: &str, origins: &[String]) -> CredentialState {
        match self.load_credential(name) {
            Err(problem) => return CredentialState::Unusable(problem),
            Ok(None) => return CredentialState::Absent,
            Ok(Some(_)) => {}
        }
        for origin in origins {
            let header = Url::parse(origin).map_err(|error| format!("{}: {error}.", clean_line(origin)));
            if let Err(problem) = header.and_then(|url| self.find_header(name, &url)) {
                return CredentialState::Unusable(problem);
            }
        }
        CredentialState::Usable
    }

    /// Returns why a credential cannot be sent to this address, in one sentence; `None` if it can, as far as is known
    /// without its secret. May block.
    pub(super) fn find_missing(&self, name: &str, url: &Url) -> Option<String> {
        match self.load_credential(name) {
            Ok(None) => Some(format!("The credential “{name}” is missing.")),
            Ok(Some(_)) | Err(_) => self.find_credential(name, url).err(),
        }
    }

    fn find_header(&self, name: &str, url: &Url) -> Result<(HeaderName, HeaderValue), String> {
        let credential = self.find_credential(name, url)?;
        let secret = match &credential.kind {
            CredentialKind::OAuth(client) => self.access_token(name, client, &credential.source, None)?,
            CredentialKind::Bearer
            | CredentialKind::ApiKey(_)
            | CredentialKind::Basic(_)
            | CredentialKind::Header(_) => self.load_secret(name, &credential.source)?,
        };
        self.build_header(name, &credential.kind, &secret)
    }

    fn build_header(
        &self,
        name: &str,
        kind: &CredentialKind,
        secret: &Key,
    ) -> Result<(HeaderName, HeaderValue), String> {
        self.secrets.add(secret.expose());
        let header = header_of_secret(kind, secret)
            .map_err(|reason| format!("The credential “{name}” cannot be sent: {reason}. The user must replace it."))?;
        if let CredentialKind::Basic(_) = kind
            && let Some(encoded) = header.1.to_str().ok().and_then(|value| value.strip_prefix("Basic "))
        {
            self.secrets.add(encoded);
        }
        Ok(header)
    }

    /// Loads the credential of this name, if any.
    fn load_credential(&self, name: &str) -> Result<Option<ToolCredential>, String> {
        if check_name(name).is_err() {
            return Err(format!("“{}” cannot be the name of a credential.", clean_line(name)));
        }
        let loaded = ToolCredentials::load(&self.file)
            .map_err(|error| format!("The credentials of the user cannot be read: {error}."))?;
        if let Some((_, reason)) = loaded.problems.iter().find(|(known, _)| known == name) {
            return Err(format!(
                "The credential “{name}” cannot be used: {reason}. The user must remove it and add it again."
            ));
        }
        Ok(loaded.get(name).cloned())
    }

    /// Returns the credential of this name, if it may be sent to this address.
    pub(super) fn find_credential(&self, name: &str, url: &Url) -> Result<ToolCredential, String> {
        let origin = url.origin().ascii_serialization();
        let Some(credential) = self.load_credential(name)? else {
            return Err(format!(
                "The credential “{name}” is missing. The user must add it with: aye credentials add {name} --origin {origin}. Do not ask for its value."
            ));
        };
        if !credential.origins.iter().any(|bound| bound.allows(url)) {
            let bound = credential.describe_origins();
            return Err(format!(
                "The credential “{name}” was not sent to {origin}: it is bound to {bound}. Only the user can change that."
            ));
        }
        Ok(credential)
    }

    /// Returns an access token that is not about to expire, refreshed if necessary, or if it is the `rejected` one. Two
    /// processes that refresh at once do so one after the other, and the second one uses the tokens of the first.
    fn access_token(
        &self,
        name: &str,
        client: &OAuthClient,
        source: &SecretSource,
        rejected: Option<&str>,
    ) -> Result<Key, String> {
        let failed = |reason: String| {
            let reason = clean_line(reason.trim_end_matches('.')).into_owned();
            format!(
                "The credential “{name}” cannot be used: {reason}. The user must sign in again with: aye credentials rotate {name}"
            )
        };
        let is_usable = |tokens: &OAuthTokens| {
            !tokens.is_expiring(unix_seconds()) && rejected.is_none_or(|rejected| rejected != tokens.access_token)
        };
        let load_tokens = |source: &SecretSource| match self.load_stored_secret(name, source)? {
            Some(secret) => parse_tokens(&secret).map_err(failed),
            None => Err(failed("its tokens are not stored".to_owned())),
        };
        let tokens = load_tokens(source)?;
        if is_usable(&tokens) {
            return Ok(self.remember_tokens(&tokens));
        }
        let locked = LockedCredentials::open(&self.file).map_err(|error| failed(error.to_string()))?;
        let current = locked.load().map_err(|error| failed(error.to_string()))?.get(name).cloned();
        let Some(current) = current else { return Err(failed("it was removed".to_owned())) };
        let tokens = load_tokens(&current.source)?;
        if is_usable(&tokens) {
            return Ok(self.remember_tokens(&tokens));
        }
        match self.refresh(client, &tokens) {
            Ok(refreshed) => {
                let key = self.remember_tokens(&refreshed);
                let secret = tokens_secret(&refreshed).map_err(failed)?;
                self.stored_secrets
                    .replace(&locked, name, &current, secret)
                    .map_err(|reason| failed(format!("its new token could not be saved: {reason}")))?;
                Ok(key)
            }
            // A token that is about to expire is better than none.
            Err(_) if rejected.is_none() && tokens.expires_at.is_some_and(|end| end > unix_seconds()) => {
                Ok(self.remember_tokens(&tokens))
            }
            Err(reason) => Err(failed(reason)),
        }
    }

    fn refresh(&self, client: &OAuthClient, tokens: &OAuthTokens) -> Result<OAuthTokens, String> {
        self.remember_tokens(tokens);
        let token_endpoint = oauth::check_endpoint(&client.token_endpoint)?;
        let registered = RegisteredClient {
            token_endpoint: &token_endpoint,
            client_id: &client.client_id,
            client_secret: tokens.client_secret(),
            resource: client.resource.as_deref(),
        };
        run_future(oauth::refresh_tokens(&registered, tokens, unix_seconds()))?
    }

    /// Adds the tokens to the known secrets, and returns the access token.
    fn remember_tokens(&self, tokens: &OAuthTokens) -> Key {
        let secrets = [Some(&tokens.access_token), tokens.refresh_token.as_ref(), tokens.client_secret.as_ref()];
        secrets.into_iter().flatten().for_each(|secret| self.secrets.add(secret));
        Key::new(&tokens.access_token)
    }

    fn find_renewed_header(
        &self,
        name: &str,
        url: &Url,
        rejected: &HeaderValue,
    ) -> Result<Option<(HeaderName, HeaderValue)>, String> {
        let credential = self.find_credential(name, url)?;
        let CredentialKind::OAuth(client) = &credential.kind else { return Ok(None) };
        let rejected = rejected.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let token = self.access_token(name, client, &credential.source, Some(rejected))?;
        self.build_header(name, &credential.kind, &token).map(Some)
    }

    /// Returns the secret of a credential if aye stores it.
    fn load_stored_secret(&self, name: &str, source: &SecretSource) -> Result<Option<Key>, String> {
        self.stored_secrets.load(source).map_err(|error| describe_unreachable(name, &error))
    }

    /// Returns the secret of a credential; of a sign-in all tokens.
    fn load_secret(&self, name: &str, source: &SecretSource) -> Result<Key, String> {
        if let Some(secret) = self.load_stored_secret(name, source)? {
            return Ok(secret);
        }
        match source {
            SecretSource::File(_) | SecretSource::KeyStore(_) => Err(describe_missing(name, "it is not stored")),
            SecretSource::Variable(variable) => match std::env::var(variable) {
                Ok(value) if !value.trim().is_empty() => Ok(Key::new(&value)),
                Ok(_) | Err(_) => Err(describe_missing(name, &format!("the variable {variable} is not set"))),
            },
            SecretSource::Command(command) => {
                let (aye_program, command) = (self.aye_program.clone(), command.clone());
                let key_command = KeyCommand { aye_program, command, home: home_folder() };
                let printed =
                    run_future(key_command.request_key()).map(|printed| printed.map_err(|error| error.to_string()));
                let secret = printed.flatten().map_err(|reason| describe_missing(name, &reason))?;
                Ok(Key::new(secret.reveal()))
            }
        }
    }
}

/// May block while a file is locked, a command runs or a token is refreshed. On a worker thread of the runtime, its other
/// tasks go on.
impl RequestCredentials for CredentialStore {
    fn header(&self, name: &str, url: &Url) -> Result<(HeaderName, HeaderValue), String> {
        run_blocking(|| self.find_header(name, url))
    }

    fn renew_header(
        &self,
        name: &str,
        url: &Url,
        rejected: &HeaderValue,
    ) -> Result<Option<(HeaderName, HeaderValue)>, String> {
        run_blocking(|| self.find_renewed_header(name, url, rejected))
    }

    fn require_scopes(&self, name: &str, url: &Url, scopes: &[String]) -> Result<(), String> {
        self.record_required_scopes(name, url, scopes)
    }
}

/// Parses stored tokens.
fn parse_tokens(secret: &Key) -> Result<OAuthTokens, String> {
    // The error may quote a token.
    serde_json::from_str(secret.expose()).map_err(|_| "its tokens are damaged".to_owned())
}

/// Returns tokens as they are stored.
pub(crate) fn tokens_secret(tokens: &OAuthTokens) -> Result<Key, String> {
    serde_json::to_string(tokens).map(|text| Key::new(&text)).map_err(|error| error.to_string())
}

/// Returns the seconds since 1970.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

/// Runs work that may block, without blocking other tasks of the runtime.
pub(super) fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}

/// Says that a secret could not be loaded. `reason` is part of a sentence.
fn describe_missing(name: &str, reason: &str) -> String {
    let reason = clean_line(reason.trim_end_matches('.')).into_owned();
    format!("The credential “{name}” is missing: {reason}. The user must correct that; do not ask for its value.")
}

/// Says that a secret in the key store cannot be loaded.
fn describe_unreachable(name: &str, error: &KeyStoreError) -> String {
    let remedy = error.remedy();
    format!(
        "The credential “{name}” cannot be used: {error}. The user must {remedy}, or run aye credentials rotate {name}; do not ask for its value."
    )
}

/// Waits for a future on a thread of its own, because this thread may belong to a runtime.
fn run_future<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| runtime.block_on(future)).map_err(|error| error.to_string())
        });
        thread.join().unwrap_or_else(|_| Err("an internal error".to_owned()))
    })
}
