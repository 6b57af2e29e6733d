//! When data of the provider arrives. Its content is tested in `tests/wire/`.

use super::{format_reply, model, request_with};
use crate::support::keyboard::PATIENCE;
use crate::support::pick_count;
use crate::support::service::{Answer, Service, Step};
use aye::llm::{Llm, OpenAi, Settings};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt;
use std::io::Write;
use std::time::Duration;

#[tokio::test]
async fn text_arrives_while_the_provider_still_writes() {
    let answer = Answer::stream().text("first").with_step(Step::Stall);
    let service = Service::start_strict([answer]).await;
    let mut reply = model(&service).stream(request_with("hi"));
    let first = tokio::time::timeout(PATIENCE, reply.next()).await.expect("before the idle limit");
    assert_eq!(format_reply(&[first.unwrap()]), "first");
}

#[tokio::test]
async fn compressed_text_arrives_while_the_provider_still_writes() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(b"data: {\"choices\":[{\"delta\":{\"content\":\"first\"}}]}\n\n").unwrap();
    gzip.flush().unwrap();
    let head = Answer::head(200, &["content-type: text/event-stream", "content-encoding: gzip"]);
    let service = Service::start_strict([head.raw(gzip.get_ref()).with_step(Step::Stall)]).await;
    let mut reply = model(&service).stream(request_with("hi"));
    let first = tokio::time::timeout(PATIENCE, reply.next()).await.expect("before the idle limit");
    assert_eq!(format_reply(&[first.unwrap()]), "first");
}

#[tokio::test]
async fn slow_reader_blocks_the_provider_instead_of_filling_memory() {
    let mut answer = Answer::stream();
    let piece = "x".repeat(64 << 10);
    let pieces = pick_count(400, 280);
    for _ in 0..pieces {
        answer = answer.text(&piece);
    }
    let service =
        Service::start_strict([answer.finish("stop").done().raw(": the end\n\n").with_step(Step::Stall)]).await;
    let mut reply = OpenAi::new(Settings::new(&service.base_url)).stream(request_with("hi"));
    reply.next().await.unwrap().unwrap();
    let sent = || service.received()[0].sent_bytes;
    let mut before = 0;
    while sent() > before {
        before = sent();
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    assert!(before < 16 << 20, "{before} bytes went to a reader who took one event");
    // The first piece was taken above. At the end of the reply, `format_reply` adds a full stop.
    let remaining: Vec<_> = reply.collect().await;
    let length: usize = format_reply(&remaining).len();
    assert_eq!(length, (pieces - 1) * (64 << 10) + 1, "text was lost");
}
