//! The proxy on the way to a provider: where it is, which setting names it, and what it refused.

use super::{Error, Secret, address};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::Url;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a proxy that refused is asked for its status.
const LIMIT: Duration = Duration::from_secs(5);
/// The most of its answer that is read, in bytes.
const HEAD: usize = 8 << 10;
/// The setting of a profile that names a proxy.
const OF_PROFILE: &str = "the profile's `proxy`";

/// Which proxy to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// The one that the environment names for such an address; none if the provider is on this machine.
    System,
    /// None.
    Straight,
    /// The one at this address, which may hold a password.
    Through(Secret),
}

/// A proxy that a connection goes through.
#[derive(Debug, Clone)]
pub struct Via {
    intercept: Intercept,
    /// What names it, such as `HTTPS_PROXY`.
    setting: &'static str,
}

/// What went wrong at a proxy.
#[derive(Debug, Clone, PartialEq)]
enum Failure {
    /// It cannot be reached.
    Dead(String),
    /// It made no connection, with this status if it is known.
    Refused(Option<u16>),
    /// It made no connection, in words of its protocol.
    RefusedFor(String),
}

impl Via {
    /// The proxy for this address, if one is to be used.
    ///
    /// # Errors
    /// If the setting that counts is no address of a proxy. It is never ignored: a direct connection in its place could
    /// reveal what the proxy was to hide.
    pub fn find(url: &Url, proxy: &Proxy) -> Result<Option<Self>, Error> {
        match proxy {
            Proxy::Straight => Ok(None),
            Proxy::Through(address) => match intercept(address.reveal()) {
                Some(intercept) => Ok(Some(Self { intercept, setting: OF_PROFILE })),
                None => Err(wrong(OF_PROFILE)),
            },
            // A proxy for the outside must not take what is meant for this machine.
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
        // Programs that a web server starts take no proxy from the environment: a request could set HTTP_PROXY.
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
        let setting = "the settings of the system";
        Ok(Matcher::from_system().intercept(&uri).map(|intercept| Self { intercept, setting }))
    }

    /// Its address without a password, and the setting that names it.
    fn name(&self) -> String {
        let uri = self.intercept.uri();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        format!("the proxy {}://{authority} (set by {})", self.scheme(), self.setting)
    }

    fn scheme(&self) -> &str {
        self.intercept.uri().scheme_str().unwrap_or("http")
    }

    /// Whether the connection to it is itself encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.scheme() == "https"
    }

    fn is_socks(&self) -> bool {
        self.scheme().starts_with("socks")
    }

    /// The error of a connection that the proxy did not make; `None` if the proxy is not the reason. `said` is what the
    /// causes of the error say, the nearest first.
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
                    Some(Failure::Dead("it cannot be connected to".to_owned()))
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
            // A request without encryption goes to the proxy itself.
            None => is_forwarded.then(dead),
        }
    }

    /// The status with which the proxy answers, which the connection did not keep. `None` if it cannot be known.
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
                "{name} wants a user name and a password, or other ones (407). Write them into the address of the proxy, \
                 as in http://USER:PASSWORD@HOST:PORT"
            ),
            Failure::Refused(Some(status @ 400..=499)) => {
                format!("{name} refused the connection ({status}). Allow it there, or correct {setting}")
            }
            // It failed itself, or answers by now: trying again may help.
            Failure::Refused(Some(status)) if status >= 300 => {
                return Error::Unreachable { origin, cause: format!("{name} made no connection ({status})") };
            }
            Failure::Refused(known) if known.is_some() || self.scheme() == "http" => {
                return Error::Unreachable { origin, cause: format!("{name} made no connection") };
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

    /// The error that an answer with this status is if it came from the proxy. Only a request without encryption is
    /// answered by it; `words` are what the answer says, and `is_json` whether it says so as a provider does.
    pub fn refused(&self, status: u16, words: &str, is_json: bool, url: &Url) -> Option<Error> {
        if url.scheme() != "http" || self.is_socks() {
            return None;
        }
        match status {
            407 => Some(self.error(Failure::Refused(Some(407)), url)),
            403 if !is_json => {
                let words = if words.is_empty() { String::new() } else { format!(": {words}") };
                let cause = format!(
                    "{} refused the request, or the server after it did (403){words}. Allow it there, or correct {}",
                    self.name(),
                    self.setting
                );
                Some(Error::Proxy { origin: address::origin(url), cause })
            }
            _ => None,
        }
    }
}

/// Reads the address of a proxy as the one who connects does; `None` if it would be ignored.
fn intercept(text: &str) -> Option<Intercept> {
    let provider = http::Uri::from_static("https://provider.invalid");
    let intercept = Matcher::builder().all(text).build().intercept(&provider)?;
    // A port out of range is not noticed there.
    let url = Url::parse(&intercept.uri().to_string()).ok()?;
    (url.has_host() && url.port() != Some(0)).then_some(intercept)
}

/// Never quotes the address, which may hold a password.
fn wrong(setting: &str) -> Error {
    Error::Misaddressed(format!(
        "Cannot use {setting}: it is not the address of a proxy. Write one such as http://127.0.0.1:3128 or \
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
    fn a_wrong_address_is_an_error_that_does_not_quote_it() {
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
    fn only_what_the_proxy_did_is_said_of_it() {
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
        assert_eq!(http.failure(false, &["tls handshake eof".into()], false), None, "that is the provider");
        assert!(matches!(http.failure(false, &["refused".into()], true), Some(Failure::Dead(_))));
        let other = through("socks5h://h:1").unwrap().unwrap();
        assert!(matches!(other.failure(false, &socks(connecting), false), Some(Failure::Dead(_))));
        assert!(matches!(other.failure(false, &socks("not allowed"), true), Some(Failure::RefusedFor(_))));
        assert_eq!(other.failure(false, &["tls handshake eof".into()], false), None);
    }
}
