//! Endpoints of an authorization server, from its metadata (RFC 8414) or named by the user.

use super::{build_client, send_request};
use crate::text::clean::clean_line;
use reqwest::{StatusCode, Url};
use serde_json::Value;
use std::net::IpAddr;

/// An authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationServer {
    /// Its address as the user named it, without a slash at the end.
    pub issuer: String,
    pub authorization_endpoint: Url,
    pub token_endpoint: Url,
    /// `None` if it has no device flow.
    pub device_endpoint: Option<Url>,
    /// `None` if programs cannot register there themselves.
    pub registration_endpoint: Option<Url>,
    /// True if it says that it supports PKCE with S256.
    pub has_pkce: bool,
    /// How it says that clients with a secret send it: true for a header, false for the form, which aye prefers.
    pub takes_secret_in_header: bool,
    /// True if it says that each client needs a secret.
    pub requires_secret: bool,
    /// Its address as its metadata has it, character by character; `None` without metadata.
    pub own_issuer: Option<String>,
    /// True if it says that its redirects name it (`iss`, RFC 9207).
    pub names_issuer: bool,
    /// True if it has no metadata, and its endpoints are the default ones of the protocol of 2025-03-26.
    pub is_assumed: bool,
}

impl AuthorizationServer {
    /// Creates a server of which only these addresses are known.
    pub fn new(issuer: &str, authorization_endpoint: Url, token_endpoint: Url) -> Self {
        Self {
            issuer: issuer.trim().trim_end_matches('/').to_owned(),
            authorization_endpoint,
            token_endpoint,
            device_endpoint: None,
            registration_endpoint: None,
            has_pkce: false,
            takes_secret_in_header: false,
            requires_secret: false,
            own_issuer: None,
            names_issuer: false,
            is_assumed: false,
        }
    }

    /// Returns all its endpoints.
    pub fn endpoints(&self) -> Vec<&Url> {
        let optional = [&self.device_endpoint, &self.registration_endpoint];
        [&self.authorization_endpoint, &self.token_endpoint].into_iter().chain(optional.into_iter().flatten()).collect()
    }
}

/// Reads the metadata of an authorization server. `advice` says what else the user can do if it has none.
///
/// # Errors
/// One sentence, also if the metadata belongs to another issuer or names an endpoint without encryption.
pub async fn discover(issuer: &str, advice: &str) -> Result<AuthorizationServer, String> {
    match find_metadata(issuer, advice).await? {
        Some(server) => Ok(server),
        None => {
            Err(format!("The authorization server at {} has no metadata (status 404). {advice}", clean_line(issuer)))
        }
    }
}

/// Reads the metadata of a service that is its own authorization server. If it has none (status 404), its endpoints are the
/// default ones of the protocol of 2025-03-26: `/authorize`, `/token` and `/register`.
///
/// # Errors
/// As [`discover`].
pub async fn discover_or_assume(issuer: &str, advice: &str) -> Result<AuthorizationServer, String> {
    if let Some(server) = find_metadata(issuer, advice).await? {
        return Ok(server);
    }
    let at = |path: &str| {
        let mut url = check_endpoint(issuer)?;
        url.set_path(path);
        url.set_query(None);
        Ok::<_, String>(url)
    };
    Ok(AuthorizationServer {
        registration_endpoint: Some(at("/register")?),
        is_assumed: true,
        ..AuthorizationServer::new(issuer, at("/authorize")?, at("/token")?)
    })
}

/// Reads the metadata of an authorization server; `None` if the status is 404 wherever it may be.
async fn find_metadata(issuer: &str, advice: &str) -> Result<Option<AuthorizationServer>, String> {
    let url = check_endpoint(issuer)?;
    let client = build_client()?;
    let (mut last_error, mut is_absent) = (String::new(), true);
    for address in metadata_addresses(&url) {
        let what = format!("the authorization server at {}", clean_line(issuer));
        match send_request(client.get(address), &what).await {
            Ok((status, metadata)) if status.is_success() && metadata.is_object() => {
                return parse_metadata(issuer, &metadata).map(Some);
            }
            Ok((status, _)) => {
                last_error = format!("{what} has no metadata (status {}).", status.as_u16());
                is_absent &= status == StatusCode::NOT_FOUND;
            }
            Err(error) => (last_error, is_absent) = (error, false),
        }
    }
    if is_absent {
        return Ok(None);
    }
    if let Some(first) = last_error.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Err(format!("{last_error} {advice}"))
}

/// Parses the address of an issuer or endpoint: `https`, or `http` on this machine, without a user name or a fragment.
///
/// # Errors
/// One sentence.
pub fn check_endpoint(text: &str) -> Result<Url, String> {
    let shown = clean_line(text).into_owned();
    let url = Url::parse(text.trim()).map_err(|error| format!("The address {shown} is invalid: {error}."))?;
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_encrypted = url.scheme() == "https" || url.scheme() == "http" && is_local;
    if !is_encrypted
        || host.is_empty()
        || !url.username().is_empty()
        || url.password().is_some()
        || url.fragment().is_some()
    {
        return Err(format!("The address {shown} is not https:// followed by a host and a path."));
    }
    Ok(url)
}

/// Returns the addresses at which metadata may be: that of RFC 8414, and that of OpenID Connect.
fn metadata_addresses(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/').to_owned();
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url.set_query(None);
        url
    };
    let mut addresses = vec![
        at(format!("/.well-known/oauth-authorization-server{path}")),
        at(format!("/.well-known/openid-configuration{path}")),
        at(format!("{path}/.well-known/openid-configuration")),
    ];
    addresses.dedup();
    addresses
}

fn parse_metadata(issuer: &str, metadata: &Value) -> Result<AuthorizationServer, String> {
    let issuer = issuer.trim().trim_end_matches('/');
    let text = |name: &str| metadata.get(name).and_then(Value::as_str);
    let own_issuer = text("issuer").unwrap_or_default();
    // Otherwise one server could hand out the endpoints of another (RFC 8414, section 3.3).
    if own_issuer.trim_end_matches('/') != issuer {
        return Err(format!(
            "The metadata of {} belongs to another issuer: {}.",
            clean_line(issuer),
            clean_line(own_issuer)
        ));
    }
    let endpoint = |name: &str| match text(name) {
        Some(address) => check_endpoint(address).map(Some),
        None => Ok(None),
    };
    let needed =
        |name: &str| endpoint(name)?.ok_or_else(|| format!("The metadata of {} has no {name}.", clean_line(issuer)));
    let methods = metadata.get("code_challenge_methods_supported").and_then(Value::as_array);
    if methods.is_some_and(|methods| methods.iter().all(|method| method != "S256")) {
        return Err(format!("{} does not support PKCE with S256.", clean_line(issuer)));
    }
    // Without a list, clients without a secret are tried, and the form, which most servers take.
    let auth_methods = metadata.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
    let lists = |method: &str| auth_methods.is_some_and(|methods| methods.iter().any(|listed| listed == method));
    let (authorization_endpoint, token_endpoint) = (needed("authorization_endpoint")?, needed("token_endpoint")?);
    Ok(AuthorizationServer {
        device_endpoint: endpoint("device_authorization_endpoint")?,
        registration_endpoint: endpoint("registration_endpoint")?,
        has_pkce: methods.is_some(),
        takes_secret_in_header: lists("client_secret_basic") && !lists("client_secret_post"),
        requires_secret: auth_methods.is_some_and(|methods| !methods.is_empty()) && !lists("none"),
        own_issuer: Some(own_issuer.to_owned()),
        names_issuer: metadata["authorization_response_iss_parameter_supported"] == true,
        ..AuthorizationServer::new(issuer, authorization_endpoint, token_endpoint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_looked_up_next_to_the_path_of_the_issuer() {
        let addresses = |issuer: &str| {
            let urls = metadata_addresses(&Url::parse(issuer).unwrap());
            urls.into_iter().map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(
            addresses("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            addresses("https://a.example/tenant/"),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant",
                "https://a.example/.well-known/openid-configuration/tenant",
                "https://a.example/tenant/.well-known/openid-configuration",
            ]
        );
    }

    #[test]
    fn metadata_of_another_issuer_or_without_encryption_is_rejected() {
        let metadata = json!({
            "issuer": "https://a.example/",
            "authorization_endpoint": "https://a.example/authorize",
            "token_endpoint": "https://a.example/token",
        });
        let server = parse_metadata("https://a.example", &metadata).unwrap();
        assert_eq!((server.token_endpoint.as_str(), server.device_endpoint), ("https://a.example/token", None));
        for (field, value, part) in [
            ("issuer", json!("https://evil.example"), "belongs to another issuer: https://evil.example"),
            ("issuer", json!(null), "belongs to another issuer"),
            ("token_endpoint", json!("http://a.example/token"), "is not https://"),
            ("authorization_endpoint", json!("file:///etc/passwd"), "is not https://"),
            ("authorization_endpoint", json!("javascript:alert(1)"), "is not https://"),
            ("authorization_endpoint", json!(null), "has no authorization_endpoint"),
            ("device_authorization_endpoint", json!("ftp://a.example"), "is not https://"),
            ("code_challenge_methods_supported", json!(["plain"]), "PKCE with S256"),
        ] {
            let mut changed = metadata.clone();
            changed[field] = value;
            let error = parse_metadata("https://a.example", &changed).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
