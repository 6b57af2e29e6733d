//! Requests and events of the responses API.

use super::*;
use crate::chat::reply_limit::{MAX_BYTES, ReplySize};
use crate::chat::{CallId, Chunk, Echo, FinishReason, Message, Request, ToolCall, ToolSpec};
use crate::llm::chunk_queue::{ChunkQueue, End};
use crate::llm::prepared_request::{PreparedRequest, echo_origin};
use crate::llm::{Api, Quirks, Settings};
use serde_json::json;

fn here() -> Settings {
    Settings { api: Api::Responses, ..Settings::new("http://h/v1") }
}

fn spec() -> ToolSpec {
    ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }
}

fn written(messages: Vec<Message>, settings: &Settings) -> Value {
    let request = Request { model: "m".into(), messages, tools: vec![spec()], max_tokens: Some(64), pictures: vec![] };
    build_responses_body(PreparedRequest::new(request, settings)).to_value()
}

fn replied(text: &str, ids: &[&str], held: Option<Value>) -> Message {
    let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "f".into(), arguments: "{}".into() };
    let echo = held.map(|held| Echo { origin: echo_origin(&here(), "m"), data: held });
    Message::Model { text: text.into(), calls: ids.iter().map(call).collect(), echo: echo.map(Box::new) }
}

#[test]
fn a_request_is_what_the_responses_api_expects() {
    let talk = vec![
        Message::System("s".into()),
        Message::User("p".into()),
        replied("t", &["c1"], None),
        Message::Tool { call: "c1".into(), text: "o".into() },
    ];
    let settings = Settings {
        quirks: Quirks { reasoning_effort: Some("low".into()), parallel_calls: Some(false), ..Quirks::default() },
        ..here()
    };
    assert_eq!(
        written(talk, &settings),
        json!({
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "parallel_tool_calls": false,
            "reasoning": {"effort": "low"},
            "max_output_tokens": 64,
            "model": "m",
            "instructions": "s",
            "input": [
                {"type": "message", "role": "user", "content": "p"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "t"}]},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "o"},
            ],
            "stream": true,
            "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": false}],
        })
    );
}

#[test]
fn extra_parameters_cannot_change_the_conversation() {
    let extra = json!({"store": null, "include": null, "reasoning": {"summary": "auto"}, "max_output_tokens": 3,
        "input": "x", "instructions": "x", "stream": false, "text": {"verbosity": "low"}});
    let settings = Settings {
        quirks: Quirks { reasoning_effort: Some("low".into()), ..Quirks::default() },
        parameters: extra.as_object().unwrap().clone(),
        ..here()
    };
    let body = written(vec![Message::User("p".into())], &settings);
    assert_eq!((body.get("store"), body.get("include"), body.get("instructions")), (None, None, None));
    assert_eq!(body["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!(body["max_output_tokens"], 16, "the minimum limit");
    assert_eq!(body["input"], json!([{"type": "message", "role": "user", "content": "p"}]));
    assert_eq!((&body["stream"], &body["text"]["verbosity"]), (&json!(true), &json!("low")));
    let quiet = Settings { quirks: Quirks { tools: false, parallel_calls: Some(true), ..Quirks::default() }, ..here() };
    let body = written(vec![], &quiet);
    assert_eq!((body.get("tools"), body.get("parallel_tool_calls")), (None, None));
}

fn sealed(id: &str) -> Value {
    json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": "…"})
}

#[test]
fn stored_items_are_sent_back_in_order() {
    let held = json!([sealed("r1"), {"type": "message", "id": "m1", "phase": "commentary", "bytes": 3},
        {"type": "function_call", "id": "f1"}, sealed("r2"), {"type": "function_call"}]);
    let input = written(vec![replied("Hm.", &["a-2", "b"], Some(held))], &here())["input"].clone();
    assert_eq!(
        input,
        json!([
            sealed("r1"),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm.", "annotations": []}],
             "id": "m1", "status": "completed", "phase": "commentary"},
            {"type": "function_call", "call_id": "a-2", "name": "f", "arguments": "{}", "id": "f1"},
            sealed("r2"),
            {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        ])
    );
}

#[test]
fn stored_items_that_do_not_match_are_ignored() {
    let message = |bytes: usize| json!({"type": "message", "bytes": bytes});
    let call = json!({"type": "function_call"});
    let plain = |text: &str, ids: &[&str]| written(vec![replied(text, ids, None)], &here())["input"].clone();
    for (what, text, ids, held) in [
        ("another number of calls", "a", &["x", "y"][..], json!([sealed("r"), call])),
        ("calls without stored items", "a", &["x"], json!([sealed("r"), message(1)])),
        ("stored calls that are missing", "a", &[], json!([sealed("r"), message(1), call])),
        ("text without a message", "a", &["x"], json!([sealed("r"), call])),
        ("text of another length", "abcd", &[], json!([message(1), sealed("r"), message(1)])),
        ("a boundary inside a character", "äb", &[], json!([message(1), sealed("r"), message(2)])),
        ("an unknown item", "a", &[], json!([{"type": "message_from_system"}, message(1)])),
        ("no list", "a", &["x"], json!({"odd": 1})),
        ("reasoning at the end", "a", &[], json!([message(1), sealed("r"), sealed("q")])),
    ] {
        let input = written(vec![replied(text, ids, Some(held))], &here())["input"].clone();
        assert_eq!(input, plain(text, ids), "{what}");
    }
    let two = written(vec![replied("abc", &[], Some(json!([message(1), sealed("r"), message(2)])))], &here());
    assert_eq!(two["input"][0]["content"][0]["text"], "a");
    assert_eq!((&two["input"][1], &two["input"][2]["content"][0]["text"]), (&sealed("r"), &json!("bc")));
}

fn gather(events: &[Value], end: End) -> Vec<Result<Chunk, Error>> {
    let (mut gather, mut out) = (ResponsesCollector::for_origin("here".into(), false), ChunkQueue::new());
    for event in events {
        gather.collect_event(event, &mut out);
    }
    gather.finish(end, &mut out);
    out.into()
}

#[test]
fn r65_the_size_limit_counts_the_escaped_size() {
    let says = |kind: &str, text: &str| json!({"type": kind, "item_id": "a", "output_index": 0, "delta": text});
    let item = |kind: &str| json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "a", "type": kind, "name": "f"}});
    for (kind, piece) in [
        ("message", "response.output_text.delta"),
        ("reasoning", "response.reasoning_text.delta"),
        ("function_call", "response.function_call_arguments.delta"),
    ] {
        let (mut gather, mut out) = (ResponsesCollector::for_origin("here".into(), false), ChunkQueue::new());
        gather.items.size = ReplySize::of_bytes(MAX_BYTES - 600);
        gather.collect_event(&item(kind), &mut out);
        // A control character takes six bytes in the session file.
        gather.collect_event(&says(piece, &"\u{1b}".repeat(99)), &mut out);
        assert!(out.iter().all(Result::is_ok), "{kind}: {out:?}");
        gather.collect_event(&says(piece, "\u{1b}\u{1b}"), &mut out);
        gather.finish(End::Marked, &mut out);
        let words = "the reply is longer than 64 MB and was cut off";
        assert_eq!(out.pop_back(), Some(Err(Error::InvalidReply(words.into()))), "{kind}");
    }
}

fn text(out: &[Result<Chunk, Error>]) -> String {
    let word = |item: &Result<Chunk, Error>| match item {
        Ok(Chunk::Text(text)) => text.clone(),
        Ok(Chunk::Reasoning(text)) => format!("({text})"),
        Ok(Chunk::Call(call)) => format!("[{} {} {}]", call.id, call.name, call.arguments),
        Ok(Chunk::Done(finish)) => format!("<{finish:?}>"),
        Ok(Chunk::Echo(echo)) => format!("&{}&", echo.data),
        Ok(_) => String::new(),
        Err(error) => format!("!{error:?}"),
    };
    out.iter().map(word).collect()
}

#[test]
fn a_reply_is_complete_only_with_its_end_event() {
    let says = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "a"});
    let completed = json!({"type": "response.completed", "response": {"status": "completed"}});
    for end in [End::Marked, End::Unmarked] {
        let out = gather(std::slice::from_ref(&says), end);
        assert!(matches!(out[..], [Ok(Chunk::Text(_)), Err(Error::ConnectionLost(_))]), "{out:?}");
    }
    let broken = End::Failed(Error::ConnectionLost("reset".into()));
    assert_eq!(gather(&[], broken.clone()), [Err(Error::ConnectionLost("reset".into()))]);
    let out = gather(&[says.clone(), completed, says], broken);
    assert_eq!(out, [Ok(Chunk::Text("a".into())), Ok(Chunk::Done(FinishReason::Stop))]);
}

#[test]
fn items_are_found_despite_wrong_ids_and_indexes() {
    let added = |index: Value, id: Value| json!({"type": "response.output_item.added", "output_index": index, "item": {"type": "function_call", "id": id, "call_id": "", "name": "f"}});
    let delta = |index: Value, id: Value, delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta});
    let done = |index: Value, id: Value, n: u8| json!({"type": "response.output_item.done", "output_index": index, "item": {"type": "function_call", "id": id, "name": "f", "call_id": format!("c{n}"), "arguments": format!("{{\"n\":{n}}}")}});
    let completed =
        |output: Value| json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    let expected = "[c1 f {\"n\":1}][c2 f {\"n\":2}]<Stop>";
    let n = || Value::Null;
    let calls = json!([{"type": "function_call", "id": "p", "name": "f", "call_id": "c1", "arguments": "{\"n\":1}"},
        {"type": "function_call", "id": "q", "name": "f", "call_id": "c2", "arguments": "{\"n\":2}"}]);
    for (what, events) in [
        (
            "correct ids and indexes",
            vec![
                added(json!(0), json!("a")),
                delta(json!(0), json!("a"), "{\"n\":"),
                done(json!(0), json!("a"), 1),
                added(json!(1), json!("b")),
                done(json!(1), json!("b"), 2),
                completed(n()),
            ],
        ),
        (
            "interleaved",
            vec![
                added(json!(0), json!("a")),
                added(json!(1), json!("b")),
                delta(json!(1), json!("b"), "{"),
                delta(json!(0), json!("a"), "{"),
                done(json!(0), json!("a"), 1),
                done(json!(1), json!("b"), 2),
                completed(n()),
            ],
        ),
        (
            "a new id with every event",
            vec![
                added(json!(0), json!("a")),
                delta(json!(0), json!("x"), "{\"n\":"),
                done(json!(0), json!("y"), 1),
                added(json!(1), json!("b")),
                delta(json!(1), json!("z"), "{"),
                done(json!(1), json!("w"), 2),
                completed(calls.clone()),
            ],
        ),
        (
            "always the same index",
            vec![
                added(json!(0), json!("a")),
                delta(json!(0), json!("a"), "{"),
                done(json!(0), json!("a"), 1),
                added(json!(0), json!("b")),
                delta(json!(0), json!("b"), "{"),
                done(json!(0), json!("b"), 2),
                completed(n()),
            ],
        ),
        (
            "neither",
            vec![
                added(n(), n()),
                delta(n(), n(), "{"),
                done(n(), n(), 1),
                added(n(), n()),
                delta(n(), n(), "{"),
                done(n(), n(), 2),
                completed(n()),
            ],
        ),
        ("without a start event", vec![done(json!(0), json!("a"), 1), done(json!(1), json!("b"), 2), completed(n())]),
        (
            "one id for all",
            vec![
                done(json!(0), json!("a"), 1),
                done(json!(1), json!("a"), 2),
                done(json!(1), json!("a"), 2),
                completed(n()),
            ],
        ),
        (
            "without a start event, in pieces, always the same index",
            vec![
                delta(json!(0), json!("a"), "{"),
                done(json!(0), json!("a"), 1),
                delta(json!(0), json!("b"), "{"),
                done(json!(0), json!("b"), 2),
                completed(n()),
            ],
        ),
        ("only at the end", vec![completed(calls.clone())]),
        ("in one piece", vec![json!({"object": "response", "status": "completed", "output": calls})]),
    ] {
        assert_eq!(text(&gather(&events, End::Unmarked)), expected, "{what}");
    }
    let lost = [done(json!(1), json!("q"), 2), completed(calls)];
    assert_eq!(
        text(&gather(&lost, End::Unmarked)),
        "[c2 f {\"n\":2}][c1 f {\"n\":1}]<Stop>",
        "one item only at the end"
    );
}

#[test]
fn an_incomplete_call_is_never_emitted() {
    let half = json!({"type": "response.output_item.done", "item": {"type": "function_call", "id": "a", "status": "incomplete", "name": "f", "arguments": "{\"x\":"}});
    let completed = json!({"type": "response.completed", "response": {}});
    let out = text(&gather(&[half.clone(), completed], End::Unmarked));
    assert_eq!(out, "!ConnectionLost(\"a tool call was never completed\")");
    let cut =
        json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}});
    assert_eq!(text(&gather(&[half, cut], End::Unmarked)), "<Length>");
}

#[test]
fn errors_keep_their_text_and_before_any_output_their_status() {
    let failed = |code: &str| json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": "m"}}});
    let service = |status, code: &str| {
        Err(Error::Provider { status, code: Some(code.into()), message: "m".into(), retry_after: None })
    };
    assert_eq!(gather(&[failed("server_error")], End::Unmarked), [service(500, "server_error")]);
    assert_eq!(gather(&[failed("rate_limit_exceeded")], End::Unmarked), [service(429, "rate_limit_exceeded")]);
    assert_eq!(gather(&[failed("odd")], End::Unmarked), [Err(Error::InStream("m (odd)".into()))]);
    let says = json!({"type": "response.output_text.delta", "delta": "a"});
    let out = gather(&[says.clone(), failed("server_error"), says], End::Unmarked);
    assert_eq!(out, [Ok(Chunk::Text("a".into())), Err(Error::InStream("m (server_error)".into()))]);
    for event in [
        json!({"type": "error", "code": "context_length_exceeded", "message": "m", "param": null}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "m"}}),
        json!({"error": {"type": "error", "code": "context_length_exceeded", "message": "m"}}),
    ] {
        let out = gather(std::slice::from_ref(&event), End::Unmarked);
        assert_eq!(out, [service(400, "context_length_exceeded")], "{event}");
        assert!(out[0].as_ref().is_err_and(Error::is_too_long));
    }
    let bare = gather(&[json!({"type": "error", "message": "m"})], End::Unmarked);
    assert_eq!(bare, [Err(Error::InStream("m".into()))]);
}

#[test]
fn a_missing_responses_api_is_distinguished_from_an_unknown_model() {
    let refused = |status, code: Option<&str>, words: &str| Error::Provider {
        status,
        code: code.map(str::to_owned),
        message: words.into(),
        retry_after: None,
    };
    for (status, code, words) in [
        (404, None, ""),
        (404, None, "404 page not found"),
        (404, Some("unknown_url"), "Unknown request URL: POST /v1/responses."),
        (405, None, "Method Not Allowed"),
    ] {
        let said = reclassify_error(refused(status, code, words)).to_string();
        assert!(said.contains("Set `api` of the profile to \"chat\"") && said.contains(words), "{said}");
    }
    for other in [
        refused(404, Some("model_not_found"), "The model `m` does not exist"),
        refused(404, None, "model 'm' not found"),
        refused(404, Some("DeploymentNotFound"), "no"),
        refused(404, None, "Item with id 'rs_1' not found."),
        refused(400, None, "no"),
        Error::ConnectionLost("404".into()),
    ] {
        assert_eq!(reclassify_error(other.clone()), other);
    }
}

#[test]
fn r65_a_reply_with_too_many_items_is_aborted() {
    let endless = |count: usize| json!({"type": "response.completed", "response": {"output": vec![json!({"type": "message", "content": "a"}); count]}});
    assert_eq!(text(&gather(&[endless(1000)], End::Unmarked)), "a".repeat(1000) + "<Stop>");
    let out = text(&gather(&[endless(5000)], End::Unmarked));
    assert!(
        out.ends_with("!InvalidReply(\"The reply was aborted: it has more than 1000 items\")"),
        "{}",
        &out[out.len() - 80..]
    );
    let added = json!({"type": "response.output_item.added", "item": {"type": "message"}});
    let out = text(&gather(&vec![added; 5000], End::Unmarked));
    assert_eq!(out, "!InvalidReply(\"The reply was aborted: it has more than 1000 items\")");
    let parts = vec![json!({"type": "output_text", "text": "a"}); 5000];
    let item = json!({"type": "response.output_item.done", "item": {"type": "message", "content": parts}});
    assert!(text(&gather(&[item], End::Unmarked)).starts_with(&("a".repeat(1000) + "!ConnectionLost")));
}

#[test]
fn hidden_characters_are_marked_in_requests() {
    fn all_texts(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| all_texts(item, found)),
            Value::Object(fields) => fields.values().for_each(|value| all_texts(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let hidden = "a\u{e0041}b\u{202e}\u{1b}[2J";
    let Message::Model { mut calls, echo, .. } = replied("", &["c1"], None) else { panic!() };
    calls[0].arguments = "{\"x\":\"a\u{e0041}\u{202e}\"}".to_owned();
    let talk = vec![
        Message::System(hidden.into()),
        Message::User(hidden.into()),
        Message::Model { text: hidden.into(), calls, echo },
        Message::Tool { call: "c1".into(), text: hidden.into() },
    ];
    let mut texts = Vec::new();
    all_texts(&written(talk, &here()), &mut texts);
    assert!(texts.iter().all(|text| crate::text::hidden_chars::find_hidden(text).is_none()), "{texts:?}");
    assert_eq!(texts.iter().filter(|text| **text == "a<U+E0041>b<U+202E><U+001B>[2J").count(), 4, "{texts:?}");
    assert!(texts.contains(&"{\"x\":\"a\\udb40\\udc41\\u202e\"}".to_owned()), "{texts:?}");
}
