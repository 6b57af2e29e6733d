//! OAuth 2.1 of a program on the user's machine: discovery, sign-in in the browser with PKCE or on another device, and refresh
//! of tokens.
//!
//! Nothing is stored here. Errors are sentences without secrets.

mod authorization;
mod challenge;
mod device_flow;
mod loopback_listener;
mod metadata;
mod private_endpoint;
mod protected_resource;
mod token_request;

pub use authorization::Authorization;
pub use challenge::{add_scopes, find_missing_scopes};
pub use device_flow::DeviceAuthorization;
pub use loopback_listener::LoopbackListener;
pub use metadata::{AuthorizationServer, check_endpoint, discover, discover_or_assume};
pub use private_endpoint::find_private_endpoints;
pub use protected_resource::{NewClient, ProtectedResource, find_protected_resource, register_client};
pub use token_request::{ClientSecret, OAuthTokens, RegisteredClient, exchange_code, refresh_tokens};

use crate::text::clean::clean_line;
use futures::StreamExt;
use reqwest::{Client, RequestBuilder, StatusCode, redirect};
use serde_json::Value;
use std::time::Duration;

/// Time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum bytes of a response.
const MAX_RESPONSE_BYTES: usize = 256 << 10;
/// Maximum characters of a server's text in an error.
const MAX_ERROR_CHARS: usize = 200;

/// Builds the client of one sign-in or refresh. It follows no redirects, which could lead the secrets elsewhere.
fn build_client() -> Result<Client, String> {
    // reqwest panics without a default provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let new_builder = || Client::builder().redirect(redirect::Policy::none()).timeout(TIMEOUT);
    // This fails on a machine without certificates; then the bundled ones are used.
    let client = new_builder().build().or_else(|_| {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        let roots: reqwest::Result<Vec<_>> = roots.map(|root| reqwest::Certificate::from_der(root)).collect();
        new_builder().tls_certs_only(roots?).build()
    });
    client.map_err(|_| "The connection cannot be set up.".to_owned())
}

/// Sends a request, and returns the status and the JSON of the response; `Null` if it is none.
async fn send_request(request: RequestBuilder, what: &str) -> Result<(StatusCode, Value), String> {
    // The address of an error may contain a secret.
    let describe = |error: reqwest::Error| {
        let reason = if error.is_timeout() { "it did not answer in time" } else { "the request failed" };
        format!("Cannot reach {what}: {reason}. Check the address and the network.")
    };
    let response = request.header(reqwest::header::ACCEPT, "application/json").send().await.map_err(describe)?;
    let status = response.status();
    let (mut body, mut stream) = (Vec::new(), response.bytes_stream());
    while let Some(piece) = stream.next().await {
        body.extend_from_slice(&piece.map_err(describe)?);
        if body.len() > MAX_RESPONSE_BYTES {
            return Err(format!("The response of {what} is longer than {} KiB.", MAX_RESPONSE_BYTES >> 10));
        }
    }
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

/// Returns the error of a response, as part of a sentence: `invalid_grant: the token was revoked`, or its status.
fn describe_oauth_error(status: StatusCode, response: &Value) -> String {
    let field = |name: &str| response.get(name).and_then(Value::as_str).map(|text| shorten(&clean_line(text)));
    match (field("error"), field("error_description")) {
        (Some(error), Some(description)) => format!("{error}: {description}"),
        (Some(error), None) => error,
        (None, _) => format!("status {}", status.as_u16()),
    }
}

fn shorten(text: &str) -> String {
    text.trim_end_matches('.').chars().take(MAX_ERROR_CHARS).collect()
}
