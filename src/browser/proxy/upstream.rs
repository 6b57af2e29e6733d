//! The proxy that the environment names, through which the proxy of the browser reaches its servers.

use super::super::message_head::{RequestHead, response_status};
use super::{Connected, read_head};
use crate::web::client::proxy_values;
use crate::web::target::Target;
use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use std::io;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Endings of names that only private networks have.
const PRIVATE_ENDINGS: [&str; 5] = [".localhost", ".local", ".internal", ".home.arpa", ".lan"];

/// A proxy for a request.
#[derive(Debug)]
pub struct UpstreamProxy {
    host: String,
    port: u16,
    /// Value of the header that authorizes requests to it.
    authorization: Option<String>,
}

/// Returns whether the proxies that the environment names can be used: all of them are reached without encryption.
pub fn is_supported() -> bool {
    let uri = Uri::from_static("https://a.example/");
    proxy_values().iter().all(|value| {
        let value = value.to_str().unwrap_or_default();
        Matcher::builder().all(value).build().intercept(&uri).is_some_and(|proxy| UpstreamProxy::parse(&proxy).is_ok())
    })
}

impl UpstreamProxy {
    /// Returns the proxy for a target; `None` for one that is reached without.
    ///
    /// # Errors
    /// Part of a sentence, if there is one that cannot be used.
    pub fn find(matcher: &Matcher, target: &Target) -> Result<Option<Self>, &'static str> {
        let uri: Uri = target.url.as_str().parse().map_err(|_| "its address is not understood")?;
        // A proxy for external addresses must not receive requests to the local network.
        let proxy = matcher.intercept(&uri).filter(|_| !target.is_private_allowed);
        proxy.as_ref().map(Self::parse).transpose()
    }

    fn parse(proxy: &Intercept) -> Result<Self, &'static str> {
        let uri = proxy.uri();
        let host = uri.host().filter(|_| uri.scheme_str() == Some("http"));
        let host = host.ok_or("its proxy is not supported")?.trim_start_matches('[').trim_end_matches(']');
        let authorization = proxy.basic_auth().and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Self { host: host.to_owned(), port: uri.port_u16().unwrap_or(80), authorization })
    }

    /// Connects for a request: to its server, or without encryption to the proxy, which sends it there.
    ///
    /// # Errors
    /// Part of a sentence.
    pub async fn connect(&self, request: &RequestHead) -> Result<Connected, String> {
        let cannot_reach = |error: io::Error| format!("its proxy cannot be reached: {error}");
        let mut server = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(cannot_reach)?;
        let authorization = self.authorization.as_deref();
        if !request.is_tunnel {
            let head = request.to_absolute_form(authorization);
            return Ok(Connected { server, head, received: Vec::new(), is_proxied: true });
        }
        server.write_all(&request.to_tunnel_request(authorization)).await.map_err(cannot_reach)?;
        let (head, received) = read_head(&mut server).await.map_err(|_| "its proxy sent no valid answer")?;
        match response_status(&head) {
            Some(200..=299) => Ok(Connected { server, head: Vec::new(), received, is_proxied: true }),
            Some(407) => Err(UNAUTHORIZED.to_owned()),
            Some(status) => Err(format!("its proxy answered {status}")),
            None => Err("its proxy sent no valid answer".to_owned()),
        }
    }
}

/// Reason of a proxy that wants another user name or password.
pub const UNAUTHORIZED: &str = "its proxy requires a valid user name and password";

/// Returns whether a host has a name that no public server has. A proxy resolves names, so this is all that can be checked.
pub fn is_private_name(host: &str) -> bool {
    // A dot at the end says that the name is complete.
    let host = host.trim_end_matches('.');
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    !is_address && (!host.contains('.') || PRIVATE_ENDINGS.iter().any(|ending| host.ends_with(ending)))
}

/// Describes the refusal of such a host for the model and the user.
pub fn refuse_private_name(host: &str) -> String {
    format!("Refused: {host} is a name of a private network. The user can allow it with web.private_hosts.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::target::{PrivateHosts, parse_target};

    fn find(proxy: &str, url: &str) -> Result<Option<(String, u16)>, &'static str> {
        let matcher = Matcher::builder().all(proxy).no("direct.example").build();
        let hosts = PrivateHosts(vec!["wiki.corp.example".into()]);
        let found = UpstreamProxy::find(&matcher, &parse_target(url, &hosts).unwrap())?;
        Ok(found.map(|proxy| (proxy.host, proxy.port)))
    }

    #[test]
    fn a_proxy_is_used_unless_the_target_is_exempt_or_private() {
        let proxy = |host: &str, port| Ok(Some((host.to_owned(), port)));
        assert_eq!(find("http://me:secret@proxy.example:3128", "https://a.example/"), proxy("proxy.example", 3128));
        assert_eq!(find("proxy.example", "http://a.example/"), proxy("proxy.example", 80));
        assert_eq!(find("http://[::1]:3128", "http://a.example/"), proxy("::1", 3128));
        assert_eq!(find("http://proxy.example", "https://direct.example/"), Ok(None));
        assert_eq!(find("http://proxy.example", "https://wiki.corp.example/"), Ok(None));
        for unsupported in ["https://proxy.example", "socks5h://proxy.example:1080"] {
            assert_eq!(find(unsupported, "https://a.example/"), Err("its proxy is not supported"), "{unsupported}");
        }
    }

    #[test]
    fn names_of_private_networks_are_known() {
        for name in [
            "localhost",
            "a.localhost",
            "wiki",
            "printer.local",
            "metadata.google.internal",
            "router.lan",
            "wiki.",
            "a.local.",
        ] {
            assert!(is_private_name(name), "{name}");
        }
        for name in ["example.com", "localhost.example.com", "8.8.8.8", "2a00:1450::1"] {
            assert!(!is_private_name(name), "{name}");
        }
    }
}
