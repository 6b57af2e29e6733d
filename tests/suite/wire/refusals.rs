//! Answers that are no reply: what is tried again, and what the person is told.

use super::{asks, collect, model, once, told};
use crate::support::closed_port::reserve_closed_port;
use crate::support::service::{Answer, Service};
use aye::chat::{Chunk, Request};
use aye::llm::timeouts::INTERACTIVE_MAX_WAIT;
use aye::llm::{AuthProvider, DefaultModel, Llm, OpenAi, Secret, Settings};
use futures::StreamExt;
use std::time::Duration;

const JSON: &str = "application/json";

#[tokio::test]
async fn r49_the_wait_a_service_asks_for_is_kept_and_announced() {
    let wait = Answer::body(429, JSON, &["retry-after: 1"], r#"{"error":{"message":"slower"}}"#);
    let service = Service::start_strict([wait, Answer::stream().says("a").done()]).await;
    let out = collect(&model(&service)).await;
    let Ok(Chunk::Retrying { attempt: 2, wait, why, .. }) = &out[0] else { panic!("unannounced: {out:?}") };
    assert_eq!((*wait, why.contains("slower")), (Duration::from_secs(1), true));
    assert_eq!(told(&out[1..]), "a.");
    let asked = service.received();
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(1), "never earlier");
    assert_eq!(asked[0].body, asked[1].body);

    let long = Answer::body(429, JSON, &["retry-after: 120"], r#"{"error":{"message":"slower"}}"#);
    assert_eq!(told(&once(long).await), "!The provider asks to wait 120 s (429): slower");
}

#[tokio::test]
async fn r49_a_wait_ends_at_once_when_nobody_waits_any_more() {
    let service = Service::start_strict([Answer::body(503, JSON, &["retry-after: 30"], "{}")]).await;
    let mut reply = model(&service).stream(asks("hi"));
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { .. }))));
    drop(reply);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(service.received().len(), 1);
}

#[tokio::test]
async fn r42_a_redirect_is_not_followed_and_the_key_stays() {
    let other = Service::start_strict([Answer::stream().says("stolen").done()]).await;
    for status in [301, 302, 303, 307, 308] {
        let to = format!("location: {}/chat/completions", other.base_url);
        let service = Service::start_strict([Answer::head(status, &[&to, "content-length: 0"])]).await;
        let settings = Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&service.base_url) };
        let out = told(&collect(&OpenAi::new(settings)).await);
        let origin = other.base_url.trim_end_matches("/v1");
        assert!(out.contains(origin) && out.contains("not followed"), "{out}");
    }
    assert!(other.received().is_empty(), "somebody else was asked");
}

#[tokio::test]
async fn r57_a_key_that_a_service_repeats_is_masked() {
    for answer in [
        Answer::body(401, JSON, &[], r#"{"error":{"message":"sk-secret is wrong","code":"sk-secret"}}"#),
        Answer::body(500, "text/plain", &["retry-after: 90"], "Bearer sk-secret"),
        Answer::stream().says("a").event(serde_json::json!({"error": "sk-secret"})),
        Answer::stream().says("a").raw("data: sk-secret\n\n"),
        Answer::body(200, "text/html", &[], "<html><title>sk-secret</title>"),
    ] {
        let service = Service::start_strict([answer]).await;
        let settings = Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&service.base_url) };
        let out = collect(&OpenAi::new(settings)).await;
        let shown = format!("{out:?} {}", told(&out));
        assert!(!shown.contains("sk-secret") && shown.contains("[key]"), "{shown}");
    }
}

#[tokio::test]
async fn an_address_where_nobody_is_says_so() {
    let (_closed, address) = reserve_closed_port();
    let origin = format!("http://{address}");
    let mut reply = OpenAi::new(Settings::new(&format!("{origin}/v1"))).stream(asks("hi"));
    let Some(Err(error)) = reply.next().await else { panic!("a server that is not running is said at once") };
    let why = error.to_string();
    assert!(why.starts_with(&format!("Cannot connect to {origin}: ")) && why.contains("refused"), "{why}");
}

#[tokio::test]
async fn r49_asking_for_the_models_is_tried_again_like_the_rest_and_the_first_is_said() {
    let busy = || Answer::body(503, JSON, &["retry-after-ms: 10"], "{}");
    let list = || Answer::body(200, JSON, &[], r#"{"data": [{"id": "one"}, {"id": "two"}]}"#);
    let reply = || Answer::stream().says("a").done();
    let service = Service::start_strict([busy(), list(), busy(), reply(), reply()]).await;
    let first = DefaultModel::for_provider(AuthProvider::with_settings(Settings::new(&service.base_url)));
    let request = || Request { model: String::new(), ..asks("hi") };
    let out: Vec<_> = first.stream(request()).collect().await;
    assert_eq!(told(&out), "~2~@one@~2~a.");
    let out: Vec<_> = first.stream(request()).collect().await;
    assert_eq!(told(&out), "@one@a.", "the models are asked for once");
    let lines: Vec<String> = service.received().into_iter().map(|request| request.line).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("GET")).count(), 2);
    assert_eq!(service.received()[4].body["model"], "one");
    let named: Vec<_> = first.stream(asks("hi")).collect().await;
    assert_eq!(told(&named), "a.", "a model that is named is not asked for");
}

#[tokio::test]
async fn r49_a_wait_is_skipped_at_the_word_of_the_person() {
    let long = Answer::body(429, JSON, &["retry-after: 3000"], "{}");
    let service = Service::start_strict([long, Answer::stream().says("a").done()]).await;
    let watched = Settings { longest_wait: INTERACTIVE_MAX_WAIT, ..Settings::new(&service.base_url) };
    for model in [
        Box::new(OpenAi::new(watched.clone())) as Box<dyn Llm>,
        Box::new(DefaultModel::for_provider(AuthProvider::with_settings(watched))),
    ] {
        let mut reply = model.stream(asks("hi"));
        while let Some(item) = reply.next().await {
            if let Ok(Chunk::Retrying { wait, .. }) = &item {
                assert_eq!(wait.as_secs(), 3000);
                model.end_wait();
            }
            assert!(item.is_ok(), "{item:?}");
        }
    }
    assert_eq!(service.received().len(), 3);
}
