//! Streams of a provider: packet boundaries do not matter, and every reply ends once.

use aye::chat::Chunk;
use aye::llm::chat_collector::{ChatCollector, ChunkQueue, Collector, End};
use aye::llm::events::{Decoder, Event};
use aye::llm::responses;
use std::collections::HashSet;

/// Checks a streamed response. The first byte is the length of the pieces, the rest is the body.
pub fn check(bytes: &[u8]) {
    let (length, body) = bytes.split_first().map_or((1, bytes), |(length, body)| (usize::from(*length).max(1), body));
    let events = decode([body].into_iter());
    assert_eq!(decode(body.chunks(length)), events, "split into pieces of {length} bytes the events differ");

    let (mut chat, mut out) = (ChatCollector::default(), ChunkQueue::new());
    let (mut items, mut items_out) = (responses::ResponsesCollector::default(), ChunkQueue::new());
    for event in &events {
        if let Event::Value(value) = event {
            chat.collect_event(value, &mut out);
            items.collect_event(value, &mut items_out);
        }
    }
    let end = || if events.contains(&Event::Done) { End::Marked } else { End::Unmarked };
    chat.finish(end(), &mut out);
    items.finish(end(), &mut items_out);
    // Again, as if the connection broke after the end.
    chat.finish(End::Marked, &mut out);
    items.finish(End::Marked, &mut items_out);
    check_single_end(&out);
    check_single_end(&items_out);
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut events: Vec<Event> = pieces.flat_map(|piece| decoder.decode(piece)).collect();
    events.extend(decoder.finish());
    events
}

/// Checks that there is one end, in the last place, and that the IDs of calls are unique.
fn check_single_end(out: &ChunkQueue) {
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
