//! Serialized requests.

use super::*;
use crate::chat::{CallId, Echo, Request};
use crate::llm::prepared_request::echo_origin;
use crate::llm::{Quirks, Settings};

fn spec() -> ToolSpec {
    ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }
}

fn written(messages: Vec<Message>, settings: &Settings) -> Value {
    let request = Request { model: "m".into(), messages, tools: vec![spec()], max_tokens: None, pictures: vec![] };
    build_chat_body(PreparedRequest::new(request, settings)).to_value()
}

fn here() -> Settings {
    Settings::new("http://h/v1")
}

fn told(settings: Settings, tools: Vec<ToolSpec>) -> Value {
    let request = Request { model: "m".into(), messages: vec![], tools, max_tokens: None, pictures: vec![] };
    build_chat_body(PreparedRequest::new(request, &settings)).to_value()
}

fn replied(text: &str, ids: &[&str], held: Option<Value>) -> Message {
    let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "f".into(), arguments: "{}".into() };
    let echo = held.map(|held| Echo { origin: echo_origin(&here(), "m"), data: held });
    Message::Model { text: text.into(), calls: ids.iter().map(call).collect(), echo: echo.map(Box::new) }
}

#[test]
fn messages_are_serialized_in_the_chat_completions_format() {
    let check = |message: Message, wire: Value| {
        assert_eq!(written(vec![message], &here())["messages"], json!([wire]));
    };
    check(Message::System("s".into()), json!({"role": "system", "content": "s"}));
    check(Message::User("p".into()), json!({"role": "user", "content": "p"}));
    check(replied("t", &[], None), json!({"role": "assistant", "content": "t"}));
    let outcome = Message::Tool { call: "c1".into(), text: "t".into() };
    check(outcome, json!({"role": "tool", "tool_call_id": "c1", "content": "t"}));
    let calls = json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    check(replied("t", &["c1"], None), json!({"role": "assistant", "content": "t", "tool_calls": calls}));
    check(replied(" ", &["c1"], None), json!({"role": "assistant", "content": null, "tool_calls": calls}));
}

#[test]
fn tool_parameters_are_sent_only_with_tools() {
    let quiet = Settings {
        quirks: Quirks { parallel_calls: Some(true), ..Quirks::default() },
        parameters: json!({"tool_choice": "auto", "parallel_tool_calls": true}).as_object().unwrap().clone(),
        ..here()
    };
    for none in [
        told(quiet.clone(), vec![]),
        told(Settings { quirks: Quirks { tools: false, ..quiet.quirks.clone() }, ..quiet.clone() }, vec![spec()]),
    ] {
        for name in ["tools", "tool_choice", "parallel_tool_calls"] {
            assert_eq!(none.get(name), None, "{name}");
        }
    }
    let some = told(quiet, vec![spec()]);
    assert_eq!(
        some["tools"],
        json!([{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}])
    );
    assert_eq!((&some["tool_choice"], &some["parallel_tool_calls"]), (&json!("auto"), &json!(true)));
}

#[test]
fn extra_parameters_cannot_change_the_conversation() {
    let extra = json!({"temperature": 0.2, "stream": false, "model": "x", "messages": [], "stream_options": null});
    let settings = Settings { parameters: extra.as_object().unwrap().clone(), ..here() };
    assert_eq!(told(settings, vec![]), json!({"temperature": 0.2, "model": "m", "messages": [], "stream": true}));
    assert_eq!(told(here(), vec![])["stream_options"], json!({"include_usage": true}));
}

#[test]
fn settings_are_sent_under_the_usual_parameter_names() {
    let settings = Settings {
        quirks: Quirks {
            reasoning_effort: Some("high".into()),
            parallel_calls: Some(false),
            max_tokens: Some(99),
            ..Quirks::default()
        },
        ..here()
    };
    let all = told(settings.clone(), vec![spec()]);
    assert_eq!(all["reasoning_effort"], "high");
    assert_eq!(all["parallel_tool_calls"], false);
    assert_eq!(all["max_tokens"], 99);
    let own = json!({"reasoning_effort": "low", "max_tokens": 5, "parallel_tool_calls": null});
    let all = told(Settings { parameters: own.as_object().unwrap().clone(), ..settings }, vec![spec()]);
    assert_eq!((&all["reasoning_effort"], &all["max_tokens"]), (&json!("low"), &json!(5)), "the user's parameters win");
    assert_eq!(all.get("parallel_tool_calls"), None);
    for name in ["reasoning_effort", "parallel_tool_calls", "max_tokens"] {
        assert_eq!(told(here(), vec![spec()]).get(name), None, "unset parameters are not sent");
    }
}

#[test]
fn openai_and_azure_use_another_name_for_the_limit() {
    for (base_url, name) in [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://me.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://me.services.ai.azure.com/openai/v1/", "max_completion_tokens"),
        ("https://API.OpenAI.com/v1", "max_completion_tokens"),
        ("https://api.openai.com.example.com/v1", "max_tokens"),
        ("https://evilopenai.azure.com/v1", "max_tokens"),
        ("https://openrouter.ai/api/v1", "max_tokens"),
        ("http://127.0.0.1:8080/v1", "max_tokens"),
        ("no address", "max_tokens"),
    ] {
        let all = told(
            Settings { quirks: Quirks { max_tokens: Some(7), ..Quirks::default() }, ..Settings::new(base_url) },
            vec![],
        );
        assert_eq!(all[name], 7, "{base_url}: {all}");
    }
}

#[test]
fn echo_data_is_sent_back_with_its_reply() {
    let held = json!({"calls": [{"google": {"thought_signature": "s"}}], "reasoning_content": "r"});
    let talk = vec![replied("", &["a-2"], Some(held)), Message::Tool { call: "a-2".into(), text: "t".into() }];
    let quiet = written(talk.clone(), &here());
    let message = &quiet["messages"][0];
    assert_eq!(message["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "s");
    assert_eq!(message.get("reasoning_content"), None);
    let back = Settings { quirks: Quirks { send_reasoning: true, ..Quirks::default() }, ..here() };
    assert_eq!(written(talk, &back)["messages"][0]["reasoning_content"], "r");
    let foreign = written(vec![replied("", &["a"], None), replied("t", &[], None)], &back);
    assert_eq!(foreign["messages"][0]["reasoning_content"], "", "the provider rejects calls without reasoning");
    assert_eq!(foreign["messages"][1].get("reasoning_content"), None);
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
