//! What a service sends: however the network cuts it the same is read, and every reply ends once.

use aye::chat::Chunk;
use aye::llm::events::{Decoder, Event};
use aye::llm::gather::{End, Gather, Out};
use aye::llm::responses;
use std::collections::HashSet;

/// The first byte says how long the pieces are; the rest is the body of a streamed answer.
pub fn check(bytes: &[u8]) {
    let (how, body) = bytes.split_first().map_or((1, bytes), |(how, body)| (usize::from(*how).max(1), body));
    let events = decode([body].into_iter());
    assert_eq!(decode(body.chunks(how)), events, "cut into pieces of {how} it says something else");

    let (mut chat, mut out) = (Gather::default(), Out::new());
    let (mut items, mut said) = (responses::Gather::default(), Out::new());
    for event in &events {
        if let Event::Value(value) = event {
            chat.take(value, &mut out);
            items.take(value, &mut said);
        }
    }
    let end = || if events.contains(&Event::Done) { End::Said } else { End::Silent };
    chat.end(end(), &mut out);
    items.end(end(), &mut said);
    // Again, as where a connection breaks behind the end.
    chat.end(End::Said, &mut out);
    items.end(End::Said, &mut said);
    ends_once(&out);
    ends_once(&said);
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut events: Vec<Event> = pieces.flat_map(|piece| decoder.take(piece)).collect();
    events.extend(decoder.end());
    events
}

/// One end, at the end, and no call's id twice.
fn ends_once(out: &Out) {
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
