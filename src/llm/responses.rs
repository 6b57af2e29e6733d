//! The `responses` API, in which a reply is a list of items.
//!
//! Nothing is stored at the provider: every request contains the whole conversation. Encrypted reasoning is stored with
//! the reply and sent back before the calls it led to, to the same provider and model only.

mod item_writer;
mod items;
mod items_collector;
mod request;
mod slots;
#[cfg(test)]
mod tests;

pub use items_collector::ResponsesCollector;
pub use request::build_responses_body;

use super::Error;
use serde_json::Value;

/// Returns whether a complete body is a reply.
pub fn is_reply(body: &Value) -> bool {
    body.get("object").is_some_and(|object| object == "response") || body.get("output").is_some_and(Value::is_array)
}

/// Reclassifies a 404 or 405: a provider without the responses API is distinguished from an unknown model.
pub fn reclassify_error(error: Error) -> Error {
    match error {
        Error::Provider { status: status @ (404 | 405), code, message, retry_after } => {
            let text = format!("{} {message}", code.as_deref().unwrap_or_default()).to_lowercase();
            if ["model", "deployment", "item"].iter().any(|term| text.contains(term)) {
                return Error::Provider { status, code, message, retry_after };
            }
            let suffix = if message.is_empty() { message } else { format!(": {message}") };
            Error::InvalidReply(format!(
                "The provider has no responses API at this address ({status}{suffix}). Set `api` of the profile to \"chat\"."
            ))
        }
        error => error,
    }
}
