//! Where a web address leads, and what in its text may mislead a reader about that.

use crate::text::truncation::truncate_end;
use url::{Host, Url};

/// Maximum characters of a user name in a warning.
const MAX_USER_CHARS: usize = 60;

/// Where a web address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebDestination {
    /// Host as it is requested: in lower case, other alphabets in ASCII (`xn--…`), every spelling of an IP address as the
    /// same address, and the port unless it is the one of the scheme.
    pub host: String,
    /// What may mislead, each as one sentence.
    pub warnings: Vec<String>,
}

/// Returns where an `http` or `https` address leads; `None` for anything else.
pub fn find_destination(address: &str) -> Option<WebDestination> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let name = url.host_str()?;
    let mut warnings = Vec::new();
    if !url.username().is_empty() || url.password().is_some() {
        let password = url.password().map(|password| format!(":{password}")).unwrap_or_default();
        let user = truncate_end(&format!("{}{password}", url.username()), MAX_USER_CHARS);
        warnings.push(format!("“{user}” before the @ is a user name and not the host."));
    }
    if name.split('.').any(|label| label.starts_with("xn--")) {
        warnings.push("The host has letters of other alphabets, which may look like those of another host.".to_owned());
    }
    if !matches!(url.host(), Some(Host::Domain(_))) && !address.contains(name) {
        warnings.push("The host is an IP address in another spelling.".to_owned());
    }
    let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
    Some(WebDestination { host, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_the_host_that_is_requested_and_what_may_mislead() {
        let user = |name: &str| format!("“{name}” before the @ is a user name and not the host.");
        let (bank, bank_with_port, password, letter) =
            (user("bank.example"), user("bank.example:443"), user(":pw"), user("a"));
        let long_name = format!("https://{}@evil.example/", "a".repeat(90));
        let long = user(&truncate_end(&"a".repeat(90), MAX_USER_CHARS));
        let alphabet = "The host has letters of other alphabets, which may look like those of another host.";
        let spelling = "The host is an IP address in another spelling.";
        for (address, host, warnings) in [
            ("https://Docs.RS/a@b?q=x@y", "docs.rs", &[][..]),
            ("http://docs.rs:80/", "docs.rs", &[]),
            ("http://docs.rs:8080/", "docs.rs:8080", &[]),
            ("https://bank.example@evil.example/", "evil.example", &[bank.as_str()]),
            ("https://bank.example:443@evil.example/", "evil.example", &[&bank_with_port]),
            ("https://:pw@evil.example/", "evil.example", &[&password]),
            (&long_name, "evil.example", &[&long]),
            ("https://bank.example\\@evil.example/", "bank.example", &[]),
            ("https://b\u{430}nk.example/", "xn--bnk-6cd.example", &[alphabet]),
            ("https://a@b\u{430}nk.example/", "xn--bnk-6cd.example", &[&letter, alphabet]),
            ("http://127.0.0.1/", "127.0.0.1", &[]),
            ("http://2130706433/", "127.0.0.1", &[spelling]),
            ("http://0x7f.1/", "127.0.0.1", &[spelling]),
            ("http://[::1]/", "[::1]", &[]),
        ] {
            let expected = WebDestination {
                host: host.to_owned(),
                warnings: warnings.iter().map(|warning| (*warning).to_owned()).collect(),
            };
            assert_eq!(find_destination(address), Some(expected), "{address}");
        }
        for address in ["", "docs.rs", "file:///etc/passwd", "https://", "ftp://a/"] {
            assert_eq!(find_destination(address), None, "{address}");
        }
    }

    proptest! {
        #[test]
        fn the_host_can_be_drawn_and_is_the_one_that_is_requested(rest in "[a-z@:/\\\\.#?0-9\u{430}\u{202e}\u{ff0e} %]{0,24}") {
            if let Some(destination) = find_destination(&format!("https://{rest}")) {
                prop_assert!(destination.host.is_ascii() && !destination.host.contains(char::is_control), "{destination:?}");
                let again = find_destination(&format!("https://{}/", destination.host));
                prop_assert_eq!(again.map(|again| again.host), Some(destination.host));
            }
        }
    }
}
