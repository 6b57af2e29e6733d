//! Answers that are no reply: what is tried again, and what the person is told.

use super::{asks, collect, model, once, told};
use crate::support::service::{Answer, Service};
use aye::chat::Chunk;
use aye::llm::{Llm, OpenAi, Secret, Settings};
use futures::StreamExt;
use std::time::Duration;

const JSON: &str = "application/json";

#[tokio::test]
async fn r48_a_refusal_keeps_its_status_and_its_words() {
    let check = async |status: u16, kind: &str, body: &str, expected: &str| {
        assert_eq!(
            told(&once(Answer::body(status, kind, &[], body)).await),
            format!("!{expected}"),
            "{body}"
        );
    };
    check(
        401,
        JSON,
        r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#,
        "the service refused the key, or wants one (401, invalid_api_key): bad key",
    )
    .await;
    check(
        400,
        JSON,
        r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
        "the service refused the request (400, context_length_exceeded): too long",
    )
    .await;
    check(
        404,
        JSON,
        r#"{"detail":"Not Found"}"#,
        "the service does not know this model or address (404): Not Found",
    )
    .await;
    check(402, JSON, r#"{"error":"no money"}"#, "the service wants to be paid first (402): no money").await;
    check(
        429,
        JSON,
        r#"{"error":{"message":"all used","code":"insufficient_quota"}}"#,
        "the account at the service is used up (429, insufficient_quota): all used",
    )
    .await;
    check(
        403,
        "text/html",
        "<html><head><title>Blocked</title></head><body>…</body></html>",
        "the service does not allow this (403): a web page came back, “Blocked”",
    )
    .await;
    check(400, "text/plain", "", "the service refused the request (400)").await;
}

#[tokio::test]
async fn r48_what_is_no_model_is_said_to_be_none() {
    let check = async |answer: Answer, expected: &str| {
        assert_eq!(told(&once(answer).await), format!("!{expected}"));
    };
    check(
        Answer::body(200, "text/html", &[], "<!doctype html><title>Welcome</title>"),
        "this is not a model's address: a web page came back, “Welcome”",
    )
    .await;
    check(Answer::body(200, JSON, &[], ""), "the service sent an empty answer").await;
    check(
        Answer::body(200, JSON, &[], r#"{"hello": "world"}"#),
        "the service answered, but not as a model does; is the address right?",
    )
    .await;
    check(
        Answer::body(200, JSON, &[], r#"{"error": {"message": "no such model"}}"#),
        "the service answered with an error (200): no such model",
    )
    .await;
}

#[tokio::test]
async fn r49_the_wait_a_service_asks_for_is_kept_and_announced() {
    let wait = Answer::body(429, JSON, &["retry-after: 1"], r#"{"error":{"message":"slower"}}"#);
    let service = Service::start([wait, Answer::stream().says("a").done()]).await;
    let out = collect(&model(&service)).await;
    let Ok(Chunk::Retrying { attempt: 2, wait, why }) = &out[0] else { panic!("unannounced: {out:?}") };
    assert_eq!((*wait, why.contains("slower")), (Duration::from_secs(1), true));
    assert_eq!(told(&out[1..]), "a.");
    let asked = service.received();
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(1), "never earlier");
    assert_eq!(asked[0].body, asked[1].body);

    let long = Answer::body(429, JSON, &["retry-after: 120"], r#"{"error":{"message":"slower"}}"#);
    assert_eq!(told(&once(long).await), "!the service asks to wait 120 s (429): slower");
}

#[tokio::test]
async fn r49_a_wait_ends_at_once_when_nobody_waits_any_more() {
    let service = Service::start([Answer::body(503, JSON, &["retry-after: 30"], "{}")]).await;
    let mut reply = model(&service).stream(asks("hi"));
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { .. }))));
    drop(reply);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(service.received().len(), 1);
}

#[tokio::test]
async fn r42_a_redirect_is_not_followed_and_the_key_stays() {
    let other = Service::start([Answer::stream().says("stolen").done()]).await;
    for status in [301, 302, 303, 307, 308] {
        let to = format!("location: {}/chat/completions", other.base_url);
        let service = Service::start([Answer::head(status, &[&to, "content-length: 0"])]).await;
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
        let service = Service::start([answer]).await;
        let settings = Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&service.base_url) };
        let out = collect(&OpenAi::new(settings)).await;
        let shown = format!("{out:?} {}", told(&out));
        assert!(!shown.contains("sk-secret") && shown.contains("[key]"), "{shown}");
    }
}

#[tokio::test]
async fn an_address_where_nobody_is_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut reply = OpenAi::new(Settings::new(&format!("{origin}/v1"))).stream(asks("hi"));
    let Some(Err(error)) = reply.next().await else { panic!("a server that is not running is said at once") };
    let why = error.to_string();
    assert!(why.starts_with(&format!("no connection to {origin}: ")) && why.contains("refused"), "{why}");
}
