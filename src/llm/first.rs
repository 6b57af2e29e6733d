//! Uses a provider's first model if no model is configured.

use super::patience::Patience;
use super::{Error, Keyed, Llm, retry};
use crate::chat::{Chunk, Request};
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A provider whose first model is used for requests that name none. The model list is requested once, with the first
/// such request, and retried like any request.
#[derive(Debug, Clone)]
pub struct First {
    service: Keyed,
    patience: Patience,
    name: Arc<OnceCell<String>>,
}

impl First {
    /// Wraps a provider.
    pub fn of(service: Keyed) -> Self {
        let patience = service.patience();
        Self { service, patience, name: Arc::default() }
    }

    async fn name(&self) -> Result<String, Error> {
        let first = || async {
            let mut models = self.service.models().await?;
            // Some providers list image or audio models first.
            let at = models.iter().position(|model| model.talks).unwrap_or(0);
            let none = || Error::NotAModel("The provider lists no models. Name one with --model".to_owned());
            if models.is_empty() { Err(none()) } else { Ok(models.swap_remove(at).id) }
        };
        self.name.get_or_try_init(first).await.cloned()
    }

    /// Streams the retries of the model list and then the name of the model.
    fn naming(&self) -> BoxStream<'static, Result<Chunk, Error>> {
        let first = self.clone();
        retry::stream(self.patience.clone(), move |_| {
            let first = first.clone();
            let named = async move { Ok(Chunk::Answering { model: first.name().await?, instead: None }) };
            stream::once(named).boxed()
        })
    }
}

impl Llm for First {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        if !request.model.is_empty() {
            return self.service.stream(request);
        }
        let first = self.clone();
        let replied = move |item| {
            let Ok(Chunk::Answering { model, .. }) = &item else { return stream::iter([item]).boxed() };
            let reply = first.service.stream(Request { model: model.clone(), ..request.clone() });
            stream::iter([item]).chain(reply).boxed()
        };
        self.naming().flat_map(replied).boxed()
    }

    fn sees(&self) -> bool {
        self.service.sees()
    }

    fn hurry(&self) {
        self.patience.hurry();
        self.service.hurry();
    }
}
