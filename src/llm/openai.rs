//! Client for one model of an OpenAI-compatible provider.

use super::client::HttpClient;
use super::models::Model;
use super::prepared_request::{self, PreparedRequest};
use super::reply::{Collector, Reply};
use super::request_body::RequestBody;
use super::service::{Service, SharedReply};
use super::settings::{Api, Settings};
use super::timeouts::{Pulse, Timeouts};
use super::transport::{Transport, unwrap_error};
use super::unsupported_params::UnsupportedParams;
use super::{
    Error, Llm, Secret, address, chat_collector, chat_request, client, context_window, models_request, responses, retry,
};
use crate::chat::{Chunk, Request};
use async_openai::traits::RequestOptionsBuilder;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A model behind an address. Cheap to create and to clone: nothing is read or connected before the first request.
#[derive(Debug, Clone)]
pub struct OpenAi(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    timeouts: Timeouts,
    client: OnceCell<HttpClient>,
    unsupported_params: UnsupportedParams,
}

impl OpenAi {
    /// Creates a client. An invalid address is reported with the first request.
    pub fn new(settings: Settings) -> Self {
        let patience = Timeouts::new(settings.idle_limit, settings.longest_wait);
        Self(Arc::new(Inner {
            settings,
            timeouts: patience,
            client: OnceCell::new(),
            unsupported_params: UnsupportedParams::default(),
        }))
    }

    /// Returns the key that is sent, if any.
    pub(super) fn key(&self) -> Option<Secret> {
        self.0.settings.key.clone()
    }

    /// Prepares the first request by reading the system's certificates. Makes no connection, so the provider learns
    /// nothing before the user sends a message.
    pub async fn prepare(&self) {
        // An error is reported with the first request.
        if let Ok(base) = address::parse_base_address(&self.0.settings.base_url) {
            let _ = self.0.http_client(&base).await;
        }
    }

    /// Requests the provider's models, in its own order.
    ///
    /// # Errors
    /// As for a reply. Never retried.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let settings = &self.0.settings;
        let listed = async {
            let (base, query) = settings.split_address()?;
            let link = self.0.http_client(&base).await?;
            models_request::request_models(&link, &base, &query, settings.build_headers()?, settings.idle_limit).await
        };
        listed.await.map_err(|error| settings.mask_secrets(error))
    }
}

impl OpenAi {
    /// Requests the context window in tokens of this model, or of the first one if `model` is empty. Returns `None` on
    /// any error.
    pub async fn context_window(&self, model: &str) -> Option<u64> {
        let settings = &self.0.settings;
        let (base, query) = settings.split_address().ok()?;
        let http = self.0.http_client(&base).await.ok()?.http;
        context_window::request_context_window(&http, &base, &query, &settings.build_headers().ok()?, model).await
    }
}

impl Llm for OpenAi {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        let inner = self.0.clone();
        let ask = PreparedRequest::new(request, &inner.settings);
        let from = prepared_request::echo_origin(&inner.settings, &ask.model);
        let body = match inner.settings.api {
            Api::Chat => chat_request::build_chat_body(ask),
            Api::Responses => responses::build_responses_body(ask),
        };
        let sent = Arc::new(PreparedBody { from, body });
        retry::stream_with_retries(inner.timeouts.clone(), move |pulse| {
            inner.clone().stream_attempt(sent.clone(), pulse.clone())
        })
    }

    fn accepts_images(&self) -> bool {
        self.0.settings.quirks.images
    }

    fn end_wait(&self) {
        self.0.timeouts.end_waits();
    }
}

/// Data that every attempt sends.
struct PreparedBody {
    /// Origin of the reply, for its echo.
    from: String,
    body: RequestBody,
}

impl Inner {
    /// Returns the HTTP client. The first caller builds it, which may read certificates; others wait for it.
    async fn http_client(&self, base: &reqwest::Url) -> Result<HttpClient, Error> {
        let way = || self.settings.connection.clone();
        self.client.get_or_try_init(|| client::spawn_build_client(base.clone(), way())).await.cloned()
    }

    fn stream_attempt(
        self: Arc<Self>,
        sent: Arc<PreparedBody>,
        pulse: Pulse,
    ) -> BoxStream<'static, Result<Chunk, Error>> {
        let opened = {
            let inner = self.clone();
            async move {
                match inner.open_with_fallback_params(&sent, pulse).await {
                    Ok(reply) => stream::unfold(reply, Reply::next_chunk).boxed(),
                    Err(error) => stream::iter([Err(error)]).boxed(),
                }
            }
        };
        let masked = move |item: Result<Chunk, Error>| item.map_err(|error| self.settings.mask_secrets(error));
        stream::once(opened).flatten().map(masked).boxed()
    }

    /// Opens a reply. Repeats the request once if the provider rejects a parameter that can be omitted.
    async fn open_with_fallback_params(&self, sent: &PreparedBody, pulse: Pulse) -> Result<Reply, Error> {
        let body = self.unsupported_params.remove_from(&sent.body);
        match self.open_reply(&sent.from, &body, pulse.clone()).await {
            Err(error) if self.unsupported_params.record_rejection(&body, &error) => {
                self.open_reply(&sent.from, &self.unsupported_params.remove_from(&sent.body), pulse).await
            }
            opened => opened,
        }
    }

    async fn open_reply(&self, from: &str, body: &RequestBody, pulse: Pulse) -> Result<Reply, Error> {
        let (base, query) = self.settings.split_address()?;
        let link = self.http_client(&base).await?;
        let (headers, idle) = (self.settings.build_headers()?, self.settings.idle_limit);
        let transport = Transport { link, base, query, headers, idle, pulse };
        let line = SharedReply::new();
        let service = Service {
            transport: transport.clone(),
            line: line.clone(),
            api: self.settings.api,
            conversation: body.conversation.clone(),
        };
        let headers = service.request_headers();
        let client = transport.openai_client(service);
        let (from, reasoning) = (from.to_owned(), self.settings.quirks.send_reasoning);
        let (events, gathering) = match self.settings.api {
            Api::Chat => {
                let chat = client.chat().headers(headers).query(&transport.query).map_err(unwrap_error)?;
                let events = chat.create_stream_byot::<_, Value>(&body.parameters).await.map_err(unwrap_error)?;
                let collector = chat_collector::ChatCollector::for_origin(from, reasoning);
                (events, Collector::Chat(Box::new(collector)))
            }
            Api::Responses => {
                let responses = client.responses().headers(headers).query(&transport.query).map_err(unwrap_error)?;
                let opened = responses.create_stream_byot::<_, Value>(&body.parameters).await;
                let events = opened.map_err(|error| responses::reclassify_error(unwrap_error(error)))?;
                let collector = responses::ResponsesCollector::for_origin(from, reasoning);
                (events, Collector::Responses(Box::new(collector)))
            }
        };
        Ok(Reply::new(events, line, gathering))
    }
}
