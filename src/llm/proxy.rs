//! Proxy for a provider: its address, the setting that names it, and the reason for a refused connection.

use super::{Error, Secret, address, loopback};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::Url;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time limit for asking a proxy for its status.
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes of its response that are read.
const MAX_HEAD_BYTES: usize = 8 << 10;
/// Display name of the profile's proxy setting.
const PROFILE_SETTING: &str = "the profile's `proxy`";

/// Proxy to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// The proxy named by the environment, or none for a local provider.
    System,
    /// No proxy.
    Direct,
    /// The proxy at this address, which may contain a password.
    Address(Secret),
}

/// Proxy of a connection.
#[derive(Debug, Clone)]
pub struct ProxyRoute {
    intercept: Intercept,
    /// Setting that names it, such as `HTTPS_PROXY`.
    setting: &'static str,
}

/// Error at a proxy.
#[derive(Debug, Clone, PartialEq)]
enum ProxyFailure {
    /// The proxy cannot be reached.
    Unreachable(String),
    /// The proxy refused to connect, with its HTTP status if known.
    Refused(Option<u16>),
    /// The proxy refused to connect, with the reason from its protocol.
    RefusedWithReason(String),
}

impl ProxyRoute {
    /// Returns the proxy for this address, if one is to be used.
    ///
    /// # Errors
    /// Fails if the setting in effect is not a valid proxy address. It is never ignored, because a direct connection
    /// could reveal what the proxy is meant to hide.
    pub fn find_proxy(url: &Url, proxy: &Proxy) -> Result<Option<Self>, Error> {
        match proxy {
            Proxy::Direct => Ok(None),
            Proxy::Address(address) => match parse_proxy(address.reveal()) {
                Some(intercept) => Ok(Some(Self { intercept, setting: PROFILE_SETTING })),
                None => Err(invalid_proxy_error(PROFILE_SETTING)),
            },
            // A proxy for external addresses must not receive requests to this machine.
            Proxy::System if loopback::is_loopback(url) => Ok(None),
            Proxy::System => Self::from_environment(url),
        }
    }

    fn from_environment(url: &Url) -> Result<Option<Self>, Error> {
        let Ok(uri) = url.as_str().parse::<http::Uri>() else { return Ok(None) };
        let is_exempt = || {
            let no = ["NO_PROXY", "no_proxy"].iter().find_map(|name| std::env::var(name).ok());
            let all = Matcher::builder().all("http://proxy.invalid").no(no.unwrap_or_default()).build();
            all.intercept(&uri).is_none()
        };
        // CGI programs must not use HTTP_PROXY, because a request header could set it.
        if std::env::var_os("REQUEST_METHOD").is_some() || is_exempt() {
            return Ok(None);
        }
        let own = if url.scheme() == "https" { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
        for names in [own, ["ALL_PROXY", "all_proxy"]] {
            let set = names.iter().find_map(|name| Some((*name, std::env::var_os(name)?)));
            let Some((setting, value)) = set.filter(|(_, value)| !value.is_empty()) else { continue };
            let intercept = value.to_str().and_then(parse_proxy).ok_or_else(|| invalid_proxy_error(setting))?;
            return Ok(Some(Self { intercept, setting }));
        }
        let setting = "the system settings";
        Ok(Matcher::from_system().intercept(&uri).map(|intercept| Self { intercept, setting }))
    }

    /// Returns its address without a password, and the setting that names it.
    fn describe(&self) -> String {
        let uri = self.intercept.uri();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        format!("the proxy {}://{authority} (set by {})", self.scheme(), self.setting)
    }

    fn scheme(&self) -> &str {
        self.intercept.uri().scheme_str().unwrap_or("http")
    }

    /// Returns whether the connection to the proxy is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.scheme() == "https"
    }

    fn is_socks(&self) -> bool {
        self.scheme().starts_with("socks")
    }

    /// Returns the error for a connection that the proxy did not make, or `None` if the proxy is not the cause. `said`
    /// holds the texts of the error's causes, the nearest first.
    pub async fn explain_error(&self, error: &reqwest::Error, said: &[String], url: &Url) -> Option<Error> {
        let failure = self.classify_failure(error.is_timeout(), said, url.scheme() == "http")?;
        let failure = match failure {
            ProxyFailure::Refused(None) => ProxyFailure::Refused(self.request_status(url).await),
            known => known,
        };
        Some(self.build_error(failure, url))
    }

    fn classify_failure(&self, timed_out: bool, said: &[String], is_forwarded: bool) -> Option<ProxyFailure> {
        let last = said.last().cloned().unwrap_or_default();
        let dead = || {
            ProxyFailure::Unreachable(if timed_out { "it does not answer in time".to_owned() } else { last.clone() })
        };
        if timed_out {
            return Some(dead());
        }
        let after = |start: &str| said.iter().find_map(|words| words.strip_prefix(start));
        if self.is_socks() {
            return match after("SOCKS error: ") {
                Some("failed to create underlying connection") => {
                    Some(ProxyFailure::Unreachable("no connection".to_owned()))
                }
                Some(words) => Some(ProxyFailure::RefusedWithReason(words.to_owned())),
                None if said.iter().any(|words| words.contains("socks proxy")) => {
                    Some(ProxyFailure::RefusedWithReason(last))
                }
                None => None,
            };
        }
        match after("tunnel error: ") {
            Some("failed to create underlying connection") => Some(dead()),
            Some("proxy authorization required") => Some(ProxyFailure::Refused(Some(407))),
            Some(_) => Some(ProxyFailure::Refused(None)),
            // An unencrypted request is sent to the proxy itself.
            None => is_forwarded.then(dead),
        }
    }

    /// Asks the proxy for its HTTP status, which the failed connection does not provide. `None` if unknown.
    async fn request_status(&self, url: &Url) -> Option<u16> {
        let uri = self.intercept.uri();
        if uri.scheme_str() != Some("http") {
            return None;
        }
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        let target = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
        let key = self.intercept.basic_auth().and_then(|key| key.to_str().ok());
        let key = key.map(|key| format!("Proxy-Authorization: {key}\r\n")).unwrap_or_default();
        let asked = async {
            let mut socket = TcpStream::connect((host, uri.port_u16().unwrap_or(80))).await.ok()?;
            let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{key}\r\n");
            socket.write_all(request.as_bytes()).await.ok()?;
            let mut head = Vec::new();
            while !head.contains(&b'\n') && head.len() < MAX_HEAD_BYTES && socket.read_buf(&mut head).await.ok()? > 0 {}
            let head = String::from_utf8_lossy(&head).into_owned();
            head.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()
        };
        tokio::time::timeout(STATUS_TIMEOUT, asked).await.ok()?
    }

    fn build_error(&self, failure: ProxyFailure, url: &Url) -> Error {
        let (name, setting, origin) = (self.describe(), self.setting, address::format_origin(url));
        let cause = match failure {
            ProxyFailure::Unreachable(why) => {
                format!("{name} cannot be reached: {why}. Start it, or correct {setting}")
            }
            ProxyFailure::Refused(Some(407)) => format!(
                "{name} requires a valid user name and password (407). Add them to the address of the proxy, \
                 for example http://USER:PASSWORD@HOST:PORT"
            ),
            ProxyFailure::Refused(Some(status @ 400..=499)) => {
                format!("{name} refused the connection ({status}). Allow it there, or correct {setting}")
            }
            // The proxy itself failed or has recovered since, so a retry may help.
            ProxyFailure::Refused(Some(status)) if status >= 300 => {
                return Error::Unreachable { origin, cause: format!("{name} could not connect ({status})") };
            }
            ProxyFailure::Refused(known) if known.is_some() || self.scheme() == "http" => {
                return Error::Unreachable { origin, cause: format!("{name} could not connect") };
            }
            ProxyFailure::Refused(_) => {
                format!("{name} refused the connection. Allow it there, or correct {setting}")
            }
            ProxyFailure::RefusedWithReason(why) => {
                format!("{name} refused the connection: {why}. Allow it there, or correct {setting}")
            }
        };
        Error::Proxy { origin, cause }
    }

    /// Returns the error if a response with this status came from the proxy, which answers only unencrypted requests.
    /// `words` is the text of the response, `is_json` whether it has a provider's format.
    pub fn explain_response(&self, status: u16, words: &str, is_json: bool, url: &Url) -> Option<Error> {
        if url.scheme() != "http" || self.is_socks() {
            return None;
        }
        match status {
            407 => Some(self.build_error(ProxyFailure::Refused(Some(407)), url)),
            403 if !is_json => {
                let words = if words.is_empty() { String::new() } else { format!(": {words}") };
                let cause = format!(
                    "{} or the server after it refused the request (403){words}. Allow it there, or correct {}",
                    self.describe(),
                    self.setting
                );
                Some(Error::Proxy { origin: address::format_origin(url), cause })
            }
            _ => None,
        }
    }
}

/// Parses the address of a proxy as reqwest does. Returns `None` if reqwest would ignore it.
fn parse_proxy(text: &str) -> Option<Intercept> {
    let provider = http::Uri::from_static("https://provider.invalid");
    let intercept = Matcher::builder().all(text).build().intercept(&provider)?;
    // The matcher does not reject a port out of range.
    let url = Url::parse(&intercept.uri().to_string()).ok()?;
    (url.has_host() && url.port() != Some(0)).then_some(intercept)
}

/// Returns the error for an invalid proxy address. It does not quote the address, which may contain a password.
fn invalid_proxy_error(setting: &str) -> Error {
    Error::InvalidAddress(format!(
        "Cannot use {setting}: it is not the address of a proxy. Use an address such as http://127.0.0.1:3128 or \
         socks5h://127.0.0.1:1080, or remove it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(address: &str) -> Result<Option<ProxyRoute>, Error> {
        let url = Url::parse("https://provider.example/v1").unwrap();
        ProxyRoute::find_proxy(&url, &Proxy::Address(Secret::new(address)))
    }

    #[test]
    fn an_invalid_address_is_reported_without_quoting_it() {
        for wrong in [
            "http://me:secret@",
            "ftp://me:secret@h:1",
            "http://me:secret@h:99999",
            "http://me:secret@h:0",
            "http://me:secret@h:port",
            "//me:secret@h",
            "",
        ] {
            let error = through(wrong).unwrap_err().to_string();
            assert!(error.starts_with("Cannot use the profile's `proxy`: ") && !error.contains("secret"), "{error}");
        }
        for right in ["http://me:secret@127.0.0.1:1", "https://h", "socks5h://h:1", "socks5://[::1]:1", "h:3128"] {
            let via = through(right).unwrap().unwrap();
            assert!(!format!("{via:?} {}", via.describe()).contains("secret"), "{right}");
        }
    }

    #[test]
    fn errors_are_attributed_to_the_proxy_only_if_it_caused_them() {
        let tunnel = |words: &str| vec![format!("tunnel error: {words}"), "Connection refused".to_owned()];
        let socks = |words: &str| vec!["error connecting to socks proxy".to_owned(), format!("SOCKS error: {words}")];
        let http = through("http://h:1").unwrap().unwrap();
        let connecting = "failed to create underlying connection";
        assert_eq!(
            http.classify_failure(false, &tunnel(connecting), false),
            Some(ProxyFailure::Unreachable("Connection refused".into()))
        );
        assert_eq!(http.classify_failure(false, &tunnel("unsuccessful"), false), Some(ProxyFailure::Refused(None)));
        assert_eq!(
            http.classify_failure(false, &["tls handshake eof".into()], false),
            None,
            "the provider is the cause"
        );
        assert!(matches!(http.classify_failure(false, &["refused".into()], true), Some(ProxyFailure::Unreachable(_))));
        let other = through("socks5h://h:1").unwrap().unwrap();
        assert!(matches!(other.classify_failure(false, &socks(connecting), false), Some(ProxyFailure::Unreachable(_))));
        assert!(matches!(
            other.classify_failure(false, &socks("not allowed"), true),
            Some(ProxyFailure::RefusedWithReason(_))
        ));
        assert_eq!(other.classify_failure(false, &["tls handshake eof".into()], false), None);
    }
}
