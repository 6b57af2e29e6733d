//! The other way to talk to a service: `responses`, in which a reply is a list of items.
//!
//! Nothing is kept at the service: every request holds the whole talk. Reasoning that a service hands out only sealed
//! is kept with the reply and sent back, in its place before the calls it led to, to that service and model alone.

mod gather;
mod items;
mod request;
mod slots;
#[cfg(test)]
mod tests;

pub use gather::Gather;
pub use request::body;

use super::Error;
use serde_json::Value;

/// Whether a body that came in one piece is a reply.
pub fn is_reply(body: &Value) -> bool {
    body.get("object").is_some_and(|object| object == "response")
        || body.get("output").is_some_and(Value::is_array)
}

/// What an error means here: a service that has only chat completions is told from one that does not know the model.
pub fn understand(error: Error) -> Error {
    match error {
        Error::Service { status: status @ (404 | 405), code, words, retry_after } => {
            let said = format!("{} {words}", code.as_deref().unwrap_or_default()).to_lowercase();
            if ["model", "deployment", "item"].iter().any(|word| said.contains(word)) {
                return Error::Service { status, code, words, retry_after };
            }
            let words = if words.is_empty() { words } else { format!(": {words}") };
            Error::NotAModel(format!(
                "the service has no responses API at this address; set the profile's api to \"chat\" ({status}{words})"
            ))
        }
        other => other,
    }
}
