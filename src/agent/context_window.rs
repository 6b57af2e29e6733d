//! Estimate of the context window in use, and truncation of old outcomes if the next request would exceed it.

use super::State;
use crate::chat::{Entry, ToolSpec, Usage, tokens, truncation};

/// Fraction of the context window reserved for the reply, …
const REPLY_FRACTION: u64 = 5;
/// … with this limit in tokens.
const MAX_REPLY_TOKENS: u64 = 16_000;
/// A request is certainly too long above this percentage of the window, whatever the error of the estimate.
const CERTAIN_PERCENT: u64 = 125;
/// Lengths in bytes to which outcomes are truncated; the first one that suffices is used.
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
    /// True if the provider has not counted all of it.
    pub is_estimated: bool,
}

impl ContextUsage {
    /// Returns the used share in percent, if the window is known.
    pub fn used_percent(&self) -> Option<u64> {
        self.context_window.filter(|window| *window > 0).map(|window| self.tokens.saturating_mul(100) / window)
    }
}

/// Token estimate, kept in addition to the counts in the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextEstimate {
    /// Estimated tokens of the system prompt and the tools.
    fixed_tokens: u64,
    /// The same value for the last counted request, if it has changed since.
    counted_fixed_tokens: Option<u64>,
    /// The same value for the last sent request.
    sent_fixed_tokens: u64,
    /// Tokens of the last sent request: estimated and corrected.
    sent_tokens: (u64, u64),
    /// Correction in percent learned from a rejected request.
    learned_percent: Option<u64>,
    /// Largest known limit: a request of this many tokens was rejected.
    learned_limit: Option<u64>,
    truncation: Option<Truncation>,
    /// Tokens saved by truncation in the last counted request.
    counted_saved_tokens: u64,
}

/// Truncation of outcomes in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truncation {
    /// Outcomes before this entry are truncated.
    pub(super) before_entry: usize,
    /// Bytes that remain of each.
    pub(super) max_bytes: usize,
    /// Estimated tokens saved.
    saved_tokens: u64,
}

impl ContextEstimate {
    pub(super) fn from_prompt(system: &str, tools: &[ToolSpec]) -> Self {
        Self { fixed_tokens: estimate_fixed_tokens(system, tools), ..Self::default() }
    }

    /// Replaces the system prompt. `counted`: the provider has counted a request with the previous one.
    pub(super) fn update_fixed(&mut self, system: &str, tools: &[ToolSpec], counted: bool) {
        if counted {
            self.counted_fixed_tokens.get_or_insert(self.fixed_tokens);
        }
        self.fixed_tokens = estimate_fixed_tokens(system, tools);
    }

    pub(super) fn fixed_tokens(&self) -> u64 {
        self.fixed_tokens
    }

    /// Forgets what was learned about the previous model's window.
    pub(super) fn forget_window(&mut self) {
        (self.learned_limit, self.learned_percent, self.sent_tokens) = (None, None, (0, 0));
    }

    /// Records that the last request exceeded the window. Figures in the provider's message take precedence. Returns
    /// whether there were any.
    pub(super) fn record_rejection(&mut self, why: &str) -> bool {
        let (ours, corrected) = self.sent_tokens;
        let said = parse_token_figures(why);
        if let Some((counted, _)) = said {
            self.learned_percent = Some(counted.saturating_mul(100) / ours.max(1));
        }
        let fits = said.map_or(corrected, |(_, fits)| fits).max(1);
        self.learned_limit = Some(fits.min(self.learned_limit.unwrap_or(u64::MAX)));
        said.is_some()
    }

    /// Removes the truncation, because a summary has replaced the truncated outcomes.
    pub(super) fn clear_truncation(&mut self) {
        self.truncation = None;
    }

    /// Updates the estimate after a reply with the provider's count.
    pub(super) fn record_usage(&mut self, usage: Option<Usage>) {
        if usage.is_some_and(|usage| usage.input > 0) {
            self.counted_saved_tokens = self.saved_tokens();
            self.counted_fixed_tokens = Some(self.sent_fixed_tokens).filter(|sent| *sent != self.fixed_tokens);
        }
    }

    pub(super) fn truncation(&self) -> Option<Truncation> {
        self.truncation
    }

    fn counted_fixed_tokens(&self) -> u64 {
        self.counted_fixed_tokens.unwrap_or(self.fixed_tokens)
    }

    fn saved_tokens(&self) -> u64 {
        self.truncation.map_or(0, |shortened| shortened.saved_tokens)
    }
}

fn estimate_fixed_tokens(system: &str, tools: &[ToolSpec]) -> u64 {
    tokens::MESSAGE_OVERHEAD + tokens::estimate_text(system) + tokens::estimate_tools(tools)
}

impl State {
    /// Returns the use of the context window.
    pub fn context_usage(&self) -> ContextUsage {
        let tokens = self.next_request_tokens();
        let counted = self.session.token_count().is_some_and(|counted| {
            !counted.is_outdated
                && counted.resent_estimate == self.session.token_estimate()
                && self.estimate.counted_fixed_tokens() == self.estimate.fixed_tokens
                && self.queued_messages.is_empty()
        });
        ContextUsage { tokens, context_window: self.effective_context_window(), is_estimated: !counted }
    }

    /// Returns the context window: the smaller of the configured one and the one learned from rejections.
    pub(super) fn effective_context_window(&self) -> Option<u64> {
        match (self.context_window, self.estimate.learned_limit) {
            (Some(said), Some(proved)) => Some(said.min(proved)),
            (said, proved) => said.or(proved),
        }
    }

    /// Returns the tokens of the next request: the provider's last count plus an estimate of what was added.
    pub(super) fn next_request_tokens(&self) -> u64 {
        self.request_tokens(self.session.token_estimate().saturating_sub(self.estimate.saved_tokens()))
    }

    /// Returns the tokens of a request whose messages have this estimated weight.
    pub(super) fn request_tokens(&self, talk: u64) -> u64 {
        match self.session.token_count() {
            Some(counted) if !counted.is_outdated => {
                let then = self.estimate.counted_fixed_tokens()
                    + counted.resent_estimate.saturating_sub(self.estimate.counted_saved_tokens);
                let now = self.estimate.fixed_tokens + talk;
                (counted.resent + self.correct_estimate(now.saturating_sub(then)))
                    .saturating_sub(self.correct_estimate(then.saturating_sub(now)))
            }
            Some(_) | None => self.correct_estimate(self.estimate.fixed_tokens + talk),
        }
    }

    /// Corrects an estimate by the provider's last count, or by figures from a rejected request.
    pub(super) fn correct_estimate(&self, ours: u64) -> u64 {
        let counted = self.session.token_count().map(|counted| {
            let talk = counted.input_estimate.saturating_sub(self.estimate.counted_saved_tokens);
            counted.input.saturating_mul(100) / (self.estimate.counted_fixed_tokens() + talk).max(1)
        });
        let Some(hundredths) = counted.max(self.estimate.learned_percent) else { return ours };
        ours.saturating_mul(hundredths.clamp(CORRECTION_RANGE.0, CORRECTION_RANGE.1)) / 100
    }

    /// Records the size of a request about to be sent.
    pub(super) fn record_sent_size(&mut self, ours: u64, corrected: u64) {
        self.estimate.sent_tokens = (ours, corrected);
        self.estimate.sent_fixed_tokens = self.estimate.fixed_tokens;
    }

    /// Returns the uncorrected estimate for the next request.
    pub(super) fn estimate_next_request(&self) -> u64 {
        self.estimate.fixed_tokens + self.session.token_estimate().saturating_sub(self.estimate.saved_tokens())
    }

    /// Returns whether this many tokens fit with room for the reply. Always true if the window is unknown.
    pub(super) fn fits_context_window(&self, tokens: u64) -> bool {
        self.effective_context_window()
            .is_none_or(|window| tokens + (window / REPLY_FRACTION).min(MAX_REPLY_TOKENS) <= window)
    }

    /// Returns whether the next request is certainly too long.
    pub(super) fn is_certainly_too_long(&self) -> bool {
        let tokens = self.next_request_tokens().min(self.estimate_next_request());
        self.effective_context_window().is_some_and(|window| tokens > window.saturating_mul(CERTAIN_PERCENT) / 100)
    }

    /// Truncates long outcomes until the next request fits: older ones first and no more than needed. User messages are
    /// never truncated. Returns whether the request became shorter.
    pub(super) fn truncate_outcomes(&mut self) -> bool {
        let before = self.next_request_tokens();
        let entries = self.session.entries();
        let from = self.session.first_sent_entry();
        let newest = entries.iter().rposition(|entry| matches!(entry, Entry::Replied { .. }));
        let found = [newest.unwrap_or(0), entries.len()]
            .into_iter()
            .flat_map(|before| TRUNCATION_BYTES.into_iter().map(move |most| (before, most)));
        let mut best: Option<Truncation> = None;
        for (until, most) in found {
            let mut spared = 0;
            for entry in entries.get(from..until.max(from)).unwrap_or_default() {
                if let Entry::Settled { outcome, .. } = entry
                    && outcome.text().len() > most
                {
                    let short = tokens::estimate_text(&truncation::truncate_middle(outcome.text(), most));
                    spared += tokens::estimate_text(outcome.text()).saturating_sub(short);
                }
            }
            if best.is_none_or(|best| spared > best.saved_tokens) {
                best = Some(Truncation { before_entry: until, max_bytes: most, saved_tokens: spared });
            }
            if self.fits_context_window(self.request_tokens(self.session.token_estimate().saturating_sub(spared))) {
                break;
            }
        }
        self.estimate.truncation = best.filter(|best| best.saved_tokens > 0);
        self.next_request_tokens() < before
    }
}

/// Parses the length and the limit of a request from a provider's error, such as `request (8677 tokens) exceeds the
/// available context size (4096 tokens)` or `210000 tokens > 200000 maximum`.
fn parse_token_figures(why: &str) -> Option<(u64, u64)> {
    let mut found = Vec::new();
    let words: Vec<&str> =
        why.split(|c: char| c.is_whitespace() || "(),:;".contains(c)).filter(|word| !word.is_empty()).collect();
    for pair in words.windows(2) {
        let of = pair[1].to_ascii_lowercase();
        if (of.starts_with("token") || of.starts_with("maximum"))
            && let Ok(number) = pair[0].replace(['_', ','], "").parse::<u64>()
            && number >= 256
        {
            found.push(number);
        }
    }
    let (least, most) = (*found.iter().min()?, *found.iter().max()?);
    (least < most).then_some((most, least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lengths_from_provider_errors() {
        let check = |why: &str, read: Option<(u64, u64)>| assert_eq!(parse_token_figures(why), read, "{why}");
        check(
            "(400, exceed_context_size_error): request (8677 tokens) exceeds the available context size (4096 tokens)",
            Some((8_677, 4_096)),
        );
        check(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            Some((9_001, 8_192)),
        );
        check(
            "maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion)",
            Some((5_000, 4_096)),
        );
        check("prompt is too long: 210000 tokens > 200000 maximum", Some((210_000, 200_000)));
        for nothing in
            ["", "too long", "8192 tokens", "9 tokens of 3 tokens", "413 payload", "4096 tokens, 4096 tokens"]
        {
            check(nothing, None);
        }
    }
}
