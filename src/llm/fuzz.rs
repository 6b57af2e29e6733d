//! Whatever a service sends, reading it neither panics nor depends on where the network cut it.

use super::Error;
use super::events::{Decoder, Event};
use super::gather::{End, Gather, Out};
use crate::chat::Chunk;
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Bytes made of what streams are made of, so that deep places are reached.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 18] = [
        b"data:",
        b"data: ",
        b"event: error",
        b"event: ping",
        b":",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"[DONE]",
        b"{",
        b"}",
        b"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}",
        b"{\"error\":\"x\"}",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xe4\xb8\xad",
        b"1",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

/// JSON of the words that services use, in places where they do not belong.
fn value() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 24] = [
        "choices",
        "delta",
        "message",
        "content",
        "reasoning",
        "reasoning_content",
        "tool_calls",
        "index",
        "id",
        "function",
        "name",
        "arguments",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "error",
        "code",
        "detail",
        "stop",
        "error",
        "length",
        "<think>",
        "</think>",
        "{}",
    ];
    let word = || prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..600).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((word(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A delta of a choice, around whatever it holds.
fn event() -> impl Strategy<Value = Value> {
    let delta = value().prop_map(|inner| serde_json::json!({"choices": [{"delta": inner}]}));
    let calls = prop::collection::vec(value(), 0..3)
        .prop_map(|calls| serde_json::json!({"choices": [{"delta": {"tool_calls": calls}}]}));
    prop_oneof![value(), delta, calls]
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut out: Vec<Event> = pieces.flat_map(|piece| decoder.take(piece)).collect();
    out.extend(decoder.end());
    out
}

proptest! {
    #[test]
    fn r64_the_events_do_not_depend_on_where_the_bytes_were_cut(bytes in bytes(), size in 1usize..9) {
        prop_assert_eq!(decode(bytes.chunks(size)), decode([&bytes[..]].into_iter()));
    }

    #[test]
    fn r64_every_reply_ends_once_and_its_calls_have_ids_of_their_own(events in prop::collection::vec(event(), 0..8)) {
        let (mut gather, mut out) = (Gather::default(), Out::new());
        for event in &events {
            gather.take(event, &mut out);
        }
        gather.end(End::Silent, &mut out);
        gather.end(End::Said, &mut out);
        let is_end = |item: &Result<Chunk, Error>| matches!(item, Err(_) | Ok(Chunk::Done(_)));
        prop_assert_eq!(out.iter().filter(|item| is_end(item)).count(), 1);
        prop_assert!(out.back().is_some_and(is_end));
        let ids: Vec<_> = out.iter().filter_map(|item| match item {
            Ok(Chunk::Call(call)) => Some(call.id.clone()),
            _ => None,
        }).collect();
        prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    }
}
