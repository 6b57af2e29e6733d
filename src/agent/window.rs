//! Estimate of the context window in use, and truncation of old outcomes if the next request would exceed it.

use super::State;
use crate::chat::{Entry, ToolSpec, Usage, shorten, tokens};

/// Fraction of the context window reserved for the reply, …
const REPLY_PART: u64 = 5;
/// … with this limit in tokens.
const REPLY_MOST: u64 = 16_000;
/// A request is certainly too long above this percentage of the window, whatever the error of the estimate.
const SURELY: u64 = 125;
/// Lengths in bytes to which outcomes are truncated; the first one that suffices is used.
const LENGTHS: [usize; 5] = [16 << 10, 4 << 10, 1 << 10, 300, 80];
/// Bounds, in percent, for the correction of the estimate by the provider's count. Values outside them mean that the
/// provider counts something else.
const BELIEVED: (u64, u64) = (70, 600);

/// Use of the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauge {
    /// Tokens of the next request.
    pub tokens: u64,
    /// Context window in tokens, if known.
    pub window: Option<u64>,
    /// True if the provider has not counted all of it.
    pub estimated: bool,
}

impl Gauge {
    /// Returns the used share in percent, if the window is known.
    pub fn share(&self) -> Option<u64> {
        self.window.filter(|window| *window > 0).map(|window| self.tokens.saturating_mul(100) / window)
    }
}

/// Token estimate, kept in addition to the counts in the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measure {
    /// Estimated tokens of the system prompt and the tools.
    fixed: u64,
    /// The same value for the last counted request, if it has changed since.
    fixed_then: Option<u64>,
    /// The same value for the last sent request.
    fixed_sent: u64,
    /// Tokens of the last sent request: estimated and corrected.
    sent: (u64, u64),
    /// Correction in percent learned from a rejected request.
    taught: Option<u64>,
    /// Largest known limit: a request of this many tokens was rejected.
    proved: Option<u64>,
    shortened: Option<Shortened>,
    /// Tokens saved by truncation in the last counted request.
    spared_then: u64,
}

/// Truncation of outcomes in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shortened {
    /// Outcomes before this entry are truncated.
    pub(super) before: usize,
    /// Bytes that remain of each.
    pub(super) most: usize,
    /// Estimated tokens saved.
    spared: u64,
}

impl Measure {
    pub(super) fn of(system: &str, tools: &[ToolSpec]) -> Self {
        Self { fixed: fixed(system, tools), ..Self::default() }
    }

    /// Replaces the system prompt. `counted`: the provider has counted a request with the previous one.
    pub(super) fn fix(&mut self, system: &str, tools: &[ToolSpec], counted: bool) {
        if counted {
            self.fixed_then.get_or_insert(self.fixed);
        }
        self.fixed = fixed(system, tools);
    }

    pub(super) fn fixed(&self) -> u64 {
        self.fixed
    }

    /// Forgets what was learned about the previous model's window.
    pub(super) fn forget_window(&mut self) {
        (self.proved, self.taught, self.sent) = (None, None, (0, 0));
    }

    /// Records that the last request exceeded the window. Figures in the provider's message take precedence. Returns
    /// whether there were any.
    pub(super) fn did_not_fit(&mut self, why: &str) -> bool {
        let (ours, corrected) = self.sent;
        let said = figures(why);
        if let Some((counted, _)) = said {
            self.taught = Some(counted.saturating_mul(100) / ours.max(1));
        }
        let fits = said.map_or(corrected, |(_, fits)| fits).max(1);
        self.proved = Some(fits.min(self.proved.unwrap_or(u64::MAX)));
        said.is_some()
    }

    /// Removes the truncation, because a summary has replaced the truncated outcomes.
    pub(super) fn summarised(&mut self) {
        self.shortened = None;
    }

    /// Updates the estimate after a reply with the provider's count.
    pub(super) fn replied(&mut self, usage: Option<Usage>) {
        if usage.is_some_and(|usage| usage.input > 0) {
            self.spared_then = self.spared();
            self.fixed_then = Some(self.fixed_sent).filter(|sent| *sent != self.fixed);
        }
    }

    pub(super) fn shortened(&self) -> Option<Shortened> {
        self.shortened
    }

    fn fixed_then(&self) -> u64 {
        self.fixed_then.unwrap_or(self.fixed)
    }

    fn spared(&self) -> u64 {
        self.shortened.map_or(0, |shortened| shortened.spared)
    }
}

fn fixed(system: &str, tools: &[ToolSpec]) -> u64 {
    tokens::FRAME + tokens::estimate(system) + tokens::of_tools(tools)
}

impl State {
    /// Returns the use of the context window.
    pub fn gauge(&self) -> Gauge {
        let tokens = self.tokens();
        let counted = self.session.counted().is_some_and(|counted| {
            !counted.outdated
                && counted.talk_then == self.session.weight()
                && self.measure.fixed_then() == self.measure.fixed
                && self.queue.is_empty()
        });
        Gauge { tokens, window: self.known_window(), estimated: !counted }
    }

    /// Returns the context window: the smaller of the configured one and the one learned from rejections.
    pub(super) fn known_window(&self) -> Option<u64> {
        match (self.window, self.measure.proved) {
            (Some(said), Some(proved)) => Some(said.min(proved)),
            (said, proved) => said.or(proved),
        }
    }

    /// Returns the tokens of the next request: the provider's last count plus an estimate of what was added.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens_with(self.session.weight().saturating_sub(self.measure.spared()))
    }

    /// Returns the tokens of a request whose messages have this estimated weight.
    pub(super) fn tokens_with(&self, talk: u64) -> u64 {
        match self.session.counted() {
            Some(counted) if !counted.outdated => {
                let then =
                    self.measure.fixed_then() + counted.talk_then.saturating_sub(self.measure.spared_then);
                let now = self.measure.fixed + talk;
                (counted.then + self.corrected(now.saturating_sub(then)))
                    .saturating_sub(self.corrected(then.saturating_sub(now)))
            }
            Some(_) | None => self.corrected(self.measure.fixed + talk),
        }
    }

    /// Corrects an estimate by the provider's last count, or by figures from a rejected request.
    pub(super) fn corrected(&self, ours: u64) -> u64 {
        let counted = self.session.counted().map(|counted| {
            let talk = counted.talk.saturating_sub(self.measure.spared_then);
            counted.input.saturating_mul(100) / (self.measure.fixed_then() + talk).max(1)
        });
        let Some(hundredths) = counted.max(self.measure.taught) else { return ours };
        ours.saturating_mul(hundredths.clamp(BELIEVED.0, BELIEVED.1)) / 100
    }

    /// Records the size of a request about to be sent.
    pub(super) fn sends(&mut self, ours: u64, corrected: u64) {
        self.measure.sent = (ours, corrected);
        self.measure.fixed_sent = self.measure.fixed;
    }

    /// Returns the uncorrected estimate for the next request.
    pub(super) fn ours(&self) -> u64 {
        self.measure.fixed + self.session.weight().saturating_sub(self.measure.spared())
    }

    /// Returns whether this many tokens fit with room for the reply. Always true if the window is unknown.
    pub(super) fn fits(&self, tokens: u64) -> bool {
        self.known_window().is_none_or(|window| tokens + (window / REPLY_PART).min(REPLY_MOST) <= window)
    }

    /// Returns whether the next request is certainly too long.
    pub(super) fn is_hopeless(&self) -> bool {
        let tokens = self.tokens().min(self.ours());
        self.known_window().is_some_and(|window| tokens > window.saturating_mul(SURELY) / 100)
    }

    /// Truncates long outcomes until the next request fits: older ones first and no more than needed. User messages are
    /// never truncated. Returns whether the request became shorter.
    pub(super) fn shorten(&mut self) -> bool {
        let before = self.tokens();
        let entries = self.session.entries();
        let from = self.session.sent_from();
        let newest = entries.iter().rposition(|entry| matches!(entry, Entry::Replied { .. }));
        let found = [newest.unwrap_or(0), entries.len()]
            .into_iter()
            .flat_map(|before| LENGTHS.into_iter().map(move |most| (before, most)));
        let mut best: Option<Shortened> = None;
        for (until, most) in found {
            let mut spared = 0;
            for entry in entries.get(from..until.max(from)).unwrap_or_default() {
                if let Entry::Settled { outcome, .. } = entry
                    && outcome.text().len() > most
                {
                    let short = tokens::estimate(&shorten::middle(outcome.text(), most));
                    spared += tokens::estimate(outcome.text()).saturating_sub(short);
                }
            }
            if best.is_none_or(|best| spared > best.spared) {
                best = Some(Shortened { before: until, most, spared });
            }
            if self.fits(self.tokens_with(self.session.weight().saturating_sub(spared))) {
                break;
            }
        }
        self.measure.shortened = best.filter(|best| best.spared > 0);
        self.tokens() < before
    }
}

/// Parses the length and the limit of a request from a provider's error, such as `request (8677 tokens) exceeds the
/// available context size (4096 tokens)` or `210000 tokens > 200000 maximum`.
fn figures(why: &str) -> Option<(u64, u64)> {
    let mut found = Vec::new();
    let words: Vec<&str> = why
        .split(|c: char| c.is_whitespace() || "(),:;".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
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
        let check = |why: &str, read: Option<(u64, u64)>| assert_eq!(figures(why), read, "{why}");
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
