//! Checks the saved keys of providers and the credentials of tools.

use super::finding::Finding;
use crate::chat::pluralize;
use crate::config::key_store::{KeyStore, KeyStoreError};
use crate::config::tool_credentials::ToolCredentials;
use crate::config::{Credentials, Key};
use crate::store::Places;
use std::io;
use std::path::{Path, PathBuf};

/// Permission bits of files by path, as `read_permissions` returns them.
type Permissions<'a> = &'a [(PathBuf, Option<u32>)];

/// Checks the file of saved keys.
pub(super) fn check_keys(
    loaded: &io::Result<Credentials>,
    places: &Places,
    permissions: Permissions<'_>,
) -> Vec<Finding> {
    let area = "keys";
    let path = places.credentials();
    let file = path.display();
    let credentials = match loaded {
        Ok(credentials) => credentials,
        Err(error) => {
            let message = format!("{file}: {error}");
            return vec![Finding::problem(area, message, "remove it and enter the keys again with /connect")];
        }
    };
    let origins: Vec<&str> = credentials.origins().collect();
    if origins.is_empty() {
        return vec![Finding::ok(area, "none saved")];
    }
    let mut findings = vec![Finding::ok(area, format!("saved for {} in {file}", origins.join(", ")))];
    findings.extend(check_readers(area, &path, permissions));
    findings
}

/// Checks the credentials of tools. Without any there is no finding.
pub(super) fn check_tool_credentials(
    loaded: &io::Result<ToolCredentials>,
    places: &Places,
    permissions: Permissions<'_>,
) -> Vec<Finding> {
    let area = "credentials";
    let path = places.tool_credentials();
    let file = path.display();
    let credentials = match loaded {
        Ok(credentials) => credentials,
        Err(error) => {
            let message = format!("{file}: {error}");
            return vec![Finding::problem(area, message, "remove it and add them again with aye credentials add")];
        }
    };
    let mut findings = Vec::new();
    let count = credentials.iter().count();
    if count > 0 {
        findings.push(Finding::ok(area, format!("{} in {file}", pluralize(count, "credential"))));
    }
    let unusable = |(name, reason): &(String, String)| {
        let advice = "remove it with aye credentials remove, and add it again";
        Finding::problem(area, format!("{name} cannot be used: {reason}"), advice)
    };
    findings.extend(credentials.problems.iter().map(unusable));
    let unset = credentials.variables().filter(|name| std::env::var_os(name).is_none());
    let unset: Vec<Finding> = unset
        .map(|name| Finding::note(area, format!("the variable {name} is not set"), "set it before a tool needs it"))
        .collect();
    findings.extend(unset);
    if count > 0 {
        findings.extend(check_readers(area, &path, permissions));
    }
    findings
}

/// Checks whether the secrets in the key store can be read, and returns those as well. Without any there is no finding, and
/// nothing connects to it.
pub(super) fn check_key_store(credentials: &ToolCredentials) -> (Vec<Finding>, Vec<Key>) {
    let area = "credentials";
    let key_store = KeyStore::default();
    let stored = credentials.iter().filter_map(|(name, known)| Some((name, known.source.key_store_id()?)));
    let loaded: Vec<(&str, Result<Key, KeyStoreError>)> =
        stored.map(|(name, id)| (name, key_store.load_secret(id))).collect();
    let unreadable = loaded.iter().filter_map(|(name, result)| {
        let error = result.as_ref().err()?;
        let advice = format!("{}, or replace the secret with aye credentials rotate {name}", error.remedy());
        Some(Finding::problem(area, format!("the secret of {name} cannot be read: {error}"), advice))
    });
    let mut findings: Vec<Finding> = unreadable.collect();
    let keys: Vec<Key> = loaded.into_iter().filter_map(|(_, result)| result.ok()).collect();
    if !keys.is_empty() {
        findings.insert(0, Finding::ok(area, format!("{} in the key store", pluralize(keys.len(), "secret"))));
    }
    (findings, keys)
}

/// Reports a file that others could read before this run.
fn check_readers(area: &'static str, file: &Path, permissions: Permissions<'_>) -> Option<Finding> {
    let mode = permissions.iter().find(|(path, _)| path == file).and_then(|(_, mode)| *mode);
    let mode = mode.filter(|mode| mode & 0o077 != 0)?;
    let message = format!("{} was accessible to others ({mode:03o}); this is fixed now", file.display());
    Some(Finding::problem(area, message, "other users of this machine may have read its secrets: replace them"))
}
