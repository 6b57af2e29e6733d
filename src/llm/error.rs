//! Errors of a model, as text for the user with advice.

use super::loopback::is_local_origin;
use super::timeouts;
use std::time::Duration;

/// Cause of a connection error if there was no response in time.
pub const NO_RESPONSE: &str = "it does not answer";
/// Prefix of the cause if the host name cannot be resolved.
pub const UNKNOWN_HOST: &str = "cannot resolve the host ";
/// Prefix of the cause if the server closed the connection before TLS was set up or before its response was complete.
pub const CONNECTION_CLOSED: &str = "the server closed the connection";

/// Summary of an error response about the key.
const KEY_REJECTED: &str = "The provider rejected the key or requires one";

/// Errors of a model. The text is for the user: it contains the provider's own text and no key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The provider returned an error response.
    #[error("{}", describe_response_with_advice(*status, code.as_deref(), message, *retry_after))]
    Provider {
        status: u16,
        /// Error code of the provider, such as `insufficient_quota`.
        code: Option<String>,
        /// Error text of the provider, truncated to a line or two.
        message: String,
        /// Wait requested by the provider.
        retry_after: Option<Duration>,
    },
    /// The provider rejected a request without a key.
    #[error("{}. {hint}", describe_missing_key(rejection))]
    MissingKey {
        /// The error response.
        rejection: Box<Error>,
        /// Why no key was sent, and how to provide one.
        hint: String,
    },
    /// The connection could not be established.
    #[error("Cannot connect to {origin}: {cause}. {}", connection_advice(origin, cause))]
    Unreachable {
        /// Scheme, host and port.
        origin: String,
        /// The innermost cause.
        cause: String,
    },
    /// The connection was established, but there was no valid response.
    #[error("No answer from {origin}: {cause}. {}", response_loss_advice(origin, cause))]
    NoResponse {
        /// Scheme, host and port.
        origin: String,
        /// The innermost cause.
        cause: String,
    },
    /// The proxy did not connect. Not retried.
    #[error("Cannot reach {origin}: {cause}.")]
    Proxy {
        /// Scheme, host and port of the provider.
        origin: String,
        /// Address of the proxy, the setting it comes from, and the reason.
        cause: String,
    },
    /// The certificate of the provider is not trusted. Not retried.
    #[error("Cannot trust {origin}: {cause}.")]
    Untrusted {
        /// Scheme, host and port.
        origin: String,
        /// Reason from the TLS library, for the user.
        cause: String,
    },
    /// The connection was lost during a reply.
    #[error("The connection was lost during the reply: {0}")]
    ConnectionLost(String),
    /// No data arrived for this long.
    #[error("The provider sent no data for {} s. To wait longer, increase `idle_seconds` of the profile.", .0.as_secs())]
    Idle(Duration),
    /// The address of the provider or of a proxy is invalid. Not retried.
    #[error("{0}.")]
    InvalidAddress(String),
    /// The last of several attempts failed, for the reason `last`.
    #[error("{}", describe_exhausted_retries(*attempts, last))]
    RetriesExhausted {
        /// Number of attempts, at least two.
        attempts: u32,
        /// Error of the last attempt.
        last: Box<Error>,
    },
    /// The response was not a reply of a model, or no request could be made with the settings of the profile.
    #[error("{0}")]
    InvalidReply(String),
    /// The provider reported an error inside the stream.
    #[error("The provider reported an error during the reply: {0}")]
    InStream(String),
}

impl Error {
    /// Returns the error text without advice, for display before a retry.
    pub fn reason_text(&self) -> String {
        match self {
            Self::Unreachable { origin, cause } => format!("Cannot connect to {origin}: {cause}"),
            Self::NoResponse { origin, cause } => format!("No answer from {origin}: {cause}"),
            Self::Provider { status, code, message, retry_after } => {
                let sentence = describe_response(*status, code.as_deref(), message, *retry_after);
                sentence.trim_end_matches('.').to_owned()
            }
            Self::MissingKey { rejection, .. } => describe_missing_key(rejection),
            error => error.to_string().trim_end_matches('.').to_owned(),
        }
    }

    /// Returns the innermost error: of the last attempt if there were several, and without the hint about a missing
    /// key.
    pub fn last_error(&self) -> &Self {
        match self {
            Self::RetriesExhausted { last: error, .. } | Self::MissingKey { rejection: error, .. } => {
                error.last_error()
            }
            error => error,
        }
    }

    /// Returns a short description without any text from a provider, for the journal.
    pub fn kind_name(&self) -> String {
        match self {
            Self::Provider { status, .. } => format!("status {status}"),
            Self::MissingKey { rejection, .. } => rejection.kind_name(),
            Self::Unreachable { .. } => "no connection".to_owned(),
            Self::NoResponse { .. } => "no answer".to_owned(),
            Self::Untrusted { .. } => "untrusted certificate".to_owned(),
            Self::Proxy { .. } => "proxy error".to_owned(),
            Self::InvalidAddress(_) => "invalid address".to_owned(),
            Self::RetriesExhausted { attempts, last } => {
                format!("{} in {attempts} attempts", last.kind_name())
            }
            Self::ConnectionLost(_) => "connection lost".to_owned(),
            Self::Idle(limit) => format!("no data for {} s", limit.as_secs()),
            Self::InvalidReply(_) => "unreadable reply".to_owned(),
            Self::InStream(_) => "error during the reply".to_owned(),
        }
    }
}

/// Describes an error response, with advice if there is any.
fn describe_response_with_advice(
    status: u16,
    code: Option<&str>,
    message: &str,
    retry_after: Option<Duration>,
) -> String {
    let sentence = describe_response(status, code, message, retry_after);
    match response_advice(status, code, message) {
        Some(advice) => format!("{}. {advice}", sentence.trim_end_matches('.')),
        None => sentence,
    }
}

/// Returns what the user can do about an error response; `None` if only its own text may say that, or already does.
fn response_advice(status: u16, code: Option<&str>, message: &str) -> Option<&'static str> {
    Some(match status {
        _ if is_key_error(status, code) => "Check the key of the profile.",
        402 => "Add credit at the provider, or use another profile.",
        403 => "Check the request and what the key permits.",
        // Advice about the address is part of the message.
        404 if message.contains("the address") => return None,
        404 => "Check the model with `aye models`, and the address.",
        429 if is_quota_error(code, message) => "Add credit at the provider, or use another profile.",
        408 | 429 | 500.. => "Try again later, or use another profile.",
        _ => return None,
    })
}

/// Describes the last of several attempts, with its advice at the end.
fn describe_exhausted_retries(attempts: u32, last: &Error) -> String {
    let (reason, full) = (last.reason_text(), last.to_string());
    let advice = full.strip_prefix(&reason).unwrap_or_default().trim_start_matches(['.', ' ']);
    format!("{reason}. Gave up after {attempts} attempts. {advice}").trim_end().to_owned()
}

/// Describes a rejection of a request without a key, without a full stop.
fn describe_missing_key(rejection: &Error) -> String {
    let text = rejection.reason_text();
    match text.strip_prefix(KEY_REJECTED) {
        Some(details) => format!("The provider requires a key{details}"),
        None => text,
    }
}

/// Returns whether the key is wrong or missing. A gateway that looks keys up in a missing database reports a 400.
fn is_key_error(status: u16, code: Option<&str>) -> bool {
    status == 401 || (status == 400 && code == Some("no_db_connection"))
}

fn describe_response(status: u16, code: Option<&str>, message: &str, retry_after: Option<Duration>) -> String {
    let ceil_seconds = |wait: Duration| wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    let wait = retry_after.filter(|wait| !wait.is_zero()).map(|wait| format!("{} s", ceil_seconds(wait)));
    let wait = match (wait, retry_after) {
        (Some(wait), Some(length)) if length > timeouts::INTERACTIVE_MAX_WAIT => {
            Some(format!("{wait}{}", format_end_of_wait(length)))
        }
        (wait, _) => wait,
    };
    let summary = match (status, &wait) {
        (200..=299, _) => "The provider returned an error",
        (300..=399, _) => "The provider redirected the request",
        _ if is_key_error(status, code) => KEY_REJECTED,
        (402, _) => "The provider requires payment",
        (403, _) => "The provider denied access",
        (404, _) => "The provider does not know this model or address",
        (408, _) => "The provider timed out",
        (429, _) if is_quota_error(code, message) => "The account at the provider has no quota left",
        (429, Some(wait)) => &format!("The provider asks to wait {wait}"),
        (429, None) => "The provider asks to wait",
        (500.., _) => "The provider failed",
        _ => "The provider rejected the request",
    };
    let code = code.map(|code| format!(", {code}")).unwrap_or_default();
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    let wait = wait.filter(|_| status != 429).map(|wait| format!(" (it asks to wait {wait})")).unwrap_or_default();
    format!("{summary} ({status}{code}){message}{wait}")
}

/// Returns advice for an error that prevented a connection.
fn connection_advice(origin: &str, cause: &str) -> &'static str {
    match cause {
        _ if is_local_origin(origin) && cause.to_lowercase().contains("refused") => {
            "The server is not running, or the address is wrong. Start it, or correct the address."
        }
        _ if cause.starts_with(UNKNOWN_HOST) => "Check its spelling and the network.",
        _ if cause == NO_RESPONSE && origin.starts_with("https:") => {
            "Check the address and the network. If the server does not speak TLS, use http:// in the address."
        }
        _ if cause.starts_with(CONNECTION_CLOSED) => "If the server does not speak TLS, use http:// in the address.",
        _ => "Check the address and the network.",
    }
}

/// Returns advice for a connection without a valid response. A server that closes or resets an unencrypted connection may
/// expect TLS.
fn response_loss_advice(origin: &str, cause: &str) -> String {
    let is_closed = cause.starts_with(CONNECTION_CLOSED) || cause.to_lowercase().contains("connection reset");
    let host = origin.strip_prefix("http://").filter(|_| is_closed);
    match host {
        Some(host) => format!("If the port speaks TLS, use https://{host} in the address."),
        None => "Check the address and the network.".to_owned(),
    }
}

/// Formats the end of a long wait. Empty if the date is out of range.
fn format_end_of_wait(wait: Duration) -> String {
    let end = jiff::Zoned::now().checked_add(wait);
    end.map(|moment| moment.strftime(", until %Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}

/// Returns whether the account has no quota left. Providers report that with the status of a rate limit, but waiting
/// does not help.
pub(super) fn is_quota_error(code: Option<&str>, message: &str) -> bool {
    let text = format!("{} {message}", code.unwrap_or_default()).to_lowercase();
    ["insufficient", "quota", "billing", "credit", "balance"].iter().any(|phrase| text.contains(phrase))
}
