//! Calls to the Secret Service on D-Bus, which is GNOME Keyring, KWallet or another program.

use super::{Answer, KeyStoreError, Operation};
use crate::config::Key;
use crate::text::clean::clean_line;
use keyring_core::{CredentialStore, Entry};
use secret_service::EncryptionType;
use secret_service::blocking::SecretService;
use std::collections::HashMap;
use std::sync::Arc;
use zbus_secret_service_keyring_store::Store;

/// Service under which the key store lists the secrets.
const SERVICE: &str = "aye";
/// Variables that name the bus of a session.
const BUS_VARIABLES: [&str; 2] = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

/// Runs an operation. May block without limit.
pub(super) fn run_operation(id: &str, operation: Operation) -> Answer {
    check_unlocked(id)?;
    let run = || {
        let store: Arc<CredentialStore> = Store::new()?;
        let entry = Entry::new_in_store(&store, SERVICE, id)?;
        match operation {
            Operation::Load => entry.get_password().map(|secret| Some(Key::new(&secret))),
            Operation::Save(secret) => entry.set_password(secret.expose()).map(|()| None),
            Operation::Delete => entry.delete_credential().map(|()| None),
        }
    };
    run().map_err(|error| match error {
        keyring_core::Error::NoEntry => KeyStoreError::NotFound,
        keyring_core::Error::NoStorageAccess(_) => KeyStoreError::Locked,
        // These errors hold the secret, or other ones.
        keyring_core::Error::BadEncoding(_) | keyring_core::Error::BadDataFormat(..) => {
            KeyStoreError::Refused("the secret is damaged".to_owned())
        }
        keyring_core::Error::Ambiguous(_) => KeyStoreError::Refused("it has several secrets of this name".to_owned()),
        error => refused(&error),
    })
}

/// Fails if the secret with this ID is locked, or if there is none and the place for new ones is locked. The calls of an
/// [`Entry`] would then show a prompt to unlock it.
fn check_unlocked(id: &str) -> Result<(), KeyStoreError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // Without a session, the library would guess the address.
    if !BUS_VARIABLES.into_iter().any(is_set) {
        return Err(KeyStoreError::Absent);
    }
    let service = SecretService::connect(EncryptionType::Plain).map_err(|_| KeyStoreError::Absent)?;
    let attributes = HashMap::from([("service", SERVICE), ("username", id)]);
    let found = service.search_items(attributes).map_err(|error| refused(&error))?;
    if !found.locked.is_empty() {
        return Err(KeyStoreError::Locked);
    }
    if found.unlocked.is_empty() {
        let collection = service.get_default_collection().map_err(|error| match error {
            // It would have to be created, for which the user is asked for a password.
            secret_service::Error::NoResult => KeyStoreError::Absent,
            error => refused(&error),
        })?;
        if collection.is_locked().map_err(|error| refused(&error))? {
            return Err(KeyStoreError::Locked);
        }
    }
    Ok(())
}

/// The text of an error comes from another program.
fn refused(error: &dyn std::error::Error) -> KeyStoreError {
    KeyStoreError::Refused(clean_line(error.to_string().trim_end_matches('.')).into_owned())
}
