//! Requests and events of the responses API.

mod errors;

use super::*;
use crate::chat::reply_limit::{MAX_BYTES, ReplySize};
use crate::chat::{CallId, Chunk, Echo, FinishReason, Message, Request, ToolCall, ToolSpec};
use crate::llm::chunk_queue::{ChunkQueue, Collector, End};
use crate::llm::prepared_request::{PreparedRequest, echo_origin};
use crate::llm::{Api, Quirks, Settings};
use serde_json::json;

fn local_settings() -> Settings {
    Settings { api: Api::Responses, ..Settings::new("http://h/v1") }
}

fn tool_spec() -> ToolSpec {
    ToolSpec {
        name: "f".into(),
        description: "d".into(),
        parameters: json!({"type": "object"}).into(),
        ..ToolSpec::default()
    }
}

fn serialize_messages(messages: Vec<Message>, settings: &Settings) -> Value {
    let request = Request {
        model: "m".into(),
        messages,
        tools: vec![tool_spec()],
        max_tokens: Some(64),
        images: vec![],
        answer_schema: None,
    };
    build_responses_body(PreparedRequest::new(request, settings)).to_value()
}

fn model_reply(text: &str, ids: &[&str], echo_data: Option<Value>) -> Message {
    let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "f".into(), arguments: "{}".into() };
    let echo = echo_data.map(|data| Echo { origin: echo_origin(&local_settings(), "m"), data });
    Message::Model { text: text.into(), calls: ids.iter().map(call).collect(), echo: echo.map(Box::new) }
}

#[test]
fn the_schema_of_the_answer_joins_the_text_parameters_of_the_user() {
    let schema = json!({"type": "object"});
    let request = Request { model: "m".into(), answer_schema: Some(schema.clone()), ..Request::default() };
    let parameters = json!({"text": {"verbosity": "low"}}).as_object().unwrap().clone();
    let settings = Settings { parameters, ..local_settings() };
    let body = build_responses_body(PreparedRequest::new(request, &settings)).to_value();
    let format = json!({"type": "json_schema", "name": "answer", "schema": schema});
    assert_eq!(body["text"], json!({"format": format, "verbosity": "low"}));
}

#[test]
fn a_request_is_what_the_responses_api_expects() {
    let messages = vec![
        Message::System("s".into()),
        Message::User("p".into()),
        model_reply("t", &["c1"], None),
        Message::Tool { call: "c1".into(), text: "o".into() },
    ];
    let settings = Settings {
        quirks: Quirks { reasoning_effort: Some("low".into()), parallel_calls: Some(false), ..Quirks::default() },
        ..local_settings()
    };
    assert_eq!(
        serialize_messages(messages, &settings),
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
    let parameters = json!({"store": null, "include": null, "reasoning": {"summary": "auto"}, "max_output_tokens": 3,
        "input": "x", "instructions": "x", "stream": false, "text": {"verbosity": "low"}});
    let settings = Settings {
        quirks: Quirks { reasoning_effort: Some("low".into()), ..Quirks::default() },
        parameters: parameters.as_object().unwrap().clone(),
        ..local_settings()
    };
    let body = serialize_messages(vec![Message::User("p".into())], &settings);
    assert_eq!((body.get("store"), body.get("include"), body.get("instructions")), (None, None, None));
    assert_eq!(body["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!(body["max_output_tokens"], 16, "the minimum limit");
    assert_eq!(body["input"], json!([{"type": "message", "role": "user", "content": "p"}]));
    assert_eq!((&body["stream"], &body["text"]["verbosity"]), (&json!(true), &json!("low")));
    let settings = Settings {
        quirks: Quirks { tools: false, parallel_calls: Some(true), ..Quirks::default() },
        ..local_settings()
    };
    let body = serialize_messages(vec![], &settings);
    assert_eq!((body.get("tools"), body.get("parallel_tool_calls")), (None, None));
}

fn encrypted_reasoning(id: &str) -> Value {
    json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": "…"})
}

#[test]
fn stored_items_are_sent_back_in_order() {
    let stored = json!([encrypted_reasoning("r1"), {"type": "message", "id": "m1", "phase": "commentary", "bytes": 3},
        {"type": "function_call", "id": "f1"}, encrypted_reasoning("r2"), {"type": "function_call"}]);
    let input =
        serialize_messages(vec![model_reply("Hm.", &["a-2", "b"], Some(stored))], &local_settings())["input"].clone();
    assert_eq!(
        input,
        json!([
            encrypted_reasoning("r1"),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm.", "annotations": []}],
             "id": "m1", "status": "completed", "phase": "commentary"},
            {"type": "function_call", "call_id": "a-2", "name": "f", "arguments": "{}", "id": "f1"},
            encrypted_reasoning("r2"),
            {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        ])
    );
}

#[test]
fn stored_items_that_do_not_match_are_ignored() {
    let message = |bytes: usize| json!({"type": "message", "bytes": bytes});
    let call = json!({"type": "function_call"});
    let plain_input = |text: &str, ids: &[&str]| {
        serialize_messages(vec![model_reply(text, ids, None)], &local_settings())["input"].clone()
    };
    for (case, text, ids, stored) in [
        ("another number of calls", "a", &["x", "y"][..], json!([encrypted_reasoning("r"), call])),
        ("calls without stored items", "a", &["x"], json!([encrypted_reasoning("r"), message(1)])),
        ("stored calls that are missing", "a", &[], json!([encrypted_reasoning("r"), message(1), call])),
        ("text without a message", "a", &["x"], json!([encrypted_reasoning("r"), call])),
        ("text of another length", "abcd", &[], json!([message(1), encrypted_reasoning("r"), message(1)])),
        ("a boundary inside a character", "äb", &[], json!([message(1), encrypted_reasoning("r"), message(2)])),
        ("an unknown item", "a", &[], json!([{"type": "message_from_system"}, message(1)])),
        ("no list", "a", &["x"], json!({"odd": 1})),
        ("reasoning at the end", "a", &[], json!([message(1), encrypted_reasoning("r"), encrypted_reasoning("q")])),
    ] {
        let input = serialize_messages(vec![model_reply(text, ids, Some(stored))], &local_settings())["input"].clone();
        assert_eq!(input, plain_input(text, ids), "{case}");
    }
    let body = serialize_messages(
        vec![model_reply("abc", &[], Some(json!([message(1), encrypted_reasoning("r"), message(2)])))],
        &local_settings(),
    );
    assert_eq!(body["input"][0]["content"][0]["text"], "a");
    assert_eq!((&body["input"][1], &body["input"][2]["content"][0]["text"]), (&encrypted_reasoning("r"), &json!("bc")));
}

fn new_collector() -> ResponsesCollector {
    let wants_reasoning = false;
    ResponsesCollector::for_origin("here".into(), wants_reasoning)
}

fn collect_events(events: &[Value], end: End) -> Vec<Result<Chunk, Error>> {
    let (mut collector, mut chunks) = (new_collector(), ChunkQueue::new());
    for event in events {
        collector.collect_event(event, &mut chunks);
    }
    collector.finish(end, &mut chunks);
    chunks.into()
}

#[test]
fn r65_the_size_limit_counts_the_escaped_size() {
    let delta_event = |kind: &str, text: &str| json!({"type": kind, "item_id": "a", "output_index": 0, "delta": text});
    let added_event = |kind: &str| json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "a", "type": kind, "name": "f"}});
    for (kind, delta_kind) in [
        ("message", "response.output_text.delta"),
        ("reasoning", "response.reasoning_text.delta"),
        ("function_call", "response.function_call_arguments.delta"),
    ] {
        let (mut collector, mut chunks) = (new_collector(), ChunkQueue::new());
        collector.items.size = ReplySize::of_bytes(MAX_BYTES - 600);
        collector.collect_event(&added_event(kind), &mut chunks);
        // A control character takes six bytes in the session file.
        collector.collect_event(&delta_event(delta_kind, &"\u{1b}".repeat(99)), &mut chunks);
        assert!(chunks.iter().all(Result::is_ok), "{kind}: {chunks:?}");
        collector.collect_event(&delta_event(delta_kind, "\u{1b}\u{1b}"), &mut chunks);
        collector.finish(End::Marked, &mut chunks);
        let expected = "the reply is longer than 64 MB and was cut off";
        assert_eq!(chunks.pop_back(), Some(Err(Error::InvalidReply(expected.into()))), "{kind}");
    }
}

/// Formats chunks as one text: `text(reasoning)[call]<end>&echo&!error`; other chunks are omitted.
fn format_chunks(chunks: &[Result<Chunk, Error>]) -> String {
    let format_chunk = |item: &Result<Chunk, Error>| match item {
        Ok(Chunk::Text(text)) => text.clone(),
        Ok(Chunk::Reasoning(text)) => format!("({text})"),
        Ok(Chunk::Call(call)) => format!("[{} {} {}]", call.id, call.name, call.arguments),
        Ok(Chunk::Done(finish)) => format!("<{finish:?}>"),
        Ok(Chunk::Echo(echo)) => format!("&{}&", echo.data),
        Ok(_) => String::new(),
        Err(error) => format!("!{error:?}"),
    };
    chunks.iter().map(format_chunk).collect()
}

#[test]
fn a_reply_is_complete_only_with_its_end_event() {
    let text_event = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "a"});
    let completed = json!({"type": "response.completed", "response": {"status": "completed"}});
    for end in [End::Marked, End::Unmarked] {
        let chunks = collect_events(std::slice::from_ref(&text_event), end);
        assert!(matches!(chunks[..], [Ok(Chunk::Text(_)), Err(Error::ConnectionLost(_))]), "{chunks:?}");
    }
    let failed = End::Failed(Error::ConnectionLost("reset".into()));
    assert_eq!(collect_events(&[], failed.clone()), [Err(Error::ConnectionLost("reset".into()))]);
    let chunks = collect_events(&[text_event.clone(), completed, text_event], failed);
    assert_eq!(chunks, [Ok(Chunk::Text("a".into())), Ok(Chunk::Done(FinishReason::Stop))]);
}

#[test]
fn items_are_found_despite_wrong_ids_and_indexes() {
    let added_event = |index: Value, id: Value| json!({"type": "response.output_item.added", "output_index": index, "item": {"type": "function_call", "id": id, "call_id": "", "name": "f"}});
    let delta_event = |index: Value, id: Value, delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta});
    let done_event = |index: Value, id: Value, n: u8| json!({"type": "response.output_item.done", "output_index": index, "item": {"type": "function_call", "id": id, "name": "f", "call_id": format!("c{n}"), "arguments": format!("{{\"n\":{n}}}")}});
    let completed_event =
        |output: Value| json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    let expected = "[c1 f {\"n\":1}][c2 f {\"n\":2}]<Stop>";
    let null = || Value::Null;
    let calls = json!([{"type": "function_call", "id": "p", "name": "f", "call_id": "c1", "arguments": "{\"n\":1}"},
        {"type": "function_call", "id": "q", "name": "f", "call_id": "c2", "arguments": "{\"n\":2}"}]);
    for (case, events) in [
        (
            "correct ids and indexes",
            vec![
                added_event(json!(0), json!("a")),
                delta_event(json!(0), json!("a"), "{\"n\":"),
                done_event(json!(0), json!("a"), 1),
                added_event(json!(1), json!("b")),
                done_event(json!(1), json!("b"), 2),
                completed_event(null()),
            ],
        ),
        (
            "interleaved",
            vec![
                added_event(json!(0), json!("a")),
                added_event(json!(1), json!("b")),
                delta_event(json!(1), json!("b"), "{"),
                delta_event(json!(0), json!("a"), "{"),
                done_event(json!(0), json!("a"), 1),
                done_event(json!(1), json!("b"), 2),
                completed_event(null()),
            ],
        ),
        (
            "a new id with every event",
            vec![
                added_event(json!(0), json!("a")),
                delta_event(json!(0), json!("x"), "{\"n\":"),
                done_event(json!(0), json!("y"), 1),
                added_event(json!(1), json!("b")),
                delta_event(json!(1), json!("z"), "{"),
                done_event(json!(1), json!("w"), 2),
                completed_event(calls.clone()),
            ],
        ),
        (
            "always the same index",
            vec![
                added_event(json!(0), json!("a")),
                delta_event(json!(0), json!("a"), "{"),
                done_event(json!(0), json!("a"), 1),
                added_event(json!(0), json!("b")),
                delta_event(json!(0), json!("b"), "{"),
                done_event(json!(0), json!("b"), 2),
                completed_event(null()),
            ],
        ),
        (
            "neither ids nor indexes",
            vec![
                added_event(null(), null()),
                delta_event(null(), null(), "{"),
                done_event(null(), null(), 1),
                added_event(null(), null()),
                delta_event(null(), null(), "{"),
                done_event(null(), null(), 2),
                completed_event(null()),
            ],
        ),
        (
            "without a start event",
            vec![done_event(json!(0), json!("a"), 1), done_event(json!(1), json!("b"), 2), completed_event(null())],
        ),
        (
            "one id for all",
            vec![
                done_event(json!(0), json!("a"), 1),
                done_event(json!(1), json!("a"), 2),
                done_event(json!(1), json!("a"), 2),
                completed_event(null()),
            ],
        ),
        (
            "without a start event, in pieces, always the same index",
            vec![
                delta_event(json!(0), json!("a"), "{"),
                done_event(json!(0), json!("a"), 1),
                delta_event(json!(0), json!("b"), "{"),
                done_event(json!(0), json!("b"), 2),
                completed_event(null()),
            ],
        ),
        ("only at the end", vec![completed_event(calls.clone())]),
        ("in one piece", vec![json!({"object": "response", "status": "completed", "output": calls})]),
    ] {
        assert_eq!(format_chunks(&collect_events(&events, End::Unmarked)), expected, "{case}");
    }
    let events = [done_event(json!(1), json!("q"), 2), completed_event(calls)];
    assert_eq!(
        format_chunks(&collect_events(&events, End::Unmarked)),
        "[c2 f {\"n\":2}][c1 f {\"n\":1}]<Stop>",
        "one item only at the end"
    );
}

#[test]
fn an_incomplete_call_is_never_emitted() {
    let incomplete_item = json!({"type": "response.output_item.done", "item": {"type": "function_call", "id": "a", "status": "incomplete", "name": "f", "arguments": "{\"x\":"}});
    let completed = json!({"type": "response.completed", "response": {}});
    let formatted = format_chunks(&collect_events(&[incomplete_item.clone(), completed], End::Unmarked));
    assert_eq!(formatted, "!ConnectionLost(\"a tool call was never completed\")");
    let incomplete_response =
        json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}});
    assert_eq!(format_chunks(&collect_events(&[incomplete_item, incomplete_response], End::Unmarked)), "<Length>");
}

#[test]
fn r65_a_reply_with_too_many_items_is_aborted() {
    let response_with_items = |count: usize| json!({"type": "response.completed", "response": {"output": vec![json!({"type": "message", "content": "a"}); count]}});
    assert_eq!(
        format_chunks(&collect_events(&[response_with_items(1000)], End::Unmarked)),
        "a".repeat(1000) + "<Stop>"
    );
    let formatted = format_chunks(&collect_events(&[response_with_items(5000)], End::Unmarked));
    assert!(
        formatted.ends_with("!InvalidReply(\"The reply was aborted: it has more than 1000 items\")"),
        "{}",
        &formatted[formatted.len() - 80..]
    );
    let added_event = json!({"type": "response.output_item.added", "item": {"type": "message"}});
    let formatted = format_chunks(&collect_events(&vec![added_event; 5000], End::Unmarked));
    assert_eq!(formatted, "!InvalidReply(\"The reply was aborted: it has more than 1000 items\")");
    let parts = vec![json!({"type": "output_text", "text": "a"}); 5000];
    let item = json!({"type": "response.output_item.done", "item": {"type": "message", "content": parts}});
    assert!(
        format_chunks(&collect_events(&[item], End::Unmarked)).starts_with(&("a".repeat(1000) + "!ConnectionLost"))
    );
}

#[test]
fn hidden_characters_are_marked_in_requests() {
    fn collect_texts(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
            Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let hidden = "a\u{e0041}b\u{202e}\u{1b}[2J";
    let Message::Model { mut calls, echo, .. } = model_reply("", &["c1"], None) else { panic!() };
    calls[0].arguments = "{\"x\":\"a\u{e0041}\u{202e}\"}".to_owned();
    let messages = vec![
        Message::System(hidden.into()),
        Message::User(hidden.into()),
        Message::Model { text: hidden.into(), calls, echo },
        Message::Tool { call: "c1".into(), text: hidden.into() },
    ];
    let mut texts = Vec::new();
    collect_texts(&serialize_messages(messages, &local_settings()), &mut texts);
    assert!(texts.iter().all(|text| crate::text::hidden_chars::find_hidden(text).is_none()), "{texts:?}");
    assert_eq!(texts.iter().filter(|text| **text == "a<U+E0041>b<U+202E><U+001B>[2J").count(), 4, "{texts:?}");
    assert!(texts.contains(&"{\"x\":\"a\\udb40\\udc41\\u202e\"}".to_owned()), "{texts:?}");
}
