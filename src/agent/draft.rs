//! A reply while it comes.

use super::compacting::Cut;
use crate::chat::grown::More;
use crate::chat::{Echo, Entry, Grown, ToolCall, TurnId, Usage};
use std::time::Duration;

/// A reply while it comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Which turn.
    pub turn: TurnId,
    /// What is asked for.
    pub purpose: Purpose,
    /// The text so far.
    pub text: String,
    /// The reasoning so far.
    pub reasoning: String,
    /// The model that answers, where it said so itself.
    pub model: Option<String>,
    /// What the service wants to see again with the reply.
    pub echo: Option<Box<Echo>>,
    /// The calls that are whole.
    pub calls: Vec<ToolCall>,
    /// The call being written: its tool and the bytes of arguments so far.
    pub writing: Option<(String, usize)>,
    /// The request failed and will be sent again: what to show.
    pub retrying: Option<Retrying>,
    /// The service has been silent for long.
    pub quiet: Option<Quiet>,
    /// What the service counted.
    pub usage: Option<Usage>,
    /// From the request to the first text or call.
    pub thought: Option<Duration>,
    /// How often what was said turned out to be thought.
    pub turned: u32,
    /// What of it is on its way to the disk.
    pub kept: Kept,
}

/// How much of a reply is on its way to the disk, in bytes, and how often it had turned by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    text: usize,
    reasoning: usize,
    turned: u32,
}

/// What a model was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Purpose {
    /// A reply to the person.
    Reply,
    /// A summary of what was said before this entry; its text is no reply and is not shown as one.
    Summary(Cut),
}

/// A request that will be sent again.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrying {
    /// The attempt that comes next.
    pub attempt: u32,
    /// How many there are at most.
    pub of: u32,
    /// How long until then, from when this was said.
    pub wait: Duration,
    /// Why, in the service's words.
    pub why: String,
}

/// A silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// How long it was when this was said.
    pub since: Duration,
    /// When it is that long, the request is given up.
    pub limit: Duration,
}

impl Draft {
    /// A reply of which nothing has come.
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

    /// Whether this is a summary of what was said before, and no reply.
    pub fn is_summary(&self) -> bool {
        matches!(self.purpose, Purpose::Summary(_))
    }

    /// What came since it was last kept; nothing where nothing did, and of a summary.
    pub(super) fn grown(&mut self, model: &str) -> Option<Grown> {
        if self.is_summary() {
            return None;
        }
        let now = Kept { text: self.text.len(), reasoning: self.reasoning.len(), turned: self.turned };
        let before = std::mem::replace(&mut self.kept, now);
        if before == now {
            return None;
        }
        // What was said and turned out to be thought is not said any more.
        let text = if before.turned == now.turned { before.text } else { 0 };
        Some(Grown {
            beneath: None,
            model: self.model.clone().unwrap_or_else(|| model.to_owned()),
            text: More::of(&self.text, text),
            reasoning: More::of(&self.reasoning, before.reasoning),
        })
    }

    /// The reply as a fact.
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
