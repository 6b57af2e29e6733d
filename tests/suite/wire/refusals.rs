//! Responses that are not replies: which are retried, and which error the user sees.
//!
//! In a formatted reply `~2~` announces the second attempt, `@m@` is the chosen model, `.` a complete end and `!` an
//! error (`format_reply`).

use super::{collect, collect_once, format_reply, model, request_with};
use crate::support::closed_port::reserve_closed_port;
use crate::support::service::{Answer, Service};
use aye::chat::{Chunk, Request};
use aye::llm::timeouts::INTERACTIVE_MAX_WAIT;
use aye::llm::{AuthProvider, DefaultModel, Llm, OpenAi, Secret, Settings};
use futures::StreamExt;
use std::time::Duration;

const JSON: &str = "application/json";

#[tokio::test]
async fn r49_requested_wait_is_kept_and_announced() {
    let wait = Answer::body(429, JSON, &["retry-after: 1"], r#"{"error":{"message":"slower"}}"#);
    let service = Service::start_strict([wait, Answer::stream().text("a").done()]).await;
    let out = collect(&model(&service)).await;
    let Ok(Chunk::Retrying { attempt: 2, wait, reason, .. }) = &out[0] else { panic!("unannounced: {out:?}") };
    assert_eq!((*wait, reason.contains("slower")), (Duration::from_secs(1), true));
    assert_eq!(format_reply(&out[1..]), "a.");
    let requests = service.received();
    assert!(requests[1].completed_at - requests[0].completed_at >= Duration::from_secs(1), "the retry came too early");
    assert_eq!(requests[0].body, requests[1].body);

    let long = Answer::body(429, JSON, &["retry-after: 120"], r#"{"error":{"message":"slower"}}"#);
    assert_eq!(
        format_reply(&collect_once(long).await),
        "!The provider asks to wait 120 s (429): slower. Try again later, or use another profile."
    );
}

#[tokio::test]
async fn r49_dropped_reply_is_not_retried() {
    let service = Service::start_strict([Answer::body(503, JSON, &["retry-after: 30"], "{}")]).await;
    let mut reply = model(&service).stream(request_with("hi"));
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { .. }))));
    drop(reply);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(service.received().len(), 1);
}

#[tokio::test]
async fn r42_a_redirect_is_not_followed_and_the_key_stays() {
    let other_service = Service::start_strict([Answer::stream().text("stolen").done()]).await;
    for status in [301, 302, 303, 307, 308] {
        let to = format!("location: {}/chat/completions", other_service.base_url);
        let service = Service::start_strict([Answer::head(status, &[&to, "content-length: 0"])]).await;
        let settings = Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&service.base_url) };
        let out = format_reply(&collect(&OpenAi::new(settings)).await);
        let origin = other_service.base_url.trim_end_matches("/v1");
        assert!(out.contains(origin) && out.contains("not followed"), "{out}");
    }
    assert!(other_service.received().is_empty(), "the redirect was followed");
}

#[tokio::test]
async fn r57_key_repeated_by_the_provider_is_redacted() {
    for answer in [
        Answer::body(401, JSON, &[], r#"{"error":{"message":"sk-secret is wrong","code":"sk-secret"}}"#),
        Answer::body(500, "text/plain", &["retry-after: 90"], "Bearer sk-secret"),
        Answer::stream().text("a").event(serde_json::json!({"error": "sk-secret"})),
        Answer::stream().text("a").raw("data: sk-secret\n\n"),
        Answer::body(200, "text/html", &[], "<html><title>sk-secret</title>"),
    ] {
        let service = Service::start_strict([answer]).await;
        let settings = Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&service.base_url) };
        let out = collect(&OpenAi::new(settings)).await;
        let shown_text = format!("{out:?} {}", format_reply(&out));
        assert!(!shown_text.contains("sk-secret") && shown_text.contains("[key]"), "{shown_text}");
    }
}

#[tokio::test]
async fn refused_connection_is_reported() {
    let (_closed, address) = reserve_closed_port();
    let origin = format!("http://{address}");
    let mut reply = OpenAi::new(Settings::new(&format!("{origin}/v1"))).stream(request_with("hi"));
    let Some(Err(error)) = reply.next().await else { panic!("no error for a server that is not running") };
    let why = error.to_string();
    assert!(why.starts_with(&format!("Cannot connect to {origin}: ")) && why.contains("refused"), "{why}");
}

#[tokio::test]
async fn r49_listing_models_is_retried_and_the_first_one_is_reported() {
    let busy = || Answer::body(503, JSON, &["retry-after-ms: 10"], "{}");
    let list = || Answer::body(200, JSON, &[], r#"{"data": [{"id": "one"}, {"id": "two"}]}"#);
    let reply = || Answer::stream().text("a").done();
    let service = Service::start_strict([busy(), list(), busy(), reply(), reply()]).await;
    let first = DefaultModel::for_provider(AuthProvider::with_settings(Settings::new(&service.base_url)));
    let request = || Request { model: String::new(), ..request_with("hi") };
    let out: Vec<_> = first.stream(request()).collect().await;
    assert_eq!(format_reply(&out), "~2~@one@~2~a.");
    let out: Vec<_> = first.stream(request()).collect().await;
    assert_eq!(format_reply(&out), "@one@a.", "the models are listed once");
    let lines: Vec<String> = service.received().into_iter().map(|request| request.line).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("GET")).count(), 2);
    assert_eq!(service.received()[4].body["model"], "one");
    let named: Vec<_> = first.stream(request_with("hi")).collect().await;
    assert_eq!(format_reply(&named), "a.", "a named model needs no list");
}

#[tokio::test]
async fn r49_user_can_skip_a_wait() {
    let new_models: [fn(Settings) -> Box<dyn Llm>; 2] = [
        |settings| Box::new(OpenAi::new(settings)),
        |settings| Box::new(DefaultModel::for_provider(AuthProvider::with_settings(settings))),
    ];
    for new_model in new_models {
        let long = Answer::body(429, JSON, &["retry-after: 3000"], "{}");
        let service = Service::start_strict([long, Answer::stream().text("a").done()]).await;
        let model = new_model(Settings { longest_wait: INTERACTIVE_MAX_WAIT, ..Settings::new(&service.base_url) });
        let (mut reply, mut waits) = (model.stream(request_with("hi")), Vec::new());
        while let Some(item) = reply.next().await {
            if let Ok(Chunk::Retrying { wait, .. }) = &item {
                waits.push(wait.as_secs());
                model.end_wait();
            }
            assert!(item.is_ok(), "{item:?}");
        }
        assert_eq!((waits, service.received().len()), (vec![3000], 2));
    }
}
