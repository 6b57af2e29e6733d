//! Scopes that a service requires in addition to those of its login.

use super::request_credentials::{CredentialStore, run_blocking};
use crate::config::tool_credentials::{CredentialKind, LockedCredentials, OAuthClient, ToolCredential};
use crate::web::oauth::add_scopes;
use reqwest::Url;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Maximum number of times in one run that a service may require more scopes than at its last login.
const MAX_DEMANDS: u32 = 3;

/// Number of such demands by credential.
#[derive(Default)]
pub(super) struct ScopeDemands(Mutex<BTreeMap<String, u32>>);

impl ScopeDemands {
    /// Counts a demand. Returns whether it is within the limit.
    fn count(&self, name: &str) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(name.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count <= MAX_DEMANDS
    }
}

impl CredentialStore {
    /// Records the scopes for the next login. May block.
    ///
    /// # Errors
    /// Why a login would not help, as part of a sentence.
    pub(super) fn record_required_scopes(&self, name: &str, url: &Url, scopes: &[String]) -> Result<(), String> {
        run_blocking(|| {
            let unusable = |_| "its credential cannot be used".to_owned();
            self.find_credential(name, url).map_err(unusable)?;
            let locked = LockedCredentials::open(self.file()).map_err(|error| error.to_string())?;
            let credential = locked.load().map_err(|error| error.to_string())?.get(name).cloned();
            let Some(ToolCredential { kind: CredentialKind::OAuth(client), origins, source }) = credential else {
                return Err("its credential is not of a login".to_owned());
            };
            let Some(updated) = require_scopes(&client, scopes)? else { return Ok(()) };
            if !self.scope_demands.count(name) {
                return Err(format!("it has required more scopes {MAX_DEMANDS} times already"));
            }
            let credential = ToolCredential { kind: CredentialKind::OAuth(Box::new(updated)), origins, source };
            locked.save(name, &credential).map_err(|error| error.to_string())
        })
    }
}

/// Returns the client with the scopes to ask for at its next login; `None` if it has them already.
fn require_scopes(client: &OAuthClient, scopes: &[String]) -> Result<Option<OAuthClient>, String> {
    if scopes.iter().all(|scope| client.scopes.contains(scope)) {
        return Err("it refuses the login, which was for all scopes that it requires".to_owned());
    }
    let mut updated = client.clone();
    let missing: Vec<String> = scopes.iter().filter(|scope| !client.scopes.contains(scope)).cloned().collect();
    let mut all = client.scopes.clone();
    if !(add_scopes(&mut all, &client.required_scopes) && add_scopes(&mut all, &missing)) {
        return Err("it requires too many scopes".to_owned());
    }
    add_scopes(&mut updated.required_scopes, &missing);
    Ok((updated != *client).then_some(updated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_scopes_are_required_and_not_without_end() {
        let texts = |scopes: &[&str]| scopes.iter().map(|scope| (*scope).to_owned()).collect::<Vec<_>>();
        let client = OAuthClient {
            issuer: "https://a.example".to_owned(),
            authorization_endpoint: String::new(),
            token_endpoint: String::new(),
            device_endpoint: None,
            uses_device: false,
            client_id: String::new(),
            scopes: texts(&["read"]),
            required_scopes: Vec::new(),
            resource: None,
        };
        let updated = require_scopes(&client, &texts(&["read", "write"])).unwrap().unwrap();
        assert_eq!((updated.scopes.clone(), updated.required_scopes.clone()), (texts(&["read"]), texts(&["write"])));
        assert_eq!(require_scopes(&updated, &texts(&["write"])), Ok(None), "known already");
        let more = require_scopes(&updated, &texts(&["admin"])).unwrap().unwrap();
        assert_eq!(more.required_scopes, texts(&["write", "admin"]), "another call requires others");
        assert!(require_scopes(&client, &texts(&["read"])).unwrap_err().contains("refuses the login"));
        let many: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        assert_eq!(require_scopes(&client, &many), Err("it requires too many scopes".to_owned()));
        let demands = ScopeDemands::default();
        let within: Vec<bool> = (0..=MAX_DEMANDS).map(|_| demands.count("a")).collect();
        assert_eq!(within, [true, true, true, false]);
        assert!(demands.count("b"), "each credential has its own");
    }
}
