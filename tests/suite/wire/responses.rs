//! Streams of the responses API as providers write them, correctly and incorrectly.

use super::{collect, format_reply};
use crate::support::service::{Answer, Service, Step};
use aye::chat::Chunk;
use aye::llm::{Api, Error, OpenAi, Settings};
use serde_json::{Value, json};
use std::time::Duration;

/// A model that uses the responses API of this provider.
pub fn model(service: &Service) -> OpenAi {
    OpenAi::new(Settings { api: Api::Responses, ..Settings::new(&service.base_url) })
}

pub async fn collect_once(answer: Answer) -> Vec<Result<Chunk, Error>> {
    let service = Service::start_strict([answer]).await;
    let out = collect(&model(&service)).await;
    assert_eq!(service.received().len(), 1, "asked once: {out:?}");
    out
}

/// Checks a reply as `format_reply` writes it: `(…)` is reasoning, `#9+2` are the tokens of input and output,
/// `[id name arguments]` is a call, `.` the end and `!` precedes an error.
pub async fn check(description: &str, answer: Answer, expected: &str) {
    assert_eq!(format_reply(&collect_once(answer).await), expected, "{description}");
}

/// Adds an event as OpenAI writes it, with its kind as name and inside the data.
pub fn event(answer: Answer, kind: &str, mut data: Value) -> Answer {
    data["type"] = json!(kind);
    answer.raw(format!("event: {kind}\ndata: {data}\n\n"))
}

/// A stream of such events.
pub fn stream(events: &[(&str, Value)]) -> Answer {
    events
        .iter()
        .fold(Answer::stream(), |answer, (kind, data)| event(answer, &format!("response.{kind}"), data.clone()))
}

pub fn text_delta(text: &str) -> (&'static str, Value) {
    ("output_text.delta", json!({"item_id": "m", "output_index": 0, "content_index": 0, "delta": text}))
}

pub fn completed(output: Value) -> (&'static str, Value) {
    let usage = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2});
    (
        "completed",
        json!({"response": {"id": "r", "status": "completed", "output": output, "usage": usage, "error": null}}),
    )
}

pub fn message(text: &str) -> Value {
    json!({"type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

pub fn call(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": arguments, "status": "completed"})
}

fn text_events(pieces: &[&str]) -> Vec<(&'static str, Value)> {
    let all = pieces.concat();
    let mut events = vec![
        ("created", json!({"response": {"status": "in_progress", "output": []}})),
        ("in_progress", json!({"response": {"status": "in_progress", "output": []}})),
        ("output_item.added", json!({"output_index": 0, "item": {"type": "message", "id": "m", "content": []}})),
        (
            "content_part.added",
            json!({"item_id": "m", "output_index": 0, "content_index": 0, "part": {"type": "output_text", "text": ""}}),
        ),
    ];
    events.extend(pieces.iter().map(|piece| text_delta(piece)));
    events.push(("output_text.done", json!({"item_id": "m", "output_index": 0, "content_index": 0, "text": all})));
    events.push((
        "content_part.done",
        json!({"item_id": "m", "output_index": 0, "content_index": 0, "part": {"type": "output_text", "text": all}}),
    ));
    events.push(("output_item.done", json!({"output_index": 0, "item": message(&all)})));
    events.push(completed(json!([message(&all)])));
    events
}

#[tokio::test]
async fn r48_reply_of_the_responses_api_arrives_once_although_repeated() {
    let all = text_events(&["Hel", "lo"]);
    check("everything", stream(&all), "Hello#9+2.").await;
    let without = |omitted: &[&str]| -> Answer {
        let kept: Vec<_> = all.iter().filter(|(kind, _)| !omitted.contains(kind)).cloned().collect();
        stream(&kept)
    };
    check("no pieces", without(&["output_text.delta"]), "Hello#9+2.").await;
    check("only with its part", without(&["output_text.delta", "output_text.done"]), "Hello#9+2.").await;
    let done = ["output_text.delta", "output_text.done", "content_part.done"];
    check("only with its item", without(&done), "Hello#9+2.").await;
    let done = ["output_text.delta", "output_text.done", "content_part.done", "output_item.done"];
    check("only with the reply", without(&done), "Hello#9+2.").await;
    check(
        "nothing begun",
        without(&["created", "in_progress", "output_item.added", "content_part.added"]),
        "Hello#9+2.",
    )
    .await;
    check("the last piece lost", stream(&[text_delta("Hel"), completed(json!([message("Hello")]))]), "Hello#9+2.")
        .await;
    check(
        "another text in the final response",
        stream(&[text_delta("Hello"), completed(json!([message("Bye")]))]),
        "Hello#9+2.",
    )
    .await;
    check("nothing at all", stream(&[completed(json!([]))]), "#9+2.").await;
    check("no list in the end", stream(&[text_delta("a"), ("completed", json!({"response": {}}))]), "a.").await;
}

#[tokio::test]
async fn r48_responses_api_follows_the_grammar_of_event_streams() {
    let body = r#"{"type":"response.output_text.delta","delta":"中👩‍👩‍👧"}"#;
    let end = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
    check("no names", Answer::stream().raw(format!("data: {body}\n\ndata: {end}\n\n")), "中👩‍👩‍👧.").await;
    let crlf = format!(": hi\r\n\r\nevent:response.output_text.delta\r\ndata:{body}\r\n\r\ndata:{end}\r\n\r\n");
    check("CRLF, no blanks, comment", Answer::stream().raw(&crlf), "中👩‍👩‍👧.").await;
    let mut slow = Answer::stream();
    for byte in crlf.as_bytes() {
        slow = slow.raw([*byte]).with_step(Step::Pause(Duration::from_micros(200)));
    }
    check("byte by byte", slow, "中👩‍👩‍👧.").await;
    let noise = "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: keepalive\ndata: still\n\n";
    check("signs of life", stream(&[text_delta("a")]).raw(noise).raw(format!("data: {end}\n\n")), "a.").await;
    check("[DONE] after the end", stream(&[text_delta("a"), completed(json!([]))]).done(), "a#9+2.").await;
    check("text after the end", stream(&[text_delta("a"), completed(json!([])), text_delta("b")]), "a#9+2.").await;
    let unknown = ("web_search_call.searching", json!({"output_index": 1, "item_id": "w"}));
    let image = (
        "output_item.done",
        json!({"output_index": 1, "item": {"type": "image_generation_call", "id": "w", "result": "…"}}),
    );
    check(
        "unknown kinds",
        stream(&[unknown, image, text_delta("a"), completed(json!([{"type": "mcp_call"}]))]),
        "a#9+2.",
    )
    .await;
    check(
        "odd shapes",
        stream(&[
            ("output_text.delta", json!({"delta": {"text": "a"}})),
            ("output_text.delta", json!({"delta": 7})),
            ("output_item.added", json!({"item": null})),
            ("output_item.done", json!({})),
            completed(json!("odd")),
        ]),
        "a#9+2.",
    )
    .await;
    let big = "x".repeat(3 << 20);
    check("an event of 3 MB", stream(&[text_delta(&big), completed(json!([message(&big)]))]), &format!("{big}#9+2."))
        .await;
}

#[tokio::test]
async fn r48_reasoning_and_refusals_are_separate_from_text() {
    let summary = |part: u64, text: &str| {
        (
            "reasoning_summary_text.delta",
            json!({"item_id": "r", "output_index": 0, "summary_index": part, "delta": text}),
        )
    };
    let done = (
        "output_item.done",
        json!({"output_index": 0, "item": {"type": "reasoning", "id": "r", "summary": [
        {"type": "summary_text", "text": "ab"}, {"type": "summary_text", "text": "cd"}]}}),
    );
    check(
        "summaries",
        stream(&[
            summary(0, "a"),
            summary(0, "b"),
            summary(1, "c"),
            done.clone(),
            text_delta("x"),
            completed(json!([])),
        ]),
        "(a)(b)(\n\nc)(d)x#9+2.",
    )
    .await;
    check("only in the end", stream(&[done, text_delta("x"), completed(json!([]))]), "(ab)(\n\ncd)x#9+2.").await;
    let plain = ("reasoning_text.delta", json!({"item_id": "r", "output_index": 0, "content_index": 0, "delta": "r"}));
    check("open models", stream(&[plain.clone(), text_delta("x"), completed(json!([]))]), "(r)x#9+2.").await;
    check("both at once", stream(&[plain, summary(0, "a"), text_delta("x"), completed(json!([]))]), "(r)x#9+2.").await;
    check("tags", stream(&[text_delta("<thi"), text_delta("nk>r</think>\n\nx"), completed(json!([]))]), "(r)x#9+2.")
        .await;
    let refusal =
        |text: &str| ("refusal.delta", json!({"item_id": "m", "output_index": 0, "content_index": 0, "delta": text}));
    let item = json!({"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "I can't."}]});
    check("a refusal", stream(&[refusal("I ca"), refusal("n't."), completed(json!([item.clone()]))]), "I can't.#9+2.")
        .await;
    check("a refusal in the end", stream(&[completed(json!([item]))]), "I can't.#9+2.").await;
}

#[tokio::test]
async fn r48_calls_of_the_responses_api_arrive_complete_or_not_at_all() {
    let added = |at: u64, id: &str| {
        (
            "output_item.added",
            json!({"output_index": at, "item": {"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": ""}}),
        )
    };
    let delta = |at: u64, id: &str, text: &str| {
        ("function_call_arguments.delta", json!({"output_index": at, "item_id": format!("fc_{id}"), "delta": text}))
    };
    let args = |at: u64, id: &str, text: &str| {
        ("function_call_arguments.done", json!({"output_index": at, "item_id": format!("fc_{id}"), "arguments": text}))
    };
    let done =
        |at: u64, id: &str, text: &str| ("output_item.done", json!({"output_index": at, "item": call(id, text)}));
    let whole = r#"{"x":1}"#;
    check(
        "the usual way",
        stream(&[
            text_delta("Hm."),
            added(1, "a"),
            delta(1, "a", "{\"x\":"),
            delta(1, "a", "1}"),
            args(1, "a", whole),
            done(1, "a", whole),
            added(2, "b"),
            args(2, "b", "{}"),
            done(2, "b", "{}"),
            completed(json!([message("Hm."), call("a", whole), call("b", "{}")])),
        ]),
        r#"Hm.#9+2[a f {"x":1}][b f {}]."#,
    )
    .await;
    check(
        "pieces alone",
        stream(&[added(0, "a"), delta(0, "a", "{\"x\":"), delta(0, "a", "1}"), completed(json!([]))]),
        r#"#9+2[a f {"x":1}]."#,
    )
    .await;
    check("the end alone", stream(&[completed(json!([call("a", whole)]))]), r#"#9+2[a f {"x":1}]."#).await;
    check("no arguments", stream(&[added(0, "a"), done(0, "a", ""), completed(json!([]))]), "#9+2[a f {}].").await;
    let object = json!({"type": "function_call", "name": "f", "arguments": {"x": 1}});
    check("an object, no id", stream(&[completed(json!([object]))]), r#"#9+2[call_1 f {"x":1}]."#).await;
    check(
        "one id for both",
        stream(&[completed(json!([call("a", "{}"), call("a", whole)]))]),
        r#"#9+2[a f {}][call_1 f {"x":1}]."#,
    )
    .await;
    let half = stream(&[added(0, "a"), delta(0, "a", "{\"x\":"), completed(json!([]))]);
    check("half", half, "#9+2!The connection was lost during the reply: a tool call was never completed").await;
    let out = format_reply(&collect_once(stream(&[added(0, "a"), delta(0, "a", whole), args(0, "a", whole)])).await);
    assert!(!out.contains("[a f") && out.starts_with("!The connection was lost"), "{out}");
}
