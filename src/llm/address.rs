//! Base address of a provider, and the part of it that may be shown.

use super::Error;
use reqwest::Url;

/// Parses a base address such as `https://api.openai.com/v1`.
///
/// # Errors
/// Returns a sentence for the user if it is not an http or https address, or contains a user name or password.
pub fn parse_base_address(base_url: &str) -> Result<Url, Error> {
    let address_error = |reason: &str| Error::InvalidReply(format!("Cannot use the address of the provider: {reason}"));
    let url = Url::parse(base_url.trim()).map_err(|error| address_error(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(address_error("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(address_error("it must not contain a user name or password; use a key instead"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_without_a_password_are_accepted() {
        assert!(parse_base_address("https://api.example.com/v1").is_ok());
        assert!(parse_base_address(" http://127.0.0.1:8080/v1\n").is_ok());
        for invalid in ["", "api.example.com", "file:///etc/passwd", "https://me:secret@example.com/v1"] {
            assert!(parse_base_address(invalid).is_err(), "{invalid}");
        }
        assert!(!parse_base_address("https://me:secret@x.com").unwrap_err().to_string().contains("secret"));
    }
}
