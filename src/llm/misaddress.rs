//! Addresses that lead to a server, but not to its models, and which one would.

use super::client::Link;
use super::service::extend;
use super::{Error, address, models};
use reqwest::Url;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// How long the better address is waited for.
const LIMIT: Duration = Duration::from_secs(2);
/// The most of its answer that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// What to do if there is no model at this base address. If the `/v1` may be missing, the server is asked whether it has
/// models there; headers and query go to the same origin and nowhere else.
pub async fn advice(link: &Link, base: &Url, query: &[(String, String)], headers: &HeaderMap) -> String {
    if has_version(base) {
        return "Check the address of the model.".to_owned();
    }
    let mut better = base.clone();
    better.set_path(&format!("{}/v1", base.path().trim_end_matches('/')));
    match has_models(link, &better, query, headers).await {
        true => format!("{better} answers. Use it as the address."),
        false => format!("Is the `/v1` missing from the address? Try {better}."),
    }
}

/// The error with what to do about it, if it says that there is nothing at this address.
pub async fn with_advice(
    error: Error,
    link: &Link,
    base: &Url,
    query: &[(String, String)],
    headers: &HeaderMap,
) -> Error {
    match error {
        Error::Service { status: status @ (200..=299 | 404 | 405), code, words, retry_after }
            if !has_version(base) =>
        {
            let advice = advice(link, base, query, headers).await;
            let words =
                if words.is_empty() { advice } else { format!("{}. {advice}", words.trim_end_matches('.')) };
            Error::Service { status, code, words, retry_after }
        }
        other => other,
    }
}

/// Whether a part of the path is a version, such as `v1` or `v1beta`.
pub fn has_version(base: &Url) -> bool {
    let is_version = |part: &str| {
        let mut characters = part.chars();
        characters.next() == Some('v') && characters.next().is_some_and(|next| next.is_ascii_digit())
    };
    base.path_segments().is_some_and(|mut parts| parts.any(is_version))
}

async fn has_models(link: &Link, base: &Url, query: &[(String, String)], headers: &HeaderMap) -> bool {
    let mut url = base.clone();
    url.set_path(&format!("{}/models", base.path()));
    extend(&mut url, query);
    let asked = async {
        let mut answer = link.http.get(url).headers(headers.clone()).send().await.ok()?;
        if !answer.status().is_success() {
            return None;
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.ok()? {
            body.extend_from_slice(&piece);
            if body.len() > LARGEST {
                return None;
            }
        }
        models::read(&serde_json::from_slice(&body).ok()?)
    };
    matches!(tokio::time::timeout(LIMIT, asked).await, Ok(Some(_)))
}

/// The error if a server says that it speaks TLS on the port of this address.
pub fn tls_port(status: u16, words: &str, url: &Url) -> Option<Error> {
    let words = words.to_lowercase();
    // nginx; Go; Apache
    let known = [
        "plain http request was sent to https port",
        "http request to an https server",
        "speaking plain http",
    ];
    let says_so = status == 400 && url.scheme() == "http" && known.iter().any(|known| words.contains(known));
    says_so.then(|| {
        let secure = with_scheme(url, "https");
        let origin = address::origin(url);
        Error::Misaddressed(format!(
            "Cannot talk to {origin}: this port speaks TLS. Use {secure} as the address"
        ))
    })
}

/// The error if what came over a connection without encryption is not HTTP.
pub fn not_http(url: &Url) -> Error {
    let (origin, secure) = (address::origin(url), with_scheme(url, "https"));
    Error::Misaddressed(format!(
        "Cannot talk to {origin}: what answers there is not HTTP. If the port speaks TLS, use {secure} as the address"
    ))
}

/// The error if what came in place of TLS is not TLS.
pub fn not_tls(url: &Url) -> Error {
    let (origin, plain) = (address::origin(url), with_scheme(url, "http"));
    Error::Misaddressed(format!(
        "Cannot talk to {origin}: the server does not speak TLS on this port. If it is meant to be reached without \
         encryption, use {plain} as the address"
    ))
}

/// Scheme, host and port with another scheme. A port that is not written stays unwritten.
pub fn with_scheme(url: &Url, scheme: &str) -> String {
    let rest = address::origin(url).split_once("://").map_or_else(String::new, |(_, rest)| rest.to_owned());
    format!("{scheme}://{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_part_of_the_path() {
        for (base, has) in [
            ("http://h", false),
            ("http://h/", false),
            ("http://v1.example", false),
            ("http://h/api", false),
            ("http://h/vendor", false),
            ("http://h/v1", true),
            ("http://h/v1/", true),
            ("http://h/openai/v1", true),
            ("http://h/v1beta/openai", true),
        ] {
            assert_eq!(has_version(&Url::parse(base).unwrap()), has, "{base}");
        }
    }

    #[test]
    fn only_a_server_that_says_so_speaks_tls() {
        let url = Url::parse("http://h:8443/v1").unwrap();
        let says = |status, words: &str| tls_port(status, words, &url).map(|error| error.to_string());
        let expected =
            "Cannot talk to http://h:8443: this port speaks TLS. Use https://h:8443 as the address.";
        assert_eq!(says(400, "Client sent an HTTP request to an HTTPS server.").as_deref(), Some(expected));
        assert_eq!(says(400, "the HTTPS proxy refused"), None);
        assert_eq!(says(500, "Client sent an HTTP request to an HTTPS server."), None);
    }
}
