//! Requested keys, the choice of a model, proxies, the connection timeout and redirects.

use super::{format_reply, request_with};
use crate::support::service::{Answer, Service};
use crate::support::time_limits::is_within_limit;
use async_trait::async_trait;
use aye::chat::{Chunk, Request};
use aye::llm::client::{ConnectionOptions, Proxy};
use aye::llm::{AuthProvider, DefaultModel, Error, KeySource, Llm, OpenAi, Secret, Settings};
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A source of `key-1`, `key-2` and so on.
#[derive(Default)]
struct CountingKeys(AtomicUsize);

#[async_trait]
impl KeySource for CountingKeys {
    async fn request_key(&self) -> Result<Secret, Error> {
        tokio::task::yield_now().await;
        Ok(Secret::new(&format!("key-{}", self.0.fetch_add(1, Ordering::SeqCst) + 1)))
    }
}

/// Returns the reply to “hi” on one line: its text, then `.` if it is complete; an error begins with `!`, and a chosen
/// model is between two `@`.
async fn collect_text(model: &dyn Llm) -> String {
    let events: Vec<_> = model.stream(request_with("hi")).collect().await;
    format_reply(&events)
}

fn refusal() -> Answer {
    Answer::body(401, "application/json", &[], r#"{"error":{"message":"no key-1, no key-2"}}"#)
}

fn text_answer(text: &str) -> Answer {
    Answer::stream().text(text).finish("stop").done()
}

fn sent_keys(service: &Service) -> Vec<String> {
    let key = |request: &crate::support::service::Received| {
        request.header("authorization").unwrap_or("none").trim_start_matches("Bearer ").to_owned()
    };
    service.received().iter().map(key).collect()
}

#[tokio::test]
async fn key_is_requested_with_the_first_request_and_again_if_refused() {
    let service = Service::start_strict([
        text_answer("a"),
        text_answer("b"),
        refusal(),
        text_answer("c"),
        refusal(),
        refusal(),
        text_answer("d"),
    ])
    .await;
    let source = Arc::new(CountingKeys::default());
    let model = AuthProvider::with_key_source(Settings::new(&service.base_url), source.clone());
    assert_eq!(source.0.load(Ordering::SeqCst), 0, "the key was requested before the first request");
    assert_eq!((collect_text(&model).await, collect_text(&model).await), ("a.".into(), "b.".into()));
    assert_eq!(collect_text(&model).await, "c.", "with a new key");
    let refused = collect_text(&model).await;
    assert!(refused.contains("rejected the key") && refused.contains("(401)"), "{refused}");
    assert_eq!(collect_text(&model).await, "d.");
    assert_eq!(sent_keys(&service), ["key-1", "key-1", "key-1", "key-2", "key-2", "key-3", "key-3"]);
    assert!(!refused.contains("key-3") && !format!("{model:?}").contains("key-"));
}

#[tokio::test]
async fn concurrent_requests_share_one_key_request() {
    let service = Service::start_strict([text_answer("a")]).await;
    let source = Arc::new(CountingKeys::default());
    let model = AuthProvider::with_key_source(Settings::new(&service.base_url), source.clone());
    let all = (0..5).map(|_| collect_text(&model));
    assert!(futures::future::join_all(all).await.iter().all(|text| text == "a."));
    assert_eq!(source.0.load(Ordering::SeqCst), 1);
    let refusing = Service::start_strict([refusal()]).await;
    let model = AuthProvider::with_key_source(Settings::new(&refusing.base_url), Arc::new(CountingKeys::default()));
    assert!(model.models().await.is_err());
    assert_eq!(sent_keys(&refusing), ["key-1", "key-2"], "the list of models requests a new key, too");
}

#[tokio::test]
async fn failing_key_source_is_reported_and_nothing_is_sent() {
    struct FailingKeys;
    #[async_trait]
    impl KeySource for FailingKeys {
        async fn request_key(&self) -> Result<Secret, Error> {
            Err(Error::InvalidReply("the safe is shut".to_owned()))
        }
    }
    let service = Service::start_strict([text_answer("a")]).await;
    let model = AuthProvider::with_key_source(Settings::new(&service.base_url), Arc::new(FailingKeys));
    assert_eq!(collect_text(&model).await, "!the safe is shut");
    assert!(service.received().is_empty());
}

#[tokio::test]
async fn first_chat_model_is_chosen_and_reported_first() {
    let list = r#"{"data":[{"id":"text-embedding-3"},{"id":"whisper-1"},{"id":"talker"},{"id":"other"}]}"#;
    let service = Service::start_strict([Answer::body(200, "application/json", &[], list), text_answer("a")]).await;
    let model = DefaultModel::for_provider(AuthProvider::with_settings(Settings::new(&service.base_url)));
    let unnamed = || Request { model: String::new(), ..request_with("hi") };
    for _ in 0..2 {
        let events: Vec<_> = model.stream(unnamed()).collect().await;
        assert!(
            matches!(&events[0], Ok(Chunk::ModelChosen { model, reason: None }) if model == "talker"),
            "{events:?}"
        );
        assert_eq!(format_reply(&events[1..]), "a.");
    }
    let named: Vec<_> = model.stream(request_with("hi")).collect().await;
    assert_eq!(format_reply(&named), "a.", "a named model was reported again");
    let models: Vec<_> = service.received()[1..].iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["talker", "talker", "m"]);
    let drawing =
        Service::start_strict([Answer::body(200, "application/json", &[], r#"[{"id":"image-1"}]"#), text_answer("a")])
            .await;
    let model = DefaultModel::for_provider(AuthProvider::with_settings(Settings::new(&drawing.base_url)));
    let events: Vec<_> = model.stream(unnamed()).collect().await;
    assert_eq!(format_reply(&events), "@image-1@a.", "the only model is used");
}

#[tokio::test]
async fn proxy_is_used_only_if_named() {
    let service = Service::start_strict([text_answer("straight")]).await;
    let proxy = Service::start_strict([text_answer("through")]).await;
    let with_proxy = |base_url: &str, proxy: Proxy| {
        let connection = ConnectionOptions { proxy, ..ConnectionOptions::default() };
        OpenAi::new(Settings { connection, ..Settings::new(base_url) })
    };
    let address = proxy.base_url.trim_end_matches("/v1").replace("http://", "http://me:secret@");
    let through = with_proxy("http://192.0.2.1/v1", Proxy::Address(Secret::new(&address)));
    assert_eq!(collect_text(&through).await, "through.");
    assert_eq!(proxy.received()[0].line, "POST http://192.0.2.1/v1/chat/completions HTTP/1.1");
    assert!(proxy.received()[0].header("proxy-authorization").is_some());
    // A named proxy applies to local addresses too.
    assert_eq!(collect_text(&with_proxy(&service.base_url, Proxy::Address(Secret::new(&address)))).await, "through.");
    assert_eq!(collect_text(&with_proxy(&service.base_url, Proxy::Direct)).await, "straight.");
    assert_eq!(collect_text(&with_proxy(&service.base_url, Proxy::System)).await, "straight.");
    let unreachable_proxy =
        with_proxy("http://192.0.2.1/v1", Proxy::Address(Secret::new("http://me:secret@127.0.0.1:1")));
    let error = unreachable_proxy.models().await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
}

#[tokio::test]
async fn connection_attempt_ends_at_the_timeout() {
    // No host answers at an address of a documentation network.
    let connection =
        ConnectionOptions { connect_timeout: std::time::Duration::from_millis(50), ..ConnectionOptions::default() };
    let model = OpenAi::new(Settings { connection, ..Settings::new("http://192.0.2.1/v1") });
    let started = std::time::Instant::now();
    let error = model.models().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(is_within_limit(std::time::Duration::from_secs(8), started.elapsed()), "{:?}", started.elapsed());
}

#[tokio::test]
async fn r42_no_list_of_models_follows_a_redirect() {
    let other =
        Service::start_strict([Answer::body(200, "application/json", &[], r#"{"data":[{"id":"stolen"}]}"#)]).await;
    for to in [other.base_url.clone(), other.base_url.replace("127.0.0.1", "localhost")] {
        for status in [301, 302, 303, 307, 308] {
            let location = format!("location: {to}/models");
            let service = Service::start_strict([Answer::head(status, &[&location, "content-length: 0"])]).await;
            let settings = Settings {
                key: Some(Secret::new("sk-secret")),
                headers: vec![("x-api-key".into(), Secret::new("other-secret"))],
                ..Settings::new(&service.base_url)
            };
            let error = AuthProvider::with_settings(settings).models().await.unwrap_err().to_string();
            assert!(error.contains("not followed") && !error.contains("secret"), "{error}");
        }
    }
    assert!(other.received().is_empty(), "the redirect was followed");
}
