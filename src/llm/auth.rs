//! A provider whose key may have to be requested before the first request.

use super::chunk_queue::is_visible;
use super::models::Model;
use super::timeouts::Timeouts;
use super::{Error, Llm, OpenAi, ReplyStream, Secret, Settings, address};
use crate::chat::{Chunk, Request};
use async_trait::async_trait;
use futures::stream::{self, StreamExt};
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
        let provider = OpenAi::new(settings.clone());
        Self::new(settings, None, Some(provider))
    }

    /// Creates a provider whose key comes from `source`.
    pub fn with_key_source(settings: Settings, source: Arc<dyn KeySource>) -> Self {
        Self::new(settings, Some(source), None)
    }

    fn new(settings: Settings, source: Option<Arc<dyn KeySource>>, provider: Option<OpenAi>) -> Self {
        let known = Mutex::new((provider, 0));
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
        let (provider, request_count) = self.provider_with_key().await?;
        match self.list_models(&provider).await {
            Err(error) if is_key_rejected(&error) && self.0.source.is_some() => {
                let provider = self.renew_key(request_count).await?;
                self.list_models(&provider).await
            }
            result => result,
        }
    }

    /// Prepares the first request; see [`OpenAi::prepare`]. Does nothing if the key is not known yet.
    pub async fn prepare(&self) {
        if let (Some(provider), _) = self.known_provider() {
            provider.prepare().await;
        }
    }

    /// Requests the context window of a model in tokens; see `OpenAi::context_window`. Waits until a key is known
    /// instead of requesting one.
    pub async fn request_context_window(&self, model: &str) -> Option<u64> {
        loop {
            // Registered before the check, so that a key arriving in between is not missed.
            let key_arrived = self.0.key_arrived.notified();
            match self.known_provider() {
                (Some(provider), _) => return provider.context_window(model).await,
                (None, _) => key_arrived.await,
            }
        }
    }

    async fn list_models(&self, provider: &OpenAi) -> Result<Vec<Model>, Error> {
        let (host, header) = SEPARATE_LIST_HEADER;
        let url = address::parse_base_address(&self.0.settings.base_url)?;
        let key = provider.key().filter(|_| url.host_str() == Some(host) && url.scheme() == "https");
        let Some(key) = key else { return provider.models().await };
        let mut settings = self.0.settings.clone();
        settings.headers.push((header.to_owned(), key.clone()));
        settings.key = Some(key);
        OpenAi::new(settings).models().await
    }

    /// Returns the provider with the last known key, if any, and the number of key requests until then.
    fn known_provider(&self) -> (Option<OpenAi>, u64) {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the provider with its key, and the number of key requests until then.
    async fn provider_with_key(&self) -> Result<(OpenAi, u64), Error> {
        match self.known_provider() {
            (Some(provider), request_count) => Ok((provider, request_count)),
            (None, request_count) => Ok((self.renew_key(request_count).await?, request_count + 1)),
        }
    }

    /// Returns the provider with a newer key than the one known after `request_count` key requests. Requests the key
    /// unless a concurrent caller has done so.
    async fn renew_key(&self, request_count: u64) -> Result<OpenAi, Error> {
        let _guard = self.0.key_lock.lock().await;
        if let (Some(provider), current_count) = self.known_provider()
            && current_count > request_count
        {
            return Ok(provider);
        }
        let mut settings = self.0.settings.clone();
        if let Some(source) = &self.0.source {
            settings.key = Some(source.request_key().await?);
        }
        let provider = OpenAi::new(settings);
        *self.0.known.lock().unwrap_or_else(PoisonError::into_inner) = (Some(provider.clone()), request_count + 1);
        self.0.key_arrived.notify_waiters();
        Ok(provider)
    }
}

impl fmt::Debug for AuthProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuthProvider").field(&self.0.settings).finish()
    }
}

fn is_key_rejected(error: &Error) -> bool {
    matches!(error.last_error(), Error::Provider { status: 401, .. })
}

impl Llm for AuthProvider {
    fn stream(&self, request: Request) -> ReplyStream {
        if self.0.source.is_none()
            && let (Some(provider), _) = self.known_provider()
        {
            return provider.stream(request);
        }
        let provider = self.clone();
        let reply = async move {
            let (known, request_count) = match provider.provider_with_key().await {
                Ok(known) => known,
                Err(error) => return stream::iter([Err(error)]).boxed(),
            };
            let (reply, request_count) = (known.stream(request.clone()), Some(request_count));
            let reply = AuthReply { provider, request, reply, request_count };
            stream::unfold(reply, |mut reply| async move { Some((reply.next_chunk().await?, reply)) }).boxed()
        };
        stream::once(reply).flatten().boxed()
    }

    fn accepts_images(&self) -> bool {
        self.0.settings.quirks.images
    }

    fn end_wait(&self) {
        if let (Some(provider), _) = self.known_provider() {
            provider.end_wait();
        }
    }
}

/// A reply whose key may be rejected once.
struct AuthReply {
    provider: AuthProvider,
    request: Request,
    reply: ReplyStream,
    /// Number of key requests until the key of this reply; `None` if part of the reply was shown, or the key is new.
    request_count: Option<u64>,
}

impl AuthReply {
    async fn next_chunk(&mut self) -> Option<Result<Chunk, Error>> {
        let item = self.reply.next().await?;
        if item.as_ref().is_ok_and(is_visible) {
            self.request_count = None;
        }
        if item.as_ref().is_err_and(is_key_rejected)
            && let Some(request_count) = self.request_count.take()
        {
            match self.provider.renew_key(request_count).await {
                Ok(provider) => self.reply = provider.stream(self.request.clone()),
                Err(error) => return Some(Err(error)),
            }
            return self.reply.next().await;
        }
        Some(item)
    }
}
