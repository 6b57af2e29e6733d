//! A service whose key may have to be asked for first, when something is about to be sent.

use super::gather::is_visible;
use super::models::Model;
use super::patience::Patience;
use super::{Error, Llm, OpenAi, Secret, Settings, address};
use crate::chat::{Chunk, Request};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The one service whose list of models wants the key in a header of its own, while its chat takes it as all do.
const LISTS_APART: (&str, &str) = ("api.anthropic.com", "x-api-key");

/// Whoever knows a key.
#[async_trait]
pub trait AskKey: Send + Sync {
    /// Asks for the key anew. May take its time: it is never called where a screen waits.
    ///
    /// # Errors
    /// One sentence for the person, without the key.
    async fn ask(&self) -> Result<Secret, Error>;
}

/// A service with its key. Cheap to make and to clone; the key is asked for with the first request, kept in memory, and
/// asked for once more where the service refuses it.
#[derive(Clone)]
pub struct Keyed(Arc<Inner>);

struct Inner {
    settings: Settings,
    /// Where the key comes from; without it, the settings hold what there is.
    source: Option<Arc<dyn AskKey>>,
    /// The service with the key known last, and how often a key was asked for by then.
    known: Mutex<(Option<OpenAi>, u64)>,
    /// Held while somebody asks, so that all others wait for the one answer.
    asks: tokio::sync::Mutex<()>,
    /// Told when a key came.
    came: tokio::sync::Notify,
}

impl Keyed {
    /// A service whose key, where it has one, is among its settings.
    pub fn of(settings: Settings) -> Self {
        let ready = OpenAi::new(settings.clone());
        Self::new(settings, None, Some(ready))
    }

    /// A service whose key is asked for.
    pub fn asking(settings: Settings, source: Arc<dyn AskKey>) -> Self {
        Self::new(settings, Some(source), None)
    }

    fn new(settings: Settings, source: Option<Arc<dyn AskKey>>, ready: Option<OpenAi>) -> Self {
        let known = Mutex::new((ready, 0));
        Self(Arc::new(Inner {
            settings,
            source,
            known,
            asks: tokio::sync::Mutex::default(),
            came: tokio::sync::Notify::new(),
        }))
    }

    /// How long this service is waited for, for whoever asks it something beside a reply.
    pub(super) fn patience(&self) -> Patience {
        Patience::new(self.0.settings.idle, self.0.settings.longest_wait)
    }

    /// The models that the service offers, in its own order.
    ///
    /// # Errors
    /// As for a reply; or the sentence of whoever knows the key.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let (service, asked) = self.service().await?;
        match self.list(&service).await {
            Err(error) if is_refused(&error) && self.0.source.is_some() => {
                let service = self.anew(asked).await?;
                self.list(&service).await
            }
            listed => listed,
        }
    }

    /// Reads what has to be read before the first request; see [`OpenAi::prepare`]. Nothing where the key is still to be
    /// asked for.
    pub async fn prepare(&self) {
        if let (Some(service), _) = self.known() {
            service.prepare().await;
        }
    }

    /// Tokens that fit into a request to this model, as the service says; see [`OpenAi::window`]. A key is not asked
    /// for because of it: the answer comes once there is one.
    pub async fn window(&self, model: &str) -> Option<u64> {
        loop {
            // Made before looking, so that a key that comes in between is not missed.
            let came = self.0.came.notified();
            match self.known() {
                (Some(service), _) => return service.window(model).await,
                (None, _) => came.await,
            }
        }
    }

    async fn list(&self, service: &OpenAi) -> Result<Vec<Model>, Error> {
        let (host, header) = LISTS_APART;
        let url = address::parse(&self.0.settings.base_url)?;
        let key = service.key().filter(|_| url.host_str() == Some(host) && url.scheme() == "https");
        let Some(key) = key else { return service.models().await };
        let mut settings = self.0.settings.clone();
        settings.headers.push((header.to_owned(), key.clone()));
        settings.key = Some(key);
        OpenAi::new(settings).models().await
    }

    fn known(&self) -> (Option<OpenAi>, u64) {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The service with its key, and how often a key was asked for by then.
    async fn service(&self) -> Result<(OpenAi, u64), Error> {
        match self.known() {
            (Some(service), asked) => Ok((service, asked)),
            (None, asked) => Ok((self.anew(asked).await?, asked + 1)),
        }
    }

    /// The service with a key that is newer than this one.
    async fn anew(&self, asked: u64) -> Result<OpenAi, Error> {
        let _one = self.0.asks.lock().await;
        if let (Some(service), now) = self.known()
            && now > asked
        {
            return Ok(service);
        }
        let mut settings = self.0.settings.clone();
        if let Some(source) = &self.0.source {
            settings.key = Some(source.ask().await?);
        }
        let service = OpenAi::new(settings);
        *self.0.known.lock().unwrap_or_else(PoisonError::into_inner) = (Some(service.clone()), asked + 1);
        self.0.came.notify_waiters();
        Ok(service)
    }
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keyed").field(&self.0.settings).finish()
    }
}

fn is_refused(error: &Error) -> bool {
    matches!(error.last(), Error::Service { status: 401, .. })
}

impl Llm for Keyed {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        if self.0.source.is_none()
            && let (Some(service), _) = self.known()
        {
            return service.stream(request);
        }
        let asking = Asking { keyed: self.clone(), request, state: State::Before };
        stream::unfold(Some(asking), |asking| async move {
            let mut asking = asking?;
            let item = asking.next().await?;
            let over = item.is_err();
            Some((item, (!over).then_some(asking)))
        })
        .boxed()
    }

    fn sees(&self) -> bool {
        self.0.settings.images
    }

    fn hurry(&self) {
        if let (Some(service), _) = self.known() {
            service.hurry();
        }
    }
}

/// A request whose key may be refused once.
struct Asking {
    keyed: Keyed,
    request: Request,
    state: State,
}

enum State {
    /// Nothing was sent.
    Before,
    /// The reply with a key that may be an old one, and how often one was asked for by then.
    First(BoxStream<'static, Result<Chunk, Error>>, u64),
    /// A reply that is what it is: something of it was seen, or its key is new.
    Last(BoxStream<'static, Result<Chunk, Error>>),
}

impl Asking {
    async fn next(&mut self) -> Option<Result<Chunk, Error>> {
        loop {
            match &mut self.state {
                State::Before => match self.keyed.service().await {
                    Ok((service, asked)) => {
                        self.state = State::First(service.stream(self.request.clone()), asked);
                    }
                    Err(error) => return Some(Err(error)),
                },
                State::First(reply, asked) => match reply.next().await? {
                    Err(error) if is_refused(&error) => match self.keyed.anew(*asked).await {
                        Ok(service) => self.state = State::Last(service.stream(self.request.clone())),
                        Err(error) => return Some(Err(error)),
                    },
                    item => {
                        let seen = item.as_ref().is_ok_and(is_visible);
                        if seen
                            && let State::First(reply, _) = std::mem::replace(&mut self.state, State::Before)
                        {
                            self.state = State::Last(reply);
                        }
                        return Some(item);
                    }
                },
                State::Last(reply) => return reply.next().await,
            }
        }
    }
}
