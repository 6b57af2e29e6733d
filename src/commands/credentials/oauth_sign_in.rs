//! Sign-in with OAuth, in the browser or on another device.

use super::secret_input::read_secret;
use crate::assemble::request_credentials::{tokens_secret, unix_seconds};
use crate::cli::credentials::{AddCredential, SecretOptions};
use crate::cli::{UsageError, bail_usage};
use crate::commands::output::{print_lines, print_notice};
use crate::config::tool_credentials::{CredentialKind, OAuthClient, SecretSource, StoredSecrets};
use crate::text::clean::clean_line;
use crate::tui::external::open_web;
use crate::web::oauth::{
    self, Authorization, AuthorizationServer, ClientSecret, DeviceAuthorization, LoopbackListener, OAuthTokens,
    RegisteredClient, check_endpoint,
};
use anyhow::{Context, Result};
use reqwest::Url;
use std::time::Duration;

/// Time that a user has to sign in.
const SIGN_IN_TIME: Duration = Duration::from_secs(600);

/// Finds the endpoints of the server that the options name, and signs in there.
pub(super) async fn register(name: &str, arguments: &AddCredential) -> Result<(CredentialKind, SecretSource)> {
    let options = &arguments.oauth;
    let (Some(issuer), Some(client_id)) = (&options.issuer, &options.client_id) else {
        bail_usage!("Cannot use --oauth: the client has no ID. Add --client-id ID.");
    };
    if arguments.header.is_some() || arguments.user.is_some() {
        bail_usage!("Cannot use --header and --user here: they do not apply to --oauth. Omit them.");
    }
    if arguments.source.stdin && !options.client_secret {
        bail_usage!("Cannot use --stdin here: with --oauth it reads the secret of the client. Add --client-secret.");
    }
    let server = match (&options.authorization_endpoint, &options.token_endpoint) {
        (Some(authorization), Some(token)) => AuthorizationServer {
            device_endpoint: options.device_endpoint.as_deref().map(check_endpoint).transpose().map_err(UsageError)?,
            ..AuthorizationServer::new(
                check_endpoint(issuer).map_err(UsageError)?.as_str(),
                check_endpoint(authorization).map_err(UsageError)?,
                check_endpoint(token).map_err(UsageError)?,
            )
        },
        _ => {
            let advice = "Name its endpoints with --authorization-endpoint and --token-endpoint";
            oauth::discover(issuer, advice).await.map_err(UsageError)?
        }
    };
    if options.device && server.device_endpoint.is_none() {
        bail_usage!(
            "Cannot sign in on another device: {} does not support it. Omit --device.",
            clean_line(&server.issuer)
        );
    }
    let client = OAuthClient {
        issuer: server.issuer.clone(),
        uses_device: options.device || server.device_endpoint.is_some() && !has_browser(),
        authorization_endpoint: server.authorization_endpoint.to_string(),
        token_endpoint: server.token_endpoint.to_string(),
        device_endpoint: server.device_endpoint.as_ref().map(ToString::to_string),
        client_id: client_id.clone(),
        scopes: options.scope.clone(),
        required_scopes: Vec::new(),
        resource: None,
    };
    let client_secret = match options.client_secret {
        true => Some(read_secret(arguments.source.stdin, &format!("Client secret for {name}"))?),
        false => None,
    };
    let tokens = sign_in(&server, &client, client_secret.as_ref().map(|secret| secret.expose())).await?;
    Ok((CredentialKind::OAuth(Box::new(client)), store_tokens(&tokens)?))
}

/// Signs in again with a stored client.
pub(super) async fn sign_in_again(
    client: &OAuthClient,
    source: &SecretSource,
    stored_secrets: &StoredSecrets,
    options: &SecretOptions,
) -> Result<SecretSource> {
    if options.stdin || options.env.is_some() || options.key_command.is_some() {
        bail_usage!(
            "Cannot enter a secret: this credential is of an OAuth sign-in. Run `aye credentials rotate` without options."
        );
    }
    let endpoint = |address: &str| check_endpoint(address).map_err(UsageError);
    let secret = match stored_secrets.load(source) {
        Ok(secret) => secret,
        Err(error) => {
            print_notice(&format!("signing in without the secret of the client: {error}."))?;
            None
        }
    };
    let known: Option<OAuthTokens> = secret.and_then(|secret| serde_json::from_str(secret.expose()).ok());
    let server = AuthorizationServer {
        device_endpoint: client.device_endpoint.as_deref().map(endpoint).transpose()?,
        takes_secret_in_header: known.as_ref().is_some_and(|tokens| tokens.is_secret_in_header),
        ..AuthorizationServer::new(
            &client.issuer,
            endpoint(&client.authorization_endpoint)?,
            endpoint(&client.token_endpoint)?,
        )
    };
    let client_secret = known.as_ref().and_then(|tokens| tokens.client_secret.as_deref());
    store_tokens(&sign_in(&server, client, client_secret).await?)
}

/// Returns whether a browser can probably be opened on this machine.
fn has_browser() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].into_iter().any(is_set)
}

async fn sign_in(
    server: &AuthorizationServer,
    client: &OAuthClient,
    client_secret: Option<&str>,
) -> Result<OAuthTokens> {
    match &server.device_endpoint {
        Some(endpoint) if client.uses_device => {
            sign_in_on_device(endpoint, client, &registered_client(server, client, client_secret)).await
        }
        Some(_) | None => {
            let listener = LoopbackListener::bind().await.context("Cannot wait for the sign-in")?;
            sign_in_with_browser(server, client, client_secret, listener).await
        }
    }
}

fn registered_client<'a>(
    server: &'a AuthorizationServer,
    client: &'a OAuthClient,
    client_secret: Option<&'a str>,
) -> RegisteredClient<'a> {
    RegisteredClient {
        token_endpoint: &server.token_endpoint,
        client_id: &client.client_id,
        client_secret: client_secret.map(|secret| ClientSecret { secret, is_in_header: server.takes_secret_in_header }),
        resource: client.resource.as_deref(),
    }
}

async fn sign_in_on_device(
    endpoint: &Url,
    client: &OAuthClient,
    registered: &RegisteredClient<'_>,
) -> Result<OAuthTokens> {
    let started = DeviceAuthorization::start(endpoint, &client.client_id, &client.scopes).await;
    let device = started.map_err(anyhow::Error::msg)?;
    print_lines([format!("Open {} on any device and enter the code {}", device.verification_uri, device.user_code)])?;
    device.wait_for_tokens(registered, unix_seconds).await.map_err(anyhow::Error::msg)
}

/// Opens the browser and waits for the redirect to this port.
pub(in crate::commands) async fn sign_in_with_browser(
    server: &AuthorizationServer,
    client: &OAuthClient,
    client_secret: Option<&str>,
    listener: LoopbackListener,
) -> Result<OAuthTokens> {
    let registered = registered_client(server, client, client_secret);
    let started = Authorization::start(server, &client.client_id, &client.scopes, &listener.redirect_uri);
    let authorization = started.map_err(anyhow::Error::msg)?.with_resource(client.resource.as_deref());
    print_lines([
        format!("Sign in at {} in the browser. If none opens, open this address:", clean_line(&server.issuer)),
        authorization.url.to_string(),
    ])?;
    // The address is printed, so an error needs no notice.
    let _ = open_web(authorization.url.as_str());
    let code = listener.receive_code(&authorization, SIGN_IN_TIME).await.map_err(anyhow::Error::msg)?;
    oauth::exchange_code(&registered, &authorization, &code, unix_seconds()).await.map_err(anyhow::Error::msg)
}

/// Returns tokens as the secret of a credential.
pub(in crate::commands) fn store_tokens(tokens: &OAuthTokens) -> Result<SecretSource> {
    tokens_secret(tokens).map(SecretSource::File).map_err(anyhow::Error::msg)
}
