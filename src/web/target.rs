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

    /// Spellings of special addresses that a parser, a resolver or a server has accepted somewhere.
    #[test]
    fn refuses_every_spelling_of_special_addresses() {
        let bases = ["127.0.0.1", "169.254.169.254", "10.1.2.3", "192.168.0.1", "172.16.5.4", "100.100.100.200"];
        let mut count = 0;
        for base in bases {
            let octets: Vec<u32> = base.split('.').map(|octet| octet.parse().unwrap()).collect();
            let number = octets.iter().fold(0, |number, octet| number << 8 | octet);
            let [a, b, c, d] = octets[..] else { panic!("four octets") };
            let low = c << 8 | d;
            let spellings = [
                base.to_owned(),
                format!("{number}"),
                format!("0x{number:x}"),
                format!("0{number:o}"),
                format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
                format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
                format!("0X{a:X}.{b}.0{c:o}.{d}"),
                format!("{a}.{}", b << 16 | low),
                format!("{a}.{b}.{low}"),
                format!("{base}."),
                base.replace('.', "%2e"),
                base.replace('.', "。"),
                base.replace('.', "．"),
                base.chars()
                    .map(|c| if c.is_ascii_digit() { char::from_u32(c as u32 - 48 + 0xff10).unwrap() } else { c })
                    .collect(),
                base.bytes().map(|byte| format!("%{byte:02x}")).collect(),
                format!("[::ffff:{base}]"),
                format!("[::ffff:{:x}:{low:x}]", number >> 16),
                format!("[0:0:0:0:0:ffff:{base}]"),
                format!("[64:ff9b::{base}]"),
                format!("[2002:{:x}:{low:x}::1]", number >> 16),
                format!("[::{base}]"),
            ];
            for spelling in spellings {
                for text in [format!("http://{spelling}/x"), format!("https://{spelling}:8443/x")] {
                    assert!(parse(&text).is_err(), "{text} was accepted");
                    count += 1;
                }
            }
        }
        for literal in ["[::1]", "[::]", "[fe80::1]", "[fd00:ec2::254]", "0", "0.0.0.0", "255.255.255.255", "[ff02::1]"]
        {
            assert!(parse(&format!("http://{literal}/")).is_err(), "{literal}");
            count += 1;
        }
        assert!(count > 200, "{count}");
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
