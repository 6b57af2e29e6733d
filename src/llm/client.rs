//! The connection: how this program speaks HTTP to a service.

use super::{Error, address};
use reqwest::{Certificate, Client, Url, redirect};
use std::time::Duration;

/// How long making a connection may take. There is no limit on how long a reply may take.
pub const CONNECT: Duration = Duration::from_secs(10);

/// Makes a client. Reading the system's certificates takes some ten milliseconds, so this is called on the first
/// request, where nobody waits for a frame; see [`build_aside`].
///
/// It follows no redirect: a key must never reach another origin, and a redirected question would lose its words.
///
/// # Errors
/// Where no client can be made at all, in the person's words.
pub fn build(url: &Url) -> Result<Client, Error> {
    // Ours unless `main` has set one already; either way there is one now, and without one reqwest would panic.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = Client::builder().redirect(redirect::Policy::none()).connect_timeout(CONNECT);
        // A proxy for the outside must not take what is meant for this machine.
        if address::is_loopback(url) { builder.no_proxy() } else { builder }
    };
    if url.scheme() == "http" {
        // No certificate is looked at, so none needs to be read.
        return builder().tls_certs_only([]).build().map_err(unbuilt);
    }
    builder().build().or_else(|_| builder().tls_certs_only(built_in_roots()?).build().map_err(unbuilt))
}

/// The same, on a thread where reading files holds nothing up.
///
/// # Errors
/// As [`build`].
pub async fn build_aside(url: Url) -> Result<Client, Error> {
    tokio::task::spawn_blocking(move || build(&url))
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
        assert!(build(&url("http://127.0.0.1:1/v1")).is_ok());
        assert!(build(&url("https://example.com/v1")).is_ok());
    }

    #[test]
    fn the_built_in_roots_make_a_client_too() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots = built_in_roots().unwrap();
        assert!(roots.len() > 50);
        assert!(Client::builder().tls_certs_only(roots).build().is_ok());
    }
}
