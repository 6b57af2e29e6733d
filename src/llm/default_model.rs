//! Uses a provider's first model if no model is configured.

use super::timeouts::Timeouts;
use super::{AuthProvider, Error, Llm, retry};
use crate::chat::{Chunk, Request};
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A provider whose first model is used for requests that name none. The model list is requested once, with the first
/// such request, and retried like any request.
#[derive(Debug, Clone)]
pub struct DefaultModel {
    service: AuthProvider,
    patience: Timeouts,
    name: Arc<OnceCell<String>>,
}

impl DefaultModel {
    /// Wraps a provider.
    pub fn for_provider(service: AuthProvider) -> Self {
        let patience = service.timeouts();
        Self { service, patience, name: Arc::default() }
    }

    async fn resolve_name(&self) -> Result<String, Error> {
        let first = || async {
            let mut models = self.service.models().await?;
            // Some providers list image or audio models first.
            let at = models.iter().position(|model| model.is_chat).unwrap_or(0);
            let none = || Error::InvalidReply("The provider lists no models. Name one with --model".to_owned());
            if models.is_empty() { Err(none()) } else { Ok(models.swap_remove(at).id) }
        };
        self.name.get_or_try_init(first).await.cloned()
    }

    /// Streams the retries of the model list and then the name of the model.
    fn stream_name(&self) -> BoxStream<'static, Result<Chunk, Error>> {
        let first = self.clone();
        retry::stream_with_retries(self.patience.clone(), move |_| {
            let first = first.clone();
            let named = async move { Ok(Chunk::ModelChosen { model: first.resolve_name().await?, instead: None }) };
            stream::once(named).boxed()
        })
    }
}

impl Llm for DefaultModel {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        if !request.model.is_empty() {
            return self.service.stream(request);
        }
        let first = self.clone();
        let replied = move |item| {
            let Ok(Chunk::ModelChosen { model, .. }) = &item else { return stream::iter([item]).boxed() };
            let reply = first.service.stream(Request { model: model.clone(), ..request.clone() });
            stream::iter([item]).chain(reply).boxed()
        };
        self.stream_name().flat_map(replied).boxed()
    }

    fn accepts_images(&self) -> bool {
        self.service.accepts_images()
    }

    fn end_wait(&self) {
        self.patience.end_waits();
        self.service.end_wait();
    }
}
