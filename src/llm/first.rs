//! A service of which no model was named: its first is taken.

use super::patience::Patience;
use super::{Error, Keyed, Llm, retry};
use crate::chat::{Chunk, Request};
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A service whose first model answers where a request names none, and which says so. It is asked for its models
/// once, with the first such request, and again like any request where that may help.
#[derive(Debug, Clone)]
pub struct First {
    service: Keyed,
    patience: Patience,
    name: Arc<OnceCell<String>>,
}

impl First {
    /// The first model of this service.
    pub fn of(service: Keyed) -> Self {
        let patience = service.patience();
        Self { service, patience, name: Arc::default() }
    }

    async fn name(&self) -> Result<String, Error> {
        let first = || async {
            let mut models = self.service.models().await?;
            // Some services begin their list with models that only draw or listen.
            let at = models.iter().position(|model| model.talks).unwrap_or(0);
            let none = || Error::NotAModel("the service lists no model; name one with --model".to_owned());
            if models.is_empty() { Err(none()) } else { Ok(models.swap_remove(at).id) }
        };
        self.name.get_or_try_init(first).await.cloned()
    }

    /// The name of the model that answers, after whatever is to be said until it is known.
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
