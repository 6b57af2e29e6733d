//! Requests to a provider, listing its models, and finding local servers.

use super::{collect, format_reply, model};
use crate::support::service::{Answer, Service};
use crate::support::time_limits::is_within_limit;
use aye::llm::models::Model;
use aye::llm::{OpenAi, Secret, Settings, local_servers};
use serde_json::json;

#[tokio::test]
async fn request_has_the_expected_form() {
    let service = Service::start_strict([Answer::stream().done()]).await;
    let settings = Settings {
        key: Some(Secret::new("sk-secret")),
        headers: vec![("X-Title".into(), Secret::new("aye"))],
        parameters: json!({"temperature": 0.5}).as_object().unwrap().clone(),
        ..Settings::new(&format!("{}/", service.base_url))
    };
    collect(&OpenAi::new(settings)).await;
    let request = &service.received()[0];
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(request.header("x-title"), Some("aye"));
    assert_eq!(request.header("accept"), Some("text/event-stream"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let expected = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true,
        "stream_options": {"include_usage": true}, "temperature": 0.5});
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let service = Service::start_strict([Answer::stream().done()]).await;
    collect(&model(&service)).await;
    assert_eq!(service.received()[0].header("authorization"), None);
    assert_eq!(service.received()[0].header("openai-organization"), None);
}

#[tokio::test]
async fn headers_of_the_settings_replace_the_default_ones() {
    let service = Service::start_strict([Answer::stream().done()]).await;
    let custom_headers =
        [("Content-Type", "application/json; charset=utf-8"), ("accept", "*/*"), ("Authorization", "Basic x")];
    let settings = Settings {
        headers: custom_headers.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(value))).collect(),
        ..Settings::new(&service.base_url)
    };
    collect(&OpenAi::new(settings)).await;
    let request = &service.received()[0];
    for (name, value) in custom_headers {
        let name = name.to_ascii_lowercase();
        let sent: Vec<_> = request.headers.iter().filter(|(own, _)| *own == name).map(|(_, value)| value).collect();
        assert_eq!(sent, [value], "{name}");
    }
}

#[tokio::test]
async fn invalid_address_is_reported_with_the_first_request() {
    let out = collect(&OpenAi::new(Settings::new("localhost:8080"))).await;
    assert_eq!(format_reply(&out), "!Cannot use the address of the provider: it must begin with http:// or https://");
}

#[tokio::test]
async fn the_models_of_a_service_are_listed() {
    let list = r#"{"object":"list","data":[{"id":"a"},{"id":"b","max_model_len":4096}]}"#;
    let service = Service::start_strict([Answer::body(200, "application/json", &[], list)]).await;
    let settings = Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&service.base_url) };
    let listed = OpenAi::new(settings).models().await.unwrap();
    let expected = [Model::from_name("a"), Model { context_window: Some(4096), ..Model::from_name("b") }];
    assert_eq!(listed, expected);
    assert_eq!(service.received()[0].line, "GET /v1/models HTTP/1.1");
    assert_eq!(service.received()[0].header("authorization"), Some("Bearer sk-secret"));
    let none = Service::start_strict([Answer::body(404, "text/plain", &[], "no")]).await;
    assert!(model(&none).models().await.is_err());
}

#[tokio::test]
async fn servers_on_this_machine_are_found_within_a_second() {
    let list = r#"{"data":[{"id":"a"}]}"#;
    let good = Service::start_strict([Answer::body(200, "application/json", &[], list)]).await;
    let mute = Service::start_strict([Answer::default().with_step(crate::support::service::Step::Stall)]).await;
    let other_service = Service::start_strict([Answer::body(200, "text/html", &[], "<html>")]).await;
    let port = |service: &Service| service.base_url.split(['/', ':']).nth(4).unwrap().parse().unwrap();
    let addresses = [("mute", port(&mute)), ("good", port(&good)), ("other", port(&other_service)), ("none", 1)];
    let mut matches = Vec::new();
    // `find_servers_at` waits a fifth of a second for each server. Under load a server may need longer.
    for _ in 0..100 {
        let started = std::time::Instant::now();
        matches = local_servers::find_servers_at(&addresses).await;
        let elapsed = started.elapsed();
        assert!(is_within_limit(std::time::Duration::from_secs(1), elapsed), "{elapsed:?}");
        if !matches.is_empty() {
            break;
        }
    }
    let expected = local_servers::Server {
        name: "good".into(),
        base_url: good.base_url.clone(),
        models: vec![Model::from_name("a")],
    };
    assert_eq!(matches, [expected]);
    assert_eq!(good.received()[0].header("authorization"), None);
}
