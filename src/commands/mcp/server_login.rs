//! `aye mcp login` and `aye mcp logout`: the OAuth token of a server with an address.

use super::unusual_login::{choose_scopes, confirm_unusual, describe_private_endpoints, describe_unusual};
use super::{Servers, clean_line};
use crate::cli::mcp::McpLogin;
use crate::cli::{UsageError, bail_usage};
use crate::commands::credentials::oauth_sign_in::{sign_in_with_browser, store_tokens};
use crate::commands::credentials::secret_input::read_secret;
use crate::commands::output::{print_lines, print_notice, print_notices};
use crate::config::setting_writer::remove_section;
use crate::config::tool_credentials::{
    BoundOrigin, CredentialKind, LockedCredentials, OAuthClient, StoredSecrets, ToolCredential, ToolCredentials,
};
use crate::config::write_setting;
use crate::web::oauth::{self, AuthorizationServer, LoopbackListener, NewClient, ProtectedResource, check_endpoint};
use anyhow::{Context, Result};
use reqwest::header::AUTHORIZATION;
use std::process::ExitCode;

impl Servers {
    /// Signs in at the authorization server that the server names, and sends the token to the server from then on.
    pub(super) async fn login(&self, options: &McpLogin) -> Result<ExitCode> {
        let name = options.name.as_str();
        let server = self.find(name)?;
        if self.project.contains_key(name) {
            bail_usage!(
                "Cannot log in to {name}: it is a server of this project. Add it to your settings first with `aye mcp add`."
            );
        }
        let Some(url) = &server.url else {
            bail_usage!(
                "Cannot log in to {name}: it is a program, without an address. Set its key as `env` in the settings."
            );
        };
        if server.headers.keys().any(|header| header.eq_ignore_ascii_case(AUTHORIZATION.as_str())) {
            bail_usage!("Cannot log in to {name}: its settings have a header Authorization. Remove the header first.");
        }
        let url = check_endpoint(url).map_err(UsageError)?;
        let origin = BoundOrigin::parse(&url.origin().ascii_serialization()).map_err(UsageError)?;
        let credential_name = server.credential.clone().unwrap_or_else(|| format!("mcp-{name}"));
        let previous = self.find_previous_login(&credential_name)?;
        let previous = previous.as_ref();
        let resource = oauth::find_protected_resource(&url).await.map_err(anyhow::Error::msg)?;
        let scopes = choose_scopes(&options.scope, &resource, previous);
        let is_confirmed = |scope: &String| options.scope.contains(scope);
        let unconfirmed: Vec<String> = scopes.iter().filter(|scope| !is_confirmed(scope)).cloned().collect();
        confirm_unusual(name, &describe_unusual(&url, &resource, &unconfirmed, previous).await)?;
        let advice = format!("Without it, add a token with aye credentials, and name it as credential of [mcp.{name}]");
        let found = match resource.is_own_issuer {
            true => oauth::discover_or_assume(&resource.issuer, &advice).await,
            false => oauth::discover(&resource.issuer, &advice).await,
        };
        let found = found.map_err(anyhow::Error::msg)?;
        if found.is_assumed {
            print_notice(&format!(
                "{} describes no authorization server. The default addresses of the protocol of 2025-03-26 are used",
                clean_line(&found.issuer)
            ))?;
        } else if !found.has_pkce {
            bail_usage!(
                "Cannot log in to {name}: {} does not say that it supports PKCE. {advice}.",
                clean_line(&found.issuer)
            );
        }
        confirm_unusual(name, &describe_private_endpoints(&url, &found).await)?;
        let listener = LoopbackListener::bind().await.context("Cannot wait for the login")?;
        let new_client = find_client(options, &found, &listener).await?;
        let client = oauth_client(scopes, resource, &found, &new_client.client_id);
        let tokens = sign_in_with_browser(&found, &client, new_client.client_secret.as_deref(), listener).await?;
        let kind = CredentialKind::OAuth(Box::new(client));
        let credential = ToolCredential { kind, origins: vec![origin.clone()], source: store_tokens(&tokens)? };
        let file = self.places.tool_credentials();
        let locked = LockedCredentials::open(&file).with_context(|| format!("Cannot save {}", file.display()))?;
        let saved = self.stored_secrets().save(&locked, &credential_name, credential);
        // The check below may refresh the token, for which it needs the lock.
        drop(locked);
        print_notices(saved.with_context(|| format!("Cannot save {}", file.display()))?.notices)?;
        write_setting(&self.places.settings(), &["mcp", name, "credential"], credential_name.as_str())
            .context("Cannot write the settings")?;
        print_lines([format!("logged in to {name}: the token is sent only to {origin}")])?;
        Self::load()?.check(name, false).await
    }

    /// Deletes the token of a server.
    pub(super) fn logout(&self, name: &str) -> Result<ExitCode> {
        let Some(credential) = self.find(name)?.credential.clone() else {
            bail_usage!("Cannot log out of {name}: it has no credential. List all with `aye credentials`.");
        };
        self.find_previous_login(&credential)?;
        let file = self.places.tool_credentials();
        let locked = LockedCredentials::open(&file).with_context(|| format!("Cannot save {}", file.display()))?;
        let removed = self.stored_secrets().remove(&locked, &credential);
        print_notices(removed.with_context(|| format!("Cannot save {}", file.display()))?)?;
        remove_section(&self.places.settings(), &["mcp", name, "credential"]).context("Cannot write the settings")?;
        print_lines([format!("logged out of {name}. Revoke the token at its service too")])
    }

    fn stored_secrets(&self) -> StoredSecrets {
        StoredSecrets::new(self.settings.config.credentials.store)
    }

    /// Returns the client of the last login, if any.
    ///
    /// # Errors
    /// If the credential is of another kind, so that it is not replaced or deleted.
    fn find_previous_login(&self, credential: &str) -> Result<Option<OAuthClient>> {
        let file = self.places.tool_credentials();
        let loaded = ToolCredentials::load(&file).with_context(|| format!("Cannot read {}", file.display()))?;
        match loaded.get(credential).map(|known| &known.kind) {
            Some(CredentialKind::OAuth(client)) => Ok(Some((**client).clone())),
            None => Ok(None),
            Some(_) => {
                bail_usage!(
                    "Cannot replace the credential {}: it is not of a login. See it in `aye credentials`.",
                    clean_line(credential)
                )
            }
        }
    }
}

/// Returns the client that the options name, or registers one.
async fn find_client(
    options: &McpLogin,
    server: &AuthorizationServer,
    listener: &LoopbackListener,
) -> Result<NewClient> {
    match (&options.client_id, &server.registration_endpoint) {
        (Some(client_id), _) => {
            let question = format!("Client secret for {}", options.name);
            let secret = options.client_secret.then(|| read_secret(options.stdin, &question)).transpose()?;
            let client_secret = secret.map(|secret| secret.expose().to_owned());
            Ok(NewClient { client_id: client_id.clone(), client_secret })
        }
        (None, Some(endpoint)) => {
            oauth::register_client(server, endpoint, &listener.redirect_uri).await.map_err(anyhow::Error::msg)
        }
        (None, None) => bail_usage!(
            "Cannot log in at {}: it lets no program register itself. Register one there, and name it with --client-id.",
            clean_line(&server.issuer)
        ),
    }
}

fn oauth_client(
    scopes: Vec<String>,
    resource: ProtectedResource,
    server: &AuthorizationServer,
    client_id: &str,
) -> OAuthClient {
    OAuthClient {
        issuer: server.issuer.clone(),
        authorization_endpoint: server.authorization_endpoint.to_string(),
        token_endpoint: server.token_endpoint.to_string(),
        device_endpoint: None,
        uses_device: false,
        client_id: client_id.to_owned(),
        scopes,
        required_scopes: Vec::new(),
        resource: Some(resource.resource),
    }
}
