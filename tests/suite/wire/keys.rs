//! A key that is asked for, and the way to a service: certificates, proxies and addresses that changed.

use super::{asks, told};
use crate::support::service::{Answer, Service};
use crate::support::time_limits::is_within_limit;
use async_trait::async_trait;
use aye::chat::{Chunk, Request};
use aye::llm::client::{ConnectionOptions, Proxy};
use aye::llm::{AuthProvider, DefaultModel, Error, KeySource, Llm, OpenAi, Secret, Settings};
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Gives `key-1`, then `key-2`, and so on.
#[derive(Default)]
struct Counts(AtomicUsize);

#[async_trait]
impl KeySource for Counts {
    async fn request_key(&self) -> Result<Secret, Error> {
        tokio::task::yield_now().await;
        Ok(Secret::new(&format!("key-{}", self.0.fetch_add(1, Ordering::SeqCst) + 1)))
    }
}

async fn reply(model: &dyn Llm) -> String {
    let all: Vec<_> = model.stream(asks("hi")).collect().await;
    told(&all)
}

fn refuses() -> Answer {
    Answer::body(401, "application/json", &[], r#"{"error":{"message":"no key-1, no key-2"}}"#)
}

fn says(text: &str) -> Answer {
    Answer::stream().says(text).finish("stop").done()
}

fn keys(service: &Service) -> Vec<String> {
    let key = |request: &crate::support::service::Received| {
        request.header("authorization").unwrap_or("none").trim_start_matches("Bearer ").to_owned()
    };
    service.received().iter().map(key).collect()
}

#[tokio::test]
async fn a_key_is_asked_for_with_the_first_request_and_once_more_where_it_is_refused() {
    let service =
        Service::start_strict([says("a"), says("b"), refuses(), says("c"), refuses(), refuses(), says("d")]).await;
    let source = Arc::new(Counts::default());
    let model = AuthProvider::with_key_source(Settings::new(&service.base_url), source.clone());
    assert_eq!(source.0.load(Ordering::SeqCst), 0, "nothing was sent yet");
    assert_eq!((reply(&model).await, reply(&model).await), ("a.".into(), "b.".into()));
    assert_eq!(reply(&model).await, "c.", "with a new key");
    let refused = reply(&model).await;
    assert!(refused.contains("rejected the key") && refused.contains("(401)"), "{refused}");
    assert_eq!(reply(&model).await, "d.");
    assert_eq!(keys(&service), ["key-1", "key-1", "key-1", "key-2", "key-2", "key-3", "key-3"]);
    assert!(!refused.contains("key-3") && !format!("{model:?}").contains("key-"));
}

#[tokio::test]
async fn requests_that_come_together_ask_for_the_key_once() {
    let service = Service::start_strict([says("a")]).await;
    let source = Arc::new(Counts::default());
    let model = AuthProvider::with_key_source(Settings::new(&service.base_url), source.clone());
    let all = (0..5).map(|_| reply(&model));
    assert!(futures::future::join_all(all).await.iter().all(|reply| reply == "a."));
    assert_eq!(source.0.load(Ordering::SeqCst), 1);
    let refusing = Service::start_strict([refuses()]).await;
    let model = AuthProvider::with_key_source(Settings::new(&refusing.base_url), Arc::new(Counts::default()));
    assert!(model.models().await.is_err());
    assert_eq!(keys(&refusing), ["key-1", "key-2"], "the list of models asks once more, too");
}

#[tokio::test]
async fn whoever_has_no_key_is_quoted_and_nothing_is_sent() {
    struct None;
    #[async_trait]
    impl KeySource for None {
        async fn request_key(&self) -> Result<Secret, Error> {
            Err(Error::InvalidReply("the safe is shut".to_owned()))
        }
    }
    let service = Service::start_strict([says("a")]).await;
    let model = AuthProvider::with_key_source(Settings::new(&service.base_url), Arc::new(None));
    assert_eq!(reply(&model).await, "!the safe is shut");
    assert!(service.received().is_empty());
}

#[tokio::test]
async fn the_first_model_one_can_talk_with_answers_and_its_name_comes_first() {
    let list = r#"{"data":[{"id":"text-embedding-3"},{"id":"whisper-1"},{"id":"talker"},{"id":"other"}]}"#;
    let service = Service::start_strict([Answer::body(200, "application/json", &[], list), says("a")]).await;
    let model = DefaultModel::for_provider(AuthProvider::with_settings(Settings::new(&service.base_url)));
    let unnamed = || Request { model: String::new(), ..asks("hi") };
    for _ in 0..2 {
        let all: Vec<_> = model.stream(unnamed()).collect().await;
        assert!(matches!(&all[0], Ok(Chunk::ModelChosen { model, instead: None }) if model == "talker"), "{all:?}");
        assert_eq!(told(&all[1..]), "a.");
    }
    let named: Vec<_> = model.stream(asks("hi")).collect().await;
    assert_eq!(told(&named), "a.", "who was named is not said again");
    let models: Vec<_> = service.received()[1..].iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["talker", "talker", "m"]);
    let drawing =
        Service::start_strict([Answer::body(200, "application/json", &[], r#"[{"id":"image-1"}]"#), says("a")]).await;
    let model = DefaultModel::for_provider(AuthProvider::with_settings(Settings::new(&drawing.base_url)));
    let all: Vec<_> = model.stream(unnamed()).collect().await;
    assert_eq!(told(&all), "@image-1@a.", "better than none");
}

#[tokio::test]
async fn a_proxy_is_used_where_one_is_named_and_not_where_none_is_wanted() {
    let service = Service::start_strict([says("straight")]).await;
    let proxy = Service::start_strict([says("through")]).await;
    let by = |base_url: &str, proxy: Proxy| {
        let connection = ConnectionOptions { proxy, ..ConnectionOptions::default() };
        OpenAi::new(Settings { connection, ..Settings::new(base_url) })
    };
    let address = proxy.base_url.trim_end_matches("/v1").replace("http://", "http://me:secret@");
    let through = by("http://192.0.2.1/v1", Proxy::Address(Secret::new(&address)));
    assert_eq!(reply(&through).await, "through.");
    assert_eq!(proxy.received()[0].line, "POST http://192.0.2.1/v1/chat/completions HTTP/1.1");
    assert!(proxy.received()[0].header("proxy-authorization").is_some());
    // One that is named is meant for this machine too.
    assert_eq!(reply(&by(&service.base_url, Proxy::Address(Secret::new(&address)))).await, "through.");
    assert_eq!(reply(&by(&service.base_url, Proxy::Direct)).await, "straight.");
    assert_eq!(reply(&by(&service.base_url, Proxy::System)).await, "straight.");
    let gone = by("http://192.0.2.1/v1", Proxy::Address(Secret::new("http://me:secret@127.0.0.1:1")));
    let listed = gone.models().await.unwrap_err();
    assert!(!format!("{listed} {listed:?}").contains("secret"), "{listed}");
}

#[tokio::test]
async fn a_connection_that_is_not_made_in_time_is_given_up() {
    // Nobody answers at an address that is for documentation.
    let connection =
        ConnectionOptions { connect: std::time::Duration::from_millis(50), ..ConnectionOptions::default() };
    let model = OpenAi::new(Settings { connection, ..Settings::new("http://192.0.2.1/v1") });
    let began = std::time::Instant::now();
    let error = model.models().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(is_within_limit(std::time::Duration::from_secs(8), began.elapsed()), "{:?}", began.elapsed());
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
    assert!(other.received().is_empty(), "somebody else was asked");
}
