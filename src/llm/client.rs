//! The connection: how this program speaks HTTP to a service.

use super::{Error, Secret, address};
use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long making a connection may take unless the settings say otherwise. There is no limit on how long a reply may
/// take.
pub const CONNECT: Duration = Duration::from_secs(10);

/// By which way a service is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// How long making a connection may take.
    pub connect: Duration,
    /// A file of certificates, in PEM, that are trusted beside the system's.
    pub roots: Option<PathBuf>,
    /// What stands between.
    pub proxy: Proxy,
}

/// What stands between this program and a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// What the environment names for such an address; nothing where the service is on this machine.
    System,
    /// Nothing.
    Straight,
    /// A proxy at this address, which may hold a password.
    Through(Secret),
}

impl Default for Way {
    fn default() -> Self {
        Self { connect: CONNECT, roots: None, proxy: Proxy::System }
    }
}
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
/// Where no client can be made at all, in the person's words.
pub fn build(url: &Url, way: &Way) -> Result<Client, Error> {
    // Ours unless `main` has set one already; either way there is one now, and without one reqwest would panic.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let own = way.roots.as_deref().map(own_roots).transpose()?.unwrap_or_default();
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
                // What reqwest says of a wrong one may quote its password.
                let wrong = |_| Error::NotAModel("the address of the proxy is wrong".to_owned());
                builder.proxy(reqwest::Proxy::all(proxy.reveal()).map_err(wrong)?)
            }
        })
    };
    let to_proxy_encrypted =
        matches!(&way.proxy, Proxy::Through(proxy) if proxy.reveal().starts_with("https:"));
    if url.scheme() == "http" && !to_proxy_encrypted {
        // No certificate is looked at, so none needs to be read.
        return builder()?.tls_certs_only([]).build().map_err(unbuilt);
    }
    builder()?.tls_certs_merge(own.clone()).build().or_else(|_| {
        let roots = built_in_roots()?.into_iter().chain(own);
        builder()?.tls_certs_only(roots).build().map_err(unbuilt)
    })
}

/// The certificates of a file.
fn own_roots(file: &Path) -> Result<Vec<Certificate>, Error> {
    let wrong =
        |why: &str| Error::NotAModel(format!("the certificates in {} cannot be used: {why}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| wrong(&error.to_string()))?;
    let roots = Certificate::from_pem_bundle(&bytes).map_err(|_| wrong("this is no PEM"))?;
    if roots.is_empty() { Err(wrong("there are none in it")) } else { Ok(roots) }
}

/// The same, on a thread where reading files holds nothing up.
///
/// # Errors
/// As [`build`].
pub async fn build_aside(url: Url, way: Way) -> Result<Client, Error> {
    tokio::task::spawn_blocking(move || build(&url, &way))
        .await
        .unwrap_or_else(|_| Err(Error::NotAModel("the connection could not be set up".to_owned())))
}

/// For machines that keep no certificates of their own, such as small containers.
fn built_in_roots() -> Result<Vec<Certificate>, Error> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|root| Certificate::from_der(root).map_err(unbuilt))
        .collect()
}

fn unbuilt(error: reqwest::Error) -> Error {
    Error::NotAModel(format!("the connection could not be set up: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(said(at(&none)).contains("none.pem cannot be used: No such file"), "{}", said(at(&none)));
        assert!(said(at(&empty)).contains("empty.pem cannot be used: there are none in it"));
        let through = |text: &str| Way { proxy: Proxy::Through(Secret::new(text)), ..Way::default() };
        assert_eq!(said(through("http://me:secret@")), "the address of the proxy is wrong");
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
