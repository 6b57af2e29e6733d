//! Transport to a server at an address: streamable HTTP.

use crate::web::client::build_service_client;
use crate::web::request_credentials::RequestCredentials;
use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::{Error as SseError, Sse};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::watch;

/// Maximum bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Opens the transport. Nothing is sent yet.
///
/// # Errors
/// One sentence, worded to follow the server's name, without the values of headers.
pub(super) async fn open_transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    credential: Option<NamedStore>,
    owner: watch::Receiver<()>,
) -> Result<StreamableHttpClientTransport<CredentialClient>, String> {
    let parse_header = |(name, value): (&String, &String)| {
        let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
        header.ok_or_else(|| format!("its header {name:?} cannot be sent"))
    };
    let headers: HashMap<HeaderName, HeaderValue> = headers.iter().map(parse_header).collect::<Result<_, _>>()?;
    let built = tokio::task::spawn_blocking(build_service_client).await;
    let client = built.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    Ok(new_transport(url, headers, CredentialClient { client, credential, owner }))
}

/// Creates a transport without headers and credential, whose client decides what it reaches.
pub(super) fn plain_transport(
    url: &str,
    client: Client,
    owner: watch::Receiver<()>,
) -> StreamableHttpClientTransport<CredentialClient> {
    new_transport(url, HashMap::new(), CredentialClient { client, credential: None, owner })
}

fn new_transport(
    url: &str,
    headers: Headers,
    client: CredentialClient,
) -> StreamableHttpClientTransport<CredentialClient> {
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_json_response_size(MAX_ANSWER_BYTES)
        .max_sse_event_size(MAX_ANSWER_BYTES);
    StreamableHttpClientTransport::with_client(client, config)
}

/// The store of a credential, and its name in the store.
type NamedStore = (Arc<dyn RequestCredentials>, String);
type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Sends each request with the current value of a credential, and once more if it was rejected and could be renewed.
#[derive(Clone)]
pub(super) struct CredentialClient {
    client: Client,
    credential: Option<NamedStore>,
    /// Its sender belongs to the owner of the connection. Once that is dropped, requests end, because the task of the
    /// transport would wait for a silent server without end.
    owner: watch::Receiver<()>,
}

impl CredentialClient {
    async fn send_with_credential<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        uri: &str,
        headers: Headers,
        send: impl Fn(Headers) -> F,
    ) -> Result<T, Failure> {
        let mut owner = self.owner.clone();
        tokio::select! {
            result = self.send_and_renew(uri, headers, send) => result,
            Err(_) = owner.changed() => Err(Failure::TransportChannelClosed),
        }
    }

    async fn send_and_renew<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        uri: &str,
        headers: Headers,
        send: impl Fn(Headers) -> F,
    ) -> Result<T, Failure> {
        let found = self.credential.as_ref().zip(Url::parse(uri).ok());
        let Some(((credentials, name), url)) = found else { return send(headers).await };
        // Without it the server answers that a login is needed.
        let Ok((header, value)) = credentials.header(name, &url) else { return send(headers).await };
        let with_header = |header: HeaderName, value: HeaderValue| {
            let mut headers = headers.clone();
            headers.insert(header, value);
            headers
        };
        match send(with_header(header, value.clone())).await {
            Err(Failure::AuthRequired(error)) => match credentials.renew_header(name, &url, &value) {
                Ok(Some((header, value))) => send(with_header(header, value)).await,
                Ok(None) | Err(_) => Err(Failure::AuthRequired(error)),
            },
            result => result,
        }
    }
}

impl StreamableHttpClient for CredentialClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        // The transport calls the method with limits; the trait requires this one too.
        let mut limits = StreamableHttpResponseLimits::default();
        (limits.max_sse_event_size, limits.max_json_response_size) = (MAX_ANSWER_BYTES, MAX_ANSWER_BYTES);
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let send = |headers| {
            self.client.post_message_with_response_limits(
                uri.clone(),
                message.clone(),
                session_id.clone(),
                auth_header.clone(),
                headers,
                limits,
            )
        };
        self.send_with_credential(&uri, custom_headers, send).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let send = |headers| self.client.delete_session(uri.clone(), session_id.clone(), auth_header.clone(), headers);
        // Sent when the connection is no longer used.
        self.send_and_renew(&uri, custom_headers, send).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            MAX_ANSWER_BYTES,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let send = |headers| {
            self.client.get_stream_with_max_sse_event_size(
                uri.clone(),
                session_id.clone(),
                last_event_id.clone(),
                auth_header.clone(),
                headers,
                max_sse_event_size,
            )
        };
        match self.send_with_credential(&uri, custom_headers, send).await {
            // The transport would try to resume the stream until the time limit of the call, although the process that
            // sent it is gone. This error ends that.
            Err(Failure::Client(error)) if last_event_id.is_some() && is_refused(&error) => {
                Err(Failure::ServerDoesNotSupportSse)
            }
            result => result,
        }
    }
}

/// Returns whether no process listens at the address.
fn is_refused(error: &reqwest::Error) -> bool {
    let first: &dyn std::error::Error = error;
    std::iter::successors(Some(first), |error| error.source()).any(|error| {
        let error = error.downcast_ref::<std::io::Error>();
        error.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    })
}
