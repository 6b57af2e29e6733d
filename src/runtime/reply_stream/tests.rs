//! Number and order of the events of a reply that arrives in many parts.

use crate::agent::{Effect, Event};
use crate::chat::{Chunk, FinishReason, Request, TurnId};
use crate::llm::{Error, Llm};
use crate::project::disk::Disk;
use crate::runtime::Runtime;
use crate::tools::Toolbox;
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Sends these parts, with a pause before each.
struct Says(Vec<Result<Chunk, Error>>, Duration);

impl Llm for Says {
    fn stream(&self, _: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        let pause = self.1;
        let later = move |piece| async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            piece
        };
        stream::iter(self.0.clone()).then(later).boxed()
    }
}

struct Forgets;

impl crate::store::Log for Forgets {
    fn append(&mut self, _: &crate::chat::Entry) -> std::io::Result<()> {
        Ok(())
    }

    fn append_reply_piece(&mut self, _: &crate::chat::PartialReply) -> std::io::Result<()> {
        Ok(())
    }

    fn append_output_piece(&mut self, _: &crate::chat::PartialOutput) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the events with their times.
async fn told(pieces: Vec<Result<Chunk, Error>>, pause: Duration) -> Vec<(Event, Duration)> {
    let place = tempfile::tempdir().unwrap();
    let disk = Arc::new(Disk::new(place.path()).unwrap());
    let tools = Arc::new(Toolbox::with_builtin_tools(crate::tools::ToolSettings::default()));
    let (mut runtime, mut events) = Runtime::new(Arc::new(Says(pieces, pause)), tools, disk, None, Box::new(Forgets));
    let request = Box::new(Request {
        model: "m".into(),
        messages: Vec::new(),
        tools: Vec::new(),
        max_tokens: None,
        pictures: vec![],
    });
    let begin = Instant::now();
    runtime.execute(vec![Effect::RequestReply { turn: TurnId(1), request }]);
    let mut told = Vec::new();
    while let Some(event) = events.recv().await {
        let last = matches!(event, Event::RequestFailed { .. } | Event::ReplyChunk { chunk: Chunk::Done(_), .. });
        told.push((event, begin.elapsed()));
        if last {
            break;
        }
    }
    told
}

fn words(count: usize) -> Vec<Result<Chunk, Error>> {
    let word = |number| Ok(Chunk::Text(format!("w{number} ")));
    (0..count).map(word).chain([Ok(Chunk::Done(FinishReason::Stop))]).collect()
}

fn text(told: &[(Event, Duration)]) -> String {
    let of = |event: &Event| match event {
        Event::ReplyChunk { chunk: Chunk::Text(text), .. } => Some(text.clone()),
        _ => None,
    };
    told.iter().filter_map(|(event, _)| of(event)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_parts_a_second_are_merged_into_thirty_events() {
    let told = told(words(1000), Duration::from_millis(1)).await;
    let all: String = (0..1000).map(|number| format!("w{number} ")).collect();
    assert_eq!(text(&told), all);
    assert!((28..=34).contains(&told.len()), "{} events", told.len());
    assert_eq!(told[0].1.as_millis(), 1, "the first word is not delayed");
    let end = told.last().unwrap().1.as_millis();
    assert!(end <= 1002, "the end is not delayed either: {end} ms");
}

#[tokio::test(start_paused = true)]
async fn parts_that_arrive_at_once_are_sent_as_two_events() {
    let told = told(words(5000), Duration::ZERO).await;
    assert_eq!(told.len(), 3, "the first, the rest, the end: {told:?}");
}

#[tokio::test(start_paused = true)]
async fn slow_parts_are_sent_as_they_arrive() {
    let told = told(words(5), Duration::from_millis(100)).await;
    let times: Vec<u128> = told.iter().map(|(_, at)| at.as_millis()).collect();
    assert_eq!(times, [100, 200, 300, 400, 500, 600]);
}

#[tokio::test(start_paused = true)]
async fn r48_parts_before_a_failure_are_sent_before_it() {
    let mut pieces = words(20);
    pieces.pop();
    pieces.push(Err(Error::ConnectionLost("reset".into())));
    let told = told(pieces, Duration::from_millis(1)).await;
    assert_eq!(text(&told).split_whitespace().count(), 20);
    assert!(matches!(told.last(), Some((Event::RequestFailed { .. }, _))), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn parts_of_two_kinds_keep_their_order() {
    let thought = |text: &str| Ok(Chunk::Reasoning(text.into()));
    let said = |text: &str| Ok(Chunk::Text(text.into()));
    let writes = |bytes| Ok(Chunk::CallProgress { name: "f".into(), bytes });
    let pieces = vec![
        thought("a"),
        thought("b"),
        said("c"),
        said("d"),
        thought("e"),
        writes(1),
        writes(9),
        Ok(Chunk::Done(FinishReason::Stop)),
    ];
    let told = told(pieces, Duration::from_millis(1)).await;
    let chunks: Vec<Chunk> = told
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
async fn kept(pieces: Vec<Result<Chunk, Error>>, pause: Duration) -> Vec<u128> {
    let told = told(pieces, pause).await;
    let times = told.iter().filter(|(event, _)| matches!(event, Event::ReplySaveDue { .. }));
    times.map(|(_, at)| at.as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn r51_a_growing_reply_is_saved_once_a_second() {
    let times = kept(words(500), Duration::from_millis(10)).await;
    assert_eq!(times.len(), 5, "{times:?}");
    assert!(times.windows(2).all(|pair| (900..=1000).contains(&(pair[1] - pair[0]))), "{times:?}");
    assert_eq!(kept(words(50), Duration::from_millis(10)).await, [0u128; 0], "a short one is saved at its end");
}

#[tokio::test(start_paused = true)]
async fn r51_text_before_a_long_silence_is_saved_within_a_second() {
    let mut pieces = words(3);
    pieces.pop();
    pieces.push(Ok(Chunk::Silent { since: Duration::from_secs(60), limit: Duration::from_secs(90) }));
    // The words arrive after 60, 120 and 180 s.
    let times = kept(pieces, Duration::from_secs(60)).await;
    assert_eq!(times, [60_900, 120_900, 180_900]);
}
