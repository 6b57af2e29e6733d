//! Estimate of the context window in use, and truncation of old outcomes if the next request would exceed it.

use super::State;
use super::context_estimate::{RequestSize, Truncation};
use crate::chat::Entry;
use crate::text::{tokens, truncation};

/// Divisor of the context window: a fifth is reserved for the reply, but at most [`MAX_REPLY_TOKENS`].
const REPLY_DIVISOR: u64 = 5;
/// Maximum tokens reserved for the reply.
const MAX_REPLY_TOKENS: u64 = 16_000;
/// Above this percentage of the window a request is too long even if the estimate is inaccurate.
const CERTAIN_PERCENT: u64 = 125;
/// Lengths in bytes to which outcomes are truncated; the longest that suffices is used.
const TRUNCATION_BYTES: [usize; 5] = [16 << 10, 4 << 10, 1 << 10, 300, 80];
/// Bounds, in percent, for the correction of the estimate by the provider's count. Values outside them mean that the
/// provider counts something else.
const CORRECTION_RANGE: (u64, u64) = (70, 600);

/// Use of the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextUsage {
    /// Tokens of the next request.
    pub tokens: u64,
    /// Context window in tokens, if known.
    pub context_window: Option<u64>,
    /// True if `tokens` contains an estimate: the provider has not counted everything in the next request.
    pub is_estimated: bool,
}

impl ContextUsage {
    /// Returns the used share in percent, if the window is known.
    pub fn used_percent(&self) -> Option<u64> {
        self.context_window.filter(|window| *window > 0).map(|window| self.tokens.saturating_mul(100) / window)
    }
}

impl State {
    /// Returns the use of the context window.
    pub fn context_usage(&self) -> ContextUsage {
        let tokens = self.next_request_tokens();
        let is_counted = self.session.token_count().is_some_and(|counted| {
            !counted.is_outdated
                && counted.with_reply_estimate == self.session.token_estimate()
                && self.estimate.counted_fixed_tokens() == self.estimate.fixed_tokens
                && self.queued_messages.is_empty()
        });
        ContextUsage { tokens, context_window: self.effective_context_window(), is_estimated: !is_counted }
    }

    /// Returns the context window: the smaller of the configured one and the one learned from rejections.
    pub(super) fn effective_context_window(&self) -> Option<u64> {
        match (self.model.context_window, self.estimate.learned_limit) {
            (Some(configured), Some(learned)) => Some(configured.min(learned)),
            (configured, learned) => configured.or(learned),
        }
    }

    /// Returns the tokens of the next request: the provider's last count plus an estimate of what was added.
    pub(super) fn next_request_tokens(&self) -> u64 {
        self.request_tokens(self.session.token_estimate().saturating_sub(self.estimate.saved_tokens()))
    }

    /// Returns the tokens of a request with the system prompt, the tools and messages of `messages_estimate` tokens.
    pub(super) fn request_tokens(&self, messages_estimate: u64) -> u64 {
        match self.session.token_count() {
            Some(counted) if !counted.is_outdated => {
                let counted_estimate = self.estimate.counted_fixed_tokens()
                    + counted.with_reply_estimate.saturating_sub(self.estimate.counted_saved_tokens);
                let current_estimate = self.estimate.fixed_tokens + messages_estimate;
                (counted.with_reply + self.correct_estimate(current_estimate.saturating_sub(counted_estimate)))
                    .saturating_sub(self.correct_estimate(counted_estimate.saturating_sub(current_estimate)))
            }
            Some(_) | None => self.correct_estimate(self.estimate.fixed_tokens + messages_estimate),
        }
    }

    /// Corrects an estimate by the provider's last count, or by figures from a rejected request.
    pub(super) fn correct_estimate(&self, estimated: u64) -> u64 {
        let counted_percent = self.session.token_count().map(|counted| {
            let messages_estimate = counted.input_estimate.saturating_sub(self.estimate.counted_saved_tokens);
            counted.input.saturating_mul(100) / (self.estimate.counted_fixed_tokens() + messages_estimate).max(1)
        });
        let Some(percent) = counted_percent.max(self.estimate.learned_percent) else { return estimated };
        estimated.saturating_mul(percent.clamp(CORRECTION_RANGE.0, CORRECTION_RANGE.1)) / 100
    }

    /// Records the size of a request about to be sent.
    pub(super) fn record_sent_size(&mut self, size: RequestSize) {
        self.estimate.sent_size = size;
        self.estimate.sent_fixed_tokens = self.estimate.fixed_tokens;
    }

    /// Returns the uncorrected estimate for the next request.
    pub(super) fn estimate_next_request(&self) -> u64 {
        self.estimate.fixed_tokens + self.session.token_estimate().saturating_sub(self.estimate.saved_tokens())
    }

    /// Returns whether this many tokens fit with room for the reply. Always true if the window is unknown.
    pub(super) fn fits_context_window(&self, tokens: u64) -> bool {
        self.effective_context_window()
            .is_none_or(|window| tokens + (window / REPLY_DIVISOR).min(MAX_REPLY_TOKENS) <= window)
    }

    /// Returns whether the next request is certainly too long.
    pub(super) fn is_certainly_too_long(&self) -> bool {
        let tokens = self.next_request_tokens().min(self.estimate_next_request());
        self.effective_context_window().is_some_and(|window| tokens > window.saturating_mul(CERTAIN_PERCENT) / 100)
    }

    /// Truncates long outcomes and output of the user's commands until the next request fits: older ones first and no more than needed. User messages are
    /// never truncated.
    pub(super) fn truncate_outcomes(&mut self) {
        let entries = self.session.entries();
        let from = self.session.first_sent_entry();
        let last_reply = entries.iter().rposition(|entry| matches!(entry, Entry::Replied { .. }));
        // First only the outcomes before the last reply are truncated, then all.
        let attempts = [last_reply.unwrap_or(0), entries.len()]
            .into_iter()
            .flat_map(|until| TRUNCATION_BYTES.into_iter().map(move |max_bytes| (until, max_bytes)));
        let mut best: Option<Truncation> = None;
        for (until, max_bytes) in attempts {
            let mut saved_tokens = 0;
            for entry in entries.get(from..until.max(from)).unwrap_or_default() {
                let text = match entry {
                    Entry::Settled { outcome, .. } => outcome.text(),
                    Entry::UserCommand(command) if command.is_shared => &command.output,
                    _ => continue,
                };
                if text.len() > max_bytes {
                    let short_tokens = tokens::estimate_text(&truncation::truncate_middle(text, max_bytes));
                    saved_tokens += tokens::estimate_text(text).saturating_sub(short_tokens);
                }
            }
            if best.is_none_or(|best| saved_tokens > best.saved_tokens) {
                best = Some(Truncation { before_entry: until, max_bytes, saved_tokens });
            }
            if self.fits_context_window(self.request_tokens(self.session.token_estimate().saturating_sub(saved_tokens)))
            {
                break;
            }
        }
        self.estimate.truncation = best.filter(|best| best.saved_tokens > 0);
    }
}
