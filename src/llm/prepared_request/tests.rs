//! Conversations adjusted for strict providers.

use super::*;
use crate::chat::Echo;
use crate::llm::Quirks;
use serde_json::json;

/// Last parameter of `fit_conversation`: whether the request has tools.
const WITH_TOOLS: bool = true;
const WITHOUT_TOOLS: bool = false;

fn user_message(text: &str) -> Message {
    Message::User(text.into())
}

fn model_message(text: &str, calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: CallId::from(*id),
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    Message::Model { text: text.into(), calls: calls.iter().map(call).collect(), echo: None }
}

fn tool_message(call: &str, text: &str) -> Message {
    Message::Tool { call: call.into(), text: text.into() }
}

fn build_request(messages: Vec<Message>) -> Request {
    let spec =
        ToolSpec { name: "f".into(), description: String::new(), parameters: json!({}).into(), ..ToolSpec::default() };
    Request { model: "m".into(), messages, tools: vec![spec], max_tokens: None, images: vec![], answer_schema: None }
}

#[test]
fn empty_messages_are_dropped_and_roles_alternate() {
    let messages = [
        Message::System(String::new()),
        user_message("a"),
        user_message(" \n"),
        user_message("b"),
        model_message(" ", &[]),
        user_message("c"),
        model_message("d", &[]),
        user_message("e"),
    ];
    assert_eq!(
        fit_conversation(messages.to_vec(), WITH_TOOLS),
        [user_message("a\n\nb\n\nc"), model_message("d", &[]), user_message("e")]
    );
    let messages = [model_message("", &[("1", "f", "{}")]), tool_message("1", "")];
    assert_eq!(
        fit_conversation(messages.to_vec(), WITH_TOOLS),
        [model_message("", &[("1", "f", "{}")]), tool_message("1", "(no output)")]
    );
}

#[test]
fn an_invalid_call_is_made_acceptable() {
    for (name, arguments, expected_name, expected_arguments) in [
        ("f", r#"{"a": 1.50}"#, "f", r#"{"a": 1.50}"#),
        ("f", "", "f", "{}"),
        ("f", r#"{"a": "#, "f", "{}"),
        ("f", "[1]", "f", "{}"),
        ("a b.c", "{}", "a_b_c", "{}"),
        ("", "{}", "unknown", "{}"),
    ] {
        let fitted = fit_conversation(vec![model_message("", &[("1", name, arguments)])], WITH_TOOLS);
        assert_eq!(fitted, [model_message("", &[("1", expected_name, expected_arguments)])], "{name} {arguments}");
    }
}

#[test]
fn without_tools_earlier_calls_become_text() {
    let messages = [
        user_message("go"),
        model_message("I look.", &[("1", "read", r#"{"path":"a"}"#), ("2", "list", "{}")]),
        tool_message("1", "text of a"),
        tool_message("2", "a\nb"),
        user_message("and?"),
        model_message("", &[("3", "read", "{}")]),
        tool_message("3", "no"),
        model_message("done", &[]),
    ];
    assert_eq!(
        fit_conversation(messages.to_vec(), WITHOUT_TOOLS),
        [
            user_message("go"),
            model_message("I look.\n[called read with {\"path\":\"a\"}]\n[called list with {}]", &[]),
            user_message("[result of read]\ntext of a\n\n[result of list]\na\nb\n\nand?"),
            model_message("[called read with {}]", &[]),
            user_message("[result of read]\nno"),
            model_message("done", &[]),
        ]
    );
    let settings = Settings { quirks: Quirks { tools: false, ..Quirks::default() }, ..Settings::new("http://h/v1") };
    let request = build_request(messages.to_vec());
    let prepared = PreparedRequest::new(request.clone(), &settings);
    assert_eq!((prepared.tools.len(), prepared.messages), (0, fit_conversation(messages.to_vec(), WITHOUT_TOOLS)));
    assert_eq!(
        PreparedRequest::new(request.clone(), &Settings::new("http://h/v1")).messages,
        fit_conversation(messages.to_vec(), WITH_TOOLS)
    );
}

#[test]
fn an_echo_is_sent_only_to_its_own_provider_and_model() {
    let settings = Settings::new("https://api.example.com/v1");
    let echo = Echo { origin: echo_origin(&settings, "m"), data: json!({"calls": [1]}) };
    let reply = Message::Model { text: "a".into(), calls: vec![], echo: Some(Box::new(echo)) };
    let mut request = build_request(vec![user_message("x"), reply]);
    let sends_echo = |settings: &Settings, request: &Request| {
        let prepared = PreparedRequest::new(request.clone(), settings);
        matches!(&prepared.messages[1], Message::Model { echo: Some(_), .. })
    };
    assert!(sends_echo(&settings, &request));
    assert!(sends_echo(&Settings { base_url: "https://api.example.com:443/v1/".into(), ..settings.clone() }, &request));
    for other_settings in [
        Settings { api: Api::Responses, ..settings.clone() },
        Settings { base_url: "https://api.example.org/v1".into(), ..settings.clone() },
        Settings { base_url: "http://api.example.com/v1".into(), ..settings.clone() },
        Settings { base_url: "https://api.example.com:8443/v1".into(), ..settings.clone() },
    ] {
        assert!(!sends_echo(&other_settings, &request), "{} {:?}", other_settings.base_url, other_settings.api);
    }
    request.model = "another".into();
    assert!(!sends_echo(&settings, &request));
}

#[test]
fn mistral_models_get_ids_of_nine_characters() {
    let messages = vec![
        model_message("", &[("call_1", "f", "{}"), ("Ab3Ab3Ab3", "f", "{}"), ("Ab3Ab3Ab3-2", "f", "{}")]),
        tool_message("call_1", "x"),
        tool_message("Ab3Ab3Ab3", "y"),
        tool_message("Ab3Ab3Ab3-2", "z"),
    ];
    let collect_ids = |model: &str, base_url: &str| -> Vec<String> {
        let request = Request { model: model.into(), ..build_request(messages.clone()) };
        let settings = Settings::new(base_url);
        let ids =
            PreparedRequest::new(request.clone(), &settings).messages.into_iter().flat_map(|message| match message {
                Message::Model { calls, .. } => calls.into_iter().map(|call| call.id.0).collect(),
                Message::Tool { call, .. } => vec![call.0],
                Message::System(_) | Message::User(_) => vec![],
            });
        ids.collect()
    };
    for (model, base_url) in [
        ("devstral-small", "http://127.0.0.1:8000/v1"),
        ("mistralai/Mixtral-8x7B", "https://openrouter.ai/api/v1"),
        ("open-nemo", "https://api.mistral.ai/v1"),
    ] {
        let ids = collect_ids(model, base_url);
        assert!(ids.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())), "{ids:?}");
        assert_eq!(ids[..3], ids[3..], "a call and its result have the same id");
        assert_eq!(ids[1], "Ab3Ab3Ab3");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 3);
    }
    assert_eq!(
        collect_ids("devstral", "http://a/v1"),
        collect_ids("devstral", "http://b/v1"),
        "the mapping is deterministic"
    );
    let original_ids = ["call_1", "Ab3Ab3Ab3", "Ab3Ab3Ab3-2", "call_1", "Ab3Ab3Ab3", "Ab3Ab3Ab3-2"];
    assert_eq!(collect_ids("gpt-5", "https://api.openai.com/v1"), original_ids);
    assert_eq!(collect_ids("m", "https://notmistral.ai/v1"), original_ids);
}

#[test]
fn the_smallest_reply_limit_is_sent_under_the_configured_name() {
    let check = |max_tokens: Option<u32>,
                 name: Option<&str>,
                 parameters: Value,
                 requested_max: Option<u32>,
                 expected: Option<(&str, u64)>| {
        let settings = Settings {
            quirks: Quirks { max_tokens, max_tokens_parameter: name.map(str::to_owned), ..Quirks::default() },
            parameters: parameters.as_object().cloned().unwrap_or_default(),
            ..Settings::new("http://h/v1")
        };
        let request = Request { max_tokens: requested_max, ..build_request(vec![]) };
        let limit = PreparedRequest::new(request, &settings).reply_limit("usual");
        assert_eq!(limit, expected.map(|(name, max)| (name.to_owned(), max)), "{settings:?} {requested_max:?}");
    };
    let no_parameters = Value::Null;
    check(None, None, no_parameters.clone(), None, None);
    check(Some(9), None, no_parameters.clone(), None, Some(("usual", 9)));
    check(None, None, no_parameters.clone(), Some(7), Some(("usual", 7)));
    check(Some(9), None, no_parameters.clone(), Some(7), Some(("usual", 7)));
    check(Some(6), None, no_parameters.clone(), Some(7), Some(("usual", 6)));
    check(Some(9), Some("n_predict"), no_parameters.clone(), None, Some(("n_predict", 9)));
    check(None, None, json!({"max_tokens": 50}), Some(7), Some(("max_tokens", 7)));
    check(Some(90), None, json!({"max_completion_tokens": 50}), None, Some(("max_completion_tokens", 50)));
    check(Some(90), None, json!({"max_tokens": null}), Some(7), None);
    check(Some(90), Some("n"), json!({"n": null}), None, None);
    check(None, None, json!({"max_tokens": "odd"}), None, None);
}

#[test]
fn schemas_of_custom_tools_are_simplified_where_a_provider_rejects_them() {
    let with_format = json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}});
    let with_union = json!({"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]});
    let is_simplified = |base_url: &str, model: &str, parameters: &Value, simple_schemas: Option<bool>| {
        let tool = |is_custom| ToolSpec { parameters: parameters.clone().into(), is_custom, ..ToolSpec::default() };
        let tools = vec![tool(false), tool(true)];
        let request = Request { model: model.into(), tools, ..build_request(vec![]) };
        let quirks = Quirks { simple_schemas, ..Quirks::default() };
        let settings = Settings { quirks, ..Settings::new(base_url) };
        let prepared = PreparedRequest::new(request, &settings);
        assert_eq!(prepared.tools[0].parameters, parameters.clone().into(), "a built-in tool is not changed");
        prepared.tools[1].parameters != parameters.clone().into()
    };
    for (base_url, model, expected) in [
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro", true),
        ("https://openrouter.ai/api/v1", "google/gemini-3-pro", true),
        ("https://api.mistral.ai/v1", "m", true),
        ("http://127.0.0.1:8080/v1", "m", true),
        ("http://localhost:11434/v1", "m", true),
        ("https://api.openai.com/v1", "gpt-5", false),
        ("https://api.anthropic.com/v1", "claude", false),
    ] {
        assert_eq!(is_simplified(base_url, model, &with_format, None), expected, "{base_url}");
        assert!(is_simplified(base_url, model, &with_union, None), "{base_url}");
        assert!(is_simplified(base_url, model, &with_format, Some(true)), "{base_url}");
        assert!(!is_simplified(base_url, model, &with_union, Some(false)), "{base_url}");
    }
}
