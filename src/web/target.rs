//! The address of a request: parsed, and checked as far as its text tells.

use super::special_addresses::describe_special;
use reqwest::Url;
use std::net::IpAddr;

/// Maximum length of an address in bytes.
const MAX_URL_BYTES: usize = 8 << 10;

/// Hosts in private networks that the user allows, from the setting `web.private_hosts`: a name or an address, with a
/// port or without.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateHosts(pub Vec<String>);

/// An address that may be requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub url: Url,
    /// Host as rules name it: in lower case, internationalized names in ASCII, IPv6 without brackets.
    pub host: String,
    /// True if the user allows this host in a private network.
    pub is_private_allowed: bool,
}

impl PrivateHosts {
    fn contains(&self, host: &str, port: Option<u16>) -> bool {
        let with_port = port.map(|port| format!("{host}:{port}"));
        self.0.iter().any(|allowed| {
            let allowed = allowed.to_ascii_lowercase();
            allowed == host || Some(&allowed) == with_port.as_ref()
        })
    }
}

/// Parses an address for a request. Every spelling of an IP address (decimal, octal, hexadecimal, shortened,
/// percent-encoded) becomes the same address.
///
/// # Errors
/// One sentence for the model, if the address is invalid, no `http` or `https` address, contains a user name or password,
/// or is an address literal that is not public.
pub fn parse_target(text: &str, private_hosts: &PrivateHosts) -> Result<Target, String> {
    if text.len() > MAX_URL_BYTES {
        return Err(format!("The address is longer than {MAX_URL_BYTES} bytes."));
    }
    let url = Url::parse(text.trim()).map_err(|error| format!("The address is invalid: {error}."))?;
    check_target(url, private_hosts)
}

/// Checks a parsed address, as of a redirect.
///
/// # Errors
/// As [`parse_target`].
pub fn check_target(mut url: Url, private_hosts: &PrivateHosts) -> Result<Target, String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("“{}:” is not supported; expected http: or https:.", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("The address contains a user name or password, which is not supported.".to_owned());
    }
    url.set_fragment(None);
    let host = host_of(&url).to_owned();
    if host.is_empty() {
        return Err("The address has no host.".to_owned());
    }
    let is_private_allowed = private_hosts.contains(&host, url.port_or_known_default());
    let literal = host.parse::<IpAddr>().ok();
    if let Some(what) = literal.and_then(describe_special).filter(|_| !is_private_allowed) {
        return Err(refuse_special(&host, what));
    }
    Ok(Target { url, host, is_private_allowed })
}

/// Returns the host of an address as in [`Target`]; empty if it has none.
pub fn host_of(url: &Url) -> &str {
    // The parser has turned every spelling of an IPv4 address into the usual one.
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches([']', '.'])
}

/// Describes a refusal for the model and the user.
pub(super) fn refuse_special(host: &str, what: &str) -> String {
    format!(
        "Refused: {host} is the address of {what}, not of a public server. The user can allow it with web.private_hosts."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Target, String> {
        parse_target(text, &PrivateHosts::default())
    }

    #[test]
    fn accepts_public_addresses() {
        for (text, host, url) in [
            ("https://Example.COM/a?b#c", "example.com", "https://example.com/a?b"),
            ("http://example.com.:8080", "example.com", "http://example.com.:8080/"),
            ("https://bücher.example/", "xn--bcher-kva.example", "https://xn--bcher-kva.example/"),
            (" https://8.8.8.8/ ", "8.8.8.8", "https://8.8.8.8/"),
            ("https://[2a00:1450::1]/", "2a00:1450::1", "https://[2a00:1450::1]/"),
        ] {
            let target = parse(text).unwrap();
            assert_eq!((target.host.as_str(), target.url.as_str()), (host, url));
        }
    }

    #[test]
    fn refuses_what_is_no_public_web_address() {
        for (text, part) in [
            ("file:///etc/passwd", "“file:” is not supported"),
            ("ftp://example.com/", "“ftp:” is not supported"),
            ("//example.com", "invalid"),
            ("example.com", "invalid"),
            ("https://user@example.com/", "user name or password"),
            ("https://:secret@example.com/", "user name or password"),
            ("https://example.com:99999/", "invalid"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(parse(&format!("https://example.com/{}", "a".repeat(MAX_URL_BYTES))).is_err());
    }

    /// The suite requests the same hosts, with a server that must not be reached.
    #[test]
    fn refuses_every_spelling_of_special_addresses() {
        let hosts: Vec<&str> =
            include_str!("special_addresses.txt").lines().filter(|line| !line.starts_with('#')).collect();
        for host in &hosts {
            for text in [format!("http://{host}/x"), format!("https://{host}:8443/x")] {
                assert!(parse(&text).is_err(), "{text} was accepted");
            }
        }
        assert!(hosts.len() > 200, "{}", hosts.len());
    }

    #[test]
    fn a_private_host_is_allowed_by_name_and_port() {
        let hosts = PrivateHosts(vec!["127.0.0.1:3000".into(), "LOCALHOST".into(), "::1".into()]);
        let is_allowed = |text: &str| parse_target(text, &hosts).map(|target| target.is_private_allowed);
        assert_eq!(is_allowed("http://127.0.0.1:3000/"), Ok(true));
        assert_eq!(is_allowed("http://0x7f.1:3000/"), Ok(true));
        assert_eq!(is_allowed("http://localhost:81/"), Ok(true));
        assert_eq!(is_allowed("http://[::1]/"), Ok(true));
        assert_eq!(is_allowed("https://example.com/"), Ok(false));
        assert!(is_allowed("http://127.0.0.1:3001/").is_err());
        assert!(is_allowed("http://127.0.0.2:3000/").is_err());
    }
}
