//! Events and the chunks they produce.

use super::*;
use crate::chat::ToolCall;
use serde_json::json;

fn gather(events: &[Value], end: End) -> Vec<Result<Chunk, Error>> {
    let (mut gather, mut out) = (ChatCollector::default(), ChunkQueue::new());
    for event in events {
        gather.collect_event(event, &mut out);
    }
    gather.finish(end, &mut out);
    out.into()
}

fn says(text: &str) -> Value {
    json!({"choices": [{"delta": {"content": text}}]})
}

fn ends(word: &str) -> Value {
    json!({"choices": [{"delta": {}, "finish_reason": word}]})
}

fn text(text: &str) -> Result<Chunk, Error> {
    Ok(Chunk::Text(text.into()))
}

fn done(finish: FinishReason) -> Result<Chunk, Error> {
    Ok(Chunk::Done(finish))
}

#[test]
fn r48_a_reply_is_complete_only_with_an_end_marker() {
    let cut = || Err(Error::ConnectionLost("the provider closed it before the reply was complete".into()));
    assert_eq!(gather(&[says("a")], End::Unmarked), [text("a"), cut()]);
    assert_eq!(gather(&[], End::Unmarked), [cut()]);
    assert_eq!(gather(&[says("a")], End::Marked), [text("a"), done(FinishReason::Stop)]);
    assert_eq!(gather(&[says("a"), ends("stop")], End::Unmarked), [text("a"), done(FinishReason::Stop)]);
    let broken = End::Failed(Error::ConnectionLost("reset".into()));
    assert_eq!(gather(&[says("a")], broken.clone()), [text("a"), Err(Error::ConnectionLost("reset".into()))]);
    assert_eq!(gather(&[says("a"), ends("stop")], broken), [text("a"), done(FinishReason::Stop)]);
    assert_eq!(gather(&[says("<thi")], End::Unmarked), [text("<thi"), cut()]);
}

#[test]
fn r48_finish_reasons_are_recognized() {
    for (word, finish) in [
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::Stop),
        ("something_new", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("MAX_TOKENS", FinishReason::Length),
        ("content_filter", FinishReason::Filtered("content_filter".into())),
    ] {
        assert_eq!(gather(&[ends(word)], End::Unmarked), [done(finish)], "{word}");
    }
    let whole = json!({"choices": [{"message": {"content": "a"}}]});
    assert_eq!(gather(&[whole], End::Unmarked), [text("a"), done(FinishReason::Stop)]);
}

#[test]
fn an_end_marker_in_an_event_with_text_is_not_final() {
    let both = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5}});
    let rests = |events: &[Value]| {
        let (mut gather, mut out) = (ChatCollector::default(), ChunkQueue::new());
        events.iter().for_each(|event| gather.collect_event(event, &mut out));
        gather.is_ending()
    };
    assert!(!rests(std::slice::from_ref(&both)));
    assert!(!rests(&[ends("stop"), both.clone()]));
    assert!(rests(&[both.clone(), ends("stop"), usage]));
    assert_eq!(gather(&[both.clone(), both], End::Unmarked), [text("a"), text("a"), done(FinishReason::Stop)]);
}

#[test]
fn calls_are_emitted_complete_after_the_text() {
    let call = |arguments: &str| json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}]}}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
    let counted = Usage { input: 5, cached: 0, output: 1 };
    let whole = ToolCall { id: "c".into(), name: "f".into(), arguments: r#"{"x":1}"#.into() };
    let writing = |bytes| Ok(Chunk::CallProgress { name: "f".into(), bytes });
    assert_eq!(
        gather(&[call(r#"{"x""#), says("so"), call(":1}"), ends("stop"), usage.clone(), usage], End::Marked),
        [
            writing(4),
            text("so"),
            writing(7),
            Ok(Chunk::Usage(counted)),
            Ok(Chunk::Call(whole)),
            done(FinishReason::Stop)
        ]
    );
    let half = gather(&[call(r#"{"x""#)], End::Unmarked);
    assert!(
        !half.iter().any(|chunk| matches!(chunk, Ok(Chunk::Call(_)))),
        "an incomplete call is never emitted: {half:?}"
    );
}

#[test]
fn reasoning_is_separated_from_text() {
    let thought = |text: &str| Ok(Chunk::Reasoning(text.into()));
    let both = json!({"choices": [{"delta": {"content": "a", "reasoning": "r"}}]});
    assert_eq!(gather(&[both], End::Marked), [thought("r"), text("a"), done(FinishReason::Stop)]);
    assert_eq!(
        gather(&[says("<thi"), says("nk>hm</th"), says("ink>\na")], End::Marked),
        [thought("hm"), text("a"), done(FinishReason::Stop)]
    );
}

#[test]
fn r65_a_reply_above_the_size_limit_is_aborted_and_kept() {
    // Starts near the limit because reading that much data takes seconds.
    let came = || ChatCollector { size: ReplySize::of_bytes(56 << 20), ..ChatCollector::default() };
    let (mut gather, mut out) = (came(), ChunkQueue::new());
    let event = says(&"x".repeat(1 << 20));
    for _ in 0..14 {
        gather.collect_event(&event, &mut out);
    }
    gather.finish(End::Marked, &mut out);
    let words = "the reply is longer than 64 MB and was cut off";
    assert_eq!(out.pop_back(), Some(Err(Error::InvalidReply(words.into()))));
    assert_eq!(out.len(), 8, "everything before the limit");
    let call = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "x".repeat(1 << 20)}}]}}]});
    let (mut gather, mut out) = (came(), ChunkQueue::new());
    (0..14).for_each(|_| gather.collect_event(&call, &mut out));
    assert_eq!(out.pop_back(), Some(Err(Error::InvalidReply(words.into()))));
}

#[test]
fn r65_a_reply_with_too_many_calls_is_aborted() {
    let many: Vec<Value> = (0..2000).map(|index| json!({"index": index})).collect();
    let words = "The reply was aborted: it has more than 1000 tool calls";
    let out = gather(&[json!({"choices": [{"delta": {"tool_calls": many}}]})], End::Marked);
    assert_eq!(out.last(), Some(&Err(Error::InvalidReply(words.into()))));
}

#[test]
fn r48_an_error_ends_the_reply_and_keeps_its_text() {
    let error = json!({"error": {"message": "overloaded", "code": 529}});
    assert_eq!(
        gather(std::slice::from_ref(&error), End::Marked),
        [Err(Error::Provider { status: 529, code: None, message: "overloaded".into(), retry_after: None })]
    );
    assert_eq!(
        gather(&[says("a"), error, says("b")], End::Marked),
        [text("a"), Err(Error::InStream("overloaded".into())),]
    );
    let finished = gather(&[ends("error")], End::Marked);
    assert_eq!(finished, [Err(Error::InStream("the model stopped with an error".into()))]);
}
