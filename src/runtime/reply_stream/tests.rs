//! Number and order of the events of a reply that arrives in many parts.

use crate::agent::{Effect, Event};
use crate::chat::{Chunk, FinishReason, Request, TurnId};
use crate::llm::{Error, Llm, ReplyStream};
use crate::project::disk::Disk;
use crate::runtime::Runtime;
use crate::runtime::null_log::NullLog;
use crate::tools::Toolbox;
use futures::stream::{self, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Sends these parts, with a pause before each.
struct TimedParts(Vec<Result<Chunk, Error>>, Duration);

impl Llm for TimedParts {
    fn stream(&self, _: Request) -> ReplyStream {
        let pause = self.1;
        let send_after_pause = move |piece| async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            piece
        };
        stream::iter(self.0.clone()).then(send_after_pause).boxed()
    }
}

/// Returns the events with their times.
async fn collect_events(pieces: Vec<Result<Chunk, Error>>, pause: Duration) -> Vec<(Event, Duration)> {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(Disk::new(folder.path()).unwrap());
    let tools = Arc::new(Toolbox::with_builtin_tools(crate::tools::ToolSettings::default()));
    let (mut runtime, mut events) =
        Runtime::new(Arc::new(TimedParts(pieces, pause)), tools, disk, None, Box::new(NullLog));
    let request = Box::new(Request {
        model: "m".into(),
        messages: Vec::new(),
        tools: Vec::new(),
        max_tokens: None,
        images: vec![],
        answer_schema: None,
    });
    let begin = Instant::now();
    runtime.execute(vec![Effect::RequestReply { turn: TurnId(1), request }]);
    let mut collected = Vec::new();
    while let Some(event) = events.recv().await {
        let is_last = matches!(event, Event::RequestFailed { .. } | Event::ReplyChunk { chunk: Chunk::Done(_), .. });
        collected.push((event, begin.elapsed()));
        if is_last {
            break;
        }
    }
    collected
}

/// Returns this many text parts, then the end of the reply.
fn text_parts(count: usize) -> Vec<Result<Chunk, Error>> {
    let text_part = |number| Ok(Chunk::Text(format!("w{number} ")));
    (0..count).map(text_part).chain([Ok(Chunk::Done(FinishReason::Stop))]).collect()
}

fn joined_text(events: &[(Event, Duration)]) -> String {
    let part_text = |event: &Event| match event {
        Event::ReplyChunk { chunk: Chunk::Text(text), .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(|(event, _)| part_text(event)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_parts_a_second_are_merged_into_thirty_events() {
    let events = collect_events(text_parts(1000), Duration::from_millis(1)).await;
    let expected: String = (0..1000).map(|number| format!("w{number} ")).collect();
    assert_eq!(joined_text(&events), expected);
    assert!((28..=34).contains(&events.len()), "{} events", events.len());
    assert_eq!(events[0].1.as_millis(), 1, "the first word is not delayed");
    let end = events.last().unwrap().1.as_millis();
    assert!(end <= 1002, "the end is not delayed either: {end} ms");
}

#[tokio::test(start_paused = true)]
async fn parts_that_arrive_at_once_are_sent_as_two_events_and_the_end() {
    let events = collect_events(text_parts(5000), Duration::ZERO).await;
    assert_eq!(events.len(), 3, "the first, the rest, the end: {events:?}");
}

#[tokio::test(start_paused = true)]
async fn slow_parts_are_sent_as_they_arrive() {
    let events = collect_events(text_parts(5), Duration::from_millis(100)).await;
    let times: Vec<u128> = events.iter().map(|(_, sent_after)| sent_after.as_millis()).collect();
    assert_eq!(times, [100, 200, 300, 400, 500, 600]);
}

#[tokio::test(start_paused = true)]
async fn r48_parts_before_a_failure_are_sent_before_it() {
    let mut pieces = text_parts(20);
    pieces.pop();
    pieces.push(Err(Error::ConnectionLost("reset".into())));
    let events = collect_events(pieces, Duration::from_millis(1)).await;
    assert_eq!(joined_text(&events).split_whitespace().count(), 20);
    assert!(matches!(events.last(), Some((Event::RequestFailed { .. }, _))), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn parts_of_two_kinds_keep_their_order() {
    let reasoning = |text: &str| Ok(Chunk::Reasoning(text.into()));
    let text_chunk = |text: &str| Ok(Chunk::Text(text.into()));
    let call_progress = |bytes| Ok(Chunk::CallProgress { name: "f".into(), bytes });
    let pieces = vec![
        reasoning("a"),
        reasoning("b"),
        text_chunk("c"),
        text_chunk("d"),
        reasoning("e"),
        call_progress(1),
        call_progress(9),
        Ok(Chunk::Done(FinishReason::Stop)),
    ];
    let events = collect_events(pieces, Duration::from_millis(1)).await;
    let chunks: Vec<Chunk> = events
        .into_iter()
        .filter_map(|(event, _)| match event {
            Event::ReplyChunk { chunk, .. } => Some(chunk),
            _ => None,
        })
        .collect();
    let expected = [
        Chunk::Reasoning("a".into()),
        Chunk::Reasoning("b".into()),
        Chunk::Text("cd".into()),
        Chunk::Reasoning("e".into()),
        Chunk::CallProgress { name: "f".into(), bytes: 9 },
        Chunk::Done(FinishReason::Stop),
    ];
    assert_eq!(chunks, expected);
}

/// Returns when the agent is told to save the reply, in milliseconds.
async fn save_times(pieces: Vec<Result<Chunk, Error>>, pause: Duration) -> Vec<u128> {
    let events = collect_events(pieces, pause).await;
    let times = events.iter().filter(|(event, _)| matches!(event, Event::ReplySaveDue { .. }));
    times.map(|(_, due_after)| due_after.as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn r51_a_growing_reply_is_saved_once_a_second() {
    let times = save_times(text_parts(500), Duration::from_millis(10)).await;
    assert_eq!(times.len(), 5, "{times:?}");
    assert!(times.windows(2).all(|pair| (900..=1000).contains(&(pair[1] - pair[0]))), "{times:?}");
    assert_eq!(
        save_times(text_parts(50), Duration::from_millis(10)).await,
        [0u128; 0],
        "a short one is saved at its end"
    );
}

#[tokio::test(start_paused = true)]
async fn r51_text_before_a_long_silence_is_saved_within_a_second() {
    let mut pieces = text_parts(3);
    pieces.pop();
    pieces.push(Ok(Chunk::Silent { silence: Duration::from_secs(60), limit: Duration::from_secs(90) }));
    // The words arrive after 60, 120 and 180 s. The `Silent` chunk after 240 s causes no save.
    let times = save_times(pieces, Duration::from_secs(60)).await;
    assert_eq!(times, [60_900, 120_900, 180_900]);
}
