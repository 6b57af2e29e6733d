//! Requests outside the conversation, for reviews and simulated results: one answer, limited in length and time.

use crate::chat::{Chunk, Digest, FinishReason, Message, Request, Usage};
use crate::llm::{Error, Llm};
use futures::{Stream, StreamExt};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// A model from the user's settings that is asked outside the conversation.
#[derive(Clone)]
pub struct SideModel {
    /// The model, or the reason why it cannot be asked.
    pub llm: Result<Arc<dyn Llm>, String>,
    /// Name of the model, as its provider knows it; empty for the provider's first.
    pub model: String,
    /// Name of its profile.
    pub profile: String,
    /// Time limit of a request.
    pub limit: Duration,
}

impl SideModel {
    /// Returns the name shown as the source of its answers.
    pub fn display_name(&self) -> &str {
        if self.model.is_empty() { &self.profile } else { &self.model }
    }

    /// Builds a request with these texts, without tools and images.
    pub(super) fn build_request(&self, system_prompt: &str, text: String, max_tokens: u32) -> Request {
        Request {
            model: self.model.clone(),
            messages: vec![Message::System(system_prompt.to_owned()), Message::User(text)],
            max_tokens: Some(max_tokens),
            ..Request::default()
        }
    }
}

/// Answer to a request outside the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideAnswer {
    pub text: String,
    /// True if it ends at the maximum number of tokens.
    pub is_cut_off: bool,
}

impl SideAnswer {
    /// Returns the text.
    ///
    /// # Errors
    /// If it was cut off, as the end of a sentence about the model.
    pub fn into_complete(self) -> Result<String, String> {
        if self.is_cut_off { Err(CUT_OFF.to_owned()) } else { Ok(self.text) }
    }
}

/// Reads the whole answer, at most `max_bytes` long, or returns the error. `usage` is set in either case, if it was
/// received. Nothing is retried, because the user can be asked instead.
async fn read_answer(
    mut chunks: impl Stream<Item = Result<Chunk, Error>> + Unpin,
    max_bytes: usize,
    usage: &mut Option<Usage>,
) -> Result<SideAnswer, String> {
    let mut answer = String::new();
    while let Some(chunk) = chunks.next().await {
        match chunk.map_err(|error| error.to_string())? {
            Chunk::Text(text) => answer.push_str(&text),
            Chunk::WasReasoning => answer.clear(),
            Chunk::Usage(counted) => *usage = Some(counted),
            Chunk::Done(FinishReason::Stop) => return Ok(SideAnswer { text: answer, is_cut_off: false }),
            Chunk::Done(FinishReason::Length) => return Ok(SideAnswer { text: answer, is_cut_off: true }),
            Chunk::Done(FinishReason::Filtered(reason)) => {
                return Err(format!("its provider withheld the answer ({reason})"));
            }
            Chunk::Retrying { reason: why, .. } => return Err(why),
            Chunk::Call(_) | Chunk::CallProgress { .. } => {
                return Err("it called a tool, and has none".to_owned());
            }
            Chunk::Reasoning(_) | Chunk::ModelChosen { .. } | Chunk::Silent { .. } | Chunk::Echo(_) => {}
        }
        if answer.len() > max_bytes {
            return Err(format!("its answer is longer than {} KB", max_bytes / 1024));
        }
    }
    Err(CUT_OFF.to_owned())
}

/// Error for an answer that is not complete.
const CUT_OFF: &str = "its answer was cut off";

/// Waits for a request, sends it and reads the complete answer, all within the model's time limit. `usage` is set even on an
/// error, if it was received.
///
/// # Errors
/// Why there is no answer, as the end of a sentence about the model.
pub(super) async fn request_answer(
    side_model: &SideModel,
    request: impl Future<Output = Result<Request, String>>,
    max_bytes: usize,
    usage: &mut Option<Usage>,
) -> Result<String, String> {
    request_any_answer(side_model, request, max_bytes, usage).await?.into_complete()
}

/// Requests an answer like `request_answer`, and also accepts one that ends at the maximum number of tokens.
///
/// # Errors
/// Why there is no answer, as the end of a sentence about the model.
pub async fn request_any_answer(
    side_model: &SideModel,
    request: impl Future<Output = Result<Request, String>>,
    max_bytes: usize,
    usage: &mut Option<Usage>,
) -> Result<SideAnswer, String> {
    let llm = side_model.llm.clone()?;
    let answer = async { read_answer(llm.stream(request.await?), max_bytes, usage).await };
    let result = tokio::time::timeout(side_model.limit, answer).await;
    result.unwrap_or_else(|_| Err(format!("it did not answer within {} s", side_model.limit.as_secs())))
}

/// Formats untrusted texts as named blocks. They begin and end with a mark that occurs in none of them and that their
/// authors cannot predict.
pub(super) fn format_blocks(seed: &Digest, blocks: &[(String, String)]) -> String {
    let mark = choose_mark(seed, blocks);
    let mut text = format!("The mark is {mark}\n");
    for (name, block) in blocks {
        let _ = write!(text, "\n<<<{name} {mark}\n{block}\n{mark}>>>\n");
    }
    text
}

fn choose_mark(seed: &Digest, blocks: &[(String, String)]) -> String {
    let mut seed = seed.as_str().to_owned();
    for (name, block) in blocks {
        seed.push_str(name);
        seed.push_str(block);
    }
    loop {
        let mark: String = Digest::of_bytes(seed.as_bytes()).as_str().chars().take(16).collect();
        if !blocks.iter().any(|(name, block)| name.contains(&mark) || block.contains(&mark)) {
            return mark;
        }
        seed.push('x');
    }
}
