//! A model over a real connection: what the provider sends, byte for byte, and what the client makes of it.

mod certificates;
mod connections;
mod echoes;
mod endings;
mod fixtures;
mod keys;
mod real_server;
mod refusals;
mod requests;
mod responses;
mod responses_endings;
mod responses_turns;
mod streams;

use crate::support::keyboard::PATIENCE;
use crate::support::service::{Answer, Service};
use aye::chat::{Chunk, FinishReason, Message, Request};
use aye::llm::{Error, Llm, OpenAi, Settings};
use futures::StreamExt;

/// A request with one message.
fn request_with(text: &str) -> Request {
    Request {
        model: "m".into(),
        messages: vec![Message::User(text.into())],
        tools: vec![],
        max_tokens: None,
        images: vec![],
        answer_schema: None,
    }
}

/// A model at the service.
fn model(service: &Service) -> OpenAi {
    OpenAi::new(Settings::new(&service.base_url))
}

/// Collects the whole response of one request, except silences, which also depend on the load of the machine.
async fn collect(model: &OpenAi) -> Vec<Result<Chunk, Error>> {
    let is_quiet = |item: &Result<Chunk, Error>| matches!(item, Ok(Chunk::Silent { .. }));
    let all = model.stream(request_with("hi")).filter(|item| std::future::ready(!is_quiet(item))).collect();
    tokio::time::timeout(PATIENCE, all).await.expect("a reply ends")
}

/// Collects the response to this answer. The provider has no other and receives one request.
async fn collect_once(answer: Answer) -> Vec<Result<Chunk, Error>> {
    let service = Service::start_strict([answer]).await;
    let out = collect(&model(&service)).await;
    assert_eq!(service.received().len(), 1, "asked once: {out:?}");
    out
}

/// Formats a whole reply on one line: text as it is, everything else marked.
fn format_reply(out: &[Result<Chunk, Error>]) -> String {
    let mut line = String::new();
    for item in out {
        match item {
            Ok(Chunk::Text(text)) => line.push_str(text),
            Ok(Chunk::Reasoning(text)) => line.push_str(&format!("({text})")),
            Ok(Chunk::WasReasoning) => line.push('^'),
            Ok(Chunk::CallProgress { .. }) => {}
            Ok(Chunk::Call(call)) => line.push_str(&format!("[{} {} {}]", call.id, call.name, call.arguments)),
            Ok(Chunk::Usage(usage)) => line.push_str(&format!("#{}+{}", usage.input, usage.output)),
            Ok(Chunk::Retrying { attempt, .. }) => line.push_str(&format!("~{attempt}~")),
            Ok(Chunk::Silent { silence, .. }) => line.push_str(&format!("_{}_", silence.as_millis())),
            Ok(Chunk::ModelChosen { model, .. }) => line.push_str(&format!("@{model}@")),
            Ok(Chunk::Echo(echo)) => line.push_str(&format!("&{}&", echo.data)),
            Ok(Chunk::Done(FinishReason::Stop)) => line.push('.'),
            Ok(Chunk::Done(FinishReason::Length)) => line.push_str("<length>"),
            Ok(Chunk::Done(FinishReason::Filtered(why))) => line.push_str(&format!("<{why}>")),
            Err(error) => line.push_str(&format!("!{error}")),
        }
    }
    line
}
