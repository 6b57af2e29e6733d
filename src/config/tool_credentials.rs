//! Credentials for the requests of tools: their file, which only its owner can read. Each is bound to origins.
//!
//! Keys of model providers are in another file; see [`super::Credentials`].

mod bound_origin;
mod credential_header;
mod stored_credential;
mod stored_secrets;

pub use bound_origin::{BoundOrigin, is_loopback_url};
pub use credential_header::{Rejection, header_of_secret, parse_header_name};
pub use stored_credential::{CredentialKind, OAuthClient, SecretSource, ToolCredential};
pub use stored_secrets::{SavedCredential, StoredSecrets};

use super::{Key, settings_file};
use crate::store::private_files;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Maximum characters of a name.
const MAX_NAME_CHARS: usize = 64;
/// Maximum bytes of the file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The credentials of the file at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCredentials {
    credentials: BTreeMap<String, ToolCredential>,
    /// Entries that cannot be used, each with the reason as part of a sentence. They are kept in the file.
    pub problems: Vec<(String, String)>,
}

impl ToolCredentials {
    /// Loads the credentials. Restricts the permissions of a file that others can read. Returns none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid TOML. The error does not quote the file.
    pub fn load(path: &Path) -> io::Result<Self> {
        let table = read_table(path)?;
        let mut loaded = Self::default();
        for (name, value) in table {
            match parse_entry(&name, value) {
                Ok(credential) => _ = loaded.credentials.insert(name, credential),
                Err(reason) => loaded.problems.push((name, reason)),
            }
        }
        Ok(loaded)
    }

    pub fn get(&self, name: &str) -> Option<&ToolCredential> {
        self.credentials.get(name)
    }

    /// Iterates over all usable credentials by name, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ToolCredential)> {
        self.credentials.iter().map(|(name, credential)| (name.as_str(), credential))
    }

    /// Returns the secrets of the file, for redaction; of stored tokens each one.
    pub fn secrets(&self) -> Vec<String> {
        let secrets_of = |credential: &ToolCredential| match &credential.source {
            SecretSource::File(secret) => split_tokens(secret),
            SecretSource::KeyStore(_) | SecretSource::Variable(_) | SecretSource::Command(_) => Vec::new(),
        };
        self.credentials.values().flat_map(secrets_of).collect()
    }

    /// Iterates over the environment variables that hold secrets. No command may receive them.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.credentials.values().filter_map(|credential| match &credential.source {
            SecretSource::Variable(name) => Some(name.as_str()),
            SecretSource::File(_) | SecretSource::KeyStore(_) | SecretSource::Command(_) => None,
        })
    }
}

/// The file of credentials, locked against changes by other processes until this is dropped.
#[derive(Debug)]
pub struct LockedCredentials {
    path: PathBuf,
    /// The file itself cannot be the lock, because each change replaces it.
    _lock: File,
}

impl LockedCredentials {
    /// Locks the file. Waits while another process changes it.
    ///
    /// # Errors
    /// If the folder is not writable or has no locks.
    pub fn open(path: &Path) -> io::Result<Self> {
        private_files::create_folder(path.parent().unwrap_or(Path::new(".")))?;
        let lock_path = path.with_extension("lock");
        let lock = match private_files::create_append(&lock_path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => private_files::open_append(&lock_path)?,
            created => created?,
        };
        lock.lock()?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Loads the credentials as they are now.
    ///
    /// # Errors
    /// As [`ToolCredentials::load`].
    pub fn load(&self) -> io::Result<ToolCredentials> {
        ToolCredentials::load(&self.path)
    }

    /// Returns the ID in the key store that the entry of this name has, also if the entry cannot be used.
    ///
    /// # Errors
    /// As [`ToolCredentials::load`].
    fn load_key_store_id(&self, name: &str) -> io::Result<Option<String>> {
        let table = read_table(&self.path)?;
        let id = table.get(name).and_then(|entry| entry.get("key_store")).and_then(Value::as_str);
        Ok(id.filter(|id| stored_credential::is_id(id)).map(str::to_owned))
    }

    /// Adds a credential, or replaces the one of the same name. Others are kept, also those that cannot be used.
    ///
    /// # Errors
    /// If the file cannot be read or written. It is then unchanged.
    pub fn save(&self, name: &str, credential: &ToolCredential) -> io::Result<()> {
        let entry = credential.to_toml().map_err(io::Error::other)?;
        self.replace_entry(name, Some(entry)).map(|_| ())
    }

    /// Removes a credential, also one that cannot be used. Returns false if there is none of this name.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        self.replace_entry(name, None)
    }

    fn replace_entry(&self, name: &str, entry: Option<Value>) -> io::Result<bool> {
        let mut table = read_table(&self.path)?;
        let previous = match entry {
            Some(entry) => table.insert(name.to_owned(), entry),
            None => table.remove(name),
        };
        let text = toml::to_string(&table).map_err(|_| invalid_file())?;
        settings_file::replace_file(&self.path, &text)?;
        Ok(previous.is_some())
    }
}

/// Returns each token of stored tokens, which are a JSON object, or the whole secret if it is another text.
pub fn split_tokens(secret: &Key) -> Vec<String> {
    match serde_json::from_str(secret.expose()) {
        Ok(serde_json::Value::Object(fields)) => {
            fields.values().filter_map(|value| value.as_str().map(str::to_owned)).collect()
        }
        Ok(_) | Err(_) => vec![secret.expose().to_owned()],
    }
}

/// Checks the name of a credential: letters, digits and `. _ -`, beginning with a letter or digit.
///
/// # Errors
/// What is wrong and what to do, as sentences.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_valid = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= MAX_NAME_CHARS
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    let reason = "it is empty, too long or has other characters than letters, digits and . _ -";
    let advice = format!("Use at most {MAX_NAME_CHARS} characters, beginning with a letter or a digit.");
    if is_valid { Ok(()) } else { Err(format!("Cannot use this name: {reason}. {advice}")) }
}

fn parse_entry(name: &str, value: Value) -> Result<ToolCredential, String> {
    check_name(name).map_err(|_| "its name is invalid".to_owned())?;
    ToolCredential::from_toml(value)
}

fn read_table(path: &Path) -> io::Result<Table> {
    settings_file::restrict_permissions(path)?;
    let text = settings_file::read_bounded_text(path, MAX_FILE_BYTES).map_err(io::Error::other)?.unwrap_or_default();
    // A parse error may quote a secret, so it is not passed on.
    text.parse().map_err(|_| invalid_file())
}

fn invalid_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not valid TOML; correct or remove it")
}

#[cfg(test)]
mod tests;
