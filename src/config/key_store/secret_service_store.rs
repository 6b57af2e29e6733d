//! Calls to the Secret Service on D-Bus, which is GNOME Keyring, KWallet or another program.

use super::{Answer, KeyStoreError, Operation, StartPermit};
use crate::config::Key;
use crate::text::clean::clean_line;
use secret_service::blocking::SecretService;
use secret_service::{EncryptionType, Error};
use std::collections::HashMap;

/// Service under which the key store lists the secrets.
const SERVICE: &str = "aye";
/// Type of the secrets, as other programs with the crate `keyring` name it.
const CONTENT_TYPE: &str = "application/octet-stream";
/// Variables that name the bus of a session.
const BUS_VARIABLES: [&str; 2] = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

/// Runs an operation. May block without limit. Never asks the key store to unlock itself.
pub(super) fn run_operation(id: &str, operation: Operation, permit: &StartPermit) -> Answer {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // Without a session, the library would guess the address.
    if !BUS_VARIABLES.into_iter().any(is_set) {
        return Err(KeyStoreError::Absent);
    }
    // Secrets are encrypted on the bus.
    let service = SecretService::connect(EncryptionType::Dh).map_err(|_| KeyStoreError::Absent)?;
    let attributes = HashMap::from([("service", SERVICE), ("username", id)]);
    let found = service.search_items(attributes.clone()).map_err(describe_error)?;
    if !found.locked.is_empty() {
        return Err(KeyStoreError::Locked);
    }
    match (&found.unlocked[..], operation) {
        ([], operation) => {
            // Some key stores find nothing while they are locked.
            let collection = service.get_default_collection().map_err(|error| match error {
                // It would have to be created, for which the user is asked for a password.
                Error::NoResult => KeyStoreError::Absent,
                error => describe_error(error),
            })?;
            collection.ensure_unlocked().map_err(describe_error)?;
            let secret = match operation {
                Operation::Load | Operation::Delete => return Err(KeyStoreError::NotFound),
                Operation::Save(secret) => secret,
            };
            permit.take_or_stop()?;
            let (label, secret) = (format!("keyring:{id}@{SERVICE}"), secret.expose().as_bytes());
            let created = collection.create_item(&label, attributes, secret, true, CONTENT_TYPE);
            created.map(|_| None).map_err(describe_error)
        }
        ([item], operation) => {
            permit.take_or_stop()?;
            match operation {
                Operation::Load => parse_secret(item.get_secret().map_err(describe_error)?).map(Some),
                Operation::Save(secret) => {
                    item.set_secret(secret.expose().as_bytes(), CONTENT_TYPE).map(|()| None).map_err(describe_error)
                }
                Operation::Delete => item.delete().map(|()| None).map_err(describe_error),
            }
        }
        ([_, _, ..], _) => Err(KeyStoreError::Refused("it has several secrets of this name".to_owned())),
    }
}

fn parse_secret(bytes: Vec<u8>) -> Result<Key, KeyStoreError> {
    // The error would hold the secret.
    let text = String::from_utf8(bytes).map_err(|_| KeyStoreError::Refused("the secret is damaged".to_owned()))?;
    Ok(Key::new(&text))
}

fn describe_error(error: Error) -> KeyStoreError {
    match error {
        Error::Locked => KeyStoreError::Locked,
        // The text comes from another program.
        error => KeyStoreError::Refused(clean_line(error.to_string().trim_end_matches('.')).into_owned()),
    }
}
