//! A reply while it is streamed.

use crate::chat::partial_reply::TextPart;
use crate::chat::{Echo, Entry, PartialReply, ToolCall, TurnId, Usage};
use std::time::Duration;

/// Range of entries that a summary replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryCut {
    /// First entry that is kept. Always the start of a turn, or the end of the session.
    pub(super) first_kept: usize,
    /// True if a turn continues after the summary; false if the user asked for it.
    pub(super) continues_turn: bool,
    /// Tokens of the next request before the summary.
    pub(super) tokens_before: u64,
    /// Tokens of the summary's own request.
    pub(super) request_tokens: u64,
}

/// A reply while it is streamed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamingReply {
    pub turn: TurnId,
    pub purpose: ReplyPurpose,
    pub text: String,
    pub reasoning: String,
    /// Model that replies, if the provider names it.
    pub model: Option<String>,
    /// Data that the provider wants back with the reply.
    pub echo: Option<Box<Echo>>,
    /// Complete calls.
    pub calls: Vec<ToolCall>,
    /// Tool of the call being written, with the bytes of its arguments so far.
    pub call_in_progress: Option<(String, usize)>,
    /// Pending retry of a failed request.
    pub pending_retry: Option<PendingRetry>,
    /// Set while the provider has sent nothing for a long time.
    pub silence: Option<ProviderSilence>,
    pub usage: Option<Usage>,
    /// Time from the request to the first text or call.
    pub thinking_time: Option<Duration>,
    /// Number of times that all text so far turned out to be reasoning (`Chunk::WasReasoning`).
    pub reclassified: u32,
    /// Length of the part of the reply that was passed on to be saved.
    pub saved: SavedLength,
}

/// Bytes of a reply that were passed on to be saved, and the value of `reclassified` at that time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SavedLength {
    text: usize,
    reasoning: usize,
    reclassified: u32,
}

/// Purpose of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ReplyPurpose {
    #[default]
    Reply,
    /// A summary of the entries before the cut. Its text is not shown as a reply.
    Summary(SummaryCut),
}

/// A failed request that will be sent again.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingRetry {
    /// Number of the next attempt.
    pub attempt: u32,
    /// Maximum number of attempts.
    pub max_attempts: u32,
    /// Time until the next attempt.
    pub wait: Duration,
    /// Reason, in the provider's words.
    pub reason: String,
}

/// A period without data from the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderSilence {
    /// Length of the silence so far.
    pub elapsed: Duration,
    /// Length at which the request is given up.
    pub limit: Duration,
}

impl StreamingReply {
    /// Creates an empty reply.
    pub(super) fn new(turn: TurnId, purpose: ReplyPurpose) -> Self {
        Self { turn, purpose, ..Self::default() }
    }

    /// Returns whether this is a summary and not a reply.
    pub fn is_summary(&self) -> bool {
        matches!(self.purpose, ReplyPurpose::Summary(_))
    }

    /// Returns the text and the reasoning that were not passed on to be saved yet; `None` if there are none, or for a
    /// summary.
    pub(super) fn take_unsaved(&mut self, model: &str) -> Option<PartialReply> {
        if self.is_summary() {
            return None;
        }
        let current =
            SavedLength { text: self.text.len(), reasoning: self.reasoning.len(), reclassified: self.reclassified };
        let previous = std::mem::replace(&mut self.saved, current);
        if previous == current {
            return None;
        }
        // Text that turned out to be reasoning was moved to `reasoning`, so none of the present text was saved.
        let saved_text_bytes = if previous.reclassified == current.reclassified { previous.text } else { 0 };
        Some(PartialReply {
            sub_agent_call: None,
            model: self.model.clone().unwrap_or_else(|| model.to_owned()),
            text: TextPart::after(&self.text, saved_text_bytes),
            reasoning: TextPart::after(&self.reasoning, previous.reasoning),
        })
    }

    /// Converts the reply into an entry. `model` is used if the provider names none; `incomplete` is the reason why the
    /// reply is incomplete, if it is.
    pub(super) fn into_reply_entry(self, model: &str, calls: Vec<ToolCall>, incomplete: Option<String>) -> Entry {
        let thinking_ms = self.thinking_time.unwrap_or_default().as_millis();
        Entry::Replied {
            text: self.text,
            reasoning: self.reasoning,
            calls,
            incomplete,
            model: self.model.unwrap_or_else(|| model.to_owned()),
            usage: self.usage,
            thought_ms: u64::try_from(thinking_ms).unwrap_or(u64::MAX),
            echo: self.echo,
        }
    }
}
