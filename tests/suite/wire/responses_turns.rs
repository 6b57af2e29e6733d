//! Requests to the responses API, and what goes back to it with the next one.

use super::responses::{completed, stream};
use super::{asks, told};
use crate::support::program::Setup;
use crate::support::scene::Scene;
use crate::support::service::{Answer, Service};
use aye::agent::Event;
use aye::chat::{Chunk, Echo, Entry, Message, Request, Session, ToolCall, ToolSpec};
use aye::llm::{Api, Llm, OpenAi, Secret, Settings};
use futures::StreamExt;
use serde_json::{Value, json};

fn here(service: &Service) -> Settings {
    Settings { api: Api::Responses, ..Settings::new(&service.base_url) }
}

fn spec() -> ToolSpec {
    ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }
}

fn with_tools(messages: Vec<Message>) -> Request {
    Request { messages, tools: vec![spec()], ..asks("") }
}

/// What a turn makes of a reply: its message, with calls named as they are in the session.
async fn reply(settings: &Settings, request: Request) -> (String, Vec<ToolCall>, Option<Echo>) {
    let out: Vec<_> = OpenAi::new(settings.clone()).stream(request).collect().await;
    assert!(matches!(out.last(), Some(Ok(Chunk::Done(_)))), "{}", told(&out));
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

fn sealed(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": format!("sealed {id}"), "status": "completed"})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": "{}", "status": "completed"})
}

fn message(id: &str, phase: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "phase": phase, "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

/// The items of a reply, each begun and ended, and all of them in the end.
fn items(all: &[Value]) -> Answer {
    let mut events = Vec::new();
    for (at, item) in all.iter().enumerate() {
        let mut begun = json!({"type": item["type"], "id": item["id"], "name": item["name"], "phase": item["phase"]});
        begun["summary"] = json!([]);
        events.push(("output_item.added", json!({"output_index": at, "item": begun})));
        events.push(("output_item.done", json!({"output_index": at, "item": item})));
    }
    events.push(completed(json!(all)));
    stream(&events)
}

#[tokio::test]
async fn a_request_to_the_responses_api_is_what_services_expect() {
    let service = Service::start_strict([items(&[])]).await;
    let settings = Settings {
        key: Some(Secret::new("sk-secret")),
        key_header: Some("api-key".into()),
        query: vec![("api-version".into(), "2026-01-01".into()), ("a b".into(), "ü&".into())],
        reasoning_effort: Some("high".into()),
        parallel_calls: Some(true),
        max_tokens: Some(500),
        parameters: json!({"temperature": 0.5, "store": null}).as_object().unwrap().clone(),
        ..here(&service)
    };
    let request =
        Request { max_tokens: Some(100), ..with_tools(vec![Message::System("s".into()), Message::User("hi".into())]) };
    let _: Vec<_> = OpenAi::new(settings).stream(request).collect().await;
    let asked = &service.received()[0];
    assert_eq!(asked.line, "POST /v1/responses?api-version=2026-01-01&a+b=%C3%BC%26 HTTP/1.1");
    assert_eq!((asked.header("authorization"), asked.header("api-key")), (None, Some("sk-secret")));
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    assert_eq!(
        asked.body,
        json!({"model": "m", "instructions": "s", "input": [{"role": "user", "content": "hi"}], "stream": true,
            "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "high"}, "parallel_tool_calls": true,
            "max_output_tokens": 100, "temperature": 0.5,
            "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": false}]})
    );
}

#[tokio::test]
async fn sealed_reasoning_goes_back_before_the_call_it_led_to() {
    let service = Service::start_strict([
        items(&[sealed("r1"), message("m1", "commentary", "I look."), sealed("r2"), call("c1"), call("c2")]),
        items(&[message("m2", "final_answer", "Done.")]),
        items(&[message("m3", "final_answer", "Bye.")]),
    ])
    .await;
    let settings = here(&service);
    let mut talk = vec![Message::User("go".into())];
    let (text, mut calls, echo) = reply(&settings, with_tools(talk.clone())).await;
    assert_eq!((text.as_str(), calls.len(), echo.is_some()), ("I look.", 2, true));
    // The session names a call apart where it has had its name before.
    calls[0].id.0 = "c1-2".to_owned();
    let outcomes: Vec<Message> =
        calls.iter().map(|call| Message::Tool { call: call.id.clone(), text: "o".into() }).collect();
    talk.push(Message::Model { text, calls, echo: echo.map(Box::new) });
    talk.extend(outcomes);
    let (text, calls, echo) = reply(&settings, with_tools(talk.clone())).await;
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
        json!({"role": "user", "content": "go"}),
        back(sealed("r1")),
        written("m1", "commentary", "I look."),
        back(sealed("r2")),
        called("c1-2", "fc_c1"),
        called("c2", "fc_c2"),
        outcome("c1-2"),
        outcome("c2"),
    ];
    assert_eq!(service.received()[1].body["input"], json!(first));
    talk.push(Message::Model { text, calls, echo: echo.map(Box::new) });
    talk.push(Message::User("bye".into()));
    reply(&settings, with_tools(talk)).await;
    let mut third = first;
    third.push(written("m2", "final_answer", "Done."));
    third.push(json!({"role": "user", "content": "bye"}));
    assert_eq!(service.received()[2].body["input"], json!(third), "the talk only grows, so it can be cached");
}

#[tokio::test]
async fn sealed_reasoning_goes_to_nobody_else() {
    let service = Service::start_strict([items(&[sealed("r1"), call("c1")]), items(&[])]).await;
    let chat = Service::start_strict([Answer::stream().says("a").done()]).await;
    let other = Service::start_strict([items(&[])]).await;
    let (text, calls, echo) = reply(&here(&service), with_tools(vec![Message::User("go".into())])).await;
    let outcome = Message::Tool { call: calls[0].id.clone(), text: "o".into() };
    let talk = vec![Message::User("go".into()), Message::Model { text, calls, echo: echo.map(Box::new) }, outcome];
    reply(&here(&other), with_tools(talk.clone())).await;
    reply(&Settings::new(&chat.base_url), with_tools(talk.clone())).await;
    reply(&here(&service), Request { model: "another".into(), ..with_tools(talk) }).await;
    for asked in [&other.received()[0], &chat.received()[0], &service.received()[1]] {
        assert!(!asked.body.to_string().contains("sealed"), "{}", asked.body);
    }
}

#[tokio::test]
async fn a_reply_that_is_not_whole_leaves_nothing_to_send_back() {
    let cut = (
        "incomplete",
        json!({"response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [sealed("r1"), call("c1")]}}),
    );
    let service = Service::start_strict([stream(&[cut])]).await;
    let (_, _, echo) = reply(&here(&service), with_tools(vec![Message::User("go".into())])).await;
    assert_eq!(echo, None);
}

#[tokio::test]
async fn reasoning_that_can_be_read_goes_back_only_where_that_is_set() {
    let plain = json!({"type": "reasoning", "id": "r1", "summary": [], "content": [{"type": "reasoning_text", "text": "because"}], "encrypted_content": null});
    let service = Service::start_strict([items(&[plain.clone(), call("c1")])]).await;
    let ask = || with_tools(vec![Message::User("go".into())]);
    assert_eq!(reply(&here(&service), ask()).await.2, None);
    let back = Settings { send_reasoning_back: true, ..here(&service) };
    let (text, calls, echo) = reply(&back, ask()).await;
    let outcome = Message::Tool { call: calls[0].id.clone(), text: "o".into() };
    reply(
        &back,
        with_tools(vec![Message::User("go".into()), Message::Model { text, calls, echo: echo.map(Box::new) }, outcome]),
    )
    .await;
    assert_eq!(
        service.received()[2].body["input"][1],
        json!({"id": "r1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "because"}]})
    );
}

#[tokio::test]
async fn a_turn_with_a_call_carries_its_sealed_reasoning_through_session_and_log() {
    let reads = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a.txt\"}"});
    let again = json!({"type": "function_call", "id": "fc_2", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a.txt\"}"});
    let service = Service::start_strict([
        items(&[sealed("r1"), reads]),
        items(&[sealed("r2"), again]),
        items(&[message("m1", "final_answer", "It says alpha.")]),
        items(&[message("m2", "final_answer", "Bye.")]),
    ])
    .await;
    let mut scene = Scene::asking(OpenAi::new(here(&service))).has("a.txt", "alpha\n");
    scene.say("read it twice").await;
    assert!(scene.state.is_idle());
    let kinds = |at: usize| -> Vec<String> {
        let input = service.received()[at].body["input"].as_array().unwrap().clone();
        let word = |item: &Value| match item["type"].as_str().unwrap_or("person") {
            "reasoning" => item["encrypted_content"].as_str().unwrap().to_owned(),
            "function_call" => format!("{} {}", item["call_id"], item["id"]),
            "function_call_output" => {
                format!("{} {}", item["call_id"], item["output"].as_str().unwrap().contains("alpha"))
            }
            other => other.to_owned(),
        };
        input.iter().map(word).collect()
    };
    let twice = [
        "person",
        "sealed r1",
        "\"call_1\" \"fc_1\"",
        "\"call_1\" true",
        "sealed r2",
        "\"call_1-2\" \"fc_2\"",
        "\"call_1-2\" true",
    ];
    assert_eq!(kinds(2), twice);
    // Read back from its log, the session sends the same.
    let lines: Vec<String> =
        scene.log.entries.lock().unwrap().iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    let entries: Vec<Entry> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    scene.state.session = Session::replay(entries);
    scene.say("bye").await;
    let mut all = twice.to_vec();
    all.extend(["message", "person"]);
    assert_eq!(kinds(3), all);
}

#[tokio::test]
async fn a_talk_that_is_too_long_is_told_as_that() {
    let refused = |code: &str| {
        Answer::body(400, "application/json", &[], &json!({"error": {"message": "m", "code": code}}).to_string())
    };
    let inside =
        stream(&[("failed", json!({"response": {"error": {"code": "context_length_exceeded", "message": "m"}}}))]);
    for (answer, expected) in
        [(refused("context_length_exceeded"), true), (inside, true), (refused("invalid_value"), false)]
    {
        let service = Service::start_strict([answer]).await;
        let mut scene = Scene::asking(OpenAi::new(here(&service)));
        scene.apply_event(Event::UserMessage("go".into()));
        let Event::RequestFailed { too_long, reason, .. } = scene.next().await else { panic!("it fails") };
        assert_eq!(too_long, expected, "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_program_talks_to_the_responses_api_and_calls_a_tool() {
    let reads = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read_file", "arguments": "{\"path\":\"a.txt\"}"});
    let service =
        Service::start([items(&[sealed("r1"), reads]), items(&[message("m1", "final_answer", "It says alpha.")])])
            .await;
    let setup = Setup::new(&["-p", "--profile", "new", "read it"]).has("a.txt", "alpha\n");
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.new]\nbase_url = \"{}\"\nmodel = \"m\"\napi = \"responses\"\nreasoning_effort = \"high\"\nmax_tokens = 900\nquery = {{ v = \"1\" }}\n",
        service.base_url
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();

    let (out, err, code) = tokio::task::spawn_blocking(move || setup.print("")).await.unwrap();
    assert_eq!((out.trim(), code), ("It says alpha.", 0), "{err}");
    let asked = service.received();
    assert_eq!(asked[1].line, "POST /v1/responses?v=1 HTTP/1.1");
    let body = &asked[1].body;
    assert_eq!((&body["reasoning"]["effort"], &body["max_output_tokens"]), (&json!("high"), &json!(900)));
    let input = body["input"].as_array().unwrap();
    let kinds: Vec<&str> = input.iter().filter_map(|item| item["type"].as_str()).collect();
    assert_eq!(kinds, ["reasoning", "function_call", "function_call_output"]);
    assert!(input[3]["output"].as_str().unwrap().contains("alpha"), "{input:?}");
}
