//! Error bodies of real providers.

use super::*;

#[test]
fn r48_error_bodies_of_every_format_keep_the_error_text() {
    let check = |body: &str, status: Option<u16>, code: Option<&str>, message: &str| {
        let expected = ProviderError { status, code: code.map(str::to_owned), message: message.to_owned() };
        assert_eq!(ProviderError::parse_body(body), expected, "{body}");
    };
    check(r#"{"error":{"message":"no","type":"t","code":"c"}}"#, None, Some("c"), "no");
    check(r#"{"error":{"message":"no","type":"t","code":null}}"#, None, Some("t"), "no");
    check(r#"{"error":{"message":"busy","code":502}}"#, Some(502), None, "busy");
    check(r#"{"error":{"message":"busy","code":"429"}}"#, Some(429), None, "busy");
    check(r#"{"error":{"message":"slow","type":"limit","code":"429"}}"#, Some(429), Some("limit"), "slow");
    check(r#"{"error":"model not found"}"#, None, None, "model not found");
    check(r#"{"error":"Bad Request","message":"no such model"}"#, None, None, "Bad Request: no such model");
    check(r#"{"error":"no such model","message":"no such model"}"#, None, None, "no such model");
    check(r#"{"detail":"Not Found"}"#, None, None, "Not Found");
    check(
        r#"{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}"#,
        None,
        Some("missing"),
        "field required (body)",
    );
    check(
        r#"[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]"#,
        Some(400),
        Some("INVALID_ARGUMENT"),
        "bad",
    );
    check(r#"{"object":"error","message":"too long","code":400}"#, Some(400), None, "too long");
    check(
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"deep"}}}"#,
        Some(400),
        None,
        "Provider returned error: deep",
    );
    check(r#"{"error":{"message":"busy","code":"42"}}"#, None, None, "busy");
    check(r#"{"error":{"message":"busy","code":"1042"}}"#, None, Some("1042"), "busy");
    check("upstream  connect\n error\u{1b}[31m", None, None, "upstream connect error [31m");
    check(
        "<html><head><title>502 Bad Gateway</title></head>…",
        None,
        None,
        "the server sent a web page titled “502 Bad Gateway”",
    );
    check("<!DOCTYPE html><body>…", None, None, "the server sent a web page");
    check("", None, None, "");
    // The message ends with `…`.
    assert_eq!(ProviderError::parse_body(&"a".repeat(5000)).message.chars().count(), MAX_MESSAGE_CHARS + 1);
}

#[test]
fn r57_a_key_in_an_error_body_is_redacted() {
    let key = "sk-abcd1234efgh5678ijkl";
    let sentence = format!("Incorrect API key provided: {key}. Find yours elsewhere.");
    let bodies = [
        serde_json::json!({ "error": { "message": sentence, "type": "invalid_request_error" } }).to_string(),
        serde_json::json!({ "error": sentence }).to_string(),
        serde_json::json!([{ "error": { "metadata": { "raw": sentence } } }]).to_string(),
        sentence.clone(),
        format!("<html><title>{sentence}</title></html>"),
        // A text that would be truncated in the middle of the key.
        format!("{} {sentence}", "x".repeat(MAX_MESSAGE_CHARS - 40)),
    ];
    for body in bodies {
        let message = ProviderError::parse_body(&body).message;
        // The last message is truncated within the word `redacted`.
        assert!(message.contains("Incorrect API key provided: sk-[redac"), "{body}: {message}");
        assert!(!message.contains("abcd1234"), "{message}");
    }
}
