//! A service that requires tokens: which authorization server issues them (RFC 9728), and registration there (RFC 7591).

use super::challenge::{MAX_SCOPES, find_parameter, is_bearer, split_scopes};
use super::{AuthorizationServer, build_client, check_endpoint, describe_oauth_error, send_request};
use crate::text::clean::clean_line;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{Client, StatusCode, Url};
use serde_json::{Value, json};

/// Path of the metadata, before the path of the service.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What a service says about its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    /// Identifies the service in requests for tokens.
    pub resource: String,
    /// Address of its authorization server.
    pub issuer: String,
    /// Scopes to ask for; may be empty.
    pub scopes: Vec<String>,
    /// True if the service has no metadata (status 404), as before the protocol of 2025-06-18, and is its own authorization
    /// server.
    pub is_own_issuer: bool,
}

/// Finds the authorization server of the service at this address. Sends it a request without credentials.
///
/// # Errors
/// One sentence, also if the metadata is about another service.
pub async fn find_protected_resource(url: &Url) -> Result<ProtectedResource, String> {
    let client = build_client()?;
    let challenge = request_challenge(&client, url).await?;
    let mut is_own_issuer = true;
    for address in metadata_addresses(url, &challenge) {
        let what = format!("the metadata of {}", clean_line(url.as_str()));
        match send_request(client.get(address), &what).await {
            Ok((status, metadata)) if status.is_success() && metadata.is_object() => {
                return parse_metadata(url, &challenge, &metadata);
            }
            Ok((StatusCode::NOT_FOUND, _)) => {}
            Ok(_) | Err(_) => is_own_issuer = false,
        }
    }
    // Services of early versions of the protocol are their own authorization server.
    let mut resource = url.clone();
    resource.set_query(None);
    let issuer = url.origin().ascii_serialization();
    let scopes = split_scopes(&find_parameter(&challenge, "scope").unwrap_or_default());
    Ok(ProtectedResource { resource: resource.into(), issuer, scopes, is_own_issuer })
}

/// Returns the challenge of the service; empty if it has none.
async fn request_challenge(client: &Client, url: &Url) -> Result<String, String> {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "aye", "version": env!("CARGO_PKG_VERSION") },
    } });
    let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json");
    let request = request.header(ACCEPT, "application/json, text/event-stream").body(message.to_string());
    let response = request.send().await.map_err(|error| {
        let reason = if error.is_timeout() { "it did not answer in time" } else { "the request failed" };
        format!("Cannot reach {}: {reason}. Check the address and the network.", clean_line(url.as_str()))
    })?;
    let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    Ok(challenges.into_iter().find(|value| is_bearer(value)).unwrap_or_default().to_owned())
}

/// Returns the addresses at which the metadata may be: the one of the challenge if it is of the same origin, then the
/// well-known ones.
fn metadata_addresses(url: &Url, challenge: &str) -> Vec<Url> {
    let at = |path: &str| {
        let mut address = url.clone();
        address.set_path(path);
        address.set_query(None);
        address
    };
    let named = find_parameter(challenge, "resource_metadata").and_then(|address| Url::parse(&address).ok());
    let named = named.filter(|address| address.origin() == url.origin());
    let path = url.path().trim_end_matches('/');
    let mut addresses: Vec<Url> = named.into_iter().collect();
    addresses.extend([at(&format!("{WELL_KNOWN}{path}")), at(WELL_KNOWN)]);
    addresses.dedup();
    addresses
}

fn parse_metadata(url: &Url, challenge: &str, metadata: &Value) -> Result<ProtectedResource, String> {
    let resource = metadata["resource"].as_str().unwrap_or_default();
    // Otherwise one service could ask for the tokens of another (RFC 9728, section 3.3).
    let is_covered = Url::parse(resource).is_ok_and(|resource| {
        let path = resource.path().trim_end_matches('/');
        let rest = url.path().strip_prefix(path);
        resource.origin() == url.origin() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if !is_covered {
        return Err(format!(
            "The metadata of {} is about another service: {}.",
            clean_line(url.as_str()),
            clean_line(resource)
        ));
    }
    let Some(issuer) = metadata["authorization_servers"][0].as_str() else {
        return Err(format!("The metadata of {} names no authorization server.", clean_line(url.as_str())));
    };
    check_endpoint(issuer)?;
    let scopes = match find_parameter(challenge, "scope").filter(|scope| !scope.is_empty()) {
        Some(scope) => split_scopes(&scope),
        None => {
            let supported = metadata["scopes_supported"].as_array().into_iter().flatten();
            supported.filter_map(Value::as_str).flat_map(split_scopes).take(MAX_SCOPES).collect()
        }
    };
    Ok(ProtectedResource { resource: resource.to_owned(), issuer: issuer.to_owned(), scopes, is_own_issuer: false })
}

/// A client that was registered by a request.
pub struct NewClient {
    pub client_id: String,
    pub client_secret: Option<String>,
}

/// Registers aye at the registration endpoint of the server, as a client that redirects to this address.
///
/// # Errors
/// One sentence.
pub async fn register_client(
    server: &AuthorizationServer,
    endpoint: &Url,
    redirect_uri: &str,
) -> Result<NewClient, String> {
    let auth_method = match (server.requires_secret, server.takes_secret_in_header) {
        (false, _) => "none",
        (true, false) => "client_secret_post",
        (true, true) => "client_secret_basic",
    };
    let body = json!({
        "client_name": "aye", "redirect_uris": [redirect_uri], "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": auth_method,
    });
    let request =
        build_client()?.post(endpoint.clone()).header(CONTENT_TYPE, "application/json").body(body.to_string());
    let (status, response) = send_request(request, "the registration endpoint").await?;
    let text = |name: &str| response[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    match text("client_id").filter(|_| status.is_success()) {
        Some(client_id) => Ok(NewClient { client_id, client_secret: text("client_secret") }),
        None => Err(format!("The registration failed: {}.", describe_oauth_error(status, &response))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn metadata_is_looked_up_at_the_challenge_and_next_to_the_path() {
        let addresses = |challenge: &str| {
            let urls = metadata_addresses(&url("https://a.example/v1/mcp?key=x"), challenge);
            urls.into_iter().map(String::from).collect::<Vec<_>>()
        };
        let well_known = [
            "https://a.example/.well-known/oauth-protected-resource/v1/mcp",
            "https://a.example/.well-known/oauth-protected-resource",
        ];
        assert_eq!(addresses("Bearer"), well_known);
        let named = addresses("Bearer error=\"invalid\", resource_metadata=\"https://a.example/meta\", scope=\"a b\"");
        assert_eq!((named[0].as_str(), named.len()), ("https://a.example/meta", 3));
        assert_eq!(addresses("Bearer resource_metadata=\"https://evil.example/meta\""), well_known, "another origin");
    }

    #[test]
    fn metadata_of_another_service_is_rejected() {
        let parse = |resource: &str| {
            let metadata = json!({ "resource": resource, "authorization_servers": ["https://as.example"],
                "scopes_supported": ["read", "bad\u{1B}scope"] });
            parse_metadata(&url("https://a.example/v1/mcp"), "Bearer", &metadata)
        };
        for resource in ["https://a.example/v1/mcp", "https://a.example/v1/", "https://a.example"] {
            let found = parse(resource).unwrap();
            assert_eq!((found.issuer.as_str(), found.scopes), ("https://as.example", vec!["read".to_owned()]));
        }
        for resource in ["https://evil.example/v1/mcp", "https://a.example/v1/m", "http://a.example/v1/mcp", "", "x"] {
            assert!(parse(resource).unwrap_err().contains("about another service"), "{resource}");
        }
        let insecure = json!({ "resource": "https://a.example", "authorization_servers": ["http://as.example"] });
        assert!(parse_metadata(&url("https://a.example/v1"), "", &insecure).unwrap_err().contains("is not https://"));
    }
}
