//! Credentials for the requests of tools, from their file, a variable or a command.

use super::connected_model::home_folder;
use crate::config::Key;
use crate::config::tool_credentials::{
    CredentialKind, SecretSource, ToolCredential, ToolCredentials, check_name, header_of_secret,
};
use crate::llm::KeySource;
use crate::llm::key_command::KeyCommand;
use crate::project::guard::own_program;
use crate::store::Places;
use crate::text::clean::clean_line;
use crate::text::known_secrets::KnownSecrets;
use crate::web::request_credentials::RequestCredentials;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use std::path::PathBuf;
use tokio::runtime::{Handle, RuntimeFlavor};

/// The user's credentials. The file is read for each request, so a change of another process counts at once.
pub struct CredentialStore {
    file: PathBuf,
    /// Path of aye, which starts key commands.
    pub aye_program: PathBuf,
    /// Receives each secret before it is used.
    secrets: KnownSecrets,
}

impl CredentialStore {
    pub fn new(places: &Places, secrets: KnownSecrets) -> Self {
        Self { file: places.tool_credentials(), aye_program: own_program(), secrets }
    }

    fn find_header(&self, name: &str, url: &Url) -> Result<(HeaderName, HeaderValue), String> {
        let credential = self.find_credential(name, url)?;
        let secret = self.load_secret(&credential).map_err(|reason| describe_missing(name, &reason))?;
        self.secrets.add(secret.expose());
        let header = header_of_secret(&credential.kind, &secret)
            .map_err(|reason| format!("The credential “{name}” cannot be sent: {reason}. The user must replace it."))?;
        if let CredentialKind::Basic(_) = credential.kind
            && let Some(encoded) = header.1.to_str().ok().and_then(|value| value.strip_prefix("Basic "))
        {
            self.secrets.add(encoded);
        }
        Ok(header)
    }

    /// Returns the credential of this name, if it may be sent to this address.
    fn find_credential(&self, name: &str, url: &Url) -> Result<ToolCredential, String> {
        if check_name(name).is_err() {
            return Err(format!("“{}” cannot be the name of a credential.", clean_line(name)));
        }
        let origin = url.origin().ascii_serialization();
        let loaded = ToolCredentials::load(&self.file)
            .map_err(|error| format!("The credentials of the user cannot be read: {error}."))?;
        if let Some((_, reason)) = loaded.problems.iter().find(|(known, _)| known == name) {
            return Err(format!(
                "The credential “{name}” cannot be used: {reason}. The user must remove it and add it again."
            ));
        }
        let Some(credential) = loaded.get(name) else {
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
        Ok(credential.clone())
    }

    fn load_secret(&self, credential: &ToolCredential) -> Result<Key, String> {
        match &credential.source {
            SecretSource::File(secret) => Ok(secret.clone()),
            SecretSource::Variable(variable) => match std::env::var(variable) {
                Ok(value) if !value.trim().is_empty() => Ok(Key::new(&value)),
                Ok(_) | Err(_) => Err(format!("the variable {variable} is not set")),
            },
            SecretSource::Command(command) => {
                let (aye_program, command) = (self.aye_program.clone(), command.clone());
                let key_command = KeyCommand { aye_program, command, home: home_folder() };
                let printed = run_future(key_command.request_key())?;
                printed.map(|secret| Key::new(secret.reveal())).map_err(|error| error.to_string())
            }
        }
    }
}

impl RequestCredentials for CredentialStore {
    /// May block while a file is locked or a command runs. On a worker thread of the runtime, its other tasks go on.
    fn header(&self, name: &str, url: &Url) -> Result<(HeaderName, HeaderValue), String> {
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| self.find_header(name, url)),
            Ok(_) | Err(_) => self.find_header(name, url),
        }
    }
}

/// Says that a secret could not be loaded. `reason` is part of a sentence.
fn describe_missing(name: &str, reason: &str) -> String {
    let reason = clean_line(reason.trim_end_matches('.')).into_owned();
    format!("The credential “{name}” is missing: {reason}. The user must correct that; do not ask for its value.")
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
