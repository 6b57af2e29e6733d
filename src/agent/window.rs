//! How much of the model's window the next request takes, and what is left out of it where it would take too much.

use super::State;
use crate::chat::{Entry, ToolSpec, Usage, shorten, tokens};

/// Room for the reply is this part of the window, …
const REPLY_PART: u64 = 5;
/// … and so many tokens at most.
const REPLY_MOST: u64 = 16_000;
/// A window this much too small, in percent, is too small also where our measure is off.
const SURELY: u64 = 125;
/// How long an outcome may be where the talk has to be made shorter: the first of these, in bytes, that suffices.
const LENGTHS: [usize; 5] = [16 << 10, 4 << 10, 1 << 10, 300, 80];
/// Our measure is corrected by what the service counts, within these bounds, in hundredths. What is outside them is
/// a service that counts something else.
const BELIEVED: (u64, u64) = (70, 600);

/// How full the model's window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauge {
    /// Tokens of the next request.
    pub tokens: u64,
    /// Tokens that fit, where that is known.
    pub window: Option<u64>,
    /// Whether the service has not counted all of it.
    pub estimated: bool,
}

impl Gauge {
    /// The share in percent, where the window is known.
    pub fn share(&self) -> Option<u64> {
        self.window.filter(|window| *window > 0).map(|window| self.tokens.saturating_mul(100) / window)
    }
}

/// What is known of how full the window is, beside the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measure {
    /// Tokens of the standing words and the tools, about.
    fixed: u64,
    /// What that was in the request that was counted last, where it has changed since.
    fixed_then: Option<u64>,
    /// What that was in the request that was sent last.
    fixed_sent: u64,
    /// Tokens of the request that was sent last, by our measure and corrected.
    sent: (u64, u64),
    /// What a refusal taught about our measure, in hundredths.
    taught: Option<u64>,
    /// A request of so many tokens did not fit.
    proved: Option<u64>,
    shortened: Option<Shortened>,
    /// What the shortening spared in the request that was counted last.
    spared_then: u64,
}

/// Outcomes of which the middle is left out in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shortened {
    /// Those before this entry.
    pub(super) before: usize,
    /// Bytes that are left of each.
    pub(super) most: usize,
    /// Tokens that this spares, about.
    spared: u64,
}

impl Measure {
    pub(super) fn of(system: &str, tools: &[ToolSpec]) -> Self {
        Self { fixed: fixed(system, tools), ..Self::default() }
    }

    /// The standing words are others now. `counted` is whether a request with those before was counted.
    pub(super) fn fix(&mut self, system: &str, tools: &[ToolSpec], counted: bool) {
        if counted {
            self.fixed_then.get_or_insert(self.fixed);
        }
        self.fixed = fixed(system, tools);
    }

    pub(super) fn fixed(&self) -> u64 {
        self.fixed
    }

    /// Another model has another window.
    pub(super) fn forget_window(&mut self) {
        (self.proved, self.taught, self.sent) = (None, None, (0, 0));
    }

    /// The last request did not fit, whatever is said of the window. Where the service says how long it was and what
    /// fits, that is believed. Whether it did.
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

    /// A summary has taken the place of what was shortened.
    pub(super) fn summarised(&mut self) {
        self.shortened = None;
    }

    /// A reply came, with what the service counted for it.
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
    /// How full the model's window is.
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

    /// What fits, as far as it is known: what was said, and what proved too much.
    pub(super) fn known_window(&self) -> Option<u64> {
        match (self.window, self.measure.proved) {
            (Some(said), Some(proved)) => Some(said.min(proved)),
            (said, proved) => said.or(proved),
        }
    }

    /// Tokens of the next request: as the service counted the last one, with what came since.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens_with(self.session.weight().saturating_sub(self.measure.spared()))
    }

    /// Tokens of a request with a talk of this weight.
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

    /// Our measure, corrected by what the service counted last, or said when it refused a request as too long.
    pub(super) fn corrected(&self, ours: u64) -> u64 {
        let counted = self.session.counted().map(|counted| {
            let talk = counted.talk.saturating_sub(self.measure.spared_then);
            counted.input.saturating_mul(100) / (self.measure.fixed_then() + talk).max(1)
        });
        let Some(hundredths) = counted.max(self.measure.taught) else { return ours };
        ours.saturating_mul(hundredths.clamp(BELIEVED.0, BELIEVED.1)) / 100
    }

    /// A request is sent whose talk and fixed parts are this much, by our measure.
    pub(super) fn sends(&mut self, ours: u64, corrected: u64) {
        self.measure.sent = (ours, corrected);
        self.measure.fixed_sent = self.measure.fixed;
    }

    /// The next request by our measure alone.
    pub(super) fn ours(&self) -> u64 {
        self.measure.fixed + self.session.weight().saturating_sub(self.measure.spared())
    }

    /// Whether so many tokens fit, with room for the reply. A window that nobody knows holds everything.
    pub(super) fn fits(&self, tokens: u64) -> bool {
        self.known_window().is_none_or(|window| tokens + (window / REPLY_PART).min(REPLY_MOST) <= window)
    }

    /// Whether the next request is too long beyond any doubt.
    pub(super) fn is_hopeless(&self) -> bool {
        let tokens = self.tokens().min(self.ours());
        self.known_window().is_some_and(|window| tokens > window.saturating_mul(SURELY) / 100)
    }

    /// Leaves out the middle of long outcomes until the next request fits, the older ones first, and no more of them
    /// than is needed. What the person said is never touched. Whether anything became shorter.
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

/// How long a request was and what fits, where a service says both: `request (8677 tokens) exceeds the available
/// context size (4096 tokens)`, `210000 tokens > 200000 maximum`.
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
    fn what_a_refusal_says_of_lengths_is_read() {
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
