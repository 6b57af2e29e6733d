//! Language models: the [`Llm`] trait and the clients for providers.
//!
//! There are two APIs, each with its own request and its own events: chat completions (`chat_request`, `chat_events`,
//! `calls`, `chat_collector`, `echo`), which every provider supports, and `responses`. Everything else is shared.
//!
//! A request passes through `prepared_request` (adjusts the conversation for strict providers), the request module of
//! its API (builds async-openai's types) and `unsupported_params` (removes parameters that the provider rejected). An
//! async-openai client sends these parameters through the middleware `service`, which appends the conversation,
//! serialized separately (`request_body`).
//!
//! A reply passes through these modules, in this order: [`client`] (connection), `transport` (status), `response_body`
//! (bytes, decompressed by `decompression`), `service` (kind of response), `events` (complete events), async-openai's
//! stream, the modules of the API (events to chunks), `reply` (state of a reply), `retry` (retries after a wait, see
//! `timeouts`), [`openai`] (the model), `auth` (its key), `default_model` and [`fallback`] (choice between models).
//! `tests/wire/` records what real providers send.

pub mod address;
mod address_advice;
mod arguments;
pub mod auth;
mod calls;
mod certificate;
pub mod chat_collector;
mod chat_events;
mod chat_request;
mod chunk_queue;
pub mod client;
mod connection_error;
mod context_overflow;
mod context_window;
mod decompression;
pub mod default_model;
mod echo;
mod error;
mod error_response;
pub mod events;
pub mod fallback;
#[cfg(test)]
mod fuzz_tests;
pub mod key_command;
pub mod local_servers;
mod loopback;
pub mod models;
mod models_request;
pub mod openai;
mod other_choice;
mod prepared_request;
mod provider_error;
mod proxy;
mod reasoning_tags;
mod reply;
mod request_body;
mod response_body;
pub mod responses;
mod retry;
mod retry_after;
mod scheme_error;
pub mod scripted_model;
mod secret;
mod service;
mod settings;
mod simple_schema;
pub mod timeouts;
mod tolerant_json;
mod transport;
mod unreadable_events;
mod unsupported_params;

pub use auth::{AuthProvider, KeySource};
pub use default_model::DefaultModel;
pub use error::Error;
pub use fallback::Fallback;
pub use openai::OpenAi;
pub use secret::Secret;
pub use settings::{Api, Quirks, Settings};

use crate::chat::{Chunk, Request};
use futures::stream::BoxStream;

/// A reply as it is received: its chunks, then the end or an error.
pub type ReplyStream = BoxStream<'static, Result<Chunk, Error>>;

/// A model that streams replies.
pub trait Llm: Send + Sync {
    /// Requests one reply. The stream ends after [`Chunk::Done`] or the first error; dropping it closes the connection
    /// immediately. If it ends without either, the reply was truncated.
    fn stream(&self, request: Request) -> ReplyStream;

    /// Returns whether the model accepts images.
    fn accepts_images(&self) -> bool {
        false
    }

    /// Ends the current wait for a retry early, so that the retry starts immediately.
    fn end_wait(&self) {}
}
