//! The connection: how this program speaks HTTP to a service.

use super::proxy::Via;
use super::{Error, address, certificate};
use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};
use std::path::PathBuf;
use std::time::Duration;

/// How long making a connection may take unless the settings say otherwise. There is no limit on how long a reply may
/// take.
pub const CONNECT: Duration = Duration::from_secs(10);

pub use super::proxy::Proxy;

/// By which way a service is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// How long making a connection may take.
    pub connect: Duration,
    /// A file of certificates, in PEM, that are trusted besides the system's.
    pub roots: Option<PathBuf>,
    /// The proxy to use.
    pub proxy: Proxy,
}

/// A client for one provider, and the proxy that it goes through.
#[derive(Debug, Clone)]
pub struct Link {
    /// The client.
    pub http: Client,
    /// The proxy, if any.
    pub proxy: Option<Via>,
}

impl Default for Way {
    fn default() -> Self {
        Self { connect: CONNECT, roots: None, proxy: Proxy::System }
    }
}

/// What failed if no client can be made.
const UNBUILT: &str = "Cannot set up the connection";

/// How often a silent connection is asked whether it still stands; three times without an answer end it.
const ALIVE: Duration = Duration::from_secs(10);

/// What was sent and not taken for so long is lost, and so is the connection.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNREAD: Duration = Duration::from_secs(60);

/// Makes a client. Reading the system's certificates takes some ten milliseconds, so this is called on the first
/// request, where nobody waits for a frame; see [`build_aside`].
///
/// It follows no redirect: a key must never reach another origin, and a redirected question would lose its words.
///
/// # Errors
/// If no client can be made at all, or the setting of a proxy or of certificates is wrong.
pub fn build(url: &Url, way: &Way) -> Result<Link, Error> {
    let proxy = Via::find(url, &way.proxy)?;
    let needs_tls = url.scheme() == "https" || proxy.as_ref().is_some_and(Via::is_encrypted);
    Ok(Link { http: client(url, way, needs_tls)?, proxy })
}

fn client(url: &Url, way: &Way, needs_tls: bool) -> Result<Client, Error> {
    // Ours unless `main` has set one already; either way there is one now, and without one reqwest would panic.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let own = way.roots.as_deref().map(certificate::read).transpose()?.unwrap_or_default();
    let builder = || -> Result<ClientBuilder, Error> {
        let builder = Client::builder().redirect(redirect::Policy::none()).connect_timeout(way.connect);
        // A connection that died while the machine slept, or behind a router that forgot it, says nothing by itself.
        let builder = builder.tcp_keepalive(ALIVE).tcp_keepalive_interval(ALIVE).tcp_keepalive_retries(3);
        // Between machines nobody takes so long to read what was sent; a server here may, while it loads a model.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let builder = if address::is_loopback(url) { builder } else { builder.tcp_user_timeout(UNREAD) };
        Ok(match &way.proxy {
            // A proxy for the outside must not take what is meant for this machine.
            Proxy::System if address::is_loopback(url) => builder.no_proxy(),
            Proxy::System => builder,
            Proxy::Straight => builder.no_proxy(),
            Proxy::Through(proxy) => {
                // What reqwest says of a wrong one may quote its password; it was checked before.
                let wrong = |_| Error::Misaddressed("Cannot use the address of the proxy".to_owned());
                builder.proxy(reqwest::Proxy::all(proxy.reveal()).map_err(wrong)?)
            }
        })
    };
    if !needs_tls {
        // No certificate is looked at, so none needs to be read.
        return builder()?.tls_certs_only([]).build().map_err(unbuilt);
    }
    let named = certificate::settings(&own);
    if let Some(settings) = named.map_err(|error| Error::NotAModel(format!("{UNBUILT}: {error}")))? {
        return builder()?.tls_backend_preconfigured(settings).build().map_err(unbuilt);
    }
    builder()?.build().or_else(|_| builder()?.tls_certs_only(built_in_roots()?).build().map_err(unbuilt))
}

/// The same, on a thread where reading files holds nothing up.
///
/// # Errors
/// As [`build`].
pub async fn build_aside(url: Url, way: Way) -> Result<Link, Error> {
    tokio::task::spawn_blocking(move || build(&url, &way))
        .await
        .unwrap_or_else(|_| Err(Error::NotAModel(UNBUILT.to_owned())))
}

/// For machines that keep no certificates of their own, such as small containers.
fn built_in_roots() -> Result<Vec<Certificate>, Error> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|root| Certificate::from_der(root).map_err(unbuilt))
        .collect()
}

fn unbuilt(error: reqwest::Error) -> Error {
    Error::NotAModel(format!("{UNBUILT}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Secret;
    use std::path::Path;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_client_can_be_made_before_main_chose_a_provider() {
        assert!(build(&url("http://127.0.0.1:1/v1"), &Way::default()).is_ok());
        assert!(build(&url("https://example.com/v1"), &Way::default()).is_ok());
    }

    #[test]
    fn what_cannot_be_used_on_the_way_is_said_without_a_password() {
        let folder = tempfile::tempdir().unwrap();
        let (none, empty) = (folder.path().join("none.pem"), folder.path().join("empty.pem"));
        std::fs::write(&empty, "no certificate here").unwrap();
        let said = |way: Way| build(&url("https://example.com/v1"), &way).unwrap_err().to_string();
        let at = |path: &Path| Way { roots: Some(path.to_owned()), ..Way::default() };
        assert!(said(at(&none)).contains("none.pem: No such file"), "{}", said(at(&none)));
        assert!(said(at(&empty)).contains("empty.pem: it has no certificate. Correct `ca_file`"));
        let through = |text: &str| Way { proxy: Proxy::Through(Secret::new(text)), ..Way::default() };
        assert!(!said(through("http://me:secret@")).contains("secret"));
        for proxy in ["http://me:secret@127.0.0.1:1", "socks5h://127.0.0.1:1"] {
            assert!(build(&url("https://example.com/v1"), &through(proxy)).is_ok(), "{proxy}");
        }
        assert!(!format!("{:?}", through("http://me:secret@h")).contains("secret"));
    }

    #[test]
    fn the_built_in_roots_make_a_client_too() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots = built_in_roots().unwrap();
        assert!(roots.len() > 50);
        assert!(Client::builder().tls_certs_only(roots).build().is_ok());
    }
}
