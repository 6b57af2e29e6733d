//! Client for one model of an OpenAI-compatible provider.

use super::chunk_queue::Collector;
use super::client::HttpClient;
use super::models::Model;
use super::prepared_request::{self, PreparedRequest};
use super::reply::Reply;
use super::request_body::RequestBody;
use super::service::{Service, SharedReply};
use super::settings::{Api, Settings};
use super::timeouts::{Pulse, Timeouts};
use super::transport::{Transport, unwrap_error};
use super::unsupported_params::UnsupportedParams;
use super::{
    Error, Llm, ReplyStream, Secret, address, chat_collector, chat_request, client, context_window, models_request,
    responses, retry,
};
use crate::chat::{Chunk, Request};
use async_openai::traits::RequestOptionsBuilder;
use futures::stream::{self, StreamExt};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A model at an address. Cheap to create and to clone: nothing is read or connected before the first request.
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
        let timeouts = Timeouts::new(settings.idle_limit, settings.longest_wait);
        Self(Arc::new(Inner {
            settings,
            timeouts,
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
    /// The errors of a reply, without retries.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let list = async { models_request::request_models(&self.0.transport(Pulse::start_now()).await?).await };
        list.await.map_err(|error| self.0.settings.complete_error(error))
    }

    /// Requests the context window in tokens of this model, or of the first one if `model` is empty. Returns `None` on
    /// any error.
    pub async fn context_window(&self, model: &str) -> Option<u64> {
        let transport = self.0.transport(Pulse::start_now()).await.ok()?;
        context_window::request_context_window(&transport, model).await
    }
}

impl Llm for OpenAi {
    fn stream(&self, request: Request) -> ReplyStream {
        let inner = self.0.clone();
        let prepared = PreparedRequest::new(request, &inner.settings);
        let origin = prepared_request::echo_origin(&inner.settings, &prepared.model);
        let body = match inner.settings.api {
            Api::Chat => chat_request::build_chat_body(prepared),
            Api::Responses => responses::build_responses_body(prepared),
        };
        let prepared_body = Arc::new(PreparedBody { origin, body });
        retry::stream_with_retries(inner.timeouts.clone(), move |pulse| {
            inner.clone().stream_attempt(prepared_body.clone(), pulse.clone())
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
    origin: String,
    body: RequestBody,
}

impl Inner {
    /// Returns the HTTP client. The first caller builds it, which may read certificates; others wait for it.
    async fn http_client(&self, base: &reqwest::Url) -> Result<HttpClient, Error> {
        let options = || self.settings.connection.clone();
        self.client.get_or_try_init(|| client::spawn_build_client(base.clone(), options())).await.cloned()
    }

    async fn transport(&self, pulse: Pulse) -> Result<Transport, Error> {
        let (base, query) = self.settings.split_address()?;
        let http = self.http_client(&base).await?;
        let (headers, idle_limit) = (self.settings.build_headers()?, self.settings.idle_limit);
        Ok(Transport { http, base, query, headers, idle_limit, pulse })
    }

    fn stream_attempt(self: Arc<Self>, body: Arc<PreparedBody>, pulse: Pulse) -> ReplyStream {
        let chunks = {
            let inner = self.clone();
            async move {
                match inner.open_without_rejected_params(&body, pulse).await {
                    Ok(reply) => stream::unfold(reply, Reply::next_chunk).boxed(),
                    Err(error) => stream::iter([Err(error)]).boxed(),
                }
            }
        };
        let complete_error =
            move |item: Result<Chunk, Error>| item.map_err(|error| self.settings.complete_error(error));
        stream::once(chunks).flatten().map(complete_error).boxed()
    }

    /// Opens a reply. Repeats the request once if the provider rejects a parameter that can be omitted.
    async fn open_without_rejected_params(&self, prepared: &PreparedBody, pulse: Pulse) -> Result<Reply, Error> {
        let body = self.unsupported_params.remove_from(&prepared.body);
        match self.open_reply(&prepared.origin, &body, pulse.clone()).await {
            Err(error) if self.unsupported_params.record_rejection(&body, &error) => {
                self.open_reply(&prepared.origin, &self.unsupported_params.remove_from(&prepared.body), pulse).await
            }
            result => result,
        }
    }

    async fn open_reply(&self, origin: &str, body: &RequestBody, pulse: Pulse) -> Result<Reply, Error> {
        let transport = self.transport(pulse).await?;
        let shared_reply = SharedReply::new();
        let service = Service {
            transport: transport.clone(),
            shared: shared_reply.clone(),
            api: self.settings.api,
            conversation: body.conversation.clone(),
        };
        let headers = service.request_headers();
        let client = transport.openai_client(move |factory| service.clone().send(factory));
        let (origin, wants_reasoning) = (origin.to_owned(), self.settings.quirks.send_reasoning);
        let (events, collector): (_, Box<dyn Collector>) = match self.settings.api {
            Api::Chat => {
                let chat = client.chat().headers(headers).query(&transport.query).map_err(unwrap_error)?;
                let events = chat.create_stream_byot::<_, Value>(&body.parameters).await.map_err(unwrap_error)?;
                let collector = chat_collector::ChatCollector::for_origin(origin, wants_reasoning);
                (events, Box::new(collector))
            }
            Api::Responses => {
                let responses = client.responses().headers(headers).query(&transport.query).map_err(unwrap_error)?;
                let result = responses.create_stream_byot::<_, Value>(&body.parameters).await;
                let events = result.map_err(|error| responses::reclassify_error(unwrap_error(error)))?;
                let collector = responses::ResponsesCollector::for_origin(origin, wants_reasoning);
                (events, Box::new(collector))
            }
        };
        Ok(Reply::new(events, shared_reply, collector))
    }
}
