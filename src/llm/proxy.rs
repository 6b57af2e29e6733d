//! Proxy for a provider: its address, the setting that names it, and the reason for a refused connection.

use super::{Error, Secret, address};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::Url;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time limit for asking a proxy for its status.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum bytes of its response that are read.
const HEAD: usize = 8 << 10;
/// Display name of the profile's proxy setting.
const OF_PROFILE: &str = "the profile's `proxy`";

/// Proxy to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// The proxy named by the environment, or none for a local provider.
    System,
    /// No proxy.
    Straight,
    /// The proxy at this address, which may contain a password.
    Through(Secret),
}

/// Proxy of a connection.
#[derive(Debug, Clone)]
pub struct Via {
    intercept: Intercept,
    /// Setting that names it, such as `HTTPS_PROXY`.
    setting: &'static str,
}

/// Error at a proxy.
#[derive(Debug, Clone, PartialEq)]
enum Failure {
    /// The proxy cannot be reached.
    Dead(String),
    /// The proxy refused to connect, with its HTTP status if known.
    Refused(Option<u16>),
    /// The proxy refused to connect, with the reason from its protocol.
    RefusedFor(String),
}

impl Via {
    /// Returns the proxy for this address, if one is to be used.
    ///
    /// # Errors
    /// Fails if the setting in effect is not a valid proxy address. It is never ignored, because a direct connection
    /// could reveal what the proxy is meant to hide.
    pub fn find(url: &Url, proxy: &Proxy) -> Result<Option<Self>, Error> {
        match proxy {
            Proxy::Straight => Ok(None),
            Proxy::Through(address) => match intercept(address.reveal()) {
                Some(intercept) => Ok(Some(Self { intercept, setting: OF_PROFILE })),
                None => Err(wrong(OF_PROFILE)),
            },
            // A proxy for external addresses must not receive requests to this machine.
            Proxy::System if address::is_loopback(url) => Ok(None),
            Proxy::System => Self::of_system(url),
        }
    }

    fn of_system(url: &Url) -> Result<Option<Self>, Error> {
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
        let own = if url.scheme() == "https" {
            ["HTTPS_PROXY", "https_proxy"]
        } else {
            ["HTTP_PROXY", "http_proxy"]
        };
        for names in [own, ["ALL_PROXY", "all_proxy"]] {
            let set = names.iter().find_map(|name| Some((*name, std::env::var_os(name)?)));
            let Some((setting, value)) = set.filter(|(_, value)| !value.is_empty()) else { continue };
            let intercept = value.to_str().and_then(intercept).ok_or_else(|| wrong(setting))?;
            return Ok(Some(Self { intercept, setting }));
        }
        let setting = "the system settings";
        Ok(Matcher::from_system().intercept(&uri).map(|intercept| Self { intercept, setting }))
    }

    /// Returns its address without a password, and the setting that names it.
    fn name(&self) -> String {
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
    pub async fn explain(&self, error: &reqwest::Error, said: &[String], url: &Url) -> Option<Error> {
        let failure = self.failure(error.is_timeout(), said, url.scheme() == "http")?;
        let failure = match failure {
            Failure::Refused(None) => Failure::Refused(self.status(url).await),
            known => known,
        };
        Some(self.error(failure, url))
    }

    fn failure(&self, timed_out: bool, said: &[String], is_forwarded: bool) -> Option<Failure> {
        let last = said.last().cloned().unwrap_or_default();
        let dead =
            || Failure::Dead(if timed_out { "it does not answer in time".to_owned() } else { last.clone() });
        if timed_out {
            return Some(dead());
        }
        let after = |start: &str| said.iter().find_map(|words| words.strip_prefix(start));
        if self.is_socks() {
            return match after("SOCKS error: ") {
                Some("failed to create underlying connection") => {
                    Some(Failure::Dead("no connection".to_owned()))
                }
                Some(words) => Some(Failure::RefusedFor(words.to_owned())),
                None if said.iter().any(|words| words.contains("socks proxy")) => {
                    Some(Failure::RefusedFor(last))
                }
                None => None,
            };
        }
        match after("tunnel error: ") {
            Some("failed to create underlying connection") => Some(dead()),
            Some("proxy authorization required") => Some(Failure::Refused(Some(407))),
            Some(_) => Some(Failure::Refused(None)),
            // An unencrypted request is sent to the proxy itself.
            None => is_forwarded.then(dead),
        }
    }

    /// Asks the proxy for its HTTP status, which the failed connection does not provide. `None` if unknown.
    async fn status(&self, url: &Url) -> Option<u16> {
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
            while !head.contains(&b'\n') && head.len() < HEAD && socket.read_buf(&mut head).await.ok()? > 0 {}
            let head = String::from_utf8_lossy(&head).into_owned();
            head.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()
        };
        tokio::time::timeout(LIMIT, asked).await.ok()?
    }

    fn error(&self, failure: Failure, url: &Url) -> Error {
        let (name, setting, origin) = (self.name(), self.setting, address::origin(url));
        let cause = match failure {
            Failure::Dead(why) => format!("{name} cannot be reached: {why}. Start it, or correct {setting}"),
            Failure::Refused(Some(407)) => format!(
                "{name} requires a valid user name and password (407). Add them to the address of the proxy, \
                 for example http://USER:PASSWORD@HOST:PORT"
            ),
            Failure::Refused(Some(status @ 400..=499)) => {
                format!("{name} refused the connection ({status}). Allow it there, or correct {setting}")
            }
            // The proxy itself failed or has recovered since, so a retry may help.
            Failure::Refused(Some(status)) if status >= 300 => {
                return Error::Unreachable { origin, cause: format!("{name} could not connect ({status})") };
            }
            Failure::Refused(known) if known.is_some() || self.scheme() == "http" => {
                return Error::Unreachable { origin, cause: format!("{name} could not connect") };
            }
            Failure::Refused(_) => {
                format!("{name} refused the connection. Allow it there, or correct {setting}")
            }
            Failure::RefusedFor(why) => {
                format!("{name} refused the connection: {why}. Allow it there, or correct {setting}")
            }
        };
        Error::Proxy { origin, cause }
    }

    /// Returns the error if a response with this status came from the proxy, which answers only unencrypted requests.
    /// `words` is the text of the response, `is_json` whether it has a provider's format.
    pub fn refused(&self, status: u16, words: &str, is_json: bool, url: &Url) -> Option<Error> {
        if url.scheme() != "http" || self.is_socks() {
            return None;
        }
        match status {
            407 => Some(self.error(Failure::Refused(Some(407)), url)),
            403 if !is_json => {
                let words = if words.is_empty() { String::new() } else { format!(": {words}") };
                let cause = format!(
                    "{} or the server after it refused the request (403){words}. Allow it there, or correct {}",
                    self.name(),
                    self.setting
                );
                Some(Error::Proxy { origin: address::origin(url), cause })
            }
            _ => None,
        }
    }
}

/// Parses the address of a proxy as reqwest does. Returns `None` if reqwest would ignore it.
fn intercept(text: &str) -> Option<Intercept> {
    let provider = http::Uri::from_static("https://provider.invalid");
    let intercept = Matcher::builder().all(text).build().intercept(&provider)?;
    // The matcher does not reject a port out of range.
    let url = Url::parse(&intercept.uri().to_string()).ok()?;
    (url.has_host() && url.port() != Some(0)).then_some(intercept)
}

/// Returns the error for an invalid proxy address. It does not quote the address, which may contain a password.
fn wrong(setting: &str) -> Error {
    Error::Misaddressed(format!(
        "Cannot use {setting}: it is not the address of a proxy. Use an address such as http://127.0.0.1:3128 or \
         socks5h://127.0.0.1:1080, or remove it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(address: &str) -> Result<Option<Via>, Error> {
        let url = Url::parse("https://provider.example/v1").unwrap();
        Via::find(&url, &Proxy::Through(Secret::new(address)))
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
            assert!(
                error.starts_with("Cannot use the profile's `proxy`: ") && !error.contains("secret"),
                "{error}"
            );
        }
        for right in
            ["http://me:secret@127.0.0.1:1", "https://h", "socks5h://h:1", "socks5://[::1]:1", "h:3128"]
        {
            let via = through(right).unwrap().unwrap();
            assert!(!format!("{via:?} {}", via.name()).contains("secret"), "{right}");
        }
    }

    #[test]
    fn errors_are_attributed_to_the_proxy_only_if_it_caused_them() {
        let tunnel = |words: &str| vec![format!("tunnel error: {words}"), "Connection refused".to_owned()];
        let socks =
            |words: &str| vec!["error connecting to socks proxy".to_owned(), format!("SOCKS error: {words}")];
        let http = through("http://h:1").unwrap().unwrap();
        let connecting = "failed to create underlying connection";
        assert_eq!(
            http.failure(false, &tunnel(connecting), false),
            Some(Failure::Dead("Connection refused".into()))
        );
        assert_eq!(http.failure(false, &tunnel("unsuccessful"), false), Some(Failure::Refused(None)));
        assert_eq!(
            http.failure(false, &["tls handshake eof".into()], false),
            None,
            "the provider is the cause"
        );
        assert!(matches!(http.failure(false, &["refused".into()], true), Some(Failure::Dead(_))));
        let other = through("socks5h://h:1").unwrap().unwrap();
        assert!(matches!(other.failure(false, &socks(connecting), false), Some(Failure::Dead(_))));
        assert!(matches!(other.failure(false, &socks("not allowed"), true), Some(Failure::RefusedFor(_))));
        assert_eq!(other.failure(false, &["tls handshake eof".into()], false), None);
    }
}
