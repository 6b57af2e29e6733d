//! A model behind a real connection: what a service sends, byte for byte, and what is made of it.

mod connections;
mod echoes;
mod endings;
mod fixtures;
mod keys;
mod refusals;
mod requests;
mod responses;
mod responses_ends;
mod responses_turns;
mod streams;
mod true_server;
mod trust;

use crate::support::keyboard::PATIENCE;
use crate::support::service::{Answer, Service};
use aye::chat::{Chunk, FinishReason, Message, Request};
use aye::llm::{Error, Llm, OpenAi, Settings};
use futures::StreamExt;

/// A request with one message.
fn asks(text: &str) -> Request {
    Request {
        model: "m".into(),
        messages: vec![Message::User(text.into())],
        tools: vec![],
        max_tokens: None,
        pictures: vec![],
    }
}

/// A model at the service.
fn model(service: &Service) -> OpenAi {
    OpenAi::new(Settings::new(&service.base_url))
}

/// Everything that comes of one request but silence, which is a matter of the machine's load too.
async fn collect(model: &OpenAi) -> Vec<Result<Chunk, Error>> {
    let is_quiet = |item: &Result<Chunk, Error>| matches!(item, Ok(Chunk::Silent { .. }));
    let all = model.stream(asks("hi")).filter(|item| std::future::ready(!is_quiet(item))).collect();
    tokio::time::timeout(PATIENCE, all).await.expect("a reply ends")
}

/// Everything that comes of this answer; the service gives no other, and is asked once.
async fn once(answer: Answer) -> Vec<Result<Chunk, Error>> {
    let service = Service::start_strict([answer]).await;
    let out = collect(&model(&service)).await;
    assert_eq!(service.received().len(), 1, "asked once: {out:?}");
    out
}

/// One line for a whole reply: text as it is, everything else marked.
fn told(out: &[Result<Chunk, Error>]) -> String {
    let mut told = String::new();
    for item in out {
        match item {
            Ok(Chunk::Text(text)) => told.push_str(text),
            Ok(Chunk::Reasoning(text)) => told.push_str(&format!("({text})")),
            Ok(Chunk::WasReasoning) => told.push('^'),
            Ok(Chunk::CallProgress { .. }) => {}
            Ok(Chunk::Call(call)) => told.push_str(&format!("[{} {} {}]", call.id, call.name, call.arguments)),
            Ok(Chunk::Usage(usage)) => told.push_str(&format!("#{}+{}", usage.input, usage.output)),
            Ok(Chunk::Retrying { attempt, .. }) => told.push_str(&format!("~{attempt}~")),
            Ok(Chunk::Silent { since, .. }) => told.push_str(&format!("_{}_", since.as_millis())),
            Ok(Chunk::ModelChosen { model, .. }) => told.push_str(&format!("@{model}@")),
            Ok(Chunk::Echo(echo)) => told.push_str(&format!("&{}&", echo.data)),
            Ok(Chunk::Done(FinishReason::Stop)) => told.push('.'),
            Ok(Chunk::Done(FinishReason::Length)) => told.push_str("<length>"),
            Ok(Chunk::Done(FinishReason::Filtered(why))) => told.push_str(&format!("<{why}>")),
            Err(error) => told.push_str(&format!("!{error}")),
        }
    }
    told
}
