//! Base address of a provider, and the part of it that may be shown.

use super::Error;
use super::loopback::is_loopback;
use reqwest::Url;

/// Parses a base address such as `https://api.openai.com/v1`.
///
/// # Errors
/// Returns a sentence for the user if it is not an http or https address, or contains a user name or password.
pub fn parse_base_address(base_url: &str) -> Result<Url, Error> {
    let wrong = |why: &str| Error::InvalidReply(format!("Cannot use the address of the provider: {why}"));
    let url = Url::parse(base_url.trim()).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it must not contain a user name or password; use a key instead"));
    }
    Ok(url)
}

/// Returns scheme, host and port, the only part of an address that errors show.
pub fn format_origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Adds query parameters to an address. Leaves the address unchanged if there are none.
pub fn add_query(url: &mut Url, query: &[(String, String)]) {
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
}

/// Returns a warning for the user if the key and all messages would be sent unencrypted over a network.
pub fn unencrypted_warning(base_url: &str) -> Option<String> {
    let url = parse_base_address(base_url).ok()?;
    (url.scheme() == "http" && !is_loopback(&url)).then(|| {
        format!(
            "The connection to {} is not encrypted: others on the network can read the key and all messages",
            format_origin(&url)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_without_a_password_are_accepted() {
        assert!(parse_base_address("https://api.example.com/v1").is_ok());
        assert!(parse_base_address(" http://127.0.0.1:8080/v1\n").is_ok());
        for wrong in ["", "api.example.com", "file:///etc/passwd", "https://me:secret@example.com/v1"] {
            assert!(parse_base_address(wrong).is_err(), "{wrong}");
        }
        assert!(!parse_base_address("https://me:secret@x.com").unwrap_err().to_string().contains("secret"));
    }

    #[test]
    fn r47_an_unencrypted_remote_address_causes_a_warning() {
        for quiet in [
            "http://127.0.0.1:1/v1",
            "http://127.9.9.9/v1",
            "http://localhost/v1",
            "http://LocalHost.:1",
            "http://[::1]:8/v1",
            "http://[::ffff:127.0.0.1]",
            "http://0.0.0.0:4000",
            "https://example.com",
        ] {
            assert_eq!(unencrypted_warning(quiet), None, "{quiet}");
        }
        for loud in [
            "http://example.com/v1",
            "http://10.0.0.7:8080",
            "http://localhost.example.com",
            "http://model.localhost",
            "http://169.254.169.254",
            "http://[fe80::1]",
            "http://[::ffff:10.0.0.7]",
        ] {
            assert!(unencrypted_warning(loud).is_some_and(|words| words.contains("not encrypted")), "{loud}");
        }
    }
}
