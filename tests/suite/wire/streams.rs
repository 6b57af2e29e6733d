//! Streams as services are known to write them.

use super::{asks, collect, model, once, told};
use crate::support::service::{Answer, Service, Step};
use aye::llm::{Llm, OpenAi, Settings};
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn check(what: &str, answer: Answer, expected: &str) {
    assert_eq!(told(&once(answer).await), expected, "{what}");
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn call(call: Value) -> Value {
    delta(json!({"tool_calls": [call]}))
}

#[tokio::test]
async fn r48_an_ordinary_reply_arrives() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    let answer = Answer::stream().says("Hel").says("lo").finish("stop").event(usage).done();
    check("text, usage, done", answer, "Hello#9+2.").await;
    check("no [DONE]", Answer::stream().says("a").finish("stop"), "a.").await;
    check("no finish_reason", Answer::stream().says("a").done(), "a.").await;
    check("[DONE] with a blank", Answer::stream().says("a").raw("data: [DONE] \n\n"), "a.").await;
    check("words after [DONE]", Answer::stream().says("a").done().says("b"), "a.").await;
    check("length", Answer::stream().says("a").finish("length").done(), "a<length>").await;
    check("filter", Answer::stream().finish("content_filter").done(), "<content_filter>").await;
    check("nothing at all", Answer::stream().finish("stop").done(), ".").await;
}

#[tokio::test]
async fn r48_the_grammar_of_streams_is_kept_to() {
    let text = r#"{"choices":[{"delta":{"content":"中👩‍👩‍👧"},"finish_reason":"stop"}]}"#;
    let crlf = format!(": hello\r\n\r\ndata:{text}\r\n\r\ndata: [DONE]\r\n\r\n");
    check("CRLF, no blank, comment", Answer::stream().raw(&crlf), "中👩‍👩‍👧.").await;
    check("CR", Answer::stream().raw(crlf.replace("\r\n", "\r")), "中👩‍👩‍👧.").await;
    check("mark at the start", Answer::stream().raw(format!("\u{feff}data: {text}\n\n")), "中👩‍👩‍👧.").await;
    check("no empty line at the end", Answer::stream().raw(format!("data: {text}")), "中👩‍👩‍👧.").await;
    let mut slow = Answer::stream();
    for byte in crlf.as_bytes() {
        slow = slow.raw([*byte]).then(Step::Pause(Duration::from_micros(200)));
    }
    check("byte by byte", slow, "中👩‍👩‍👧.").await;
    let noise = ": OPENROUTER PROCESSING\n\nevent: keepalive\ndata: {}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nid: 1\nretry: 5\n\n";
    check("signs of life", Answer::stream().raw(noise).says("a").raw(noise).done(), "a.").await;
    let broken = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xfeb\"}}]}\n\n";
    check("not UTF-8", Answer::stream().raw(broken).says("c").done(), "a\u{fffd}\u{fffd}bc.").await;
    let big = "x".repeat(3 << 20);
    check("an event of 3 MB", Answer::stream().says(&big).done(), &format!("{big}.")).await;
}

#[tokio::test]
async fn r48_odd_shapes_lose_nothing() {
    check(
        "reasoning_content",
        Answer::stream().event(delta(json!({"reasoning_content": "r"}))).says("a").done(),
        "(r)a.",
    )
    .await;
    check(
        "both names",
        Answer::stream().event(delta(json!({"reasoning": "r", "reasoning_content": "r"}))).done(),
        "(r).",
    )
    .await;
    check("tags", Answer::stream().says("<thi").says("nk>r</think>").says("\n\na").done(), "(r)a.").await;
    let odd = json!({"created": 1.5, "id": null, "service_tier": 3, "choices": [
        {"delta": {"role": "odd", "content": "a"}, "finish_reason": "odd", "logprobs": {}}], "usage": {"prompt_tokens": 1}});
    check("odd everything", Answer::stream().event(odd).done(), "a#1+0.").await;
    check(
        "empty choices",
        Answer::stream().event(json!({"choices": []})).event(json!({})).says("a").done(),
        "a.",
    )
    .await;
}

#[tokio::test]
async fn r48_calls_arrive_whole() {
    let f = |index: Value, id: Value, name: Value, arguments: Value| {
        call(
            json!({"index": index, "id": id, "type": "", "function": {"name": name, "arguments": arguments}}),
        )
    };
    let n = Value::Null;
    let answer = Answer::stream()
        .event(f(json!(0), json!("a"), json!("f"), json!("")))
        .event(f(json!(0), n.clone(), n.clone(), json!("{\"x\":")))
        .event(f(json!(0), n.clone(), n.clone(), json!("1}")))
        .event(f(json!(1), json!("b"), json!("g"), json!("{}")))
        .finish("tool_calls")
        .done();
    check("the usual way", answer, r#"[a f {"x":1}][b g {}]."#).await;
    let answer =
        Answer::stream().event(f(n.clone(), n.clone(), json!("f"), json!({"x": 1}))).finish("stop").done();
    check("no index, no id, an object, stop", answer, r#"[call_1 f {"x":1}]."#).await;
    let several = delta(json!({"tool_calls": [
        {"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "f", "arguments": "{}"}}]}));
    check("several in one", Answer::stream().event(several).done(), "[call_1 f {}][call_2 f {}].").await;
    let half = Answer::stream().event(f(json!(0), json!("a"), json!("f"), json!("{\"x\":")));
    assert!(!told(&once(half).await).contains("[a f"), "half a call is never one");
}

#[tokio::test]
async fn r48_a_body_in_one_piece_is_read_as_a_reply() {
    let body = json!({"choices": [{"message": {"content": "a", "tool_calls": [
        {"id": "c", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 1}});
    let pretty = serde_json::to_string_pretty(&body).unwrap();
    let json = "application/json; charset=utf-8";
    check("a whole completion", Answer::body(200, json, &[], &pretty), "a#4+1[c f {}].").await;
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n";
    check("a stream with the wrong label", Answer::body(200, "text/plain", &[], stream), "a.").await;
    check("a stream with no label", Answer::head(200, &[]).raw(stream), "a.").await;
}

#[tokio::test]
async fn text_comes_while_the_service_still_writes() {
    let answer = Answer::stream().says("first").then(Step::Stall);
    let service = Service::start([answer]).await;
    let mut reply = model(&service).stream(asks("hi"));
    let first =
        tokio::time::timeout(Duration::from_millis(700), reply.next()).await.expect("before the idle limit");
    assert_eq!(told(&[first.unwrap()]), "first");
}

#[tokio::test]
async fn a_service_that_never_hangs_up_after_the_end_is_not_waited_for() {
    let service = Service::start([Answer::stream().says("a").finish("stop").then(Step::Stall)]).await;
    let patient = OpenAi::new(Settings::new(&service.base_url));
    let began = Instant::now();
    assert_eq!(told(&collect(&patient).await), "a.");
    assert!(began.elapsed() < Duration::from_secs(8), "and not for the idle limit");
}

#[tokio::test]
async fn a_reader_who_waits_holds_the_service_up_instead_of_filling_the_memory() {
    let mut answer = Answer::stream();
    let piece = "x".repeat(64 << 10);
    for _ in 0..400 {
        answer = answer.says(&piece);
    }
    let service = Service::start([answer.finish("stop").done().raw(": the end\n\n").then(Step::Stall)]).await;
    let mut reply = OpenAi::new(Settings::new(&service.base_url)).stream(asks("hi"));
    reply.next().await.unwrap().unwrap();
    let sent = || service.received()[0].sent;
    let mut before = 0;
    while sent() > before {
        before = sent();
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    assert!(before < 16 << 20, "{before} bytes of 25 MB went to a reader who took one event");
    let rest: Vec<_> = reply.collect().await;
    let letters: usize = told(&rest).len();
    assert_eq!(letters, 399 * (64 << 10) + 1, "and nothing is lost by it");
}
