//! A provider whose key may have to be requested before the first request.

use super::chunk_queue::is_visible;
use super::models::Model;
use super::timeouts::Timeouts;
use super::{Error, Llm, OpenAi, Secret, Settings, address};
use crate::chat::{Chunk, Request};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Host and header of the one provider whose model list needs the key in a separate header.
const SEPARATE_LIST_HEADER: (&str, &str) = ("api.anthropic.com", "x-api-key");

/// Source of a key, such as a command.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// Requests a new key. May take long, so it is never called on the UI thread.
    ///
    /// # Errors
    /// Returns one sentence for the user, without the key.
    async fn request_key(&self) -> Result<Secret, Error>;
}

/// A provider with its key. Cheap to create and to clone. The key is requested with the first request, kept in memory,
/// and requested once more if the provider rejects it.
#[derive(Clone)]
pub struct AuthProvider(Arc<Inner>);

struct Inner {
    settings: Settings,
    /// Source of the key. `None`: the settings contain the key, if any.
    source: Option<Arc<dyn KeySource>>,
    /// Provider with the last known key, and the number of key requests until then.
    known: Mutex<(Option<OpenAi>, u64)>,
    /// Held while a key is requested, so that concurrent requests share the result.
    key_lock: tokio::sync::Mutex<()>,
    /// Notified when a key arrives.
    key_arrived: tokio::sync::Notify,
}

impl AuthProvider {
    /// Creates a provider whose key, if any, is in its settings.
    pub fn with_settings(settings: Settings) -> Self {
        let ready = OpenAi::new(settings.clone());
        Self::new(settings, None, Some(ready))
    }

    /// Creates a provider whose key comes from `source`.
    pub fn with_key_source(settings: Settings, source: Arc<dyn KeySource>) -> Self {
        Self::new(settings, Some(source), None)
    }

    fn new(settings: Settings, source: Option<Arc<dyn KeySource>>, ready: Option<OpenAi>) -> Self {
        let known = Mutex::new((ready, 0));
        Self(Arc::new(Inner {
            settings,
            source,
            known,
            key_lock: tokio::sync::Mutex::default(),
            key_arrived: tokio::sync::Notify::new(),
        }))
    }

    /// Returns the timeouts of this provider, for requests other than replies.
    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts::new(self.0.settings.idle_limit, self.0.settings.longest_wait)
    }

    /// Requests the provider's models, in its own order.
    ///
    /// # Errors
    /// As for a reply, or the error of the key source.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let (service, asked) = self.provider_with_key().await?;
        match self.list_models(&service).await {
            Err(error) if is_key_rejected(&error) && self.0.source.is_some() => {
                let service = self.renew_key(asked).await?;
                self.list_models(&service).await
            }
            listed => listed,
        }
    }

    /// Prepares the first request; see [`OpenAi::prepare`]. Does nothing if the key is not known yet.
    pub async fn prepare(&self) {
        if let (Some(service), _) = self.known_provider() {
            service.prepare().await;
        }
    }

    /// Requests the context window of a model in tokens; see `OpenAi::context_window`. Waits until a key is known
    /// instead of requesting one.
    pub async fn window(&self, model: &str) -> Option<u64> {
        loop {
            // Registered before the check, so that a key arriving in between is not missed.
            let came = self.0.key_arrived.notified();
            match self.known_provider() {
                (Some(service), _) => return service.context_window(model).await,
                (None, _) => came.await,
            }
        }
    }

    async fn list_models(&self, service: &OpenAi) -> Result<Vec<Model>, Error> {
        let (host, header) = SEPARATE_LIST_HEADER;
        let url = address::parse_base_address(&self.0.settings.base_url)?;
        let key = service.key().filter(|_| url.host_str() == Some(host) && url.scheme() == "https");
        let Some(key) = key else { return service.models().await };
        let mut settings = self.0.settings.clone();
        settings.headers.push((header.to_owned(), key.clone()));
        settings.key = Some(key);
        OpenAi::new(settings).models().await
    }

    fn known_provider(&self) -> (Option<OpenAi>, u64) {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the provider with its key, and the number of key requests until then.
    async fn provider_with_key(&self) -> Result<(OpenAi, u64), Error> {
        match self.known_provider() {
            (Some(service), asked) => Ok((service, asked)),
            (None, asked) => Ok((self.renew_key(asked).await?, asked + 1)),
        }
    }

    /// Returns the provider with a key newer than request number `asked`.
    async fn renew_key(&self, asked: u64) -> Result<OpenAi, Error> {
        let _one = self.0.key_lock.lock().await;
        if let (Some(service), now) = self.known_provider()
            && now > asked
        {
            return Ok(service);
        }
        let mut settings = self.0.settings.clone();
        if let Some(source) = &self.0.source {
            settings.key = Some(source.request_key().await?);
        }
        let service = OpenAi::new(settings);
        *self.0.known.lock().unwrap_or_else(PoisonError::into_inner) = (Some(service.clone()), asked + 1);
        self.0.key_arrived.notify_waiters();
        Ok(service)
    }
}

impl fmt::Debug for AuthProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keyed").field(&self.0.settings).finish()
    }
}

fn is_key_rejected(error: &Error) -> bool {
    matches!(error.last_error(), Error::Provider { status: 401, .. })
}

impl Llm for AuthProvider {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        if self.0.source.is_none()
            && let (Some(service), _) = self.known_provider()
        {
            return service.stream(request);
        }
        let asking = PendingRequest { keyed: self.clone(), request, state: State::Unsent };
        stream::unfold(Some(asking), |asking| async move {
            let mut asking = asking?;
            let item = asking.next_chunk().await?;
            let over = item.is_err();
            Some((item, (!over).then_some(asking)))
        })
        .boxed()
    }

    fn accepts_images(&self) -> bool {
        self.0.settings.quirks.images
    }

    fn end_wait(&self) {
        if let (Some(service), _) = self.known_provider() {
            service.end_wait();
        }
    }
}

/// A request whose key may be rejected once.
struct PendingRequest {
    keyed: AuthProvider,
    request: Request,
    state: State,
}

enum State {
    /// Nothing was sent.
    Unsent,
    /// Reply with a key that may be outdated, and the number of key requests until then.
    First(BoxStream<'static, Result<Chunk, Error>>, u64),
    /// Final reply: part of it was shown, or its key is new.
    Last(BoxStream<'static, Result<Chunk, Error>>),
}

impl PendingRequest {
    async fn next_chunk(&mut self) -> Option<Result<Chunk, Error>> {
        loop {
            match &mut self.state {
                State::Unsent => match self.keyed.provider_with_key().await {
                    Ok((service, asked)) => {
                        self.state = State::First(service.stream(self.request.clone()), asked);
                    }
                    Err(error) => return Some(Err(error)),
                },
                State::First(reply, asked) => match reply.next().await? {
                    Err(error) if is_key_rejected(&error) => match self.keyed.renew_key(*asked).await {
                        Ok(service) => self.state = State::Last(service.stream(self.request.clone())),
                        Err(error) => return Some(Err(error)),
                    },
                    item => {
                        let seen = item.as_ref().is_ok_and(is_visible);
                        if seen && let State::First(reply, _) = std::mem::replace(&mut self.state, State::Unsent) {
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
