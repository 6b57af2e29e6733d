//! Estimated tokens of requests, and attempts of a turn to fit into the context window.

use crate::chat::{ToolSpec, Usage, message_tokens};
use crate::text::tokens;

/// Token estimate, in addition to the token counts in the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextEstimate {
    /// Estimated tokens of the system prompt and the tools.
    pub(super) fixed_tokens: u64,
    /// Value of `fixed_tokens` in the last request that the provider counted, if it has changed since.
    pub(super) counted_fixed_tokens: Option<u64>,
    /// Value of `fixed_tokens` in the last sent request.
    pub(super) sent_fixed_tokens: u64,
    /// Size of the last sent request.
    pub(super) sent_size: RequestSize,
    /// Correction in percent learned from a rejected request.
    pub(super) learned_percent: Option<u64>,
    /// Limit in tokens learned from rejections: the provider's figure, or the size of a rejected request.
    pub(super) learned_limit: Option<u64>,
    pub(super) truncation: Option<Truncation>,
    /// Tokens saved by truncation in the last counted request.
    pub(super) counted_saved_tokens: u64,
}

/// Size of a request in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RequestSize {
    /// Estimate of this program.
    pub(super) estimated: u64,
    /// The estimate, corrected by what the provider has counted so far.
    pub(super) corrected: u64,
}

/// Truncation of outcomes in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truncation {
    /// Outcomes before this entry are truncated.
    pub(super) before_entry: usize,
    /// Maximum bytes of each.
    pub(super) max_bytes: usize,
    /// Estimated tokens saved.
    pub(super) saved_tokens: u64,
}

impl ContextEstimate {
    pub(super) fn from_prompt(system: &str, tools: &[ToolSpec]) -> Self {
        Self { fixed_tokens: estimate_fixed_tokens(system, tools), ..Self::default() }
    }

    /// Updates the estimate for a new system prompt. `counted` is whether the provider has counted a request with the
    /// previous prompt.
    pub(super) fn update_fixed(&mut self, system: &str, tools: &[ToolSpec], counted: bool) {
        if counted {
            self.counted_fixed_tokens.get_or_insert(self.fixed_tokens);
        }
        self.fixed_tokens = estimate_fixed_tokens(system, tools);
    }

    /// Forgets what was learned about the previous model's window.
    pub(super) fn forget_window(&mut self) {
        (self.learned_limit, self.learned_percent, self.sent_size) = (None, None, RequestSize::default());
    }

    /// Records that the last request exceeded the window. Token figures in the provider's error take precedence over
    /// the estimate. Returns whether the error contains such figures.
    pub(super) fn record_rejection(&mut self, error: &str) -> bool {
        let RequestSize { estimated, corrected } = self.sent_size;
        let figures = parse_token_figures(error);
        if let Some((counted, _)) = figures {
            self.learned_percent = Some(counted.saturating_mul(100) / estimated.max(1));
        }
        let limit = figures.map_or(corrected, |(_, limit)| limit).max(1);
        self.learned_limit = Some(limit.min(self.learned_limit.unwrap_or(u64::MAX)));
        figures.is_some()
    }

    /// Updates the estimate after a reply with the provider's count.
    pub(super) fn record_usage(&mut self, usage: Option<Usage>) {
        if usage.is_some_and(|usage| usage.input > 0) {
            self.counted_saved_tokens = self.saved_tokens();
            self.counted_fixed_tokens = Some(self.sent_fixed_tokens).filter(|sent| *sent != self.fixed_tokens);
        }
    }

    pub(super) fn counted_fixed_tokens(&self) -> u64 {
        self.counted_fixed_tokens.unwrap_or(self.fixed_tokens)
    }

    pub(super) fn saved_tokens(&self) -> u64 {
        self.truncation.map_or(0, |truncation| truncation.saved_tokens)
    }
}

fn estimate_fixed_tokens(system: &str, tools: &[ToolSpec]) -> u64 {
    message_tokens::MESSAGE_OVERHEAD + tokens::estimate_text(system) + message_tokens::estimate_tools(tools)
}

/// Parses the length and the limit in tokens from a provider's error, such as `request (8677 tokens) exceeds the
/// available context size (4096 tokens)` or `210000 tokens > 200000 maximum`. Returns `None` unless the error contains
/// two different figures.
fn parse_token_figures(error: &str) -> Option<(u64, u64)> {
    let mut numbers = Vec::new();
    // A comma inside a word is kept, because it may separate thousands.
    let words: Vec<&str> = error
        .split(|c: char| c.is_whitespace() || "():;".contains(c))
        .map(|word| word.trim_matches(','))
        .filter(|word| !word.is_empty())
        .collect();
    for pair in words.windows(2) {
        let unit = pair[1].to_ascii_lowercase();
        if (unit.starts_with("token") || unit.starts_with("maximum"))
            && let Ok(number) = pair[0].replace(['_', ','], "").parse::<u64>()
            && number >= MIN_TOKEN_FIGURE
        {
            numbers.push(number);
        }
    }
    let (smallest, largest) = (*numbers.iter().min()?, *numbers.iter().max()?);
    (smallest < largest).then_some((largest, smallest))
}

/// Minimum figure in an error: a smaller number is not the size of a request or of a window.
const MIN_TOKEN_FIGURE: u64 = 256;

/// Attempts of one turn to fit into the context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactionAttempts {
    /// Number of summaries requested.
    pub(super) summaries: u32,
    /// True if a request that was rejected as too long was sent again.
    pub(super) resent_too_long: bool,
    /// Limit in tokens for the summary's own request, if a larger one was rejected.
    pub(super) request_limit: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lengths_from_provider_errors() {
        let assert_figures =
            |error: &str, expected: Option<(u64, u64)>| assert_eq!(parse_token_figures(error), expected, "{error}");
        assert_figures(
            "(400, exceed_context_size_error): request (8677 tokens) exceeds the available context size (4096 tokens)",
            Some((8_677, 4_096)),
        );
        assert_figures(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            Some((9_001, 8_192)),
        );
        assert_figures(
            "maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion)",
            Some((5_000, 4_096)),
        );
        assert_figures("prompt is too long: 210000 tokens > 200000 maximum", Some((210_000, 200_000)));
        assert_figures("prompt is too long: 210,000 tokens, > 200,000 maximum", Some((210_000, 200_000)));
        for error in ["", "too long", "8192 tokens", "9 tokens of 3 tokens", "413 payload", "4096 tokens, 4096 tokens"]
        {
            assert_figures(error, None);
        }
    }
}
