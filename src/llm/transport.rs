//! Sends the requests that async-openai builds, and checks their responses.
//!
//! async-openai's own transport cannot be used: it retries by its own rules without telling the user, and its
//! errors keep neither the headers of a response, such as `Retry-After`, nor a body that is not OpenAI's JSON.

use super::client::HttpClient;
use super::connection_error::connection_error;
use super::error_response::{read_error_response, redirect_error};
use super::provider_error::clip;
use super::response_body::Body;
use super::timeouts::Pulse;
use super::{Error, address_advice};
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Request, Response, Url};
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

    /// Builds a request whose headers are ours, in place of those that async-openai sets by itself.
    ///
    /// # Errors
    /// Fails if the address is invalid.
    pub async fn build_request(&self, factory: HttpRequestFactory) -> Result<Request, OpenAIError> {
        let mut request = factory.build().await?;
        let headers = request.headers_mut();
        if !self.headers.contains_key(AUTHORIZATION) {
            // async-openai sets it even if the key is empty.
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

    /// Returns advice for a base address at which there are no models.
    pub async fn advise_address(&self) -> String {
        address_advice::advise_address(&self.http, &self.base, &self.query, &self.headers).await
    }

    /// Adds advice to an error that means there is nothing at this address.
    pub async fn add_advice(&self, error: Error) -> Error {
        address_advice::add_advice(error, &self.http, &self.base, &self.query, &self.headers).await
    }
}

/// Extracts the error of a middleware from async-openai's error.
pub fn unwrap_error(error: OpenAIError) -> Error {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(unknown) => Error::InvalidReply(clip(&unknown.to_string(), 300)),
        },
        other => Error::InvalidReply(clip(&other.to_string(), 300)),
    }
}
