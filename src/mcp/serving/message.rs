//! Messages of JSON-RPC 2.0: parses those of the client, and builds those to it.

use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use crate::text::unique_keys::parse_unique;
use serde_json::{Value, json};

/// Codes of errors, from JSON-RPC.
pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const UNKNOWN_METHOD: i32 = -32601;
pub const INVALID_PARAMETERS: i32 = -32602;
pub const INTERNAL_ERROR: i32 = -32603;
/// The server is busy.
pub const OVERLOADED: i32 = -32000;

/// Maximum bytes of an ID. It is sent back with the response.
const MAX_ID_BYTES: usize = 256;
/// Maximum characters of the reason why a message cannot be read.
const MAX_REASON_CHARS: usize = 200;

/// ID of a request: a text or a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Value);

/// A message of the client.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    Request {
        id: RequestId,
        method: String,
        parameters: Value,
    },
    Notification {
        method: String,
        parameters: Value,
    },
    /// Response to a request of the server. The error is its message.
    Response {
        id: RequestId,
        result: Result<Value, String>,
    },
}

impl RequestId {
    /// Returns the ID of a request of the server.
    pub fn from_number(number: u64) -> Self {
        Self(number.into())
    }

    /// Returns the ID in a message; `None` if the value is no ID.
    pub fn from_json(value: &Value) -> Option<Self> {
        let is_valid = match value {
            Value::String(text) => text.len() <= MAX_ID_BYTES,
            Value::Number(number) => number.is_i64() || number.is_u64(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        };
        is_valid.then(|| Self(value.clone()))
    }
}

/// Parses a line.
///
/// # Errors
/// The response that says what is wrong with it.
pub fn parse_message(line: &[u8]) -> Result<Incoming, Value> {
    let parse_error = |reason: &str| error_response(None, PARSE_ERROR, &format!("Cannot read the message: {reason}"));
    let text = std::str::from_utf8(line).map_err(|_| parse_error("it is not UTF-8 text"))?;
    let clean_reason = |error: serde_json::Error| truncate_end(&mark_hidden(&error.to_string()), MAX_REASON_CHARS);
    let (message, trailing) = parse_unique(text).map_err(|error| parse_error(&clean_reason(error)))?;
    if let Some(error) = trailing {
        return Err(parse_error(&clean_reason(error)));
    }
    let id = RequestId::from_json(&message["id"]);
    let invalid = |reason: &str| Err(error_response(id.as_ref(), INVALID_REQUEST, reason));
    let Some(fields) = message.as_object() else {
        return invalid("A message is one JSON object; batches are not supported");
    };
    if message["jsonrpc"] != "2.0" {
        return invalid("The field jsonrpc must be \"2.0\"");
    }
    if fields.contains_key("id") && id.is_none() {
        return invalid("The id must be a whole number, or a text of at most 256 bytes");
    }
    let Some(method) = message["method"].as_str().map(str::to_owned) else {
        // Some programs write the field that a response has not as null.
        let error = fields.get("error").filter(|error| !error.is_null());
        return match (id, fields.get("result"), error) {
            (Some(id), Some(result), None) => Ok(Incoming::Response { id, result: Ok(result.clone()) }),
            (Some(id), None, Some(error)) => {
                let reason =
                    truncate_end(&mark_hidden(error["message"].as_str().unwrap_or_default()), MAX_REASON_CHARS);
                Ok(Incoming::Response { id, result: Err(reason) })
            }
            (id, ..) => Err(error_response(id.as_ref(), INVALID_REQUEST, "The message is no request and no response")),
        };
    };
    let parameters = message["params"].clone();
    Ok(match id {
        Some(id) => Incoming::Request { id, method, parameters },
        None => Incoming::Notification { method, parameters },
    })
}

/// Builds the response to a request.
pub fn result_response(id: &RequestId, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.0, "result": result })
}

/// Builds the response to a request that failed. Without an ID, to a message that could not be read.
pub fn error_response(id: Option<&RequestId>, code: i32, reason: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.map(|id| &id.0), "error": { "code": code, "message": reason } })
}

/// Builds a request to the client.
pub fn client_request(id: u64, method: &str, parameters: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters })
}

/// Builds the notification that a request to the client is cancelled.
pub fn request_cancellation(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let id = |value: Value| RequestId::from_json(&value).unwrap();
        let parse = |line: &str| parse_message(line.as_bytes()).unwrap();
        assert_eq!(
            parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
            Incoming::Request { id: id(json!("a")), method: "ping".into(), parameters: Value::Null }
        );
        assert_eq!(
            parse(r#"{"jsonrpc":"2.0","method":"x","params":{"a":1}}"#),
            Incoming::Notification { method: "x".into(), parameters: json!({ "a": 1 }) }
        );
        assert_eq!(
            parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Incoming::Response { id: RequestId::from_number(1), result: Ok(json!({})) }
        );
        assert_eq!(
            parse(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no\u001b[2J"}}"#),
            Incoming::Response { id: RequestId::from_number(1), result: Err("no<U+001B>[2J".into()) }
        );
    }

    #[test]
    fn messages_that_cannot_be_read_get_an_error() {
        let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(257));
        let deep =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        for (line, code, id) in [
            ("{", PARSE_ERROR, Value::Null),
            ("", PARSE_ERROR, Value::Null),
            ("{}{}", PARSE_ERROR, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, PARSE_ERROR, Value::Null),
            (&deep, PARSE_ERROR, Value::Null),
            ("[]", INVALID_REQUEST, Value::Null),
            ("1", INVALID_REQUEST, Value::Null),
            (r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST, json!(1)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, Value::Null),
            (&long_id, INVALID_REQUEST, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST, json!(1)),
            (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, INVALID_REQUEST, json!(1)),
        ] {
            let error = parse_message(line.as_bytes()).unwrap_err();
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &id), "{line}");
        }
        assert_eq!(parse_message(b"\xff").unwrap_err()["error"]["code"], PARSE_ERROR);
    }
}
