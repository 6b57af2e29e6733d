//! A service of which no model was named: its first is taken.

use super::{Error, Llm, OpenAi};
use crate::chat::{Chunk, Request};
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A service whose first model answers where a request names none. It is asked for its models once, with the first
/// such request.
#[derive(Debug, Clone)]
pub struct First {
    service: OpenAi,
    name: Arc<OnceCell<String>>,
}

impl First {
    /// The first model of this service.
    pub fn of(service: OpenAi) -> Self {
        Self { service, name: Arc::default() }
    }

    async fn name(&self) -> Result<String, Error> {
        let first = || async {
            let models = self.service.models().await?;
            let none = || Error::NotAModel("the service lists no model; name one with --model".to_owned());
            models.into_iter().next().map(|model| model.id).ok_or_else(none)
        };
        self.name.get_or_try_init(first).await.cloned()
    }
}

impl Llm for First {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        if !request.model.is_empty() {
            return self.service.stream(request);
        }
        let first = self.clone();
        let named = async move {
            match first.name().await {
                Ok(model) => first.service.stream(Request { model, ..request }),
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        };
        stream::once(named).flatten().boxed()
    }
}
