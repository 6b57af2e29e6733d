//! Requests to the responses API, and data that is sent back with the next request.

use super::responses::{completed, stream};
use super::{format_reply, request_with};
use crate::support::program::Setup;
use crate::support::scene::Scene;
use crate::support::service::{Answer, Service};
use aye::agent::Event;
use aye::chat::{Chunk, Echo, Entry, Message, Request, Session, ToolCall, ToolSpec};
use aye::llm::{Api, Llm, OpenAi, Quirks, Secret, Settings};
use futures::StreamExt;
use serde_json::{Value, json};

fn settings_for(service: &Service) -> Settings {
    Settings { api: Api::Responses, ..Settings::new(&service.base_url) }
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: "f".into(),
        description: "d".into(),
        parameters: json!({"type": "object"}).into(),
        ..ToolSpec::default()
    }
}

fn with_tools(messages: Vec<Message>) -> Request {
    Request { messages, tools: vec![spec()], ..request_with("") }
}

/// Collects a reply as a turn does: its text, its calls and its echo.
async fn collect_message(settings: &Settings, request: Request) -> (String, Vec<ToolCall>, Option<Echo>) {
    let out: Vec<_> = OpenAi::new(settings.clone()).stream(request).collect().await;
    assert!(matches!(out.last(), Some(Ok(Chunk::Done(_)))), "{}", format_reply(&out));
    let (mut text, mut calls, mut echo) = (String::new(), Vec::new(), None);
    for item in out {
        match item {
            Ok(Chunk::Text(more)) => text.push_str(&more),
            Ok(Chunk::Call(call)) => calls.push(call),
            Ok(Chunk::Echo(own)) => echo = Some(own),
            _ => {}
        }
    }
    (text, calls, echo)
}

/// An item with encrypted reasoning.
fn sealed(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": format!("sealed {id}"), "status": "completed"})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": "{}", "status": "completed"})
}

fn message(id: &str, phase: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "phase": phase, "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

/// A stream with these items, each added and completed, and all of them in the final response.
fn items(all: &[Value]) -> Answer {
    let mut events = Vec::new();
    for (at, item) in all.iter().enumerate() {
        let mut started_item =
            json!({"type": item["type"], "id": item["id"], "name": item["name"], "phase": item["phase"]});
        started_item["summary"] = json!([]);
        events.push(("output_item.added", json!({"output_index": at, "item": started_item})));
        events.push(("output_item.done", json!({"output_index": at, "item": item})));
    }
    events.push(completed(json!(all)));
    stream(&events)
}

#[tokio::test]
async fn responses_request_has_the_expected_form() {
    let service = Service::start_strict([items(&[])]).await;
    let settings = Settings {
        quirks: Quirks {
            reasoning_effort: Some("high".into()),
            parallel_calls: Some(true),
            max_tokens: Some(500),
            ..Quirks::default()
        },
        key: Some(Secret::new("sk-secret")),
        key_header: Some("api-key".into()),
        query: vec![("api-version".into(), "2026-01-01".into()), ("a b".into(), "ü&".into())],
        parameters: json!({"temperature": 0.5, "store": null}).as_object().unwrap().clone(),
        ..settings_for(&service)
    };
    let request =
        Request { max_tokens: Some(100), ..with_tools(vec![Message::System("s".into()), Message::User("hi".into())]) };
    let _: Vec<_> = OpenAi::new(settings).stream(request).collect().await;
    let request = &service.received()[0];
    assert_eq!(request.line, "POST /v1/responses?api-version=2026-01-01&a+b=%C3%BC%26 HTTP/1.1");
    assert_eq!((request.header("authorization"), request.header("api-key")), (None, Some("sk-secret")));
    assert_eq!(request.header("accept"), Some("text/event-stream"));
    assert_eq!(
        request.body,
        json!({"model": "m", "instructions": "s", "input": [{"type": "message", "role": "user", "content": "hi"}], "stream": true,
            "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "high"}, "parallel_tool_calls": true,
            "max_output_tokens": 100, "temperature": 0.5,
            "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": false}]})
    );
}

#[tokio::test]
async fn encrypted_reasoning_is_sent_back_before_its_call() {
    let service = Service::start_strict([
        items(&[sealed("r1"), message("m1", "commentary", "I look."), sealed("r2"), call("c1"), call("c2")]),
        items(&[message("m2", "final_answer", "Done.")]),
        items(&[message("m3", "final_answer", "Bye.")]),
    ])
    .await;
    let settings = settings_for(&service);
    let mut messages = vec![Message::User("go".into())];
    let (text, mut calls, echo) = collect_message(&settings, with_tools(messages.clone())).await;
    assert_eq!((text.as_str(), calls.len(), echo.is_some()), ("I look.", 2, true));
    // The session renames a call whose ID was used before.
    calls[0].id.0 = "c1-2".to_owned();
    let outcomes: Vec<Message> =
        calls.iter().map(|call| Message::Tool { call: call.id.clone(), text: "o".into() }).collect();
    messages.push(Message::Model { text, calls, echo: echo.map(Box::new) });
    messages.extend(outcomes);
    let (text, calls, echo) = collect_message(&settings, with_tools(messages.clone())).await;
    // The next four closures return items as they are sent back.
    let back = |item: Value| -> Value {
        let mut item = item;
        item.as_object_mut().unwrap().remove("status");
        item
    };
    let written = |id: &str, phase: &str, text: &str| {
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}],
            "id": id, "status": "completed", "phase": phase})
    };
    let called = |id: &str, item: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", "id": item});
    let outcome = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "o"});
    let first = vec![
        json!({"type": "message", "role": "user", "content": "go"}),
        back(sealed("r1")),
        written("m1", "commentary", "I look."),
        back(sealed("r2")),
        called("c1-2", "fc_c1"),
        called("c2", "fc_c2"),
        outcome("c1-2"),
        outcome("c2"),
    ];
    assert_eq!(service.received()[1].body["input"], json!(first));
    messages.push(Message::Model { text, calls, echo: echo.map(Box::new) });
    messages.push(Message::User("bye".into()));
    collect_message(&settings, with_tools(messages)).await;
    let mut third = first;
    third.push(written("m2", "final_answer", "Done."));
    third.push(json!({"type": "message", "role": "user", "content": "bye"}));
    assert_eq!(service.received()[2].body["input"], json!(third), "the messages only grow, so they can be cached");
}

#[tokio::test]
async fn encrypted_reasoning_is_sent_to_its_own_model_only() {
    let service = Service::start_strict([items(&[sealed("r1"), call("c1")]), items(&[])]).await;
    let chat = Service::start_strict([Answer::stream().text("a").done()]).await;
    let other_service = Service::start_strict([items(&[])]).await;
    let (text, calls, echo) =
        collect_message(&settings_for(&service), with_tools(vec![Message::User("go".into())])).await;
    let outcome = Message::Tool { call: calls[0].id.clone(), text: "o".into() };
    let messages = vec![Message::User("go".into()), Message::Model { text, calls, echo: echo.map(Box::new) }, outcome];
    collect_message(&settings_for(&other_service), with_tools(messages.clone())).await;
    collect_message(&Settings::new(&chat.base_url), with_tools(messages.clone())).await;
    collect_message(&settings_for(&service), Request { model: "another".into(), ..with_tools(messages) }).await;
    for request in [&other_service.received()[0], &chat.received()[0], &service.received()[1]] {
        assert!(!request.body.to_string().contains("sealed"), "{}", request.body);
    }
}

#[tokio::test]
async fn incomplete_reply_leaves_nothing_to_send_back() {
    let cut = (
        "incomplete",
        json!({"response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [sealed("r1"), call("c1")]}}),
    );
    let service = Service::start_strict([stream(&[cut])]).await;
    let (_, _, echo) = collect_message(&settings_for(&service), with_tools(vec![Message::User("go".into())])).await;
    assert_eq!(echo, None);
}

#[tokio::test]
async fn plain_reasoning_is_sent_back_only_if_enabled() {
    let plain = json!({"type": "reasoning", "id": "r1", "summary": [], "content": [{"type": "reasoning_text", "text": "because"}], "encrypted_content": null});
    let service = Service::start_strict([items(&[plain.clone(), call("c1")])]).await;
    let user_request = || with_tools(vec![Message::User("go".into())]);
    assert_eq!(collect_message(&settings_for(&service), user_request()).await.2, None);
    let settings = Settings { quirks: Quirks { send_reasoning: true, ..Quirks::default() }, ..settings_for(&service) };
    let (text, calls, echo) = collect_message(&settings, user_request()).await;
    let outcome = Message::Tool { call: calls[0].id.clone(), text: "o".into() };
    collect_message(
        &settings,
        with_tools(vec![Message::User("go".into()), Message::Model { text, calls, echo: echo.map(Box::new) }, outcome]),
    )
    .await;
    assert_eq!(
        service.received()[2].body["input"][1],
        json!({"id": "r1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "because"}]})
    );
}

#[tokio::test]
async fn encrypted_reasoning_survives_session_and_log() {
    let read = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a.txt\"}"});
    let again = json!({"type": "function_call", "id": "fc_2", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a.txt\"}"});
    let service = Service::start_strict([
        items(&[sealed("r1"), read]),
        items(&[sealed("r2"), again]),
        items(&[message("m1", "final_answer", "It says alpha.")]),
        items(&[message("m2", "final_answer", "Bye.")]),
    ])
    .await;
    let mut scene = Scene::with_llm(OpenAi::new(settings_for(&service))).with_file("a.txt", "alpha\n");
    scene.say("read it twice").await;
    assert!(scene.state.is_idle());
    let kinds = |index: usize| -> Vec<String> {
        let input = service.received()[index].body["input"].as_array().unwrap().clone();
        let describe_item = |item: &Value| match item["type"].as_str().unwrap() {
            "message" if item["role"] == "user" => "user".to_owned(),
            "reasoning" => item["encrypted_content"].as_str().unwrap().to_owned(),
            "function_call" => format!("{} {}", item["call_id"], item["id"]),
            "function_call_output" => {
                format!("{} {}", item["call_id"], item["output"].as_str().unwrap().contains("alpha"))
            }
            other => other.to_owned(),
        };
        input.iter().map(describe_item).collect()
    };
    let twice = [
        "user",
        "sealed r1",
        "\"call_1\" \"fc_1\"",
        "\"call_1\" true",
        "sealed r2",
        "\"call_1-2\" \"fc_2\"",
        "\"call_1-2\" true",
    ];
    assert_eq!(kinds(2), twice);
    // The session sends the same after it was read back from its log.
    let lines: Vec<String> =
        scene.log.entries.lock().unwrap().iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    let entries: Vec<Entry> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    scene.state.session = Session::replay(entries);
    scene.say("bye").await;
    let mut all = twice.to_vec();
    all.extend(["message", "user"]);
    assert_eq!(kinds(3), all);
}

#[tokio::test]
async fn session_that_is_too_long_is_reported_as_such() {
    let refused = |code: &str| {
        Answer::body(400, "application/json", &[], &json!({"error": {"message": "m", "code": code}}).to_string())
    };
    let inside =
        stream(&[("failed", json!({"response": {"error": {"code": "context_length_exceeded", "message": "m"}}}))]);
    for (answer, expected) in
        [(refused("context_length_exceeded"), true), (inside, true), (refused("invalid_value"), false)]
    {
        let service = Service::start_strict([answer]).await;
        let mut scene = Scene::with_llm(OpenAi::new(settings_for(&service)));
        scene.apply_event(Event::UserMessage("go".into()));
        let Event::RequestFailed { too_long, reason, .. } = scene.next_event().await else {
            panic!("the request did not fail")
        };
        assert_eq!(too_long, expected, "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_program_uses_the_responses_api_and_calls_a_tool() {
    let read = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read_file", "arguments": "{\"path\":\"a.txt\"}"});
    let service =
        Service::start([items(&[sealed("r1"), read]), items(&[message("m1", "final_answer", "It says alpha.")])]).await;
    let setup = Setup::new(&["-p", "--profile", "new", "read it"]).with_file("a.txt", "alpha\n");
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.new]\nbase_url = \"{}\"\nmodel = \"m\"\napi = \"responses\"\nreasoning_effort = \"high\"\nmax_tokens = 900\nquery = {{ v = \"1\" }}\n",
        service.base_url
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();

    let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
    assert_eq!((out.trim(), code), ("It says alpha.", 0), "{err}");
    let requests = service.received();
    assert_eq!(requests[1].line, "POST /v1/responses?v=1 HTTP/1.1");
    let body = &requests[1].body;
    assert_eq!((&body["reasoning"]["effort"], &body["max_output_tokens"]), (&json!("high"), &json!(900)));
    let input = body["input"].as_array().unwrap();
    let kinds: Vec<&str> = input.iter().filter_map(|item| item["type"].as_str()).collect();
    assert_eq!(kinds, ["message", "reasoning", "function_call", "function_call_output"]);
    assert!(input[3]["output"].as_str().unwrap().contains("alpha"), "{input:?}");
}
