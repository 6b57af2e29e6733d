//! Requests to the token endpoint, and the tokens that it issues.

use super::{Authorization, build_client, describe_oauth_error, send_request};
use crate::text::known_secrets::KnownSecrets;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Seconds before its end at which a token is refreshed: the request that carries it takes time too.
const REFRESH_SECONDS: u64 = 60;

/// Tokens of a sign-in, as they are stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthTokens {
    pub access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// End of the access token in seconds since 1970; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// Secret of the client itself, if the server requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// True if that secret is sent in a header, false if in the form.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_secret_in_header: bool,
}

impl OAuthTokens {
    /// Returns the secret of the client, if the server requires one.
    pub fn client_secret(&self) -> Option<ClientSecret<'_>> {
        let is_in_header = self.is_secret_in_header;
        self.client_secret.as_deref().map(|secret| ClientSecret { secret, is_in_header })
    }

    /// Returns whether the access token should be refreshed at this time, in seconds since 1970.
    pub fn is_expiring(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now + REFRESH_SECONDS)
    }
}

/// Without the tokens.
impl fmt::Debug for OAuthTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthTokens").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Secret of a client, and how it is sent (RFC 6749, section 2.3.1).
#[derive(Clone, Copy)]
pub struct ClientSecret<'a> {
    pub secret: &'a str,
    /// True for `client_secret_basic`, false for `client_secret_post`.
    pub is_in_header: bool,
}

/// A client as the token endpoint knows it.
pub struct RegisteredClient<'a> {
    pub token_endpoint: &'a Url,
    pub client_id: &'a str,
    pub client_secret: Option<ClientSecret<'a>>,
    /// The service that the tokens are for; `None` if the server decides.
    pub resource: Option<&'a str>,
}

/// Exchanges the code of a sign-in for tokens. `now` is in seconds since 1970.
///
/// # Errors
/// One sentence.
pub async fn exchange_code(
    client: &RegisteredClient<'_>,
    authorization: &Authorization,
    code: &str,
    now: u64,
) -> Result<OAuthTokens, String> {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &authorization.redirect_uri),
        ("code_verifier", &authorization.verifier),
    ];
    let issued =
        client.request_tokens(&fields).await.map_err(|refusal| format!("The sign-in failed: {}.", refusal.reason))?;
    parse_tokens(&issued, None, client.client_secret, now)
}

/// Refreshes the tokens. The server may issue a new refresh token, which replaces the old one.
///
/// # Errors
/// One sentence.
pub async fn refresh_tokens(
    client: &RegisteredClient<'_>,
    tokens: &OAuthTokens,
    now: u64,
) -> Result<OAuthTokens, String> {
    let Some(refresh_token) = &tokens.refresh_token else {
        return Err("The access token has expired and there is no refresh token.".to_owned());
    };
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.as_str())];
    let issued =
        client.request_tokens(&fields).await.map_err(|refusal| format!("The refresh failed: {}.", refusal.reason))?;
    parse_tokens(&issued, Some(refresh_token), client.client_secret, now)
}

impl RegisteredClient<'_> {
    /// Returns the value of the header `Authorization` with this secret.
    fn basic_header(&self, secret: &str) -> String {
        let encode = |text: &str| {
            let mut form = self.token_endpoint.clone();
            form.set_query(None);
            form.query_pairs_mut().append_key_only(text);
            form.query().unwrap_or_default().to_owned()
        };
        format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(self.client_id), encode(secret))))
    }

    /// Sends a form to the token endpoint.
    pub(super) async fn request_tokens(&self, fields: &[(&str, &str)]) -> Result<Value, Refusal> {
        let mut form = self.token_endpoint.clone();
        form.set_query(None);
        form.query_pairs_mut().extend_pairs(fields);
        let header = self.client_secret.filter(|secret| secret.is_in_header);
        let header = header.map(|secret| self.basic_header(secret.secret));
        if header.is_none() {
            form.query_pairs_mut().append_pair("client_id", self.client_id);
            form.query_pairs_mut().extend_pairs(self.client_secret.map(|secret| ("client_secret", secret.secret)));
        }
        if let Some(resource) = self.resource {
            form.query_pairs_mut().append_pair("resource", resource);
        }
        let body = form.query().unwrap_or_default().to_owned();
        let failed = |error: String| Refusal { code: None, reason: error.trim_end_matches('.').to_owned() };
        let request = build_client().map_err(failed)?.post(self.token_endpoint.clone());
        let mut request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
        if let Some(header) = &header {
            request = request.header(AUTHORIZATION, header);
        }
        let (status, response) = send_request(request, "the token endpoint").await.map_err(failed)?;
        // Some servers report errors with status 200.
        if status.is_success() && response.get("error").is_none_or(Value::is_null) {
            return Ok(response);
        }
        // The description may repeat what was sent.
        let secrets = fields.iter().filter(|(name, _)| SECRET_FIELDS.contains(name)).map(|(_, value)| *value);
        let secrets = secrets.chain(self.client_secret.map(|secret| secret.secret));
        let known: KnownSecrets = secrets.chain(header.as_deref()).collect();
        let reason = known.mask(&describe_oauth_error(status, &response)).into_owned();
        Err(Refusal { code: response.get("error").and_then(Value::as_str).map(str::to_owned), reason })
    }
}

/// Fields of a form that are secrets.
const SECRET_FIELDS: [&str; 4] = ["code", "code_verifier", "refresh_token", "device_code"];

/// Why the token endpoint issued no tokens.
pub(super) struct Refusal {
    /// The error code of the server, if any.
    pub(super) code: Option<String>,
    /// Part of a sentence, without the secrets of the form.
    pub(super) reason: String,
}

/// Parses a response of the token endpoint. `now` is in seconds since 1970.
pub(super) fn parse_tokens(
    response: &Value,
    previous_refresh_token: Option<&str>,
    client_secret: Option<ClientSecret<'_>>,
    now: u64,
) -> Result<OAuthTokens, String> {
    let text = |name: &str| response.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(access_token) = text("access_token") else {
        return Err("The token endpoint issued no access token.".to_owned());
    };
    if text("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err("The token endpoint issued a token that is no bearer token.".to_owned());
    }
    // Some servers write the number as text.
    let seconds = response.get("expires_in").and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    Ok(OAuthTokens {
        access_token: access_token.to_owned(),
        refresh_token: text("refresh_token").or(previous_refresh_token).map(str::to_owned),
        expires_at: seconds.map(|seconds| now.saturating_add(seconds)),
        client_secret: client_secret.map(|secret| secret.secret.to_owned()),
        is_secret_in_header: client_secret.is_some_and(|secret| secret.is_in_header),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn id_and_secret_in_a_header_are_encoded_as_in_a_form() {
        let token_endpoint = Url::parse("https://a.example/token?tenant=x").unwrap();
        let client =
            RegisteredClient { token_endpoint: &token_endpoint, client_id: "i:d", client_secret: None, resource: None };
        let header = client.basic_header("s3 cr&t=é");
        let decoded = STANDARD.decode(header.strip_prefix("Basic ").unwrap()).unwrap();
        assert_eq!(String::from_utf8(decoded).unwrap(), "i%3Ad:s3+cr%26t%3D%C3%A9");
    }

    #[test]
    fn tokens_are_parsed_and_their_end_is_known() {
        let response =
            json!({ "access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r2" });
        let tokens = parse_tokens(&response, Some("r1"), None, 1_000).unwrap();
        assert_eq!((tokens.refresh_token.as_deref(), tokens.expires_at), (Some("r2"), Some(4_600)));
        assert!(!tokens.is_expiring(4_500) && tokens.is_expiring(4_540) && tokens.is_expiring(9_000));
        assert!(!format!("{tokens:?}").contains("r2"));
        let kept = parse_tokens(&json!({ "access_token": "a", "expires_in": "60" }), Some("r1"), None, 0).unwrap();
        assert_eq!((kept.refresh_token.as_deref(), kept.expires_at), (Some("r1"), Some(60)));
        let endless = parse_tokens(&json!({ "access_token": "a", "expires_in": u64::MAX }), None, None, 9).unwrap();
        assert!(!endless.is_expiring(1 << 60));
        for response in
            [json!(null), json!({}), json!({ "access_token": "" }), json!({ "access_token": "a", "token_type": "mac" })]
        {
            assert!(parse_tokens(&response, None, None, 0).is_err(), "{response}");
        }
    }
}
