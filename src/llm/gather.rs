//! Collects chat completion events into chunks. Pure: the same events give the same chunks.

use super::Error;
use super::calls::Calls;
use super::echo::Held;
use super::fault::Fault;
use super::json::Halves;
use super::other_choice::OtherChoice;
pub use super::reply::{End, Out, is_visible};
use super::think::{Piece, Split};
use super::unreadable::Unreadable;
use super::wire::{self, Delta, REPLY};
use crate::chat::reply_limit::ReplySize;
use crate::chat::{Chunk, Echo, Finish, Usage};
use serde_json::Value;

/// Maximum number of tool calls in one reply.
pub const MOST_CALLS: usize = 1000;

/// State of one reply.
#[derive(Debug, Default)]
pub struct Gather {
    split: Split,
    calls: Calls,
    /// Surrogate halves pending in the text and in the separate reasoning.
    said: Halves,
    thought: Halves,
    /// Choice 0 has arrived.
    has_reply: bool,
    /// First other choice, if it arrived before choice 0.
    other: Option<OtherChoice>,
    /// Events that could not be read.
    unreadable: Unreadable,
    size: ReplySize,
    /// Events of another kind arrived.
    foreign: bool,
    understood: bool,
    usage: Option<Usage>,
    finish: Option<Finish>,
    /// The last event with content only marked the end of the reply.
    rests: bool,
    /// Something visible to the user has arrived.
    seen: bool,
    over: bool,
    held: Held,
    /// Origin of the reply, for its echo.
    from: String,
}

impl Gather {
    /// Creates the state for a reply from `from`; `reasoning` means that its reasoning must be sent back.
    pub fn of(from: String, reasoning: bool) -> Self {
        Self { from, held: Held::new(reasoning), ..Self::default() }
    }

    /// Processes one event. Must not be called after an error.
    pub fn take(&mut self, event: &Value, out: &mut Out) {
        let before = out.len();
        let (mut said, mut ended) = (false, false);
        self.held.take(event, REPLY);
        self.choose(event, out);
        let deltas = wire::read(event, REPLY);
        self.understood |= !deltas.is_empty();
        self.foreign |= deltas.is_empty() && wire::is_foreign(event);
        for delta in deltas {
            if self.over {
                break;
            }
            said |= matches!(delta, Delta::Text(_) | Delta::Reasoning(_) | Delta::Calls(_));
            ended |= matches!(delta, Delta::Finish(_) | Delta::Whole);
            self.delta(delta, out);
            self.seen |= out.iter().skip(before).any(|chunk| matches!(chunk, Ok(chunk) if is_visible(chunk)));
        }
        if said || ended {
            self.rests = ended && !said;
        }
    }

    /// Skips an unreadable event that begins with `start`. The rest of the reply is still used.
    pub fn skip(&mut self, start: String) {
        self.unreadable.add(start);
    }

    /// Collects another choice until choice 0 arrives, which is then the reply.
    fn choose(&mut self, event: &Value, out: &mut Out) {
        if self.has_reply || self.over {
            return;
        }
        if wire::choice_indexes(event).any(|index| index == REPLY) {
            (self.has_reply, self.other) = (true, None);
        } else if let Some(index) = wire::choice_indexes(event).next() {
            let held = || Held::new(self.held.wants_thoughts());
            let other = self.other.get_or_insert_with(|| OtherChoice::new(index, held()));
            other.take(event);
            if let Some(excess) = other.size().excess() {
                self.break_off(excess, out);
            }
        }
    }

    /// Uses the other choice as the reply because choice 0 never arrived.
    fn take_other(&mut self, out: &mut Out) {
        let Some(other) = self.other.take() else { return };
        let (deltas, held) = other.into_parts();
        self.held = held;
        self.understood |= !deltas.is_empty();
        for delta in deltas {
            if !self.over {
                self.delta(delta, out);
            }
        }
        self.seen |= out.iter().any(|chunk| matches!(chunk, Ok(chunk) if is_visible(chunk)));
    }

    fn delta(&mut self, delta: Delta, out: &mut Out) {
        delta.count(&mut self.size);
        if let Some(excess) = self.size.excess() {
            return self.break_off(excess, out);
        }
        match delta {
            Delta::Text(text) => {
                let mark = self.unreadable.take_mark(self.seen);
                let text = self.said.take(&text);
                let text = format!("{mark}{text}");
                self.words(&text, out);
            }
            Delta::Reasoning(text) => {
                self.split.comes_apart();
                let mark = self.unreadable.take_mark(self.seen);
                let text = format!("{mark}{}", self.thought.take(&text));
                if !text.is_empty() {
                    out.push_back(Ok(Chunk::Reasoning(text)));
                }
            }
            Delta::Calls(parts) => {
                if let Some((name, bytes)) = self.calls.take(parts) {
                    out.push_back(Ok(Chunk::Writing { name, bytes }));
                }
                if self.calls.count() > MOST_CALLS {
                    let words = format!("The reply was aborted: it has more than {MOST_CALLS} tool calls");
                    self.break_off(words, out);
                }
            }
            Delta::Usage(usage) => self.count(usage, out),
            Delta::Finish(word) => match finish(&word) {
                Some(finish) => self.finish = Some(finish),
                None => {
                    let code = (word != "error").then(|| super::fault::clip(&word, 60));
                    let words = "the model stopped with an error".to_owned();
                    self.fail(Fault { code, words, ..Fault::default() }, out);
                }
            },
            Delta::Whole => self.finish = self.finish.take().or(Some(Finish::Stop)),
            Delta::Fault(fault) => self.fail(fault, out),
        }
    }

    /// Updates the token usage. Some providers report it in two parts and some end with zeros, so zeros are ignored.
    fn count(&mut self, new: Usage, out: &mut Out) {
        let old = self.usage.unwrap_or_default();
        let known = |new: u64, old: u64| if new == 0 { old } else { new };
        let usage = Usage {
            input: known(new.input, old.input),
            cached: known(new.cached, old.cached),
            output: known(new.output, old.output),
        };
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push_back(Ok(Chunk::Usage(usage)));
        }
    }

    /// Returns whether only the token usage can still follow. Some providers send an end marker with every event, so a
    /// marker in an event with text is not final.
    pub fn rests(&self) -> bool {
        self.rests
    }

    /// Ends the reply: emits its calls and [`Chunk::Done`] if it is complete, otherwise an error.
    pub fn end(&mut self, end: End, out: &mut Out) {
        if !self.over {
            self.take_other(out);
        }
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.rest(out);
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Said | End::Silent) if self.foreign && !self.understood => {
                let words = "Cannot read the reply: its events are not chat completion events. Check `base_url` and \
                             `api` of the profile.";
                out.push_back(Err(Error::NotAModel(words.to_owned())));
                return;
            }
            (None, End::Said | End::Silent) if let Some(error) = self.unreadable.error() => {
                out.push_back(Err(error));
                return;
            }
            (None, End::Said) => Finish::Stop,
            (None, End::Silent) => {
                let why = "the provider closed it before the reply was complete";
                out.push_back(Err(Error::Cut(why.to_owned())));
                return;
            }
            (None, End::Broken(error)) => {
                out.push_back(Err(error));
                return;
            }
        };
        let extras = self.calls.extras();
        let calls = self.calls.finish();
        if let Some(error) = self.unreadable.error_at_end(self.seen, !calls.is_empty()) {
            out.push_back(Err(error));
            return;
        }
        let mark = self.unreadable.take_mark(self.seen);
        if !mark.is_empty() {
            out.push_back(Ok(Chunk::Text(mark.to_owned())));
        }
        if finish == Finish::Stop
            && let Some(held) = std::mem::take(&mut self.held).finish(&calls, extras)
        {
            out.push_back(Ok(Chunk::Echo(Echo { from: std::mem::take(&mut self.from), held })));
        }
        out.extend(calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
    }

    fn words(&mut self, text: &str, out: &mut Out) {
        for piece in self.split.take(text) {
            if let Piece::Thought(thought) = &piece {
                self.held.take_tagged(thought);
            }
            out.push_back(Ok(chunk(piece)));
        }
    }

    /// Emits text that was held back: surrogate halves and possible beginnings of a tag.
    fn rest(&mut self, out: &mut Out) {
        out.extend(self.thought.end().map(|half| Ok(Chunk::Reasoning(half.to_owned()))));
        if let Some(half) = self.said.end() {
            self.words(half, out);
        }
        out.extend(self.split.end().map(|piece| Ok(chunk(piece))));
    }

    fn break_off(&mut self, words: String, out: &mut Out) {
        self.rest(out);
        self.over = true;
        out.push_back(Err(Error::NotAModel(words)));
    }

    fn fail(&mut self, fault: Fault, out: &mut Out) {
        self.rest(out);
        self.over = true;
        out.push_back(Err(match fault.status {
            // Nothing was shown yet, so this is treated like an error response.
            Some(status) if !self.seen => fault.into_error(status, None),
            _ => Error::InStream(fault.sentence()),
        }));
    }
}

/// Converts a piece into a chunk.
pub fn chunk(piece: Piece) -> Chunk {
    match piece {
        Piece::Thought(text) => Chunk::Reasoning(text),
        Piece::Said(text) => Chunk::Text(text),
        Piece::WasThought => Chunk::WasReasoning,
    }
}

/// Parses a finish reason. An unknown one is a normal end; `None` means an error.
pub fn finish(word: &str) -> Option<Finish> {
    let word = super::fault::clip(word, 60);
    match word.to_ascii_lowercase().as_str() {
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_length"
        | "model_length"
        | "model_context_window_exceeded" => Some(Finish::Length),
        "content_filter" | "safety" | "recitation" | "prohibited_content" | "blocklist" | "sensitive"
        | "spii" => Some(Finish::Filtered(word)),
        "error"
        | "abort"
        | "aborted"
        | "cancelled"
        | "canceled"
        | "timeout"
        | "network_error"
        | "insufficient_system_resource"
        | "malformed_function_call" => None,
        lower if lower.ends_with("malformed_function_call") => None,
        _ => Some(Finish::Stop),
    }
}

#[cfg(test)]
mod tests;
