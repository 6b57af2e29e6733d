//! The HTTP client for servers on the internet.
//!
//! Names are resolved once and checked, address literals are checked before the request, and redirects are followed here,
//! each one checked again and only to the same host. Through a proxy, which resolves names by itself, names cannot be
//! checked; [`describe_network`] tells.

use super::guarded_resolver::{GuardedResolver, SpecialAddress};
use super::page_text::is_pdf;
use super::request::{RequestError, WebRequest};
use super::target::{PrivateHosts, Target, check_target, refuse_special};
use super::tls_error::explain_tls_error;
use futures::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, redirect};
use std::error::Error as _;
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Bytes that are read of a response.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// Bytes that are read of a PDF, which cannot be read without its end.
const MAX_PDF_BYTES: usize = 16 << 20;
/// Redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Clients for requests of tools. They are built by the first request.
#[derive(Debug)]
pub struct WebClient {
    private_hosts: PrivateHosts,
    /// Reaches public addresses only.
    guarded: OnceLock<Client>,
    /// Reaches the private hosts that the user allows.
    unguarded: OnceLock<Client>,
}

/// A response, read up to [`MAX_BODY_BYTES`], or a whole PDF.
#[derive(Debug)]
pub struct WebResponse {
    /// The address that answered, after redirects.
    pub target: Target,
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The header `Content-Type`; empty if missing.
    pub content_type: String,
    pub body: Vec<u8>,
    /// True if the body is longer than what was read.
    pub is_cut_off: bool,
}

/// Result of a request.
#[derive(Debug)]
pub enum Fetched {
    Response(Box<WebResponse>),
    /// The server redirects to another host, which was not approved.
    RedirectedTo(Box<Target>),
}

impl WebClient {
    pub fn new(private_hosts: PrivateHosts) -> Self {
        Self { private_hosts, guarded: OnceLock::new(), unguarded: OnceLock::new() }
    }

    pub fn private_hosts(&self) -> &PrivateHosts {
        &self.private_hosts
    }

    /// Gets an address. Follows redirects on the same host, but never from `https` to `http`.
    ///
    /// # Errors
    /// One sentence for the model, if the address is refused or the request fails.
    pub async fn get(&self, target: &Target) -> Result<Fetched, String> {
        self.send(WebRequest::get_page(target.clone())).await.map_err(|error| error.message)
    }

    /// Sends a request, and follows redirects as far as it permits: only on the same host, and only if it reads.
    ///
    /// # Errors
    /// If the address is refused or the request fails.
    pub async fn send(&self, request: WebRequest) -> Result<Fetched, RequestError> {
        let (host, timeout) = (request.target.host.clone(), request.timeout);
        let sent = tokio::time::timeout(timeout, self.follow_redirects(request)).await;
        sent.unwrap_or_else(|_| {
            Err(RequestError::from(format!("{host} did not answer within {} s.", timeout.as_secs_f64())))
        })
    }

    async fn follow_redirects(&self, mut request: WebRequest) -> Result<Fetched, RequestError> {
        for _ in 0..=MAX_REDIRECTS {
            let client = self.client(&request.target).await?;
            let sent = client.request(request.method.clone(), request.target.url.clone());
            let sent = sent.headers(request.headers.clone());
            let sent = match &request.body {
                Some(body) => sent.body(body.clone()),
                None => sent,
            };
            let response = sent.send().await.map_err(|error| describe_error(&request.target, &error))?;
            let next = match request.is_read() {
                true => redirect_target(&request.target, &response, &self.private_hosts)?,
                false => None,
            };
            let Some(next) = next else {
                return Ok(Fetched::Response(Box::new(read_response(request.target, response).await?)));
            };
            if !request.may_follow(&next) {
                return Ok(Fetched::RedirectedTo(Box::new(next)));
            }
            request.target = next;
        }
        Err(format!("{} redirected more than {MAX_REDIRECTS} times.", request.target.host).into())
    }

    /// Returns the client, and builds it on a thread that may block if this is its first request.
    async fn client(&self, target: &Target) -> Result<Client, String> {
        let is_private_allowed = target.is_private_allowed;
        let cell = if is_private_allowed { &self.unguarded } else { &self.guarded };
        if !is_private_allowed && proxy_hosts().contains(&target.host) {
            return build_client_for(target).await;
        }
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let build = move || build_with_roots(&|| new_builder(is_private_allowed, proxy_hosts()));
        let built = tokio::task::spawn_blocking(build).await;
        let built = built.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        Ok(cell.get_or_init(|| built).clone())
    }
}

/// Variables that name a proxy.
const PROXY_VARIABLES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Returns the variable that names a proxy, through which names cannot be checked; `None` if none is set.
fn find_proxy_variable() -> Option<&'static str> {
    PROXY_VARIABLES.into_iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Returns what a prompt says about the network of a target: that it is in a private one, worded by `private`, or that this
/// cannot be checked. `None` if there is nothing to say.
pub fn describe_network(target: &Target, private: &str) -> Option<String> {
    if target.is_private_allowed {
        return Some(format!("the host is in a private network, {private}"));
    }
    let variable = find_proxy_variable()?;
    Some(format!("sent through the proxy of {variable}, so aye cannot check whether the host is in a private network"))
}

/// What [`describe_network`] says about a target that the settings allow.
pub const ALLOWED_BY_SETTING: &str = "allowed by web.private_hosts";

/// Returns the values of the variables that name a proxy.
pub fn proxy_values() -> Vec<OsString> {
    PROXY_VARIABLES.into_iter().filter_map(std::env::var_os).filter(|value| !value.is_empty()).collect()
}

/// Returns the hosts of the proxies that the environment names.
fn proxy_hosts() -> Vec<String> {
    let parse_host = |value: OsString| {
        let value = value.into_string().ok()?;
        let address = if value.contains("://") { value } else { format!("http://{value}") };
        Url::parse(&address).ok()?.host_str().map(str::to_owned)
    };
    proxy_values().into_iter().filter_map(parse_host).collect()
}

/// Builds a client of its own for a target: for one that is the host of a proxy, which is no exception as a target, or for a
/// protocol that keeps responses open. It follows no redirects.
///
/// # Errors
/// One sentence, if it cannot be built.
pub async fn build_client_for(target: &Target) -> Result<Client, String> {
    let (is_private_allowed, mut exempt) = (target.is_private_allowed, proxy_hosts());
    exempt.retain(|host| *host != target.host);
    let build = move || build_with_roots(&|| new_builder(is_private_allowed, exempt.clone()).pool_max_idle_per_host(0));
    let built = tokio::task::spawn_blocking(build).await;
    built.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// Prepares a client. The guard lets the `exempt` hosts have any address.
fn new_builder(is_private_allowed: bool, exempt: Vec<String>) -> ClientBuilder {
    // reqwest panics without a default provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().redirect(redirect::Policy::none()).connect_timeout(Duration::from_secs(10));
    match is_private_allowed {
        // A proxy for external addresses must not receive requests to the local network.
        true => builder.no_proxy(),
        false => builder.dns_resolver(Arc::new(GuardedResolver { proxy_hosts: exempt })),
    }
}

/// Builds a client for a service whose address the user has configured. It uses the system's proxy and follows no
/// redirect. Blocks.
pub fn build_service_client() -> reqwest::Result<Client> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    build_with_roots(&|| {
        // A pooled connection whose last response was not read to its end stalls the next request.
        let builder = Client::builder().redirect(redirect::Policy::none()).pool_max_idle_per_host(0);
        builder.connect_timeout(Duration::from_secs(10))
    })
}

/// Builds a client with the certificates of this machine, or with bundled ones if it has none.
fn build_with_roots(new_builder: &dyn Fn() -> ClientBuilder) -> reqwest::Result<Client> {
    new_builder().build().or_else(|_| {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        let roots: reqwest::Result<Vec<_>> = roots.map(|root| reqwest::Certificate::from_der(root)).collect();
        new_builder().tls_certs_only(roots?).build()
    })
}

/// Returns the checked target of a redirect; `None` if the response is no redirect.
fn redirect_target(from: &Target, response: &Response, private_hosts: &PrivateHosts) -> Result<Option<Target>, String> {
    let status = response.status();
    let Some(location) = response.headers().get(LOCATION).filter(|_| status.is_redirection()) else { return Ok(None) };
    let location = location.to_str().ok().and_then(|location| from.url.join(location).ok());
    let url = location.ok_or_else(|| format!("{} redirects to an invalid address.", from.host))?;
    if from.url.scheme() == "https" && url.scheme() == "http" {
        return Err(format!("{} redirects to an address without encryption.", from.host));
    }
    check_target(url, private_hosts).map(Some).map_err(|error| format!("{} redirects. {error}", from.host))
}

async fn read_response(target: Target, response: Response) -> Result<WebResponse, RequestError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = content_type.to_owned();
    if let Some(encoding) = response.headers().get(reqwest::header::CONTENT_ENCODING)
        && encoding != "identity"
    {
        return Err(format!("{} sent a compressed response that was not requested.", target.host).into());
    }
    let (mut body, mut is_cut_off) = (Vec::new(), false);
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| describe_error(&target, &error))?;
        let start = if body.is_empty() { &piece[..] } else { &body };
        let is_pdf = is_pdf(&content_type, start);
        let room = if is_pdf { MAX_PDF_BYTES } else { MAX_BODY_BYTES } - body.len();
        if is_pdf && piece.len() > room {
            return Err(format!("{} sent a PDF of more than {} MiB.", target.host, MAX_PDF_BYTES >> 20).into());
        }
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut_off = true;
            break;
        }
    }
    Ok(WebResponse { target, status, headers, content_type, body, is_cut_off })
}

/// Describes a failed request without its address, which may contain a secret.
fn describe_error(target: &Target, error: &reqwest::Error) -> RequestError {
    let message = match find_cause(error) {
        // Another attempt would not help.
        Cause::Untrusted(reason) => return format!("Cannot trust {}: {reason}.", target.host).into(),
        Cause::Special(SpecialAddress { host, what }) => return refuse_special(&host, what).into(),
        Cause::Other(reason) => format!("Cannot reach {}: {reason}.", target.host),
    };
    RequestError { message, is_connect: error.is_connect() }
}

/// Explains a failed request without its address, which may contain a secret, as part of a sentence.
pub fn explain_failure(error: &reqwest::Error) -> String {
    match find_cause(error) {
        Cause::Untrusted(reason) => format!("its certificate is not trusted: {reason}"),
        Cause::Special(special) => {
            format!("{special}, not of a public server; the user can allow it with web.private_hosts")
        }
        Cause::Other(reason) => reason,
    }
}

/// Cause of a failed request.
enum Cause {
    /// The certificate is not trusted, for this reason.
    Untrusted(String),
    Special(SpecialAddress),
    Other(String),
}

fn find_cause(error: &reqwest::Error) -> Cause {
    let mut source = error.source();
    let mut reason = None;
    while let Some(error) = source {
        let tls_error = error.downcast_ref().and_then(|error| explain_tls_error(error, "SSL_CERT_FILE"));
        if let Some(cause) = tls_error {
            return Cause::Untrusted(cause);
        }
        if let Some(special) = error.downcast_ref::<SpecialAddress>() {
            return Cause::Special(special.clone());
        }
        reason = Some(error.to_string());
        // `io::Error::source` skips the error inside.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        source = inner.map(|inner| inner as _).or_else(|| error.source());
    }
    Cause::Other(reason.unwrap_or_else(|| "the request failed".to_owned()))
}
