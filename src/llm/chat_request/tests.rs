//! Serialized requests.

use super::*;
use crate::chat::{CallId, Echo, Request};
use crate::llm::prepared_request::echo_origin;
use crate::llm::{Quirks, Settings};

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
        max_tokens: None,
        images: vec![],
        answer_schema: None,
    };
    build_chat_body(PreparedRequest::new(request, settings)).to_value()
}

fn local_settings() -> Settings {
    Settings::new("http://h/v1")
}

fn build_body(settings: Settings, tools: Vec<ToolSpec>) -> Value {
    let request =
        Request { model: "m".into(), messages: vec![], tools, max_tokens: None, images: vec![], answer_schema: None };
    build_chat_body(PreparedRequest::new(request, &settings)).to_value()
}

fn model_reply(text: &str, ids: &[&str], echo_data: Option<Value>) -> Message {
    let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "f".into(), arguments: "{}".into() };
    let echo = echo_data.map(|data| Echo { origin: echo_origin(&local_settings(), "m"), data });
    Message::Model { text: text.into(), calls: ids.iter().map(call).collect(), echo: echo.map(Box::new) }
}

#[test]
fn messages_are_serialized_in_the_chat_completions_format() {
    let check = |message: Message, expected: Value| {
        assert_eq!(serialize_messages(vec![message], &local_settings())["messages"], json!([expected]));
    };
    check(Message::System("s".into()), json!({"role": "system", "content": "s"}));
    check(Message::User("p".into()), json!({"role": "user", "content": "p"}));
    check(model_reply("t", &[], None), json!({"role": "assistant", "content": "t"}));
    let tool_result = Message::Tool { call: "c1".into(), text: "t".into() };
    check(tool_result, json!({"role": "tool", "tool_call_id": "c1", "content": "t"}));
    let calls = json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    check(model_reply("t", &["c1"], None), json!({"role": "assistant", "content": "t", "tool_calls": calls}));
    check(model_reply(" ", &["c1"], None), json!({"role": "assistant", "content": null, "tool_calls": calls}));
}

#[test]
fn the_schema_of_the_answer_is_sent_unless_the_user_removes_it() {
    let body = |settings: Settings| {
        let schema = json!({"type": "object"});
        let request = Request { model: "m".into(), answer_schema: Some(schema), ..Request::default() };
        build_chat_body(PreparedRequest::new(request, &settings)).to_value()
    };
    let schema = json!({"name": "answer", "schema": {"type": "object"}});
    let expected = json!({"type": "json_schema", "json_schema": schema});
    assert_eq!(body(local_settings())["response_format"], expected);
    let parameters = json!({"response_format": null}).as_object().unwrap().clone();
    assert_eq!(body(Settings { parameters, ..local_settings() }).get("response_format"), None);
}

#[test]
fn tool_parameters_are_sent_only_with_tools() {
    let settings = Settings {
        quirks: Quirks { parallel_calls: Some(true), ..Quirks::default() },
        parameters: json!({"tool_choice": "auto", "parallel_tool_calls": true}).as_object().unwrap().clone(),
        ..local_settings()
    };
    for body in [
        build_body(settings.clone(), vec![]),
        build_body(
            Settings { quirks: Quirks { tools: false, ..settings.quirks.clone() }, ..settings.clone() },
            vec![tool_spec()],
        ),
    ] {
        for name in ["tools", "tool_choice", "parallel_tool_calls"] {
            assert_eq!(body.get(name), None, "{name}");
        }
    }
    let body = build_body(settings, vec![tool_spec()]);
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}])
    );
    assert_eq!((&body["tool_choice"], &body["parallel_tool_calls"]), (&json!("auto"), &json!(true)));
}

#[test]
fn extra_parameters_cannot_change_the_conversation() {
    let parameters = json!({"temperature": 0.2, "stream": false, "model": "x", "messages": [], "stream_options": null});
    let settings = Settings { parameters: parameters.as_object().unwrap().clone(), ..local_settings() };
    assert_eq!(build_body(settings, vec![]), json!({"temperature": 0.2, "model": "m", "messages": [], "stream": true}));
    assert_eq!(build_body(local_settings(), vec![])["stream_options"], json!({"include_usage": true}));
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
        ..local_settings()
    };
    let body = build_body(settings.clone(), vec![tool_spec()]);
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body["parallel_tool_calls"], false);
    assert_eq!(body["max_tokens"], 99);
    let parameters = json!({"reasoning_effort": "low", "max_tokens": 5, "parallel_tool_calls": null});
    let body =
        build_body(Settings { parameters: parameters.as_object().unwrap().clone(), ..settings }, vec![tool_spec()]);
    assert_eq!(
        (&body["reasoning_effort"], &body["max_tokens"]),
        (&json!("low"), &json!(5)),
        "the user's parameters win"
    );
    assert_eq!(body.get("parallel_tool_calls"), None);
    for name in ["reasoning_effort", "parallel_tool_calls", "max_tokens"] {
        assert_eq!(build_body(local_settings(), vec![tool_spec()]).get(name), None, "unset parameters are not sent");
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
        let body = build_body(
            Settings { quirks: Quirks { max_tokens: Some(7), ..Quirks::default() }, ..Settings::new(base_url) },
            vec![],
        );
        assert_eq!(body[name], 7, "{base_url}: {body}");
    }
}

#[test]
fn echo_data_is_sent_back_with_its_reply() {
    let echo_data = json!({"calls": [{"google": {"thought_signature": "s"}}], "reasoning_content": "r"});
    let messages =
        vec![model_reply("", &["a-2"], Some(echo_data)), Message::Tool { call: "a-2".into(), text: "t".into() }];
    let body = serialize_messages(messages.clone(), &local_settings());
    let message = &body["messages"][0];
    assert_eq!(message["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "s");
    assert_eq!(message.get("reasoning_content"), None);
    let with_reasoning = Settings { quirks: Quirks { send_reasoning: true, ..Quirks::default() }, ..local_settings() };
    assert_eq!(serialize_messages(messages, &with_reasoning)["messages"][0]["reasoning_content"], "r");
    let body = serialize_messages(vec![model_reply("", &["a"], None), model_reply("t", &[], None)], &with_reasoning);
    assert_eq!(body["messages"][0]["reasoning_content"], "", "the provider rejects calls without reasoning");
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
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
