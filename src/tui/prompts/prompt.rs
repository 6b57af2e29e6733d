//! Kinds of prompt, each with its local state.

use super::approval::{self, Approval};
use super::question::{self, QuestionPrompt};
use super::queue_list::{self, QueueList};
use super::trust_prompt::{self, TrustPrompt};
use crate::chat::CallId;
use ratatui::layout::Position;
use std::time::Duration;

/// The prompt on the screen, and those that wait.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    /// Prompt of the waiting call.
    pub current: Option<Prompt>,
    /// Question prompts that were opened before their turn and parked, with the answers chosen so far.
    pub parked_questions: Vec<QuestionPrompt>,
    /// The queue, if it is open over the prompt.
    pub open_queue: Option<QueueList>,
}

/// A prompt and its local state.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// True if the user moved the keyboard to the prompt while the composer holds a draft.
    pub has_keyboard: bool,
    /// Reason the last key had no effect on the prompt or the queue over it; empty if it had one.
    pub key_message: String,
    /// The kind of prompt.
    pub kind: PromptKind,
}

/// Kinds of prompt.
#[derive(Debug, Clone)]
pub enum PromptKind {
    /// Approval prompt.
    Approval(Approval),
    /// Question prompt.
    Question(QuestionPrompt),
    /// Trust prompt of the project; it belongs to no call.
    Trust(TrustPrompt),
}

/// Part of a prompt that a frame showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnPrompt {
    /// Of an approval prompt.
    Approval(approval::DrawnFrame),
    /// Of a question prompt.
    Question(question::DrawnFrame),
    /// Of the trust prompt.
    Trust(trust_prompt::DrawnFrame),
    /// Of the queue, in place of a prompt.
    Queue(queue_list::DrawnFrame),
}

impl DrawnPrompt {
    /// Returns the position of the cursor if text is being typed in the prompt.
    pub fn cursor(&self) -> Option<Position> {
        match self {
            Self::Approval(frame) => frame.cursor,
            Self::Question(frame) => frame.cursor,
            Self::Queue(frame) => frame.cursor,
            Self::Trust(_) => None,
        }
    }
}

impl Prompt {
    /// Returns the call of the prompt; `None` for the trust prompt.
    pub fn call(&self) -> Option<&CallId> {
        match &self.kind {
            PromptKind::Approval(prompt) => Some(prompt.call()),
            PromptKind::Question(prompt) => Some(prompt.call()),
            PromptKind::Trust(_) => None,
        }
    }

    /// Returns when the prompt was first drawn.
    pub fn first_drawn(&self) -> Option<Duration> {
        match &self.kind {
            PromptKind::Approval(prompt) => prompt.first_drawn(),
            PromptKind::Question(prompt) => prompt.first_drawn(),
            PromptKind::Trust(prompt) => prompt.first_drawn(),
        }
    }

    /// Returns whether the user parked the prompt.
    pub fn is_parked(&self) -> bool {
        match &self.kind {
            PromptKind::Approval(_) | PromptKind::Trust(_) => false,
            PromptKind::Question(prompt) => prompt.is_parked(),
        }
    }

    /// Returns whether text is being typed in the prompt.
    pub fn is_writing(&self) -> bool {
        match &self.kind {
            PromptKind::Approval(prompt) => prompt.is_writing(),
            PromptKind::Question(prompt) => prompt.is_writing(),
            PromptKind::Trust(_) => false,
        }
    }

    /// Records what a frame showed. Returns true if this is the first frame that showed the prompt.
    pub fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) -> bool {
        let drawn_before = self.first_drawn();
        match (&mut self.kind, drawn) {
            (PromptKind::Approval(prompt), DrawnPrompt::Approval(frame)) => prompt.record_frame(now, frame),
            (PromptKind::Question(prompt), DrawnPrompt::Question(frame)) => prompt.record_frame(now, frame),
            (PromptKind::Trust(prompt), DrawnPrompt::Trust(frame)) => prompt.record_frame(now, frame),
            (PromptKind::Approval(_), DrawnPrompt::Question(_) | DrawnPrompt::Queue(_) | DrawnPrompt::Trust(_))
            | (PromptKind::Question(_), DrawnPrompt::Approval(_) | DrawnPrompt::Queue(_) | DrawnPrompt::Trust(_))
            | (PromptKind::Trust(_), DrawnPrompt::Approval(_) | DrawnPrompt::Question(_) | DrawnPrompt::Queue(_)) => {}
        }
        drawn_before.is_none() && self.first_drawn().is_some()
    }
}
