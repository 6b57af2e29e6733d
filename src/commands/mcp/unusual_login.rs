//! What the user must confirm before a login: what changed since the last one, and addresses in private networks.

use super::clean_line;
use crate::cli::bail_usage;
use crate::commands::output::confirm;
use crate::config::tool_credentials::OAuthClient;
use crate::web::oauth::{AuthorizationServer, ProtectedResource, add_scopes, find_private_endpoints};
use anyhow::Result;
use reqwest::Url;

/// Returns the scopes to ask for: those that the user named, if any. If the service required more since the last login, they are
/// asked for together with those of that login.
pub(super) fn choose_scopes(
    named: &[String],
    resource: &ProtectedResource,
    previous: Option<&OAuthClient>,
) -> Vec<String> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let Some(previous) = previous.filter(|previous| !previous.required_scopes.is_empty()) else {
        return resource.scopes.clone();
    };
    let mut scopes = previous.scopes.clone();
    add_scopes(&mut scopes, &previous.required_scopes);
    scopes
}

/// Describes what is unusual in a login at the authorization server that the service names, one line each. `scopes` are those
/// that the user did not name.
pub(super) async fn describe_unusual(
    service: &Url,
    resource: &ProtectedResource,
    scopes: &[String],
    previous: Option<&OAuthClient>,
) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(previous) = previous {
        let (old, new) = (previous.issuer.trim_end_matches('/'), resource.issuer.trim_end_matches('/'));
        if old != new {
            lines.push(format!("authorization server: {new} instead of {old}"));
        }
        if !previous.required_scopes.is_empty() {
            let added: Vec<&str> =
                scopes.iter().filter(|scope| !previous.scopes.contains(scope)).map(String::as_str).collect();
            lines.extend((!added.is_empty()).then(|| format!("more scopes: {}", added.join(" "))));
        }
    }
    let issuer = Url::parse(&resource.issuer).ok();
    let issuer: Vec<&Url> = issuer.iter().collect();
    lines.extend(describe_private(service, &issuer).await);
    lines
}

/// Describes the endpoints in private networks, other than the issuer, about which the user was asked.
pub(super) async fn describe_private_endpoints(service: &Url, server: &AuthorizationServer) -> Vec<String> {
    let issuer = Url::parse(&server.issuer).ok().map(|issuer| issuer.origin());
    let endpoints = server.endpoints();
    let endpoints: Vec<&Url> = endpoints.into_iter().filter(|endpoint| Some(endpoint.origin()) != issuer).collect();
    describe_private(service, &endpoints).await
}

async fn describe_private(service: &Url, endpoints: &[&Url]) -> Vec<String> {
    let found = find_private_endpoints(service, endpoints).await;
    found.into_iter().map(|line| format!("not a public server: {line}")).collect()
}

/// Asks the user to confirm these lines, if any.
///
/// # Errors
/// If the user does not confirm, or there is no terminal.
pub(super) fn confirm_unusual(name: &str, lines: &[String]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = lines.iter().map(|line| clean_line(line)).collect();
    let no_terminal = format!(
        "Cannot log in to {name}: this must be confirmed in a terminal: {}. Run `aye mcp login {name}` in one.",
        lines.join("; ")
    );
    let question = || {
        let list: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        Ok(format!("{name} asks for a login with:\n{list}To log in"))
    };
    if !confirm(question, &no_terminal)? {
        bail_usage!("Cannot log in to {name}: it was not confirmed. Nothing was changed.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource() -> ProtectedResource {
        let (resource, issuer) = ("https://8.8.8.8/mcp".to_owned(), "https://1.1.1.1/".to_owned());
        ProtectedResource { resource, issuer, scopes: vec!["read".to_owned()], is_own_issuer: false }
    }

    fn client() -> OAuthClient {
        OAuthClient {
            issuer: "https://1.1.1.1".to_owned(),
            authorization_endpoint: String::new(),
            token_endpoint: String::new(),
            device_endpoint: None,
            uses_device: false,
            client_id: String::new(),
            scopes: vec!["read".to_owned(), "list".to_owned()],
            required_scopes: Vec::new(),
            resource: None,
        }
    }

    async fn describe(resource: &ProtectedResource, previous: Option<&OAuthClient>) -> Vec<String> {
        let service = Url::parse(&resource.resource).unwrap();
        describe_unusual(&service, resource, &choose_scopes(&[], resource, previous), previous).await
    }

    #[tokio::test]
    async fn only_what_changed_or_is_private_must_be_confirmed() {
        assert_eq!(describe(&resource(), None).await, [""; 0]);
        assert_eq!(describe(&resource(), Some(&client())).await, [""; 0]);
        let stepped = OAuthClient { required_scopes: vec!["write".to_owned(), "read".to_owned()], ..client() };
        assert_eq!(choose_scopes(&[], &resource(), Some(&stepped)), ["read", "list", "write"]);
        assert_eq!(choose_scopes(&["x".to_owned()], &resource(), Some(&stepped)), ["x"]);
        assert_eq!(describe(&resource(), Some(&stepped)).await, ["more scopes: write"]);
        let moved = OAuthClient { issuer: "https://old.example".to_owned(), ..client() };
        let lines = describe(&resource(), Some(&moved)).await;
        assert_eq!(lines, ["authorization server: https://1.1.1.1 instead of https://old.example"]);
        let private = ProtectedResource { issuer: "https://10.0.0.5".to_owned(), ..resource() };
        let lines = describe(&private, None).await;
        assert_eq!(lines, ["not a public server: https://10.0.0.5 is the address of a private network"]);
    }

    #[tokio::test]
    async fn endpoints_elsewhere_than_their_issuer_are_checked() {
        let url = |text: &str| Url::parse(text).unwrap();
        let (service, authorize) = (url("https://8.8.8.8/mcp"), url("https://1.1.1.1/authorize"));
        let server = |issuer: &str, token: &str| AuthorizationServer::new(issuer, authorize.clone(), url(token));
        let public = server("https://1.1.1.1", "https://1.1.1.1/token");
        assert_eq!(describe_private_endpoints(&service, &public).await, [""; 0]);
        let hidden = server("https://1.1.1.1", "http://127.0.0.1:8080/token");
        assert_eq!(describe_private_endpoints(&service, &hidden).await.len(), 1);
        let registration = AuthorizationServer { registration_endpoint: Some(url("https://10.0.0.5/x")), ..public };
        assert_eq!(describe_private_endpoints(&service, &registration).await.len(), 1);
    }
}
