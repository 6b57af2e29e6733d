//! Errors of requests without a response, classified by their causes.

use super::error::{CONNECTION_CLOSED, NO_RESPONSE, UNKNOWN_HOST};
use super::provider_error::{MAX_MESSAGE_CHARS, clip};
use super::proxy::ProxyRoute;
use super::{Error, address, scheme_error};
use crate::web::tls_error::explain_tls_error;
use reqwest::Url;
use std::error::Error as _;

/// Where the user can add an authority.
const CA_SETTING: &str = "`ca_file` of the profile or in SSL_CERT_FILE";

/// Returns the error of a request without a response.
pub async fn connection_error(error: &reqwest::Error, url: &Url, proxy: Option<&ProxyRoute>) -> Error {
    let origin = address::format_origin(url);
    if let Some(tls_error) = causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        if let rustls::Error::InvalidMessage(_) = tls_error {
            return scheme_error::not_tls_error(url);
        }
        if let Some(cause) = explain_tls_error(tls_error, CA_SETTING) {
            return Error::Untrusted { origin, cause: clip(&cause, MAX_MESSAGE_CHARS) };
        }
    }
    // Causes are truncated because they may contain text from a proxy.
    let cause_texts: Vec<String> =
        causes(error).map(|cause| clip(strip_error_number(&cause.to_string()), MAX_MESSAGE_CHARS)).collect();
    if let Some(proxy) = proxy.filter(|_| error.is_connect())
        && let Some(error) = proxy.explain_error(error, &cause_texts, url).await
    {
        return error;
    }
    let cause = if error.is_timeout() { NO_RESPONSE.to_owned() } else { innermost_cause(error) };
    let cause = match cause.as_str() {
        // hyper reports an invalid HTTP version if the server answers an unencrypted request with TLS, among others.
        text if url.scheme() == "http" && text.contains("HTTP version") => {
            return scheme_error::not_http_error(url);
        }
        "connection closed before message completed" => {
            format!("{CONNECTION_CLOSED} before the response was complete")
        }
        "tls handshake eof" => format!("{CONNECTION_CLOSED} before TLS was set up"),
        text if cause_texts.iter().any(|cause_text| cause_text == "dns error") => {
            format!("{UNKNOWN_HOST}{} ({text})", url.host_str().unwrap_or_default())
        }
        _ => cause,
    };
    // An error while connecting is `Unreachable`; a reset, close or protocol error after that is `NoResponse`.
    if error.is_connect() { Error::Unreachable { origin, cause } } else { Error::NoResponse { origin, cause } }
}

/// Returns the last cause in the chain, which is the most specific one.
pub fn innermost_cause(error: &reqwest::Error) -> String {
    let last = causes(error).last().map(ToString::to_string);
    clip(strip_error_number(&last.unwrap_or_else(|| error.to_string())), MAX_MESSAGE_CHARS)
}

/// Removes the OS error number from a system error text.
fn strip_error_number(text: &str) -> &str {
    text.split_once(" (os error").map_or(text, |(text, _)| text)
}

/// Iterates over the causes of an error, the nearest first.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), next_cause)
}

fn next_cause<'a>(cause: &&'a (dyn std::error::Error + 'static)) -> Option<&'a (dyn std::error::Error + 'static)> {
    let cause: &'a (dyn std::error::Error + 'static) = *cause;
    match cause.downcast_ref::<std::io::Error>() {
        // `io::Error::source` skips the wrapped error, so it is taken from `get_ref`.
        Some(io) => io.get_ref().map(|inner| inner as _),
        None => cause.source(),
    }
}
