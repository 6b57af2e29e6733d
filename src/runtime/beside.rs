//! Asks another model than the one that is talked to: one request, one answer of a bounded length, in a bounded time.

use crate::chat::{Chunk, Digest, Finish, Request, Usage};
use crate::llm::{Error, Llm};
use futures::{Stream, StreamExt};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// A model of the person's choice that is asked beside the talk.
#[derive(Clone)]
pub struct OtherModel {
    /// The model, or in words why it cannot be asked.
    pub llm: Result<Arc<dyn Llm>, String>,
    /// Its name as its service knows it; empty where the service's first is taken.
    pub model: String,
    /// The profile that leads to it.
    pub profile: String,
    /// So long it may take.
    pub limit: Duration,
}

impl OtherModel {
    /// What it is called where it is told whose words something is.
    pub fn name(&self) -> &str {
        if self.model.is_empty() { &self.profile } else { &self.model }
    }
}

/// Its whole answer of at most `most` bytes, or why it is none. Nothing is asked a second time: the person is as near.
pub(super) async fn answer(
    mut chunks: impl Stream<Item = Result<Chunk, Error>> + Unpin,
    most: usize,
    usage: &mut Option<Usage>,
) -> Result<String, String> {
    let mut said = String::new();
    while let Some(chunk) = chunks.next().await {
        match chunk.map_err(|error| error.to_string())? {
            Chunk::Text(text) => said.push_str(&text),
            Chunk::WasReasoning => said.clear(),
            Chunk::Usage(counted) => *usage = Some(counted),
            Chunk::Done(Finish::Stop) => return Ok(said),
            Chunk::Done(Finish::Length) => return Err("its answer was cut off".to_owned()),
            Chunk::Done(Finish::Filtered(word)) => {
                return Err(format!("its service withheld its answer ({word})"));
            }
            Chunk::Retrying { why, .. } => return Err(why),
            Chunk::Call(_) | Chunk::Writing { .. } => return Err("it called a tool, and has none".to_owned()),
            Chunk::Reasoning(_) | Chunk::Answering { .. } | Chunk::Quiet { .. } | Chunk::Echo(_) => {}
        }
        if said.len() > most {
            return Err(format!("it said more than {} KB", most / 1024));
        }
    }
    Err("its answer was cut off".to_owned())
}

/// Asks and waits no longer than the model may take.
pub(super) async fn ask(
    of: &OtherModel,
    request: Request,
    most: usize,
    usage: &mut Option<Usage>,
) -> Result<String, String> {
    let llm = of.llm.clone()?;
    let asked = tokio::time::timeout(of.limit, answer(llm.stream(request), most, usage)).await;
    asked.unwrap_or_else(|_| Err(late(of)))
}

/// What is said where it took longer than it may.
pub(super) fn late(of: &OtherModel) -> String {
    format!("it did not answer within {} s", of.limit.as_secs())
}

/// What it is shown that others wrote, each under a name: in blocks that begin and end with a mark which stands in none of
/// them, and that nobody who wrote one of them could have known.
pub(super) fn blocks(seed: &Digest, blocks: &[(String, String)]) -> String {
    let mark = mark(seed, blocks);
    let mut text = format!("The mark is {mark}\n");
    for (name, block) in blocks {
        let _ = write!(text, "\n<<<{name} {mark}\n{block}\n{mark}>>>\n");
    }
    text
}

fn mark(seed: &Digest, blocks: &[(String, String)]) -> String {
    let mut seed = seed.as_str().to_owned();
    for (name, block) in blocks {
        seed.push_str(name);
        seed.push_str(block);
    }
    loop {
        let mark: String = Digest::of(seed.as_bytes()).as_str().chars().take(16).collect();
        if !blocks.iter().any(|(name, block)| name.contains(&mark) || block.contains(&mark)) {
            return mark;
        }
        seed.push('x');
    }
}
