//! Optional request parameters that a provider rejected and that are omitted from then on. The conversation and the
//! tools are never among them.

use super::Error;
use super::request_body::RequestBody;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Parameters that can be omitted.
const OPTIONAL_PARAMETERS: [&str; 2] = ["stream_options", "parallel_tool_calls"];

/// Parameters omitted for one provider, until the program exits.
#[derive(Debug, Default)]
pub struct UnsupportedParams([AtomicBool; OPTIONAL_PARAMETERS.len()]);

impl UnsupportedParams {
    /// Returns the body without the omitted parameters.
    pub fn remove_from<'b>(&self, body: &'b RequestBody) -> Cow<'b, RequestBody> {
        if !self.0.iter().any(|spared| spared.load(Ordering::Relaxed)) {
            return Cow::Borrowed(body);
        }
        let mut body = body.clone();
        for (name, spared) in OPTIONAL_PARAMETERS.iter().zip(&self.0) {
            if spared.load(Ordering::Relaxed) {
                body.parameters.shift_remove(*name);
            }
        }
        Cow::Owned(body)
    }

    /// Records a parameter of this request as unsupported if the error names it. Returns whether it did.
    pub fn record_rejection(&self, sent: &RequestBody, error: &Error) -> bool {
        let Error::Provider { status: 400 | 422, message: words, .. } = error else { return false };
        let mut learned = false;
        for (name, spared) in OPTIONAL_PARAMETERS.iter().zip(&self.0) {
            if sent.parameters.get(*name).is_some() && words.contains(name) {
                spared.store(true, Ordering::Relaxed);
                learned = true;
            }
        }
        learned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn refuses(status: u16, words: &str) -> Error {
        Error::Provider { status, code: None, message: words.into(), retry_after: None }
    }

    fn written(parameters: Value) -> RequestBody {
        RequestBody::new(parameters.as_object().unwrap().clone(), "messages", ["said"].iter())
    }

    #[test]
    fn only_optional_parameters_rejected_by_name_are_omitted() {
        let body = written(json!({"stream": true, "stream_options": {}, "parallel_tool_calls": false, "tools": []}));
        for error in [
            refuses(400, "tools are not supported"),
            refuses(429, "stream_options"),
            refuses(500, "stream_options"),
            Error::ConnectionLost("stream_options".into()),
        ] {
            let spared = UnsupportedParams::default();
            assert!(!spared.record_rejection(&body, &error), "{error:?}");
            assert_eq!(spared.remove_from(&body).to_value(), body.to_value());
        }
        let spared = UnsupportedParams::default();
        assert!(spared.record_rejection(&body, &refuses(422, "Extra inputs are not permitted (body.stream_options)")));
        let less = written(json!({"stream": true, "parallel_tool_calls": false, "tools": []}));
        assert_eq!(spared.remove_from(&body).to_value(), less.to_value());
        assert!(
            !spared.record_rejection(&less, &refuses(400, "stream_options")),
            "a parameter that was not sent is not the cause"
        );
        assert!(spared.record_rejection(&less, &refuses(400, "unknown field \"parallel_tool_calls\"")));
        assert_eq!(spared.remove_from(&body).to_value(), json!({"stream": true, "tools": [], "messages": ["said"]}));
    }
}
