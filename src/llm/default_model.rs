//! Uses a provider's first chat model if no model is configured.

use super::timeouts::Timeouts;
use super::{AuthProvider, Error, Llm, ReplyStream, retry};
use crate::chat::{Chunk, Request};
use futures::stream::{self, StreamExt};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A provider whose first chat model is used for requests without a model. The model list is requested once, with
/// the first such request, and retried like any request.
#[derive(Debug, Clone)]
pub struct DefaultModel {
    provider: AuthProvider,
    timeouts: Timeouts,
    name: Arc<OnceCell<String>>,
}

impl DefaultModel {
    /// Wraps a provider.
    pub fn for_provider(provider: AuthProvider) -> Self {
        let timeouts = provider.timeouts();
        Self { provider, timeouts, name: Arc::default() }
    }

    async fn resolve_name(&self) -> Result<String, Error> {
        let request_first = || async {
            let mut models = self.provider.models().await?;
            // Some providers list image or audio models first.
            let index = models.iter().position(|model| model.is_chat).unwrap_or(0);
            let no_models_error =
                || Error::InvalidReply("The provider lists no models. Name one with --model".to_owned());
            if models.is_empty() { Err(no_models_error()) } else { Ok(models.swap_remove(index).id) }
        };
        self.name.get_or_try_init(request_first).await.cloned()
    }

    /// Streams the retries of the model list and then the name of the model.
    fn stream_name(&self) -> ReplyStream {
        let this = self.clone();
        retry::stream_with_retries(self.timeouts.clone(), move |_| {
            let this = this.clone();
            let name_chunk = async move { Ok(Chunk::ModelChosen { model: this.resolve_name().await?, reason: None }) };
            stream::once(name_chunk).boxed()
        })
    }
}

impl Llm for DefaultModel {
    fn stream(&self, request: Request) -> ReplyStream {
        if !request.model.is_empty() {
            return self.provider.stream(request);
        }
        let this = self.clone();
        let append_reply = move |item| {
            let Ok(Chunk::ModelChosen { model, .. }) = &item else { return stream::iter([item]).boxed() };
            let reply = this.provider.stream(Request { model: model.clone(), ..request.clone() });
            stream::iter([item]).chain(reply).boxed()
        };
        self.stream_name().flat_map(append_reply).boxed()
    }

    fn accepts_images(&self) -> bool {
        self.provider.accepts_images()
    }

    fn end_wait(&self) {
        self.timeouts.end_waits();
        self.provider.end_wait();
    }
}
