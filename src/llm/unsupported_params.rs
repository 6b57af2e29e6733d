//! Optional request parameters that a provider rejected and that are omitted from then on. The conversation and the
//! tools are never among them.

use super::Error;
use super::request_body::RequestBody;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Parameters that can be omitted, as errors name them: a field of an object with a dot.
const OPTIONAL_PARAMETERS: [&str; 4] = ["stream_options", "parallel_tool_calls", "response_format", "text.format"];

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
        for (name, is_omitted) in OPTIONAL_PARAMETERS.iter().zip(&self.0) {
            if is_omitted.load(Ordering::Relaxed) {
                remove_parameter(&mut body.parameters, name);
            }
        }
        Cow::Owned(body)
    }

    /// Records as unsupported each optional parameter of this request that `error`, with status 400 or 422, names.
    /// Returns whether there is one.
    pub fn record_rejection(&self, request_body: &RequestBody, error: &Error) -> bool {
        let Error::Provider { status: 400 | 422, message, .. } = error else { return false };
        let mut has_recorded = false;
        for (name, is_omitted) in OPTIONAL_PARAMETERS.iter().zip(&self.0) {
            if has_parameter(&request_body.parameters, name) && message.contains(name) {
                is_omitted.store(true, Ordering::Relaxed);
                has_recorded = true;
            }
        }
        has_recorded
    }
}

fn has_parameter(parameters: &Map<String, Value>, name: &str) -> bool {
    match name.split_once('.') {
        Some((object, field)) => parameters.get(object).is_some_and(|object| object.get(field).is_some()),
        None => parameters.contains_key(name),
    }
}

/// Removes a parameter. The other fields of its object, which the user may have set, stay.
fn remove_parameter(parameters: &mut Map<String, Value>, name: &str) {
    let Some((object, field)) = name.split_once('.') else {
        parameters.shift_remove(name);
        return;
    };
    if let Some(Value::Object(fields)) = parameters.get_mut(object) {
        fields.shift_remove(field);
        if fields.is_empty() {
            parameters.shift_remove(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn a_rejected_format_leaves_the_other_settings_of_a_text() {
        let params = UnsupportedParams::default();
        let error = rejection(400, "Unsupported parameter: 'text.format'.");
        let body = request_body(json!({"text": {"format": {}, "verbosity": "low"}}));
        let smaller_body = request_body(json!({"text": {"verbosity": "low"}}));
        assert!(!params.record_rejection(&smaller_body, &error), "a parameter that was not sent is not the cause");
        assert!(params.record_rejection(&body, &error));
        assert_eq!(params.remove_from(&body).to_value(), smaller_body.to_value());
        let body = request_body(json!({"text": {"format": {}}}));
        assert_eq!(params.remove_from(&body).to_value(), json!({"messages": ["said"]}));
    }
}
