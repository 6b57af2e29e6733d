//! An origin that may receive a credential: scheme, host and port.

use reqwest::Url;
use std::fmt;
use std::net::IpAddr;

/// An origin with `https`, or one of this machine with `http`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundOrigin(String);

impl BoundOrigin {
    /// Parses an origin such as `https://api.github.com` or `http://localhost:3000`. A path that is not empty is an error,
    /// because a credential cannot be bound to one.
    ///
    /// # Errors
    /// One sentence with the reason and the correction. It does not quote a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let reason = |reason: &str| {
            Err(format!("Cannot use this origin: {reason}. Use scheme, host and port, such as https://api.github.com."))
        };
        let url = match Url::parse(text.trim()) {
            Ok(url) => url,
            Err(error) => return reason(&error.to_string()),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return reason("it contains a user name or a password");
        }
        if !url.has_host() || !matches!(url.scheme(), "http" | "https") {
            return reason("it does not begin with https:// or http://");
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return reason("it has a path, a query or a fragment");
        }
        if url.port() == Some(0) {
            return reason("its port is 0");
        }
        if url.scheme() == "http" && !is_loopback_url(&url) {
            return reason("http is not encrypted, and is allowed only for this machine");
        }
        Ok(Self(url.origin().ascii_serialization()))
    }

    /// Returns whether a request to this address may carry the credential.
    pub fn allows(&self, url: &Url) -> bool {
        url.origin().ascii_serialization() == self.0
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BoundOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether the host is a loopback address or `localhost`.
pub fn is_loopback_url(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_origin_is_encrypted_or_of_this_machine() {
        for (text, origin) in [
            ("https://API.github.com", "https://api.github.com"),
            (" https://api.github.com:443/ ", "https://api.github.com"),
            ("https://a.example:8443", "https://a.example:8443"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://127.0.0.1:3000/", "http://127.0.0.1:3000"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(BoundOrigin::parse(text).unwrap().as_str(), origin, "{text}");
        }
        for text in [
            "",
            "api.github.com",
            "ftp://a.example",
            "file:///etc/passwd",
            "http://a.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://0.0.0.0",
            "https://user:hunter2@a.example",
            "https://a.example/v1",
            "https://a.example?x",
            "https://a.example#x",
            "https://a.example:0",
        ] {
            let error = BoundOrigin::parse(text).unwrap_err();
            assert!(error.starts_with("Cannot use this origin: ") && !error.contains("hunter2"), "{text}: {error}");
        }
    }

    #[test]
    fn allows_only_the_same_scheme_host_and_port() {
        let origin = BoundOrigin::parse("https://api.example.com").unwrap();
        for (url, is_allowed) in [
            ("https://api.example.com/x?y#z", true),
            ("https://API.EXAMPLE.com:443/", true),
            ("http://api.example.com/", false),
            ("https://api.example.com:444/", false),
            ("https://api.example.com.evil.example/", false),
            ("https://api.example.com@evil.example/", false),
            ("https://evil.example/https://api.example.com", false),
            ("https://example.com/", false),
            ("https://api.example.com./", false),
        ] {
            assert_eq!(origin.allows(&Url::parse(url).unwrap()), is_allowed, "{url}");
        }
    }

    proptest! {
        /// Whatever the address, a credential goes to its host or to none.
        #[test]
        fn no_spelling_of_an_address_changes_the_host(text in "https?://[a-z.@:/?#%\\\\0-9\\[\\]]{0,40}api\\.example\\.com[a-z.@:/?#%\\\\0-9]{0,20}") {
            let origin = BoundOrigin::parse("https://api.example.com").unwrap();
            if let Ok(url) = Url::parse(&text) && origin.allows(&url) {
                prop_assert_eq!((url.scheme(), url.host_str(), url.port_or_known_default()), ("https", Some("api.example.com"), Some(443)));
            }
        }
    }
}
