//! HTTP client for one provider. On other systems than Linux, a connection whose data is not acknowledged is noticed only by
//! the time limits of a request.

use super::proxy::ProxyRoute;
use super::{Error, certificate, loopback};
use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};
use std::path::PathBuf;
use std::time::Duration;

/// Default time limit for making a connection. The duration of a reply is not limited.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub use super::proxy::Proxy;

/// Connection options of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// Time limit for making a connection.
    pub connect_timeout: Duration,
    /// PEM file with certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    pub proxy: Proxy,
}

/// A client for one provider, and the proxy it uses.
#[derive(Debug, Clone)]
pub struct HttpClient {
    pub http: Client,
    pub proxy: Option<ProxyRoute>,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self { connect_timeout: CONNECT_TIMEOUT, ca_file: None, proxy: Proxy::System }
    }
}

/// Error text if no client can be built.
const BUILD_FAILED: &str = "Cannot set up the connection";

/// Interval of TCP keep-alive probes on an idle connection. Three unanswered probes end it.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// Time after which unacknowledged data counts as lost and the connection is closed.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(60);

/// Builds a client. Reading the system's certificates takes about ten milliseconds, so this is called on the first
/// request and not at startup; see `spawn_build_client`.
///
/// It follows no redirect: the key must never reach another origin, and a redirected POST would lose its body.
///
/// # Errors
/// Fails if no client can be built, or if the proxy or certificate setting is invalid.
pub fn build_client(url: &Url, options: &ConnectionOptions) -> Result<HttpClient, Error> {
    let proxy = ProxyRoute::find_proxy(url, &options.proxy)?;
    let needs_tls = url.scheme() == "https" || proxy.as_ref().is_some_and(ProxyRoute::is_encrypted);
    Ok(HttpClient { http: build_http_client(url, options, needs_tls)?, proxy })
}

fn build_http_client(url: &Url, options: &ConnectionOptions, needs_tls: bool) -> Result<Client, Error> {
    // Installs our provider unless `main` has set one. reqwest panics without a default provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let user_certificates =
        options.ca_file.as_deref().map(certificate::read_certificates).transpose()?.unwrap_or_default();
    let new_builder = || -> Result<ClientBuilder, Error> {
        let builder = Client::builder().redirect(redirect::Policy::none()).connect_timeout(options.connect_timeout);
        // Keep-alive detects connections that died during sleep or were dropped by a router.
        let builder = builder
            .tcp_keepalive(KEEP_ALIVE_INTERVAL)
            .tcp_keepalive_interval(KEEP_ALIVE_INTERVAL)
            .tcp_keepalive_retries(3);
        // A remote machine acknowledges data long before this time limit. A local server gets no limit, because it may
        // block while it loads a model.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let builder =
            if loopback::is_loopback(url) { builder } else { builder.tcp_user_timeout(UNACKNOWLEDGED_TIMEOUT) };
        Ok(match &options.proxy {
            // A proxy for external addresses must not receive requests to this machine.
            Proxy::System if loopback::is_loopback(url) => builder.no_proxy(),
            Proxy::System => builder,
            Proxy::Direct => builder.no_proxy(),
            Proxy::Address(proxy) => {
                // reqwest's error may quote the password. The address was validated before.
                let proxy_error = |_| Error::InvalidAddress("Cannot use the address of the proxy".to_owned());
                builder.proxy(reqwest::Proxy::all(proxy.reveal()).map_err(proxy_error)?)
            }
        })
    };
    if !needs_tls {
        // No certificate is verified, so those of the system need not be read.
        return new_builder()?.tls_certs_only([]).build().map_err(build_error);
    }
    let tls_config = certificate::build_tls_config(&user_certificates);
    // The user named certificates: reqwest gets a configuration that accepts them too. Otherwise it uses those of the
    // system.
    if let Some(settings) = tls_config.map_err(|error| Error::InvalidReply(format!("{BUILD_FAILED}: {error}")))? {
        return new_builder()?.tls_backend_preconfigured(settings).build().map_err(build_error);
    }
    // This fails on a machine without certificates; then the bundled ones are used.
    new_builder()?.build().or_else(|_| new_builder()?.tls_certs_only(bundled_roots()?).build().map_err(build_error))
}

/// Like `build_client`, on a thread where blocking reads are allowed.
///
/// # Errors
/// As `build_client`.
pub async fn spawn_build_client(url: Url, options: ConnectionOptions) -> Result<HttpClient, Error> {
    tokio::task::spawn_blocking(move || build_client(&url, &options))
        .await
        .unwrap_or_else(|_| Err(Error::InvalidReply(BUILD_FAILED.to_owned())))
}

/// Returns the bundled root certificates, for machines without their own, such as small containers.
fn bundled_roots() -> Result<Vec<Certificate>, Error> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|root| Certificate::from_der(root).map_err(build_error))
        .collect()
}

fn build_error(error: reqwest::Error) -> Error {
    Error::InvalidReply(format!("{BUILD_FAILED}: {error}"))
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
    fn a_client_can_be_built_without_a_default_crypto_provider() {
        assert!(build_client(&url("http://127.0.0.1:1/v1"), &ConnectionOptions::default()).is_ok());
        assert!(build_client(&url("https://example.com/v1"), &ConnectionOptions::default()).is_ok());
    }

    #[test]
    fn invalid_certificate_and_proxy_settings_are_reported_without_passwords() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, empty) = (folder.path().join("none.pem"), folder.path().join("empty.pem"));
        std::fs::write(&empty, "no certificate here").unwrap();
        let build_error_text = |options: ConnectionOptions| {
            build_client(&url("https://example.com/v1"), &options).unwrap_err().to_string()
        };
        let with_ca_file =
            |path: &Path| ConnectionOptions { ca_file: Some(path.to_owned()), ..ConnectionOptions::default() };
        assert!(
            build_error_text(with_ca_file(&missing)).contains("none.pem: No such file"),
            "{}",
            build_error_text(with_ca_file(&missing))
        );
        assert!(
            build_error_text(with_ca_file(&empty)).contains("empty.pem: it contains no certificate. Correct `ca_file`")
        );
        let with_proxy =
            |text: &str| ConnectionOptions { proxy: Proxy::Address(Secret::new(text)), ..ConnectionOptions::default() };
        assert!(!build_error_text(with_proxy("http://me:secret@")).contains("secret"));
        for proxy in ["http://me:secret@127.0.0.1:1", "socks5h://127.0.0.1:1"] {
            assert!(build_client(&url("https://example.com/v1"), &with_proxy(proxy)).is_ok(), "{proxy}");
        }
        assert!(!format!("{:?}", with_proxy("http://me:secret@h")).contains("secret"));
    }

    #[test]
    fn a_client_can_be_built_with_the_bundled_roots() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots = bundled_roots().unwrap();
        assert!(roots.len() > 50);
        assert!(Client::builder().tls_certs_only(roots).build().is_ok());
    }
}
