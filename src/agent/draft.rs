//! A reply while it is streamed.

use super::compacting::Cut;
use crate::chat::grown::More;
use crate::chat::{Echo, Entry, Grown, ToolCall, TurnId, Usage};
use std::time::Duration;

/// A reply while it is streamed.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub turn: TurnId,
    pub purpose: Purpose,
    pub text: String,
    pub reasoning: String,
    /// Model that replies, if the provider names it.
    pub model: Option<String>,
    /// Data that the provider wants back with the reply.
    pub echo: Option<Box<Echo>>,
    /// Complete calls.
    pub calls: Vec<ToolCall>,
    /// Tool of the call being written, with the bytes of its arguments so far.
    pub writing: Option<(String, usize)>,
    /// Pending retry of a failed request.
    pub retrying: Option<Retrying>,
    /// Set while the provider has sent nothing for a long time.
    pub quiet: Option<Quiet>,
    pub usage: Option<Usage>,
    /// Time from the request to the first text or call.
    pub thought: Option<Duration>,
    /// Number of times that text turned out to be reasoning.
    pub turned: u32,
    /// Part of the reply that was passed on to be saved.
    pub kept: Kept,
}

/// Bytes of a reply that were passed on to be saved, and the value of `turned` at that time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    text: usize,
    reasoning: usize,
    turned: u32,
}

/// Purpose of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Purpose {
    Reply,
    /// A summary of the entries before the cut. Its text is not shown as a reply.
    Summary(Cut),
}

/// A failed request that will be sent again.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrying {
    /// Number of the next attempt.
    pub attempt: u32,
    /// Most attempts.
    pub of: u32,
    /// Time until then.
    pub wait: Duration,
    /// Reason, in the provider's words.
    pub why: String,
}

/// A period without data from the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// Length of the silence so far.
    pub since: Duration,
    /// Length at which the request is given up.
    pub limit: Duration,
}

impl Draft {
    /// Creates an empty reply.
    pub(super) fn new(turn: TurnId, purpose: Purpose) -> Self {
        Self {
            turn,
            purpose,
            text: String::new(),
            reasoning: String::new(),
            model: None,
            echo: None,
            calls: Vec::new(),
            writing: None,
            retrying: None,
            quiet: None,
            usage: None,
            thought: None,
            turned: 0,
            kept: Kept::default(),
        }
    }

    /// Returns whether this is a summary and not a reply.
    pub fn is_summary(&self) -> bool {
        matches!(self.purpose, Purpose::Summary(_))
    }

    /// Returns what arrived since the last call; `None` if nothing did, or for a summary.
    pub(super) fn grown(&mut self, model: &str) -> Option<Grown> {
        if self.is_summary() {
            return None;
        }
        let now = Kept { text: self.text.len(), reasoning: self.reasoning.len(), turned: self.turned };
        let before = std::mem::replace(&mut self.kept, now);
        if before == now {
            return None;
        }
        // Text that turned out to be reasoning is no text any more.
        let text = if before.turned == now.turned { before.text } else { 0 };
        Some(Grown {
            beneath: None,
            model: self.model.clone().unwrap_or_else(|| model.to_owned()),
            text: More::of(&self.text, text),
            reasoning: More::of(&self.reasoning, before.reasoning),
        })
    }

    /// Converts the reply into an entry.
    pub(super) fn replied(self, model: &str, calls: Vec<ToolCall>, incomplete: Option<String>) -> Entry {
        let thought = self.thought.unwrap_or_default().as_millis();
        Entry::Replied {
            text: self.text,
            reasoning: self.reasoning,
            calls,
            incomplete,
            model: self.model.unwrap_or_else(|| model.to_owned()),
            usage: self.usage,
            thought_ms: u64::try_from(thought).unwrap_or(u64::MAX),
            echo: self.echo,
        }
    }
}
