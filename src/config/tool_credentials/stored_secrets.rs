//! Secrets of credentials: in the key store of the system if possible, otherwise in the file of credentials.

use super::{LockedCredentials, SecretSource, ToolCredential};
use crate::config::Key;
use crate::config::key_store::{KeyStore, KeyStoreError};
use crate::config::sections::SecretStore;
use std::collections::BTreeSet;
use std::io;
use ulid::Ulid;

/// Access to the secrets of credentials.
#[derive(Debug, Clone, Default)]
pub struct StoredSecrets {
    key_store: KeyStore,
    store: SecretStore,
}

/// A credential as it was saved, and what the user should know about it.
#[derive(Debug)]
pub struct SavedCredential {
    pub credential: ToolCredential,
    /// Sentences.
    pub notices: Vec<String>,
}

impl StoredSecrets {
    /// `store` is the setting, which counts for new secrets only.
    pub fn new(store: SecretStore) -> Self {
        Self { key_store: KeyStore::default(), store }
    }

    /// Loads the secret of a credential; `None` if aye does not store it.
    ///
    /// # Errors
    /// If it cannot be loaded from the key store.
    pub fn load(&self, source: &SecretSource) -> Result<Option<Key>, KeyStoreError> {
        match source {
            SecretSource::File(secret) => Ok(Some(secret.clone())),
            SecretSource::KeyStore(id) => self.key_store.load_secret(id).map(Some),
            SecretSource::Variable(_) | SecretSource::Command(_) => Ok(None),
        }
    }

    /// Saves a credential, which replaces the one of the same name together with its secret. A new secret is passed as
    /// [`SecretSource::File`] and goes to the key store, unless the settings exclude that or the key store cannot be used.
    ///
    /// A secret in the key store is overwritten only if nothing else changes. Otherwise the new one is saved next to it
    /// and the file decides which one counts, so a secret is never sent where the other one was meant to go.
    ///
    /// # Errors
    /// If the file cannot be read or written. The credential and its secret are then unchanged, unless the key store did not
    /// answer in time while it overwrote the secret.
    pub fn save(
        &self,
        locked: &LockedCredentials,
        name: &str,
        credential: ToolCredential,
    ) -> io::Result<SavedCredential> {
        let previous = locked.load_key_store_id(name)?;
        let loaded = locked.load()?;
        let is_same = |known: &&ToolCredential| known.kind == credential.kind && known.origins == credential.origins;
        let overwritten = loaded.get(name).filter(is_same).and_then(|known| known.source.key_store_id());
        let mut saved = SavedCredential { credential, notices: Vec::new() };
        let mut unneeded: BTreeSet<String> = previous.into_iter().collect();
        if let (SecretSource::File(secret), SecretStore::Auto) = (&saved.credential.source, self.store) {
            let id = overwritten.map_or_else(|| format!("{name}-{}", Ulid::new()), str::to_owned);
            match self.key_store.save_secret(&id, secret) {
                Ok(()) => {
                    saved.credential.source = SecretSource::KeyStore(id);
                    if overwritten.is_some() {
                        return Ok(saved);
                    }
                }
                // On these systems the file is what the user expects.
                Err(KeyStoreError::Absent | KeyStoreError::Unsupported) => {}
                Err(
                    error @ (KeyStoreError::Locked
                    | KeyStoreError::TimedOut { .. }
                    | KeyStoreError::NotFound
                    | KeyStoreError::Refused(_)),
                ) => {
                    saved.notices.push(format!("The secret of {name} is kept in the file: {error}."));
                    if error == (KeyStoreError::TimedOut { is_unfinished: true }) {
                        unneeded.insert(id);
                    }
                }
            }
        }
        if let Err(error) = locked.save(name, &saved.credential) {
            // No entry names it.
            if let Some(id) = saved.credential.source.key_store_id() {
                let _ = self.key_store.delete_secret(id);
            }
            return Err(error);
        }
        saved.notices.extend(unneeded.iter().filter_map(|id| self.delete(id)));
        Ok(saved)
    }

    /// Replaces the stored secret of a credential where it is. A secret in the key store moves to the file if it cannot be
    /// replaced there, because the old one may be of no use any more.
    ///
    /// # Errors
    /// The reason, as part of a sentence, if neither the key store nor the file takes it.
    pub fn replace(
        &self,
        locked: &LockedCredentials,
        name: &str,
        credential: &ToolCredential,
        secret: Key,
    ) -> Result<(), String> {
        let save_in_file = |secret| {
            let replaced = ToolCredential { source: SecretSource::File(secret), ..credential.clone() };
            locked.save(name, &replaced).map_err(|error| error.to_string())
        };
        match &credential.source {
            SecretSource::KeyStore(id) => {
                if self.key_store.save_secret(id, &secret).is_err() {
                    save_in_file(secret)?;
                    // No entry names it any more.
                    let _ = self.key_store.delete_secret(id);
                }
                Ok(())
            }
            SecretSource::Variable(_) | SecretSource::Command(_) => Err("aye does not store it".to_owned()),
            SecretSource::File(_) => save_in_file(secret),
        }
    }

    /// Removes a credential with its secret, also one that cannot be used. Returns a sentence if the secret is still in the key
    /// store.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn remove(&self, locked: &LockedCredentials, name: &str) -> io::Result<Option<String>> {
        let notice = locked.load_key_store_id(name)?.and_then(|id| self.delete(&id));
        locked.remove(name)?;
        Ok(notice)
    }

    /// Deletes a secret that is no longer needed. Returns a sentence if it is still in the key store.
    fn delete(&self, id: &str) -> Option<String> {
        match self.key_store.delete_secret(id) {
            Ok(()) | Err(KeyStoreError::NotFound) => None,
            Err(error) => Some(format!(
                "The secret {id} could not be deleted: {error}. Delete it with the program that manages the key store."
            )),
        }
    }
}
