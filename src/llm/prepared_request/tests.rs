//! Conversations adjusted for strict providers.

use super::*;
use crate::chat::Echo;
use crate::llm::Quirks;
use serde_json::json;

fn person(text: &str) -> Message {
    Message::User(text.into())
}

fn model(text: &str, calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: CallId::from(*id),
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    Message::Model { text: text.into(), calls: calls.iter().map(call).collect(), echo: None }
}

fn tool(call: &str, text: &str) -> Message {
    Message::Tool { call: call.into(), text: text.into() }
}

fn request(messages: Vec<Message>) -> Request {
    let spec = ToolSpec { name: "f".into(), description: String::new(), parameters: json!({}) };
    Request { model: "m".into(), messages, tools: vec![spec], max_tokens: None, pictures: vec![] }
}

#[test]
fn empty_messages_are_dropped_and_roles_alternate() {
    let talk = [
        Message::System(String::new()),
        person("a"),
        person(" \n"),
        person("b"),
        model(" ", &[]),
        person("c"),
        model("d", &[]),
        person("e"),
    ];
    assert_eq!(fit_conversation(talk.to_vec(), true), [person("a\n\nb\n\nc"), model("d", &[]), person("e")]);
    let outcome = [model("", &[("1", "f", "{}")]), tool("1", "")];
    assert_eq!(fit_conversation(outcome.to_vec(), true), [model("", &[("1", "f", "{}")]), tool("1", "(no output)")]);
}

#[test]
fn an_invalid_call_is_made_acceptable() {
    for (name, arguments, name_out, arguments_out) in [
        ("f", r#"{"a": 1.50}"#, "f", r#"{"a": 1.50}"#),
        ("f", "", "f", "{}"),
        ("f", r#"{"a": "#, "f", "{}"),
        ("f", "[1]", "f", "{}"),
        ("a b.c", "{}", "a_b_c", "{}"),
        ("", "{}", "unknown", "{}"),
    ] {
        let out = fit_conversation(vec![model("", &[("1", name, arguments)])], true);
        assert_eq!(out, [model("", &[("1", name_out, arguments_out)])], "{name} {arguments}");
    }
}

#[test]
fn without_tools_earlier_calls_become_text() {
    let talk = [
        person("go"),
        model("I look.", &[("1", "read", r#"{"path":"a"}"#), ("2", "list", "{}")]),
        tool("1", "text of a"),
        tool("2", "a\nb"),
        person("and?"),
        model("", &[("3", "read", "{}")]),
        tool("3", "no"),
        model("done", &[]),
    ];
    assert_eq!(
        fit_conversation(talk.to_vec(), false),
        [
            person("go"),
            model("I look.\n[called read with {\"path\":\"a\"}]\n[called list with {}]", &[]),
            person("[result of read]\ntext of a\n\n[result of list]\na\nb\n\nand?"),
            model("[called read with {}]", &[]),
            person("[result of read]\nno"),
            model("done", &[]),
        ]
    );
    let quiet = Settings { quirks: Quirks { tools: false, ..Quirks::default() }, ..Settings::new("http://h/v1") };
    let asked = request(talk.to_vec());
    let ask = PreparedRequest::new(asked.clone(), &quiet);
    assert_eq!((ask.tools.len(), ask.messages), (0, fit_conversation(talk.to_vec(), false)));
    assert_eq!(
        PreparedRequest::new(asked.clone(), &Settings::new("http://h/v1")).messages,
        fit_conversation(talk.to_vec(), true)
    );
}

#[test]
fn an_echo_is_sent_only_to_its_own_provider_and_model() {
    let here = Settings::new("https://api.example.com/v1");
    let echo = Echo { origin: echo_origin(&here, "m"), data: json!({"calls": [1]}) };
    let replied = Message::Model { text: "a".into(), calls: vec![], echo: Some(Box::new(echo)) };
    let mut asked = request(vec![person("x"), replied]);
    let goes = |settings: &Settings, asked: &Request| {
        let ask = PreparedRequest::new(asked.clone(), settings);
        matches!(&ask.messages[1], Message::Model { echo: Some(_), .. })
    };
    assert!(goes(&here, &asked));
    assert!(goes(&Settings { base_url: "https://api.example.com:443/v1/".into(), ..here.clone() }, &asked));
    for other in [
        Settings { api: Api::Responses, ..here.clone() },
        Settings { base_url: "https://api.example.org/v1".into(), ..here.clone() },
        Settings { base_url: "http://api.example.com/v1".into(), ..here.clone() },
        Settings { base_url: "https://api.example.com:8443/v1".into(), ..here.clone() },
    ] {
        assert!(!goes(&other, &asked), "{} {:?}", other.base_url, other.api);
    }
    asked.model = "another".into();
    assert!(!goes(&here, &asked));
}

#[test]
fn mistral_models_get_ids_of_nine_characters() {
    let talk = vec![
        model("", &[("call_1", "f", "{}"), ("Ab3Ab3Ab3", "f", "{}"), ("Ab3Ab3Ab3-2", "f", "{}")]),
        tool("call_1", "x"),
        tool("Ab3Ab3Ab3", "y"),
        tool("Ab3Ab3Ab3-2", "z"),
    ];
    let ids = |model: &str, base_url: &str| -> Vec<String> {
        let asked = Request { model: model.into(), ..request(talk.clone()) };
        let settings = Settings::new(base_url);
        let all =
            PreparedRequest::new(asked.clone(), &settings).messages.into_iter().flat_map(|message| match message {
                Message::Model { calls, .. } => calls.into_iter().map(|call| call.id.0).collect(),
                Message::Tool { call, .. } => vec![call.0],
                Message::System(_) | Message::User(_) => vec![],
            });
        all.collect()
    };
    for (model, base_url) in [
        ("devstral-small", "http://127.0.0.1:8000/v1"),
        ("mistralai/Mixtral-8x7B", "https://openrouter.ai/api/v1"),
        ("open-nemo", "https://api.mistral.ai/v1"),
    ] {
        let ids = ids(model, base_url);
        assert!(ids.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())), "{ids:?}");
        assert_eq!(ids[..3], ids[3..], "a call and its result have the same id");
        assert_eq!(ids[1], "Ab3Ab3Ab3");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 3);
    }
    assert_eq!(ids("devstral", "http://a/v1"), ids("devstral", "http://b/v1"), "the mapping is deterministic");
    let own = ["call_1", "Ab3Ab3Ab3", "Ab3Ab3Ab3-2", "call_1", "Ab3Ab3Ab3", "Ab3Ab3Ab3-2"];
    assert_eq!(ids("gpt-5", "https://api.openai.com/v1"), own);
    assert_eq!(ids("m", "https://notmistral.ai/v1"), own);
}

#[test]
fn the_smallest_reply_limit_is_sent_under_the_configured_name() {
    let check =
        |most: Option<u32>, name: Option<&str>, own: Value, asked: Option<u32>, expected: Option<(&str, u64)>| {
            let settings = Settings {
                quirks: Quirks { max_tokens: most, max_tokens_parameter: name.map(str::to_owned), ..Quirks::default() },
                parameters: own.as_object().cloned().unwrap_or_default(),
                ..Settings::new("http://h/v1")
            };
            let request = Request { max_tokens: asked, ..request(vec![]) };
            let limit = PreparedRequest::new(request, &settings).reply_limit("usual");
            assert_eq!(limit, expected.map(|(name, most)| (name.to_owned(), most)), "{settings:?} {asked:?}");
        };
    let n = Value::Null;
    check(None, None, n.clone(), None, None);
    check(Some(9), None, n.clone(), None, Some(("usual", 9)));
    check(None, None, n.clone(), Some(7), Some(("usual", 7)));
    check(Some(9), None, n.clone(), Some(7), Some(("usual", 7)));
    check(Some(6), None, n.clone(), Some(7), Some(("usual", 6)));
    check(Some(9), Some("n_predict"), n.clone(), None, Some(("n_predict", 9)));
    check(None, None, json!({"max_tokens": 50}), Some(7), Some(("max_tokens", 7)));
    check(Some(90), None, json!({"max_completion_tokens": 50}), None, Some(("max_completion_tokens", 50)));
    check(Some(90), None, json!({"max_tokens": null}), Some(7), None);
    check(Some(90), Some("n"), json!({"n": null}), None, None);
    check(None, None, json!({"max_tokens": "odd"}), None, None);
}
