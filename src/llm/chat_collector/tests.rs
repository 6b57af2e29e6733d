//! Events and the chunks they produce.

use super::*;
use crate::chat::ToolCall;
use serde_json::json;

fn collect_events(events: &[Value], end: End) -> Vec<Result<Chunk, Error>> {
    let (mut collector, mut chunks) = (ChatCollector::default(), ChunkQueue::new());
    for event in events {
        collector.collect_event(event, &mut chunks);
    }
    collector.finish(end, &mut chunks);
    chunks.into()
}

fn text_event(text: &str) -> Value {
    json!({"choices": [{"delta": {"content": text}}]})
}

fn finish_event(reason: &str) -> Value {
    json!({"choices": [{"delta": {}, "finish_reason": reason}]})
}

fn text_chunk(text: &str) -> Result<Chunk, Error> {
    Ok(Chunk::Text(text.into()))
}

fn done_chunk(finish: FinishReason) -> Result<Chunk, Error> {
    Ok(Chunk::Done(finish))
}

#[test]
fn r48_a_reply_is_complete_only_with_an_end_marker_or_a_finish_reason() {
    let connection_lost = || Err(Error::ConnectionLost("the provider closed it before the reply was complete".into()));
    assert_eq!(collect_events(&[text_event("a")], End::Unmarked), [text_chunk("a"), connection_lost()]);
    assert_eq!(collect_events(&[], End::Unmarked), [connection_lost()]);
    assert_eq!(collect_events(&[text_event("a")], End::Marked), [text_chunk("a"), done_chunk(FinishReason::Stop)]);
    assert_eq!(
        collect_events(&[text_event("a"), finish_event("stop")], End::Unmarked),
        [text_chunk("a"), done_chunk(FinishReason::Stop)]
    );
    let failed = End::Failed(Error::ConnectionLost("reset".into()));
    assert_eq!(
        collect_events(&[text_event("a")], failed.clone()),
        [text_chunk("a"), Err(Error::ConnectionLost("reset".into()))]
    );
    assert_eq!(
        collect_events(&[text_event("a"), finish_event("stop")], failed),
        [text_chunk("a"), done_chunk(FinishReason::Stop)]
    );
    assert_eq!(collect_events(&[text_event("<thi")], End::Unmarked), [text_chunk("<thi"), connection_lost()]);
}

#[test]
fn choice_0_is_the_reply_even_if_another_choice_arrives_first() {
    let choice_event = |index: u64, text: &str| json!({"choices": [{"index": index, "delta": {"content": text}}]});
    let other_first =
        [choice_event(1, "other"), choice_event(0, "reply"), choice_event(1, "more"), finish_event("stop")];
    let expected = [text_chunk("reply"), done_chunk(FinishReason::Stop)];
    assert_eq!(collect_events(&other_first, End::Marked), expected);
    let both = json!({"choices": [
        {"index": 1, "delta": {"content": "other"}}, {"index": 0, "delta": {"content": "reply"}},
    ]});
    assert_eq!(collect_events(&[both, finish_event("stop")], End::Marked), expected);
}

#[test]
fn r48_finish_reasons_are_recognized() {
    for (reason, finish) in [
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::Stop),
        ("something_new", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("MAX_TOKENS", FinishReason::Length),
        ("content_filter", FinishReason::Filtered("content_filter".into())),
    ] {
        assert_eq!(collect_events(&[finish_event(reason)], End::Unmarked), [done_chunk(finish)], "{reason}");
    }
    // A `message` instead of a `delta` is a whole reply, so it needs no finish reason.
    let complete = json!({"choices": [{"message": {"content": "a"}}]});
    assert_eq!(collect_events(&[complete], End::Unmarked), [text_chunk("a"), done_chunk(FinishReason::Stop)]);
}

#[test]
fn a_finish_reason_in_an_event_with_text_is_not_final() {
    let text_and_end = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5}});
    let is_ending_after = |events: &[Value]| {
        let (mut collector, mut chunks) = (ChatCollector::default(), ChunkQueue::new());
        events.iter().for_each(|event| collector.collect_event(event, &mut chunks));
        collector.is_ending()
    };
    assert!(!is_ending_after(std::slice::from_ref(&text_and_end)));
    assert!(!is_ending_after(&[finish_event("stop"), text_and_end.clone()]));
    assert!(is_ending_after(&[text_and_end.clone(), finish_event("stop"), usage]));
    assert_eq!(
        collect_events(&[text_and_end.clone(), text_and_end], End::Unmarked),
        [text_chunk("a"), text_chunk("a"), done_chunk(FinishReason::Stop)]
    );
}

#[test]
fn calls_are_emitted_complete_after_the_text() {
    let call_event = |arguments: &str| json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}]}}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
    let expected_usage = Usage { input: 5, cached: 0, output: 1 };
    let expected_call = ToolCall { id: "c".into(), name: "f".into(), arguments: r#"{"x":1}"#.into() };
    let progress_chunk = |bytes| Ok(Chunk::CallProgress { name: "f".into(), bytes });
    assert_eq!(
        collect_events(
            &[call_event(r#"{"x""#), text_event("so"), call_event(":1}"), finish_event("stop"), usage.clone(), usage],
            End::Marked
        ),
        [
            progress_chunk(4),
            text_chunk("so"),
            progress_chunk(7),
            Ok(Chunk::Usage(expected_usage)),
            Ok(Chunk::Call(expected_call)),
            done_chunk(FinishReason::Stop)
        ]
    );
    let chunks = collect_events(&[call_event(r#"{"x""#)], End::Unmarked);
    assert!(
        !chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::Call(_)))),
        "an incomplete call is never emitted: {chunks:?}"
    );
}

#[test]
fn reasoning_is_separated_from_text() {
    let reasoning_chunk = |text: &str| Ok(Chunk::Reasoning(text.into()));
    let text_and_reasoning = json!({"choices": [{"delta": {"content": "a", "reasoning": "r"}}]});
    assert_eq!(
        collect_events(&[text_and_reasoning], End::Marked),
        [reasoning_chunk("r"), text_chunk("a"), done_chunk(FinishReason::Stop)]
    );
    assert_eq!(
        collect_events(&[text_event("<thi"), text_event("nk>hm</th"), text_event("ink>\na")], End::Marked),
        [reasoning_chunk("hm"), text_chunk("a"), done_chunk(FinishReason::Stop)]
    );
}

#[test]
fn r65_a_reply_above_the_size_limit_is_aborted_and_kept() {
    // Starts near the limit because reading that much data takes seconds.
    let nearly_full_collector = || ChatCollector { size: ReplySize::of_bytes(56 << 20), ..ChatCollector::default() };
    let (mut collector, mut chunks) = (nearly_full_collector(), ChunkQueue::new());
    let event = text_event(&"x".repeat(1 << 20));
    for _ in 0..14 {
        collector.collect_event(&event, &mut chunks);
    }
    collector.finish(End::Marked, &mut chunks);
    let expected = "the reply is longer than 64 MB and was cut off";
    assert_eq!(chunks.pop_back(), Some(Err(Error::InvalidReply(expected.into()))));
    assert_eq!(chunks.len(), 8, "everything before the limit");
    let call = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "x".repeat(1 << 20)}}]}}]});
    let (mut collector, mut chunks) = (nearly_full_collector(), ChunkQueue::new());
    (0..14).for_each(|_| collector.collect_event(&call, &mut chunks));
    assert_eq!(chunks.pop_back(), Some(Err(Error::InvalidReply(expected.into()))));
}

#[test]
fn r65_a_reply_with_too_many_calls_is_aborted() {
    let calls: Vec<Value> = (0..2000).map(|index| json!({"index": index})).collect();
    let expected = "The reply was aborted: it has more than 1000 tool calls";
    let chunks = collect_events(&[json!({"choices": [{"delta": {"tool_calls": calls}}]})], End::Marked);
    assert_eq!(chunks.last(), Some(&Err(Error::InvalidReply(expected.into()))));
}

#[test]
fn r48_an_error_ends_the_reply_and_keeps_its_text() {
    let error = json!({"error": {"message": "overloaded", "code": 529}});
    assert_eq!(
        collect_events(std::slice::from_ref(&error), End::Marked),
        [Err(Error::Provider { status: 529, code: None, message: "overloaded".into(), retry_after: None })]
    );
    assert_eq!(
        collect_events(&[text_event("a"), error, text_event("b")], End::Marked),
        [text_chunk("a"), Err(Error::InStream("overloaded".into())),]
    );
    let chunks = collect_events(&[finish_event("error")], End::Marked);
    assert_eq!(chunks, [Err(Error::InStream("the model stopped with an error".into()))]);
}
