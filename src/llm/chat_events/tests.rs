//! Events as real providers send them.

use super::*;
use serde_json::json;

fn check_deltas(event: Value, expected: &[Delta]) {
    assert_eq!(parse_deltas(&event, REPLY_INDEX), expected, "{event}");
}

fn delta_event(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn text_delta(text: &str) -> Delta {
    Delta::Text(text.into())
}

fn reasoning_delta(text: &str) -> Delta {
    Delta::Reasoning(text.into())
}

#[test]
fn r48_text_and_reasoning_are_parsed_from_all_known_formats() {
    check_deltas(delta_event(json!({"role": "assistant", "content": ""})), &[]);
    check_deltas(delta_event(json!({"content": "a"})), &[text_delta("a")]);
    check_deltas(delta_event(json!({"content": null, "reasoning_content": "r"})), &[reasoning_delta("r")]);
    check_deltas(delta_event(json!({"content": "a", "reasoning": "r"})), &[reasoning_delta("r"), text_delta("a")]);
    check_deltas(delta_event(json!({"reasoning_content": "r", "reasoning": "r"})), &[reasoning_delta("r")]);
    check_deltas(
        delta_event(json!({"reasoning_details": [{"type": "reasoning.text", "text": "r"}]})),
        &[reasoning_delta("r")],
    );
    check_deltas(
        delta_event(json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})),
        &[text_delta("ab")],
    );
    check_deltas(
        delta_event(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}]})),
        &[reasoning_delta("r")],
    );
    check_deltas(delta_event(json!({"refusal": "no"})), &[text_delta("no")]);
    check_deltas(json!({"choices": [{"text": "a"}]}), &[text_delta("a")]);
}

#[test]
fn r48_events_without_content_are_ignored() {
    for event in [
        json!({}),
        json!([]),
        json!("x"),
        json!({"choices": []}),
        json!({"choices": null, "error": null, "usage": null}),
        json!({"type": "ping"}),
        json!({"choices": [{}], "created": 1.5, "id": null}),
        json!({"choices": [{"delta": {"content": 7, "tool_calls": null, "role": "odd"}}]}),
    ] {
        check_deltas(event, &[]);
    }
}

#[test]
fn r48_calls_with_missing_fields_are_parsed() {
    let call_part = |index, id: Option<&str>, name: Option<&str>, arguments: &str| CallPart {
        index,
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        arguments: arguments.into(),
        provider_data: None,
    };
    check_deltas(
        delta_event(json!({"tool_calls": [
            {"index": 1, "id": "a", "type": "", "function": {"name": "f", "arguments": "{"}},
            {"id": "", "function": {"arguments": {"x": 1}}}, {"function": {"name": "g"}}, {"id": 7}]})),
        &[Delta::Calls(vec![
            call_part(Some(1), Some("a"), Some("f"), "{"),
            call_part(None, None, None, r#"{"x":1}"#),
            call_part(None, None, Some("g"), ""),
            call_part(None, Some("7"), None, ""),
        ])],
    );
    check_deltas(
        delta_event(json!({"function_call": {"name": "f", "arguments": "{}"}})),
        &[Delta::Calls(vec![call_part(None, None, Some("f"), "{}")])],
    );
}

#[test]
fn the_finish_reason_and_the_usage_are_parsed() {
    check_deltas(json!({"choices": [{"delta": {}, "finish_reason": "odd"}]}), &[Delta::Finish("odd".into())]);
    check_deltas(
        json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}),
        &[
            text_delta("a"),
            Delta::Usage(Usage { input: 3, ..Usage::default() }),
            Delta::Finish("stop".into()),
            Delta::Complete,
        ],
    );
    check_deltas(
        json!({"usage": {"prompt_tokens": 9, "completion_tokens": 2.0, "prompt_tokens_details": {"cached_tokens": 4}}}),
        &[Delta::Usage(Usage { input: 9, cached: 4, output: 2 })],
    );
    check_deltas(
        json!({"usage": {"prompt_tokens": 9, "prompt_tokens_details": null, "prompt_cache_hit_tokens": 5}}),
        &[Delta::Usage(Usage { input: 9, cached: 5, output: 0 })],
    );
}

#[test]
fn r48_errors_inside_a_stream_are_detected() {
    let fault_delta = |status, code: Option<&str>, message: &str| {
        Delta::Fault(ProviderError { status, code: code.map(str::to_owned), message: message.into() })
    };
    check_deltas(json!({"error": {"message": "m", "code": 502}}), &[fault_delta(Some(502), None, "m")]);
    check_deltas(json!({"error": "m", "choices": []}), &[fault_delta(None, None, "m")]);
    check_deltas(json!({"detail": "m"}), &[fault_delta(None, None, "m")]);
    check_deltas(json!({"object": "error", "message": "m"}), &[fault_delta(None, None, "m")]);
    check_deltas(
        json!({"choices": [{"delta": {"content": "a"}, "error": {"message": "m"}, "finish_reason": "error"}]}),
        &[text_delta("a"), fault_delta(None, None, "m"), Delta::Finish("error".into())],
    );
}
