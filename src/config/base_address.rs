//! Base address of a provider's endpoints, such as `https://api.openai.com/v1`.

use reqwest::Url;

/// Paths of endpoints. Users often enter an address with one of them instead of the base address.
const ENDPOINTS: [&str; 6] = ["/chat/completions", "/completions", "/responses", "/messages", "/embeddings", "/models"];

/// Placeholder stored for an invalid address so that no default takes its place.
pub const UNUSABLE_ADDRESS: &str = "-";

/// Reason given for an address that is a complete endpoint.
pub const COMPLETE_ENDPOINT: &str = "it is a complete endpoint, not a base address.";

/// Parses a base address: http or https, a host, a port from 1 to 65535, and no user name, password, query, fragment or
/// endpoint suffix.
///
/// # Errors
/// Returns a sentence with the reason and the correction. It never contains a password.
pub fn parse(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let advice = "Use an address such as \"https://example.com/v1\".";
    let address_error = |reason: &str| format!("Cannot use this address: {reason}. {advice}");
    let out_of_range = || "Cannot use this address: its port is out of range. Ports go from 1 to 65535.".to_owned();
    if text.is_empty() {
        return Err(address_error("it is empty"));
    }
    let lacks_scheme = || match suggest_scheme(text) {
        Some(suggestion) => {
            format!("Cannot use this address: it does not begin with http:// or https://. Write \"{suggestion}\".")
        }
        None => address_error("it does not begin with http:// or https://"),
    };
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(_) if has_large_port(text) => return Err(out_of_range()),
        Err(_) if !text.contains("://") => return Err(lacks_scheme()),
        Err(error) => return Err(address_error(&error.to_string())),
    };
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(lacks_scheme());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(address_error("it contains a user name or a password; authentication needs a key"));
    }
    if url.port() == Some(0) {
        return Err(out_of_range());
    }
    let path = url.path().trim_end_matches('/');
    if let Some(base) = ENDPOINTS.iter().find_map(|suffix| path.strip_suffix(suffix)) {
        let mut base_url = url.clone();
        base_url.set_path(base);
        base_url.set_query(None);
        base_url.set_fragment(None);
        let base_url = base_url.as_str().trim_end_matches('/');
        return Err(format!("Cannot use this address: {COMPLETE_ENDPOINT} Write \"{base_url}\"."));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(address_error("it has a query or a fragment. Set `query` in the profile instead"));
    }
    Ok(url)
}

/// Returns the address with the scheme that is missing: http for this machine, otherwise https. `None` if the result is
/// not a valid base address.
fn suggest_scheme(text: &str) -> Option<String> {
    let host = text.split(['/', ':']).next().unwrap_or_default();
    if text.contains("://") || host.is_empty() {
        return None;
    }
    let is_local = host == "localhost" || host == "0.0.0.0" || host.starts_with("127.") || text.starts_with("[::1]");
    let suggestion = format!("{}://{text}", if is_local { "http" } else { "https" });
    parse(&suggestion).is_ok().then_some(suggestion)
}

/// Returns whether the port is a number above 65535.
fn has_large_port(text: &str) -> bool {
    let authority = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that parsing returns this address, or fails with this text.
    #[track_caller]
    fn check_address(text: &str, expected: &str) {
        let result = parse(text).map(|url| url.to_string()).unwrap_or_else(|error| error);
        assert_eq!(result, expected, "{text}");
        assert!(!result.contains("secret"), "{result}");
    }

    #[test]
    fn invalid_addresses_are_reported_with_a_correction() {
        let advice = "Use an address such as \"https://example.com/v1\".";
        check_address(" https://api.example.com/v1\n", "https://api.example.com/v1");
        check_address("http://127.0.0.1:65535/v1/", "http://127.0.0.1:65535/v1/");
        for text in ["http://h:65536/v1", "http://h:0/v1", "https://h:99999999999999999999", "http://[::1]:70000/v1"] {
            check_address(text, "Cannot use this address: its port is out of range. Ports go from 1 to 65535.");
        }
        check_address("http://h:x/v1", &format!("Cannot use this address: invalid port number. {advice}"));
        check_address("", &format!("Cannot use this address: it is empty. {advice}"));
        let no_scheme = "Cannot use this address: it does not begin with http:// or https://.";
        for (text, suggestion) in [
            ("h/v1", "https://h/v1"),
            ("llm.example.com:8443/v1", "https://llm.example.com:8443/v1"),
            ("127.0.0.1:18080", "http://127.0.0.1:18080"),
            ("localhost:8080/v1", "http://localhost:8080/v1"),
            ("[::1]:8080/v1", "http://[::1]:8080/v1"),
        ] {
            check_address(text, &format!("{no_scheme} Write \"{suggestion}\"."));
        }
        for text in ["me:secret@h/v1", "h/v1?key=secret", "mailto:me", "/v1"] {
            check_address(text, &format!("{no_scheme} {advice}"));
        }
        check_address(
            "ftp://h/v1",
            &format!("Cannot use this address: it does not begin with http:// or https://. {advice}"),
        );
        check_address(
            "https://me:secret@h/v1",
            &format!(
                "Cannot use this address: it contains a user name or a password; authentication needs a key. {advice}"
            ),
        );
        check_address(
            "https://h/v1?key=secret",
            &format!(
                "Cannot use this address: it has a query or a fragment. Set `query` in the profile instead. {advice}"
            ),
        );
    }

    proptest! {
        #[test]
        fn a_complete_endpoint_is_reported_with_its_base_address(
            end in prop::sample::select(&ENDPOINTS[..]),
            path in prop::sample::select(vec!["", "/v1", "/api/v1", "/v1beta/openai", "/inference/v1"]),
            slash in prop::sample::select(vec!["", "/", "?api-version=1"]),
        ) {
            let base = format!("https://h.example:8443{path}");
            let error_text = parse(&format!("{base}{end}{slash}")).unwrap_err();
            prop_assert_eq!(
                &error_text,
                &format!(
                    "Cannot use this address: it is a complete endpoint, not a base address. Write \"{base}\"."
                )
            );
            prop_assert!(parse(&base).is_ok());
        }
    }
}
