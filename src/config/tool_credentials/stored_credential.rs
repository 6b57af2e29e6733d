//! One credential, and its form in the file.

use super::{BoundOrigin, parse_header_name};
use crate::config::Key;
use reqwest::header::HeaderName;
use serde::{Deserialize, Serialize};
use std::fmt;
use toml::Value;

/// A credential for the requests of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCredential {
    pub kind: CredentialKind,
    /// The origins that may receive it; never empty.
    pub origins: Vec<BoundOrigin>,
    pub source: SecretSource,
}

/// How a credential is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialKind {
    /// `Authorization: Bearer SECRET`.
    Bearer,
    /// An API key in this header.
    ApiKey(HeaderName),
    /// `Authorization: Basic`, with this user name. The secret is the password.
    Basic(String),
    /// The secret is the value of this header.
    Header(HeaderName),
    /// `Authorization: Bearer ACCESS-TOKEN`. The secret holds the tokens.
    OAuth(Box<OAuthClient>),
}

impl CredentialKind {
    /// Header of an API key if none is named.
    pub const DEFAULT_API_KEY_HEADER: &'static str = "X-API-Key";

    /// Returns the name in the file and on the command line.
    pub fn name(&self) -> &'static str {
        self.kind_name().as_str()
    }

    fn kind_name(&self) -> KindName {
        match self {
            Self::Bearer => KindName::Bearer,
            Self::ApiKey(_) => KindName::ApiKey,
            Self::Basic(_) => KindName::Basic,
            Self::Header(_) => KindName::Header,
            Self::OAuth(_) => KindName::Oauth,
        }
    }
}

impl fmt::Display for CredentialKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bearer => f.write_str("bearer token"),
            Self::ApiKey(name) => write!(f, "API key in {name}"),
            Self::Basic(user) => write!(f, "password of {user}"),
            Self::Header(name) => write!(f, "header {name}"),
            Self::OAuth(client) => write!(f, "OAuth at {}", client.issuer),
        }
    }
}

/// Where the secret of a credential is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In the file.
    File(Key),
    /// In the key store of the system, with this ID.
    KeyStore(String),
    /// In this environment variable.
    Variable(String),
    /// Printed by this command: the program and its arguments, never empty.
    Command(Vec<String>),
}

impl SecretSource {
    /// Returns the ID of a secret in the key store.
    pub fn key_store_id(&self) -> Option<&str> {
        match self {
            Self::KeyStore(id) => Some(id),
            Self::File(_) | Self::Variable(_) | Self::Command(_) => None,
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(_) => f.write_str("in the file"),
            Self::KeyStore(_) => f.write_str("in the key store"),
            Self::Variable(name) => write!(f, "in the variable {name}"),
            Self::Command(words) => {
                write!(f, "printed by the command {}", words.first().map_or("", String::as_str))
            }
        }
    }
}

/// An OAuth client, registered at an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthClient {
    /// Address of the authorization server, as the user named it.
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_endpoint: Option<String>,
    /// True if the user signs in on another device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uses_device: bool,
    pub client_id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Scopes that the service has required since, which the user is asked about at the next login.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_scopes: Vec<String>,
    /// The service that the tokens are for; `None` if the server decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Bearer,
    ApiKey,
    Basic,
    Header,
    Oauth,
}

impl KindName {
    fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::ApiKey => "api_key",
            Self::Basic => "basic",
            Self::Header => "header",
            Self::Oauth => "oauth",
        }
    }
}

/// Form in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCredential {
    kind: KindName,
    origins: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_store: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    env: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_command: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    oauth: Option<OAuthClient>,
}

impl ToolCredential {
    /// Returns the origins as a list for the user or the model.
    pub fn describe_origins(&self) -> String {
        self.origins.iter().map(BoundOrigin::as_str).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn to_toml(&self) -> Result<Value, toml::ser::Error> {
        let mut stored = StoredCredential {
            kind: self.kind.kind_name(),
            origins: self.origins.iter().map(ToString::to_string).collect(),
            header: None,
            user: None,
            secret: None,
            key_store: None,
            env: None,
            key_command: None,
            oauth: None,
        };
        match &self.kind {
            CredentialKind::Bearer => {}
            CredentialKind::ApiKey(name) | CredentialKind::Header(name) => stored.header = Some(name.to_string()),
            CredentialKind::Basic(user) => stored.user = Some(user.clone()),
            CredentialKind::OAuth(client) => stored.oauth = Some((**client).clone()),
        }
        match &self.source {
            SecretSource::File(secret) => stored.secret = Some(secret.expose().to_owned()),
            SecretSource::KeyStore(id) => stored.key_store = Some(id.clone()),
            SecretSource::Variable(name) => stored.env = Some(name.clone()),
            SecretSource::Command(words) => stored.key_command = Some(words.clone()),
        }
        Value::try_from(stored)
    }

    /// # Errors
    /// The reason, as part of a sentence. It does not quote values, because one may be the secret.
    pub(super) fn from_toml(value: Value) -> Result<Self, String> {
        let stored: StoredCredential =
            value.try_into().map_err(|_| "a field is missing, unknown, or has a wrong type".to_owned())?;
        let origins: Result<Vec<BoundOrigin>, String> =
            stored.origins.iter().map(|text| BoundOrigin::parse(text)).collect();
        let origins = origins.map_err(|_| "an origin is invalid".to_owned())?;
        if origins.is_empty() {
            return Err("it has no origin".to_owned());
        }
        let header = stored.header.as_deref().map(|text| parse_header_name(text).map_err(|_| "its header is invalid"));
        let kind = match (stored.kind, header.transpose()?, stored.user, stored.oauth) {
            (KindName::Bearer, None, None, None) => CredentialKind::Bearer,
            (KindName::ApiKey, Some(name), None, None) => CredentialKind::ApiKey(name),
            (KindName::Header, Some(name), None, None) => CredentialKind::Header(name),
            (KindName::Basic, None, Some(user), None) => CredentialKind::Basic(user),
            (KindName::Oauth, None, None, Some(client)) => CredentialKind::OAuth(Box::new(client)),
            (kind, ..) => return Err(format!("its fields do not fit the kind {}", kind.as_str())),
        };
        let source = match (stored.secret, stored.key_store, stored.env, stored.key_command) {
            (Some(secret), None, None, None) => SecretSource::File(Key::new(&secret)),
            (None, Some(id), None, None) if is_id(&id) => SecretSource::KeyStore(id),
            (None, None, Some(name), None) => SecretSource::Variable(name),
            (None, None, None, Some(words)) if !words.is_empty() => SecretSource::Command(words),
            _ => return Err("it needs exactly one of secret, key_store, env and key_command".to_owned()),
        };
        Ok(Self { kind, origins, source })
    }
}

/// Returns whether a text can be the ID of a secret in the key store.
pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}
