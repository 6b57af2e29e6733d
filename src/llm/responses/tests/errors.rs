//! Errors of the responses API.

use super::*;

#[test]
fn errors_keep_their_text_and_get_a_status_only_before_any_output() {
    let failed_event = |code: &str| json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": "m"}}});
    let provider_error = |status, code: &str| {
        Err(Error::Provider { status, code: Some(code.into()), message: "m".into(), retry_after: None })
    };
    assert_eq!(collect_events(&[failed_event("server_error")], End::Unmarked), [provider_error(500, "server_error")]);
    assert_eq!(
        collect_events(&[failed_event("rate_limit_exceeded")], End::Unmarked),
        [provider_error(429, "rate_limit_exceeded")]
    );
    assert_eq!(collect_events(&[failed_event("odd")], End::Unmarked), [Err(Error::InStream("m (odd)".into()))]);
    let text_event = json!({"type": "response.output_text.delta", "delta": "a"});
    let chunks = collect_events(&[text_event.clone(), failed_event("server_error"), text_event], End::Unmarked);
    assert_eq!(chunks, [Ok(Chunk::Text("a".into())), Err(Error::InStream("m (server_error)".into()))]);
    for event in [
        json!({"type": "error", "code": "context_length_exceeded", "message": "m", "param": null}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "m"}}),
        json!({"error": {"type": "error", "code": "context_length_exceeded", "message": "m"}}),
    ] {
        let chunks = collect_events(std::slice::from_ref(&event), End::Unmarked);
        assert_eq!(chunks, [provider_error(400, "context_length_exceeded")], "{event}");
        assert!(chunks[0].as_ref().is_err_and(Error::is_too_long));
    }
    let chunks = collect_events(&[json!({"type": "error", "message": "m"})], End::Unmarked);
    assert_eq!(chunks, [Err(Error::InStream("m".into()))]);
}

#[test]
fn a_missing_responses_api_is_distinguished_from_an_unknown_model() {
    let provider_error = |status, code: Option<&str>, message: &str| Error::Provider {
        status,
        code: code.map(str::to_owned),
        message: message.into(),
        retry_after: None,
    };
    for (status, code, message) in [
        (404, None, ""),
        (404, None, "404 page not found"),
        (404, Some("unknown_url"), "Unknown request URL: POST /v1/responses."),
        (405, None, "Method Not Allowed"),
    ] {
        let error_text = reclassify_error(provider_error(status, code, message)).to_string();
        assert!(
            error_text.contains("Set `api` of the profile to \"chat\"") && error_text.contains(message),
            "{error_text}"
        );
    }
    for error in [
        provider_error(404, Some("model_not_found"), "The model `m` does not exist"),
        provider_error(404, None, "model 'm' not found"),
        provider_error(404, Some("DeploymentNotFound"), "no"),
        provider_error(404, None, "Item with id 'rs_1' not found."),
        provider_error(400, None, "no"),
        Error::ConnectionLost("404".into()),
    ] {
        assert_eq!(reclassify_error(error.clone()), error);
    }
}
