//! Proxy for a provider: its address, the setting that names it, and the reason for a refused connection.

use super::{Error, Secret, address, loopback};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::Url;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time limit for asking a proxy for its status.
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes that are read of the proxy's response.
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
            let exclusions = ["NO_PROXY", "no_proxy"].iter().find_map(|name| std::env::var(name).ok());
            // With a made-up proxy for all addresses, only the exclusions decide whether this address is intercepted.
            let matcher = Matcher::builder().all("http://proxy.invalid").no(exclusions.unwrap_or_default()).build();
            matcher.intercept(&uri).is_none()
        };
        // CGI programs must not use HTTP_PROXY, because a request header could set it.
        if std::env::var_os("REQUEST_METHOD").is_some() || is_exempt() {
            return Ok(None);
        }
        let scheme_variables =
            if url.scheme() == "https" { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
        for names in [scheme_variables, ["ALL_PROXY", "all_proxy"]] {
            let variable = names.iter().find_map(|name| Some((*name, std::env::var_os(name)?)));
            let Some((setting, value)) = variable.filter(|(_, value)| !value.is_empty()) else { continue };
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

    /// Returns the error for a connection that the proxy did not make, or `None` if the proxy is not the cause.
    /// `causes` holds the texts of the error's causes, the nearest first.
    pub async fn explain_error(&self, error: &reqwest::Error, causes: &[String], url: &Url) -> Option<Error> {
        let failure = self.classify_failure(error.is_timeout(), causes, url.scheme() == "http")?;
        let failure = match failure {
            ProxyFailure::Refused(None) => ProxyFailure::Refused(self.request_status(url).await),
            other => other,
        };
        Some(self.build_error(failure, url))
    }

    /// Returns what failed at the proxy, or `None` if the proxy is not the cause. `is_forwarded` means that the request
    /// is unencrypted, so it is sent to the proxy itself instead of through a tunnel.
    fn classify_failure(&self, is_timeout: bool, causes: &[String], is_forwarded: bool) -> Option<ProxyFailure> {
        let last_cause = causes.last().cloned().unwrap_or_default();
        let unreachable_failure = || {
            ProxyFailure::Unreachable(if is_timeout {
                "it does not answer in time".to_owned()
            } else {
                last_cause.clone()
            })
        };
        if is_timeout {
            return Some(unreachable_failure());
        }
        let strip_cause_prefix = |start: &str| causes.iter().find_map(|cause| cause.strip_prefix(start));
        if self.is_socks() {
            return match strip_cause_prefix("SOCKS error: ") {
                Some("failed to create underlying connection") => {
                    Some(ProxyFailure::Unreachable("no connection".to_owned()))
                }
                Some(reason) => Some(ProxyFailure::RefusedWithReason(reason.to_owned())),
                None if causes.iter().any(|cause| cause.contains("socks proxy")) => {
                    Some(ProxyFailure::RefusedWithReason(last_cause))
                }
                None => None,
            };
        }
        match strip_cause_prefix("tunnel error: ") {
            Some("failed to create underlying connection") => Some(unreachable_failure()),
            Some("proxy authorization required") => Some(ProxyFailure::Refused(Some(407))),
            Some(_) => Some(ProxyFailure::Refused(None)),
            // An unencrypted request is sent to the proxy itself.
            None => is_forwarded.then(unreachable_failure),
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
        let credentials = self.intercept.basic_auth().and_then(|key| key.to_str().ok());
        let authorization = credentials.map(|key| format!("Proxy-Authorization: {key}\r\n")).unwrap_or_default();
        let read_status = async {
            let mut socket = TcpStream::connect((host, uri.port_u16().unwrap_or(80))).await.ok()?;
            let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
            socket.write_all(request.as_bytes()).await.ok()?;
            let mut head = Vec::new();
            while !head.contains(&b'\n') && head.len() < MAX_HEAD_BYTES && socket.read_buf(&mut head).await.ok()? > 0 {}
            let head = String::from_utf8_lossy(&head).into_owned();
            head.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()
        };
        tokio::time::timeout(STATUS_TIMEOUT, read_status).await.ok()?
    }

    fn build_error(&self, failure: ProxyFailure, url: &Url) -> Error {
        let (name, setting, origin) = (self.describe(), self.setting, address::format_origin(url));
        let cause = match failure {
            ProxyFailure::Unreachable(reason) => {
                format!("{name} cannot be reached: {reason}. Start it, or correct {setting}")
            }
            ProxyFailure::Refused(Some(407)) => format!(
                "{name} requires a valid user name and password (407). Add them to the address of the proxy, \
                 for example http://USER:PASSWORD@HOST:PORT"
            ),
            ProxyFailure::Refused(Some(status @ 400..=499)) => {
                format!("{name} refused the connection ({status}). Allow it there, or correct {setting}")
            }
            // The proxy itself failed, so a retry may help.
            ProxyFailure::Refused(Some(status)) if status >= 300 => {
                return Error::Unreachable { origin, cause: format!("{name} could not connect ({status})") };
            }
            // The proxy has recovered since, or did not tell its status when asked, so a retry may help.
            ProxyFailure::Refused(status) if status.is_some() || self.scheme() == "http" => {
                return Error::Unreachable { origin, cause: format!("{name} could not connect") };
            }
            // An encrypted proxy is not asked for its status.
            ProxyFailure::Refused(_) => {
                format!("{name} refused the connection. Allow it there, or correct {setting}")
            }
            ProxyFailure::RefusedWithReason(reason) => {
                format!("{name} refused the connection: {reason}. Allow it there, or correct {setting}")
            }
        };
        Error::Proxy { origin, cause }
    }

    /// Returns the error if a response with this status came from the proxy, which answers only unencrypted requests.
    /// `text` is the text of the response, `is_json` whether it has a provider's format.
    pub fn explain_response(&self, status: u16, text: &str, is_json: bool, url: &Url) -> Option<Error> {
        if url.scheme() != "http" || self.is_socks() {
            return None;
        }
        match status {
            407 => Some(self.build_error(ProxyFailure::Refused(Some(407)), url)),
            403 if !is_json => {
                let suffix = if text.is_empty() { String::new() } else { format!(": {text}") };
                let cause = format!(
                    "{} or the server after it refused the request (403){suffix}. Allow it there, or correct {}",
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

    fn find_proxy(address: &str) -> Result<Option<ProxyRoute>, Error> {
        let url = Url::parse("https://provider.example/v1").unwrap();
        ProxyRoute::find_proxy(&url, &Proxy::Address(Secret::new(address)))
    }

    #[test]
    fn an_invalid_address_is_reported_without_quoting_it() {
        for invalid in [
            "http://me:secret@",
            "ftp://me:secret@h:1",
            "http://me:secret@h:99999",
            "http://me:secret@h:0",
            "http://me:secret@h:port",
            "//me:secret@h",
            "",
        ] {
            let error = find_proxy(invalid).unwrap_err().to_string();
            assert!(error.starts_with("Cannot use the profile's `proxy`: ") && !error.contains("secret"), "{error}");
        }
        for valid in ["http://me:secret@127.0.0.1:1", "https://h", "socks5h://h:1", "socks5://[::1]:1", "h:3128"] {
            let route = find_proxy(valid).unwrap().unwrap();
            assert!(!format!("{route:?} {}", route.describe()).contains("secret"), "{valid}");
        }
    }

    #[test]
    fn errors_are_attributed_to_the_proxy_only_if_it_caused_them() {
        let tunnel_causes = |cause: &str| vec![format!("tunnel error: {cause}"), "Connection refused".to_owned()];
        let socks_causes =
            |cause: &str| vec!["error connecting to socks proxy".to_owned(), format!("SOCKS error: {cause}")];
        let http_proxy = find_proxy("http://h:1").unwrap().unwrap();
        let connect_error = "failed to create underlying connection";
        // The first argument is `is_timeout`, the last is `is_forwarded`.
        assert_eq!(
            http_proxy.classify_failure(false, &tunnel_causes(connect_error), false),
            Some(ProxyFailure::Unreachable("Connection refused".into()))
        );
        assert_eq!(
            http_proxy.classify_failure(false, &tunnel_causes("unsuccessful"), false),
            Some(ProxyFailure::Refused(None))
        );
        assert_eq!(
            http_proxy.classify_failure(false, &["tls handshake eof".into()], false),
            None,
            "the provider is the cause"
        );
        assert!(matches!(
            http_proxy.classify_failure(false, &["refused".into()], true),
            Some(ProxyFailure::Unreachable(_))
        ));
        let socks_proxy = find_proxy("socks5h://h:1").unwrap().unwrap();
        assert!(matches!(
            socks_proxy.classify_failure(false, &socks_causes(connect_error), false),
            Some(ProxyFailure::Unreachable(_))
        ));
        assert!(matches!(
            socks_proxy.classify_failure(false, &socks_causes("not allowed"), true),
            Some(ProxyFailure::RefusedWithReason(_))
        ));
        assert_eq!(socks_proxy.classify_failure(false, &["tls handshake eof".into()], false), None);
    }
}
