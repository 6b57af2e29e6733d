//! The model, whoever serves it.
//!
//! There are two ways to talk to a service, and each has a request of its own and reads its own events: chat
//! completions (`request`, `wire`, `calls`, `gather`, `echo`), which every service has, and `responses`. All else
//! they share.
//!
//! A request goes out through `ask` (the talk made so that strict services take it) and the `request` of its API,
//! without what the service was found to refuse (`spared`). A reply comes up through these files, in this order:
//! [`client`] (the connection), `body` (the answer's bytes, unpacked by `unpack`), `service` (what kind of answer it is),
//! `events` (whole events), async-openai's decoder, the API's own files (what an event says, gathered into whole
//! chunks), `reply` (what is received), `retry` (tried again where that is right, after a wait of [`patience`]),
//! [`openai`] (the model), [`keyed`] (its key), [`mod@first`] and [`fallback`] (which of several).
//! What real services send is written down in `tests/wire/`.

pub mod address;
mod arguments;
mod ask;
mod asked;
mod body;
mod calls;
mod certificate;
pub mod client;
mod echo;
pub mod events;
pub mod fallback;
mod fault;
pub mod first;
#[cfg(test)]
mod fuzz;
pub mod gather;
mod json;
pub mod keyed;
pub mod local;
mod misaddress;
pub mod models;
pub mod openai;
mod other_choice;
pub mod patience;
mod proxy;
mod reply;
mod request;
pub mod responses;
mod retry;
pub mod scripted;
mod secret;
mod service;
mod spared;
mod think;
mod too_long;
pub mod tour;
mod trust;
mod unpack;
mod unreadable;
mod window;
mod wire;
mod written;

pub use fallback::Fallback;
pub use first::First;
pub use keyed::{AskKey, Keyed};
pub use openai::{Api, OpenAi, Settings};
pub use scripted::Scripted;
pub use secret::Secret;

use crate::chat::{Chunk, Request};
use futures::stream::BoxStream;
use std::time::Duration;

/// A model that streams replies.
pub trait Llm: Send + Sync {
    /// Asks for one reply. The stream ends after [`Chunk::Done`] or after the first error; dropping it closes the
    /// connection at once. It may end without either: then the reply was cut short.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>>;

    /// Whether the model can be shown pictures.
    fn sees(&self) -> bool {
        false
    }

    /// Sends what waits to be sent again now, without waiting longer.
    fn hurry(&self) {}
}

/// What goes wrong with a model. The person reads it: one sentence each, with the service's own words in it and no
/// key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The service answered with an error.
    #[error("{}", service_sentence(*status, code.as_deref(), words, *retry_after))]
    Service {
        /// The HTTP status.
        status: u16,
        /// The service's own code, such as `insufficient_quota`.
        code: Option<String>,
        /// The service's words, bounded to a line or two.
        words: String,
        /// How long the service asks to wait.
        retry_after: Option<Duration>,
    },
    /// No connection could be made.
    #[error("Cannot connect to {origin}: {cause}. {}", advice(origin, cause))]
    Unreachable {
        /// Scheme, host and port.
        origin: String,
        /// The innermost cause.
        cause: String,
    },
    /// The connection was made, and what came over it was no answer.
    #[error("No answer from {origin}: {cause}{}", tls_advice(origin, cause))]
    Unanswered {
        /// Scheme, host and port.
        origin: String,
        /// The innermost cause.
        cause: String,
    },
    /// The proxy on the way made no connection. Trying again does not help.
    #[error("Cannot reach {origin}: {cause}.")]
    Proxy {
        /// Scheme, host and port of the provider.
        origin: String,
        /// Which proxy, set where, and what it did.
        cause: String,
    },
    /// The service could not show that it is who its address says. Trying again does not help.
    #[error("Cannot trust {origin}: {cause}.")]
    Untrusted {
        /// Scheme, host and port.
        origin: String,
        /// What is wrong with its certificate.
        cause: String,
    },
    /// The connection ended in the middle of a reply.
    #[error("the connection was lost in the middle of the reply: {0}")]
    Cut(String),
    /// Nothing came for this long.
    #[error("the service sent nothing for {} s (a profile's idle_seconds says how long to wait)", .0.as_secs())]
    Idle(Duration),
    /// The address of the provider or of a proxy is wrong. Trying again does not help.
    #[error("{0}.")]
    Misaddressed(String),
    /// The last of several attempts failed.
    #[error("{}. Gave up after {attempts} attempts.", last.to_string().trim_end_matches('.'))]
    Repeated {
        /// How many there were, at least two.
        attempts: u32,
        /// What went wrong in the last one.
        last: Box<Error>,
    },
    /// What came was not a stream of a model.
    #[error("{0}")]
    NotAModel(String),
    /// An error came inside the stream.
    #[error("the service reported an error in the middle of the reply: {0}")]
    InStream(String),
}

impl Error {
    /// What went wrong without what to do about it, as it is told before another attempt.
    pub fn reason(&self) -> String {
        match self {
            Self::Unreachable { origin, cause } => format!("Cannot connect to {origin}: {cause}"),
            Self::Unanswered { origin, cause } => format!("No answer from {origin}: {cause}"),
            other => other.to_string().trim_end_matches('.').to_owned(),
        }
    }

    /// What went wrong in the last attempt, if there were several.
    pub fn last(&self) -> &Self {
        if let Self::Repeated { last, .. } = self { last } else { self }
    }

    /// What went wrong, in words of ours alone: nothing in them came from a service.
    pub fn kind(&self) -> String {
        match self {
            Self::Service { status, .. } => format!("status {status}"),
            Self::Unreachable { .. } => "no connection".to_owned(),
            Self::Unanswered { .. } => "no answer".to_owned(),
            Self::Untrusted { .. } => "not trusted".to_owned(),
            Self::Proxy { .. } => "no way through the proxy".to_owned(),
            Self::Misaddressed(_) => "a wrong address".to_owned(),
            Self::Repeated { attempts, last } => format!("{} in {attempts} attempts", last.kind()),
            Self::Cut(_) => "cut in the middle".to_owned(),
            Self::Idle(limit) => format!("nothing for {} s", limit.as_secs()),
            Self::NotAModel(_) => "no stream of a model".to_owned(),
            Self::InStream(_) => "an error in the middle".to_owned(),
        }
    }
}

fn service_sentence(status: u16, code: Option<&str>, words: &str, retry_after: Option<Duration>) -> String {
    let seconds = |wait: Duration| wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    let wait = retry_after.filter(|wait| !wait.is_zero()).map(|wait| format!("{} s", seconds(wait)));
    let wait = match (wait, retry_after) {
        (Some(wait), Some(length)) if length > patience::WATCHED => Some(format!("{wait}{}", until(length))),
        (wait, _) => wait,
    };
    let what = match (status, &wait) {
        (200..=299, _) => "the service answered with an error",
        (300..=399, _) => "the service is somewhere else",
        (401, _) => "the service refused the key, or wants one",
        // A gateway that looks keys up in a database, and has none.
        (400, _) if code == Some("no_db_connection") => "the service refused the key, or wants one",
        (402, _) => "the service wants to be paid first",
        (403, _) => "the service does not allow this",
        (404, _) => "the service does not know this model or address",
        (408, _) => "the service took too long",
        (429, _) if retry::is_about_money(code, words) => "the account at the service is used up",
        (429, Some(wait)) => &format!("the service asks to wait {wait}"),
        (429, None) => "the service asks to wait",
        (500.., _) => "the service failed",
        _ => "the service refused the request",
    };
    let code = code.map(|code| format!(", {code}")).unwrap_or_default();
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    let wait = match wait {
        Some(wait) if status != 429 => format!(" (it asks to wait {wait})"),
        Some(_) | None => String::new(),
    };
    format!("{what} ({status}{code}){words}{wait}")
}

/// What to do if no connection can be made.
fn advice(origin: &str, cause: &str) -> &'static str {
    match cause {
        _ if retry::is_here(origin) && cause.to_lowercase().contains("refused") => {
            "The server is not running. Start it and ask again."
        }
        _ if cause.starts_with(fault::NO_HOST) => "Check its spelling and the network.",
        _ if cause == fault::SILENT && origin.starts_with("https:") => {
            "Check the address and the network. If the server does not speak TLS, use http:// in the address."
        }
        _ if cause.starts_with(fault::CLOSED) => {
            "If the server does not speak TLS, use http:// in the address."
        }
        _ => "Check the address and the network.",
    }
}

/// What to do if the server closed a connection without encryption: it may be waiting for some.
fn tls_advice(origin: &str, cause: &str) -> String {
    match origin.strip_prefix("http://").filter(|_| cause.starts_with(fault::CLOSED)) {
        Some(place) => format!(". If the port speaks TLS, use https://{place} in the address."),
        None => String::new(),
    }
}

/// A long wait as a moment; nothing where that lies beyond all calendars.
fn until(wait: Duration) -> String {
    let moment = jiff::Zoned::now().checked_add(wait);
    moment.map(|moment| moment.strftime(", until %Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}
