//! Sends the requests that async-openai builds and checks their responses; also requests other JSON documents.
//!
//! async-openai's own transport cannot be used: it retries by its own rules without telling the user, and its
//! errors keep neither the headers of a response, such as `Retry-After`, nor a body that is not OpenAI's JSON.

use super::Error;
use super::address::add_query;
use super::client::HttpClient;
use super::connection_error::connection_error;
use super::error_response::{read_error_response, redirect_error};
use super::provider_error::{MAX_MESSAGE_CHARS, clip};
use super::response_body::Body;
use super::timeouts::Pulse;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Request, Response, Url};
use serde_json::Value;
use std::time::Duration;
use tower::BoxError;

/// Connection to one provider.
#[derive(Debug, Clone)]
pub struct Transport {
    pub http: HttpClient,
    /// Base address of the endpoint.
    pub base: Url,
    /// Query parameters of every request.
    pub query: Vec<(String, String)>,
    /// All headers set by aye, including the key.
    pub headers: HeaderMap,
    /// Maximum time without data.
    pub idle_limit: Duration,
    pub pulse: Pulse,
}

impl Transport {
    /// Creates an async-openai client whose requests are sent by this function.
    pub fn openai_client<F>(
        &self,
        send: impl Fn(HttpRequestFactory) -> F + Clone + Send + Sync + 'static,
    ) -> async_openai::Client<OpenAIConfig>
    where
        F: Future<Output = Result<Response, BoxError>> + Send + 'static,
    {
        // Every field is set because async-openai would otherwise read the environment to choose address and key. The
        // key is among the headers.
        let config = OpenAIConfig::new()
            .with_api_base(self.base.as_str().trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        async_openai::Client::build(self.http.http.clone(), config).with_http_service(tower::service_fn(send))
    }

    /// Builds a request. Removes async-openai's own `Authorization` header unless aye sets one, and sets aye's content
    /// type, if any.
    ///
    /// # Errors
    /// Fails if the address is invalid.
    pub async fn build_request(&self, factory: HttpRequestFactory) -> Result<Request, OpenAIError> {
        let mut request = factory.build().await?;
        let headers = request.headers_mut();
        if !self.headers.contains_key(AUTHORIZATION) {
            // async-openai sets this header even if its key is empty.
            headers.remove(AUTHORIZATION);
        }
        if let Some(content_type) = self.headers.get(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, content_type.clone());
        }
        Ok(request)
    }

    /// Sends a request. Returns the headers and the body of a successful response.
    ///
    /// # Errors
    /// Fails if there is no response, or if its status is not a success.
    pub async fn send_request(&self, request: Request) -> Result<(HeaderMap, Body), Error> {
        let url = request.url().clone();
        let proxy = self.http.proxy.as_ref();
        let response = match tokio::time::timeout(self.idle_limit, self.http.http.execute(request)).await {
            Err(_) => return Err(Error::Idle(self.idle_limit)),
            Ok(Err(error)) => return Err(connection_error(&error, &url, proxy).await),
            Ok(Ok(response)) => response,
        };
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_redirection() {
            return Err(redirect_error(status.as_u16(), &headers, &url));
        }
        self.pulse.record_beat();
        let body = Body::new(response, self.idle_limit, self.pulse.clone());
        if !status.is_success() {
            let error = read_error_response(status.as_u16(), &headers, body.ok(), &url, proxy).await;
            return Err(self.add_advice(error).await);
        }
        Ok((headers, body?))
    }

    /// Requests a JSON document at an address of the same origin. Returns `None` on any error, if it has more than
    /// `max_bytes`, and after `limit`.
    pub async fn get_json(&self, address: &str, max_bytes: usize, limit: Duration) -> Option<Value> {
        let mut url = Url::parse(address).ok()?;
        add_query(&mut url, &self.query);
        let request = async {
            let mut response = self.http.http.get(url).headers(self.headers.clone()).send().await.ok()?;
            if !response.status().is_success() {
                return None;
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.ok()? {
                body.extend_from_slice(&chunk);
                if body.len() > max_bytes {
                    return None;
                }
            }
            serde_json::from_slice(&body).ok()
        };
        tokio::time::timeout(limit, request).await.ok().flatten()
    }
}

/// Extracts the error of a middleware from async-openai's error.
pub fn unwrap_error(error: OpenAIError) -> Error {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(unknown) => Error::InvalidReply(clip(&unknown.to_string(), MAX_MESSAGE_CHARS)),
        },
        other => Error::InvalidReply(clip(&other.to_string(), MAX_MESSAGE_CHARS)),
    }
}
