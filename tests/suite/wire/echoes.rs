//! Data that chat completion providers send with a reply and expect back, and the request parameters from the settings.

use super::{format_reply, request_with};
use crate::support::service::{Answer, Service};
use aye::chat::{Chunk, Message, Request, ToolSpec};
use aye::llm::{Llm, OpenAi, Quirks, Secret, Settings};
use futures::StreamExt;
use serde_json::{Value, json};

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn with_tools(messages: Vec<Message>) -> Request {
    let spec = ToolSpec {
        name: "f".into(),
        description: "d".into(),
        parameters: json!({"type": "object"}).into(),
        ..ToolSpec::default()
    };
    Request { messages, tools: vec![spec], ..request_with("") }
}

/// Receives a reply of the service, then sends it back with outcomes of its calls, whose IDs are changed first. Returns
/// the reply as the second request contains it.
async fn next_request(settings: &Settings, service: &Service) -> Value {
    let go = || Message::User("go".into());
    let out: Vec<_> = OpenAi::new(settings.clone()).stream(with_tools(vec![go()])).collect().await;
    let (mut text, mut calls, mut echo) = (String::new(), Vec::new(), None);
    assert!(matches!(out.last(), Some(Ok(Chunk::Done(_)))), "{}", format_reply(&out));
    for item in out {
        match item {
            Ok(Chunk::Text(more)) => text.push_str(&more),
            Ok(Chunk::Call(call)) => calls.push(call),
            Ok(Chunk::Echo(own)) => echo = Some(own),
            _ => {}
        }
    }
    for call in &mut calls {
        call.id.0.push_str("-2");
    }
    let outcomes: Vec<_> = calls.iter().map(|call| Message::Tool { call: call.id.clone(), text: "o".into() }).collect();
    let messages =
        [go(), Message::Model { text, calls, echo: echo.map(Box::new) }].into_iter().chain(outcomes).collect();
    let _: Vec<_> = OpenAi::new(settings.clone()).stream(with_tools(messages)).collect().await;
    service.received().last().unwrap().body["messages"][1].clone()
}

fn call(index: u64, id: &str, extra: Value) -> Value {
    json!({"index": index, "id": id, "function": {"name": "f", "arguments": "{}"}, "extra_content": extra})
}

#[tokio::test]
async fn gemini_signatures_are_sent_back_with_their_calls() {
    let signed = json!({"google": {"thought_signature": "CiQB…"}});
    let first = delta(json!({"tool_calls": [call(0, "a", signed.clone())]}));
    let second = delta(json!({"tool_calls": [call(1, "b", Value::Null)]}));
    let service =
        Service::start_strict([Answer::stream().event(first).event(second).finish("tool_calls").done()]).await;
    let message = next_request(&Settings::new(&service.base_url), &service).await;
    let written = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let mut a = written("a-2");
    a["extra_content"] = signed;
    assert_eq!(message["tool_calls"], json!([a, written("b-2")]));
}

#[tokio::test]
async fn openrouter_reasoning_details_are_sent_back_merged() {
    let text = |text: &str| {
        delta(
            json!({"reasoning": text, "reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0, "format": "x"}]}),
        )
    };
    let seal =
        delta(json!({"reasoning_details": [{"type": "reasoning.text", "signature": "sig", "text": "", "index": 0}]}));
    let sealed =
        delta(json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "…", "id": "a", "index": 1}]}));
    let answer = Answer::stream()
        .event(text("one "))
        .event(text("two"))
        .event(seal)
        .event(sealed)
        .event(delta(json!({"tool_calls": [call(0, "a", Value::Null)]})))
        .finish("tool_calls")
        .done();
    let service = Service::start_strict([answer]).await;
    let message = next_request(&Settings::new(&service.base_url), &service).await;
    assert_eq!(
        message["reasoning_details"],
        json!([{"type": "reasoning.text", "text": "one two", "index": 0, "format": "x", "signature": "sig"},
            {"type": "reasoning.encrypted", "data": "…", "id": "a-2", "index": 1}])
    );
    assert_eq!(message.get("reasoning"), None, "the reasoning is sent twice");
}

#[tokio::test]
async fn deepseek_reasoning_is_sent_back_with_its_calls_if_enabled() {
    let answer = Answer::stream()
        .event(delta(json!({"reasoning_content": "so "})))
        .event(delta(json!({"reasoning_content": "be it"})))
        .event(delta(json!({"tool_calls": [call(0, "a", Value::Null)]})))
        .finish("tool_calls")
        .done();
    let service = Service::start_strict([answer.clone()]).await;
    let back =
        Settings { quirks: Quirks { send_reasoning: true, ..Quirks::default() }, ..Settings::new(&service.base_url) };
    assert_eq!(next_request(&back, &service).await["reasoning_content"], "so be it");
    let plain = Settings::new(&service.base_url);
    assert_eq!(next_request(&plain, &service).await.get("reasoning_content"), None);
}

#[tokio::test]
async fn reasoning_in_tags_is_sent_back_in_tags_if_enabled() {
    let answer = Answer::stream().text("<think>so be").text(" it</think>\n\nDone.").finish("stop").done();
    let service = Service::start([answer]).await;
    let back =
        Settings { quirks: Quirks { send_reasoning: true, ..Quirks::default() }, ..Settings::new(&service.base_url) };
    assert_eq!(next_request(&back, &service).await["content"], "<think>\nso be it\n</think>\n\nDone.");
    assert_eq!(next_request(&Settings::new(&service.base_url), &service).await["content"], "Done.");
}

#[tokio::test]
async fn chat_request_has_the_parameters_of_the_settings() {
    let service = Service::start_strict([Answer::stream().done()]).await;
    let settings = Settings {
        quirks: Quirks {
            reasoning_effort: Some("low".into()),
            parallel_calls: Some(false),
            max_tokens: Some(50),
            max_tokens_parameter: Some("max_completion_tokens".into()),
            ..Quirks::default()
        },
        key: Some(Secret::new("sk-secret")),
        key_header: Some("x-api-key".into()),
        query: vec![("api-version".into(), "1".into())],
        ..Settings::new(&format!("{}/?tenant=t", service.base_url))
    };
    let model = OpenAi::new(settings.clone());
    let _: Vec<_> = model.stream(with_tools(vec![Message::User("hi".into())])).collect().await;
    let request = &service.received()[0];
    assert_eq!(request.line, "POST /v1/chat/completions?tenant=t&api-version=1 HTTP/1.1");
    assert_eq!((request.header("authorization"), request.header("x-api-key")), (None, Some("sk-secret")));
    assert_eq!(request.body["reasoning_effort"], "low");
    assert_eq!(request.body["parallel_tool_calls"], false);
    assert_eq!(request.body["max_completion_tokens"], 50);
    let _ = model.models().await;
    let listed = &service.received()[1];
    assert_eq!(listed.line, "GET /v1/models?tenant=t&api-version=1 HTTP/1.1");
    assert_eq!(listed.header("x-api-key"), Some("sk-secret"));
    let _ = model.context_window("m").await;
    let seen = &service.received()[2];
    assert_eq!(seen.line, "GET /v1/models?tenant=t&api-version=1 HTTP/1.1");
    assert_eq!(seen.header("x-api-key"), Some("sk-secret"));
    let without_tools =
        OpenAi::new(Settings { quirks: Quirks { tools: false, ..settings.quirks.clone() }, ..settings });
    let _: Vec<_> = without_tools.stream(with_tools(vec![Message::User("hi".into())])).collect().await;
    let request = &service.received()[3];
    assert_eq!((request.body.get("tools"), request.body.get("parallel_tool_calls")), (None, None));
}
