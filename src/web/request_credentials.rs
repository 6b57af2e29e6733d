//! What a request of a tool gets its credential from.

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

/// Credentials by name, each bound to the origins that may receive it.
pub trait RequestCredentials: Send + Sync {
    /// Returns the header for a request to `url`.
    ///
    /// # Errors
    /// One sentence for the model, if the credential is missing, declined, or bound to other origins.
    fn header(&self, name: &str, url: &Url) -> Result<(HeaderName, HeaderValue), String>;

    /// Returns another header after the server rejected this one as unauthorized; `None` if the credential cannot be
    /// renewed. A caller asks at most once per request.
    ///
    /// # Errors
    /// As [`Self::header`], or if the renewal failed.
    fn renew_header(
        &self,
        name: &str,
        url: &Url,
        rejected: &HeaderValue,
    ) -> Result<Option<(HeaderName, HeaderValue)>, String> {
        let _ = (name, url, rejected);
        Ok(None)
    }

    /// Records that the server at `url` requires these scopes too, for the next login.
    ///
    /// # Errors
    /// Why a login would not help, as part of a sentence without text of the server.
    fn require_scopes(&self, name: &str, url: &Url, scopes: &[String]) -> Result<(), String> {
        let _ = (name, url, scopes);
        Err("its credential is not of a login".to_owned())
    }
}

/// A credential that a configured tool names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCredential {
    pub name: String,
    /// The origins that tools send it to, such as `https://api.github.com`.
    pub origins: Vec<String>,
}

/// Has no credentials: every name is missing.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredentials;

#[cfg(test)]
impl RequestCredentials for NoCredentials {
    fn header(&self, name: &str, _url: &Url) -> Result<(HeaderName, HeaderValue), String> {
        Err(format!("The credential “{name}” is missing. The user must add it; do not ask for its value."))
    }
}
