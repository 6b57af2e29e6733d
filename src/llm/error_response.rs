//! Error responses and redirects.

use super::provider_error::ProviderError;
use super::proxy::ProxyRoute;
use super::response_body::Body;
use super::{Error, address, retry_after, scheme_error, tolerant_json};
use reqwest::Url;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// Maximum bytes of an error body that are read.
const MAX_BODY_BYTES: usize = 64 << 10;

/// Returns the error of a redirect.
pub fn redirect_error(status: u16, headers: &HeaderMap, url: &Url) -> Error {
    let target = headers.get("location").and_then(|to| to.to_str().ok()).and_then(|to| url.join(to).ok());
    let message = match target {
        Some(target) => format!(
            "its new address is {}. The redirect was not followed, to protect the key. Set `base_url` to that address",
            address::format_origin(&target)
        ),
        None => "it gave no new address".to_owned(),
    };
    Error::Provider { status, code: None, message, retry_after: None }
}

/// Reads an error response. The body is read for ten seconds at most because the status alone is enough for an error.
pub async fn read_error_response(
    status: u16,
    headers: &HeaderMap,
    body: Option<Body>,
    url: &Url,
    proxy: Option<&ProxyRoute>,
) -> Error {
    let retry_after = retry_after::parse_requested_wait(status, headers, jiff::Timestamp::now());
    let text = match body {
        Some(mut body) => body.peek_start(MAX_BODY_BYTES, Duration::from_secs(10)).await,
        None => String::new(),
    };
    let error = ProviderError::parse_body(&text);
    let is_json = tolerant_json::parse_json(&text).is_ok();
    let proxy_error = proxy.and_then(|proxy| proxy.explain_response(status, &error.message, is_json, url));
    let known_error = proxy_error.or_else(|| scheme_error::tls_port_error(status, &text, url));
    known_error.unwrap_or_else(|| error.into_error(status, retry_after))
}
