//! Errors of addresses with the wrong scheme: `http` for a TLS port, or `https` for another one.

use super::{Error, address};
use reqwest::Url;

/// Returns an error if the response means that this port expects TLS.
pub fn tls_port_error(status: u16, body: &str, url: &Url) -> Option<Error> {
    let body = body.to_lowercase();
    // The phrases are from nginx, Go and Apache, in this order.
    let phrases =
        ["plain http request was sent to https port", "http request to an https server", "speaking plain http"];
    let expects_tls = status == 400 && url.scheme() == "http" && phrases.iter().any(|phrase| body.contains(phrase));
    expects_tls.then(|| {
        let https_url = replace_scheme(url, "https");
        let origin = address::format_origin(url);
        Error::InvalidAddress(format!(
            "Cannot talk to {origin}: this port speaks TLS. Begin the address with {https_url}"
        ))
    })
}

/// Returns the error for an unencrypted connection that does not speak HTTP.
pub fn not_http_error(url: &Url) -> Error {
    let (origin, https_url) = (address::format_origin(url), replace_scheme(url, "https"));
    Error::InvalidAddress(format!(
        "Cannot talk to {origin}: the response is not HTTP. If the port speaks TLS, begin the address with {https_url}"
    ))
}

/// Returns the error for a server that does not speak TLS.
pub fn not_tls_error(url: &Url) -> Error {
    let (origin, http_url) = (address::format_origin(url), replace_scheme(url, "http"));
    Error::InvalidAddress(format!(
        "Cannot talk to {origin}: the server does not speak TLS on this port. For an unencrypted connection, \
         begin the address with {http_url}"
    ))
}

/// Returns the origin of the address with another scheme. A default port stays omitted.
fn replace_scheme(url: &Url, scheme: &str) -> String {
    let rest = address::format_origin(url).split_once("://").map_or_else(String::new, |(_, rest)| rest.to_owned());
    format!("{scheme}://{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tls_port_is_detected_by_known_error_texts() {
        let url = Url::parse("http://h:8443/v1").unwrap();
        let error_text = |status, body: &str| tls_port_error(status, body, &url).map(|error| error.to_string());
        let expected = "Cannot talk to http://h:8443: this port speaks TLS. Begin the address with https://h:8443.";
        assert_eq!(error_text(400, "Client sent an HTTP request to an HTTPS server.").as_deref(), Some(expected));
        assert_eq!(error_text(400, "the HTTPS proxy refused"), None);
        assert_eq!(error_text(500, "Client sent an HTTP request to an HTTPS server."), None);
    }
}
