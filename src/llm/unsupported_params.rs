//! Optional request parameters that a provider rejected and that are omitted from then on. The conversation and the
//! tools are never among them.

use super::Error;
use super::request_body::RequestBody;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Parameters that can be omitted, each with the name that an error has for it.
const OPTIONAL_PARAMETERS: [(&str, &str); 4] = [
    ("stream_options", "stream_options"),
    ("parallel_tool_calls", "parallel_tool_calls"),
    ("response_format", "response_format"),
    ("text", "text.format"),
];

/// Parameters omitted for one provider, until the program exits.
#[derive(Debug, Default)]
pub struct UnsupportedParams([AtomicBool; OPTIONAL_PARAMETERS.len()]);

impl UnsupportedParams {
    /// Returns the body without the omitted parameters.
    pub fn remove_from<'b>(&self, body: &'b RequestBody) -> Cow<'b, RequestBody> {
        if !self.0.iter().any(|is_omitted| is_omitted.load(Ordering::Relaxed)) {
            return Cow::Borrowed(body);
        }
        let mut body = body.clone();
        for ((name, _), is_omitted) in OPTIONAL_PARAMETERS.iter().zip(&self.0) {
            if is_omitted.load(Ordering::Relaxed) {
                body.parameters.shift_remove(*name);
            }
        }
        Cow::Owned(body)
    }

    /// Records as unsupported each optional parameter of this request that `error`, with status 400 or 422, names.
    /// Returns whether there is one.
    pub fn record_rejection(&self, request_body: &RequestBody, error: &Error) -> bool {
        let Error::Provider { status: 400 | 422, message, .. } = error else { return false };
        let mut has_recorded = false;
        for ((name, mention), is_omitted) in OPTIONAL_PARAMETERS.iter().zip(&self.0) {
            if request_body.parameters.get(*name).is_some() && message.contains(mention) {
                is_omitted.store(true, Ordering::Relaxed);
                has_recorded = true;
            }
        }
        has_recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rejection(status: u16, message: &str) -> Error {
        Error::Provider { status, code: None, message: message.into(), retry_after: None }
    }

    fn request_body(parameters: Value) -> RequestBody {
        RequestBody::new(parameters.as_object().unwrap().clone(), "messages", ["said"].iter())
    }

    #[test]
    fn only_optional_parameters_rejected_by_name_are_omitted() {
        let body =
            request_body(json!({"stream": true, "stream_options": {}, "parallel_tool_calls": false, "tools": []}));
        for error in [
            rejection(400, "tools are not supported"),
            rejection(429, "stream_options"),
            rejection(500, "stream_options"),
            Error::ConnectionLost("stream_options".into()),
        ] {
            let params = UnsupportedParams::default();
            assert!(!params.record_rejection(&body, &error), "{error:?}");
            assert_eq!(params.remove_from(&body).to_value(), body.to_value());
        }
        let params = UnsupportedParams::default();
        assert!(
            params.record_rejection(&body, &rejection(422, "Extra inputs are not permitted (body.stream_options)"))
        );
        let smaller_body = request_body(json!({"stream": true, "parallel_tool_calls": false, "tools": []}));
        assert_eq!(params.remove_from(&body).to_value(), smaller_body.to_value());
        assert!(
            !params.record_rejection(&smaller_body, &rejection(400, "stream_options")),
            "a parameter that was not sent is not the cause"
        );
        assert!(params.record_rejection(&smaller_body, &rejection(400, "unknown field \"parallel_tool_calls\"")));
        assert_eq!(params.remove_from(&body).to_value(), json!({"stream": true, "tools": [], "messages": ["said"]}));
    }
}
