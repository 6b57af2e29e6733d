//! What a service sends: however the network cuts it the same is read, and every reply ends once.

use aye::chat::Chunk;
use aye::llm::chat_collector::{ChatCollector, ChunkQueue, End};
use aye::llm::events::{Decoder, Event};
use aye::llm::responses;
use std::collections::HashSet;

/// The first byte says how long the pieces are; the rest is the body of a streamed answer.
pub fn check(bytes: &[u8]) {
    let (how, body) = bytes.split_first().map_or((1, bytes), |(how, body)| (usize::from(*how).max(1), body));
    let events = decode([body].into_iter());
    assert_eq!(decode(body.chunks(how)), events, "cut into pieces of {how} it says something else");

    let (mut chat, mut out) = (ChatCollector::default(), ChunkQueue::new());
    let (mut items, mut said) = (responses::ResponsesCollector::default(), ChunkQueue::new());
    for event in &events {
        if let Event::Value(value) = event {
            chat.collect_event(value, &mut out);
            items.collect_event(value, &mut said);
        }
    }
    let end = || if events.contains(&Event::Done) { End::Marked } else { End::Unmarked };
    chat.finish(end(), &mut out);
    items.finish(end(), &mut said);
    // Again, as where a connection breaks behind the end.
    chat.finish(End::Marked, &mut out);
    items.finish(End::Marked, &mut said);
    ends_once(&out);
    ends_once(&said);
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut events: Vec<Event> = pieces.flat_map(|piece| decoder.decode(piece)).collect();
    events.extend(decoder.finish());
    events
}

/// One end, at the end, and no call's id twice.
fn ends_once(out: &ChunkQueue) {
    let ends = out.iter().filter(|item| matches!(item, Err(_) | Ok(Chunk::Done(_)))).count();
    assert_eq!(ends, 1, "{out:?}");
    assert!(matches!(out.back(), Some(Err(_) | Ok(Chunk::Done(_)))), "{out:?}");
    let mut ids = HashSet::new();
    for item in out {
        if let Ok(Chunk::Call(call)) = item {
            assert!(ids.insert(&call.id), "{out:?}");
        }
    }
}
