//! A real model server at the address in `AYE_TEST_SERVER`.

use super::{format_reply, request_with};
use crate::support::report_skipped;
use aye::chat::{Chunk, Request};
use aye::llm::{Error, Llm, OpenAi, Settings};
use futures::StreamExt;
use serde_json::json;
use std::time::Duration;

/// A model at this path of the server, with this limit of output tokens; `None` without a server.
fn model_at(path: &str, tokens: u32) -> Option<OpenAi> {
    let Ok(base) = std::env::var("AYE_TEST_SERVER") else {
        report_skipped("AYE_TEST_SERVER is not set");
        return None;
    };
    let extra = json!({"max_tokens": tokens}).as_object().cloned()?;
    Some(OpenAi::new(Settings { parameters: extra, ..Settings::new(&format!("{base}{path}")) }))
}

async fn collect(model: &OpenAi) -> Vec<Result<Chunk, Error>> {
    tokio::time::timeout(Duration::from_secs(60), model.stream(request_with("hi")).collect())
        .await
        .expect("the reply ends")
}

#[tokio::test]
async fn a_reply_streams_and_is_counted() {
    let Some(model) = model_at("", 24) else { return };
    let out = collect(&model).await;
    let texts = out.iter().filter(|item| matches!(item, Ok(Chunk::Text(_)))).count();
    assert!(texts > 1, "the text did not arrive in pieces: {out:?}");
    assert!(matches!(out.last(), Some(Ok(Chunk::Done(_)))), "{out:?}");
    let usage = out.iter().rev().find_map(|item| if let Ok(Chunk::Usage(usage)) = item { Some(usage) } else { None });
    assert!(usage.is_some_and(|usage| usage.input > 0 && usage.output == 24), "{out:?}");
}

#[tokio::test]
async fn reply_can_be_dropped_and_the_next_one_arrives() {
    let Some(model) = model_at("", 2000) else { return };
    for _ in 0..3 {
        let mut reply = model.stream(request_with("tell me more"));
        let first = tokio::time::timeout(Duration::from_secs(20), reply.next()).await.expect("the server answers");
        assert!(matches!(first, Some(Ok(_))), "{first:?}");
    }
    let Some(model) = model_at("", 8) else { return };
    assert!(matches!(collect(&model).await.last(), Some(Ok(Chunk::Done(_)))));
}

#[tokio::test]
async fn invalid_path_and_too_long_message_are_reported() {
    let Some(wrong) = model_at("/nowhere", 8) else { return };
    let out = collect(&wrong).await;
    assert!(matches!(out[..], [Err(Error::Provider { status: 404, .. })]), "{out:?}");
    let Some(model) = model_at("", 8) else { return };
    let request = Request { messages: vec![aye::chat::Message::User("word ".repeat(60_000))], ..request_with("") };
    let out: Vec<_> = model.stream(request).collect().await;
    assert!(matches!(out[..], [Err(Error::Provider { status: 400, .. })]), "{}", format_reply(&out));
}

#[tokio::test]
async fn models_of_the_server_are_listed() {
    let Some(model) = model_at("", 8) else { return };
    assert!(!model.models().await.unwrap().is_empty());
}
