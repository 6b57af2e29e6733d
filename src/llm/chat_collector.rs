//! Collects chat completion events into chunks.

use super::Error;
use super::calls::Calls;
use super::chat_events::{self, Delta, REPLY_INDEX};
use super::chunk_queue::{CLOSED_EARLY, has_new_visible};
pub use super::chunk_queue::{ChunkQueue, Collector, End};
use super::echo::EchoData;
use super::other_choice::OtherChoice;
use super::provider_error::ProviderError;
use super::reasoning_tags::ReasoningSplitter;
use super::tolerant_json::SurrogateJoiner;
use super::unreadable_events::UnreadableEvents;
use crate::chat::reply_limit::ReplySize;
use crate::chat::{Chunk, Echo, FinishReason, Usage};
use serde_json::Value;

/// Maximum number of tool calls in one reply.
pub const MAX_CALLS: usize = 1000;
/// Maximum characters of a finish reason in an error.
const MAX_FINISH_REASON_CHARS: usize = 60;

/// A chat completion reply so far.
#[derive(Debug, Default)]
pub struct ChatCollector {
    splitter: ReasoningSplitter,
    calls: Calls,
    /// Surrogate halves pending in the text and in the separate reasoning.
    text_surrogates: SurrogateJoiner,
    reasoning_surrogates: SurrogateJoiner,
    /// Choice 0 has arrived.
    has_reply: bool,
    /// First other choice, if it arrived before choice 0.
    other_choice: Option<OtherChoice>,
    /// Events that could not be read.
    unreadable: UnreadableEvents,
    size: ReplySize,
    /// An event of another API than chat completions arrived.
    saw_foreign_event: bool,
    /// A chat completion event arrived.
    saw_chat_event: bool,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// The last event with content or an end marker had only the marker.
    is_ending: bool,
    /// Something visible to the user has arrived.
    was_shown: bool,
    has_ended: bool,
    echo_data: EchoData,
    /// Origin of the reply, for its echo.
    origin: String,
}

impl Collector for ChatCollector {
    /// Must not be called after an error.
    fn collect_event(&mut self, event: &Value, out: &mut ChunkQueue) {
        let old_length = out.len();
        let (mut has_content, mut has_end) = (false, false);
        self.echo_data.collect_event(event, REPLY_INDEX);
        self.collect_choice(event, out);
        let deltas = chat_events::parse_deltas(event, REPLY_INDEX);
        self.saw_chat_event |= !deltas.is_empty();
        self.saw_foreign_event |= deltas.is_empty() && chat_events::is_foreign(event);
        for delta in deltas {
            if self.has_ended {
                break;
            }
            has_content |= matches!(delta, Delta::Text(_) | Delta::Reasoning(_) | Delta::Calls(_));
            has_end |= matches!(delta, Delta::Finish(_) | Delta::Complete);
            self.collect_delta(delta, out);
            self.was_shown |= has_new_visible(out, old_length);
        }
        if has_content || has_end {
            self.is_ending = has_end && !has_content;
        }
    }

    fn skip_event(&mut self, start: String) {
        self.unreadable.add_event(start);
    }

    /// Some providers send an end marker with every event, so a marker in an event with text is not final.
    fn is_ending(&self) -> bool {
        self.is_ending
    }

    fn finish(&mut self, end: End, out: &mut ChunkQueue) {
        if !self.has_ended {
            self.use_other_choice(out);
        }
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.flush(out);
        if let Err(error) = self.emit_end(end, out) {
            out.push_back(Err(error));
        }
    }
}

impl ChatCollector {
    /// Creates the state for a reply from `origin`; `wants_reasoning` means that its reasoning must be sent back.
    pub fn for_origin(origin: String, wants_reasoning: bool) -> Self {
        Self { origin, echo_data: EchoData::new(wants_reasoning), ..Self::default() }
    }

    /// Collects the first choice with another index than 0, in case choice 0 never arrives. Once choice 0 arrives, it is
    /// the reply and the other choice is dropped.
    fn collect_choice(&mut self, event: &Value, out: &mut ChunkQueue) {
        if self.has_reply || self.has_ended {
            return;
        }
        if chat_events::choice_indexes(event).any(|index| index == REPLY_INDEX) {
            (self.has_reply, self.other_choice) = (true, None);
        } else if let Some(index) = chat_events::choice_indexes(event).next() {
            let new_echo_data = || EchoData::new(self.echo_data.wants_reasoning);
            let other_choice = self.other_choice.get_or_insert_with(|| OtherChoice::new(index, new_echo_data()));
            other_choice.collect_event(event);
            if let Some(message) = other_choice.size.excess_error() {
                self.abort_reply(Error::InvalidReply(message), out);
            }
        }
    }

    /// Uses the other choice as the reply because choice 0 never arrived.
    fn use_other_choice(&mut self, out: &mut ChunkQueue) {
        let Some(OtherChoice { deltas, echo_data, .. }) = self.other_choice.take() else { return };
        self.echo_data = echo_data;
        self.saw_chat_event |= !deltas.is_empty();
        for delta in deltas {
            if !self.has_ended {
                self.collect_delta(delta, out);
            }
        }
        self.was_shown |= has_new_visible(out, 0);
    }

    fn collect_delta(&mut self, delta: Delta, out: &mut ChunkQueue) {
        delta.add_size(&mut self.size);
        if let Some(message) = self.size.excess_error() {
            return self.abort_reply(Error::InvalidReply(message), out);
        }
        match delta {
            Delta::Text(text) => {
                let mark = self.unreadable.take_mark(self.was_shown);
                let text = self.text_surrogates.convert(&text);
                let text = format!("{mark}{text}");
                self.emit_text(&text, out);
            }
            Delta::Reasoning(text) => {
                self.splitter.is_lone_close_text = true;
                let mark = self.unreadable.take_mark(self.was_shown);
                let text = format!("{mark}{}", self.reasoning_surrogates.convert(&text));
                if !text.is_empty() {
                    out.push_back(Ok(Chunk::Reasoning(text)));
                }
            }
            Delta::Calls(parts) => {
                if let Some((name, bytes)) = self.calls.add_parts(parts) {
                    out.push_back(Ok(Chunk::CallProgress { name, bytes }));
                }
                if self.calls.count() > MAX_CALLS {
                    let message = format!("The reply was aborted: it has more than {MAX_CALLS} tool calls");
                    self.abort_reply(Error::InvalidReply(message), out);
                }
            }
            Delta::Usage(usage) => self.update_usage(usage, out),
            Delta::Finish(reason) => match parse_finish_reason(&reason) {
                Some(finish) => self.finish = Some(finish),
                None => {
                    let code =
                        (reason != "error").then(|| super::provider_error::clip(&reason, MAX_FINISH_REASON_CHARS));
                    let message = "the model stopped with an error".to_owned();
                    let fault = ProviderError { code, message, ..ProviderError::default() };
                    self.abort_reply(fault.into_reply_error(self.was_shown), out);
                }
            },
            Delta::Complete => self.finish = self.finish.take().or(Some(FinishReason::Stop)),
            Delta::Fault(fault) => self.abort_reply(fault.into_reply_error(self.was_shown), out),
        }
    }

    /// Updates the token usage. Some providers report it in two parts and some end with zeros, so zeros are ignored.
    fn update_usage(&mut self, new: Usage, out: &mut ChunkQueue) {
        let old = self.usage.unwrap_or_default();
        let nonzero_or = |new: u64, old: u64| if new == 0 { old } else { new };
        let usage = Usage {
            input: nonzero_or(new.input, old.input),
            cached: nonzero_or(new.cached, old.cached),
            output: nonzero_or(new.output, old.output),
        };
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push_back(Ok(Chunk::Usage(usage)));
        }
    }

    /// Emits the calls and [`Chunk::Done`] of a complete reply; returns the error of an incomplete one.
    fn emit_end(&mut self, end: End, out: &mut ChunkQueue) -> Result<(), Error> {
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Marked | End::Unmarked) if self.saw_foreign_event && !self.saw_chat_event => {
                let message = "Cannot read the reply: its events are not chat completion events. Check `base_url` and \
                             `api` of the profile.";
                return Err(Error::InvalidReply(message.to_owned()));
            }
            (None, End::Marked | End::Unmarked) if let Some(error) = self.unreadable.error_without_end() => {
                return Err(error);
            }
            (None, End::Marked) => FinishReason::Stop,
            (None, End::Unmarked) => return Err(Error::ConnectionLost(CLOSED_EARLY.to_owned())),
            (None, End::Failed(error)) => return Err(error),
        };
        let extras = self.calls.extras();
        let calls = self.calls.take_calls();
        self.unreadable.check_end(self.was_shown, !calls.is_empty())?;
        let mark = self.unreadable.take_mark(self.was_shown);
        if !mark.is_empty() {
            out.push_back(Ok(Chunk::Text(mark.to_owned())));
        }
        if finish == FinishReason::Stop
            && let Some(data) = std::mem::take(&mut self.echo_data).into_stored(&calls, extras)
        {
            out.push_back(Ok(Chunk::Echo(Echo { origin: std::mem::take(&mut self.origin), data })));
        }
        out.extend(calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
        Ok(())
    }

    fn emit_text(&mut self, text: &str, out: &mut ChunkQueue) {
        for chunk in self.splitter.split_text(text) {
            if let Chunk::Reasoning(reasoning) = &chunk {
                self.echo_data.collect_tagged(reasoning);
            }
            out.push_back(Ok(chunk));
        }
    }

    /// Emits text that was held back: surrogate halves and possible beginnings of a tag.
    fn flush(&mut self, out: &mut ChunkQueue) {
        out.extend(self.reasoning_surrogates.finish().map(|half| Ok(Chunk::Reasoning(half.to_owned()))));
        if let Some(half) = self.text_surrogates.finish() {
            self.emit_text(half, out);
        }
        out.extend(self.splitter.finish().map(Ok));
    }

    fn abort_reply(&mut self, error: Error, out: &mut ChunkQueue) {
        self.flush(out);
        self.has_ended = true;
        out.push_back(Err(error));
    }
}

/// Finish reasons of a reply that reached a limit.
#[rustfmt::skip]
const LENGTH_REASONS: [&str; 6] = [
    "length", "max_tokens", "max_output_tokens", "max_length", "model_length", "model_context_window_exceeded",
];
/// Finish reasons of a reply that was withheld.
#[rustfmt::skip]
const FILTER_REASONS: [&str; 7] = [
    "content_filter", "safety", "recitation", "prohibited_content", "blocklist", "sensitive", "spii",
];
/// Finish reasons that mean an error.
#[rustfmt::skip]
const ERROR_REASONS: [&str; 8] = [
    "error", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error", "insufficient_system_resource",
];

/// Parses a finish reason. An unknown one is a normal end; `None` means an error.
pub fn parse_finish_reason(reason: &str) -> Option<FinishReason> {
    let reason = super::provider_error::clip(reason, MAX_FINISH_REASON_CHARS);
    match reason.to_ascii_lowercase().as_str() {
        length if LENGTH_REASONS.contains(&length) => Some(FinishReason::Length),
        filter if FILTER_REASONS.contains(&filter) => Some(FinishReason::Filtered(reason)),
        error if ERROR_REASONS.contains(&error) || error.ends_with("malformed_function_call") => None,
        _ => Some(FinishReason::Stop),
    }
}

#[cfg(test)]
mod tests;
