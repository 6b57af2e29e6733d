//! Property tests: decoding any input never panics and does not depend on chunk boundaries.

use super::chat_collector::{ChatCollector, ChunkQueue, Collector, End};
use super::events::{Decoder, Event};
use super::{Error, reasoning_tags, responses};
use crate::chat::Chunk;
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Generates bytes from fragments of real streams, to reach deep states.
fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 25] = [
        b"error: no",
        b"[",
        b"]",
        b"NaN",
        b"\"\\ud83d\"",
        b"\"a\x01\"",
        b"words",
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

/// Generates JSON with the keys of real providers in unexpected places.
fn json_value() -> impl Strategy<Value = Value> {
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
    let any_word = || prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..600).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((any_word(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates a choice with a delta around any value.
fn chat_event() -> impl Strategy<Value = Value> {
    let delta = json_value().prop_map(|inner| serde_json::json!({"choices": [{"delta": inner}]}));
    let calls = prop::collection::vec(json_value(), 0..3)
        .prop_map(|calls| serde_json::json!({"choices": [{"delta": {"tool_calls": calls}}]}));
    prop_oneof![json_value(), delta, calls]
}

/// Generates an event of the responses API around any value.
fn responses_event() -> impl Strategy<Value = Value> {
    const KINDS: [&str; 16] = [
        "output_item.added",
        "output_item.done",
        "content_part.done",
        "output_text.delta",
        "output_text.done",
        "refusal.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_part.done",
        "reasoning_text.delta",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "in_progress",
        "incomplete",
        "completed",
        "something_new",
    ];
    let item = || {
        let kind = prop::sample::select(vec!["message", "function_call", "reasoning", "odd"]);
        (kind, 0u8..3, text_fragment(), json_value()).prop_map(|(kind, id, text, odd)| {
            serde_json::json!({"type": kind, "id": format!("i{id}"), "name": "f", "call_id": "c", "arguments": text,
                "content": [{"type": "output_text", "text": text}], "summary": [odd], "encrypted_content": "s"})
        })
    };
    let event = (prop::sample::select(&KINDS[..]), 0u8..3, 0u8..3, text_fragment(), item(), json_value());
    let event = event.prop_map(|(kind, index, id, text, item, odd)| {
        serde_json::json!({"type": format!("response.{kind}"), "output_index": index, "item_id": format!("i{id}"),
            "delta": text, "text": text, "arguments": text, "item": item, "part": odd,
            "response": {"output": [item, odd], "status": odd}})
    });
    prop_oneof![1 => json_value(), 4 => event]
}

fn text_fragment() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "ab", "<think>", "</think>", "{}", "{\"x\":", "中"]).prop_map(str::to_owned)
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut out: Vec<Event> = pieces.flat_map(|piece| decoder.decode(piece)).collect();
    out.extend(decoder.finish());
    out
}

/// Generates reply text from fragments with reasoning tags.
fn tagged_text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 20] = [
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "[THINK]",
        "[/THINK]",
        "<thi",
        "nk>",
        "</",
        "<",
        "[",
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        " ",
        "\r\n",
        "中a",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16).prop_map(|pieces| pieces.concat())
}

/// Splits text that arrives in pieces of `size` characters into reasoning and reply text.
fn split_reasoning(text: &str, size: usize) -> (String, String) {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
    reasoning_tags::tests::split_reasoning(&pieces.iter().map(String::as_str).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn r64_reasoning_does_not_depend_on_chunk_boundaries(text in tagged_text(), size in 1usize..7) {
        let whole = split_reasoning(&text, usize::MAX);
        prop_assert_eq!(&split_reasoning(&text, size), &whole);
        // `中` is in no tag, so every one of them remains.
        let count_text = |text: &str| text.matches('中').count();
        prop_assert_eq!(count_text(&whole.0) + count_text(&whole.1), count_text(&text));
    }

    #[test]
    fn r64_events_do_not_depend_on_chunk_boundaries(bytes in stream_bytes(), size in 1usize..9) {
        prop_assert_eq!(decode(bytes.chunks(size)), decode([&bytes[..]].into_iter()));
    }

    #[test]
    fn r64_every_chat_reply_ends_once_with_unique_call_ids(events in prop::collection::vec(chat_event(), 0..8)) {
        let (mut collector, mut out) = (ChatCollector::default(), ChunkQueue::new());
        for event in &events {
            collector.collect_event(event, &mut out);
        }
        collector.finish(End::Unmarked, &mut out);
        collector.finish(End::Marked, &mut out);
        check_single_end(&out)?;
    }

    #[test]
    fn r64_every_responses_reply_ends_once_with_unique_call_ids(events in prop::collection::vec(responses_event(), 0..10)) {
        let (mut collector, mut out) = (responses::ResponsesCollector::default(), ChunkQueue::new());
        for event in &events {
            collector.collect_event(event, &mut out);
        }
        collector.finish(End::Unmarked, &mut out);
        collector.finish(End::Marked, &mut out);
        check_single_end(&out)?;
    }
}

/// Checks that a reply has exactly one end, at the end, and unique call ids. The callers finish a reply twice; the
/// second time must add no end.
fn check_single_end(out: &ChunkQueue) -> Result<(), TestCaseError> {
    let is_end = |item: &Result<Chunk, Error>| matches!(item, Err(_) | Ok(Chunk::Done(_)));
    prop_assert_eq!(out.iter().filter(|item| is_end(item)).count(), 1);
    prop_assert!(out.back().is_some_and(is_end));
    let ids: Vec<_> = out
        .iter()
        .filter_map(|item| match item {
            Ok(Chunk::Call(call)) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    Ok(())
}
