//! Token usage and price of each turn of a session.

use super::attachments::own_text;
use super::{Entry, Session, Usage};

/// Price in dollars per million tokens: input, cached input, output.
pub type Price = (f64, f64, f64);

/// A turn and its usage, with that of sub-agents, reviewers and other requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnUsage {
    /// First line of the message that began it.
    pub message: String,
    pub usage: Usage,
    /// Number of replies.
    pub replies: usize,
}

impl Usage {
    /// Returns the cost in dollars.
    pub fn cost(&self, (input_price, cached_price, output_price): Price) -> f64 {
        let uncached = self.input.saturating_sub(self.cached) as f64;
        let cost = uncached * input_price + self.cached as f64 * cached_price + self.output as f64 * output_price;
        cost / 1e6
    }

    /// Returns the share of the input that was in the provider's cache, in percent; `None` without input.
    pub fn cached_percent(&self) -> Option<u64> {
        (self.cached.min(self.input) * 100).checked_div(self.input)
    }
}

/// Returns the turns of a session, oldest first. A request between two turns belongs to the one before it, and one before
/// the first turn to the first.
pub fn list_turns(session: &Session) -> Vec<TurnUsage> {
    let mut turns: Vec<TurnUsage> = Vec::new();
    let mut is_open = false;
    let mut earlier = Usage::default();
    for entry in session.entries() {
        match entry {
            Entry::UserMessage { text } if !is_open => {
                let message = own_text(text).lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                turns.push(TurnUsage {
                    message: message.trim().to_owned(),
                    usage: std::mem::take(&mut earlier),
                    replies: 0,
                });
                is_open = true;
            }
            Entry::Ended { .. } => is_open = false,
            _ => {}
        }
        let inner = if let Entry::SubAgent { entry, .. } = entry { entry } else { entry };
        let usage = inner.usage().unwrap_or_default();
        match turns.last_mut() {
            Some(turn) => {
                turn.usage += usage;
                turn.replies += usize::from(matches!(entry, Entry::Replied { .. }));
            }
            None => earlier += usage,
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Ending;

    fn reply(input: u64, cached: u64, output: u64) -> Entry {
        let mut entry = Entry::from_calls(Vec::new());
        if let Entry::Replied { usage, .. } = &mut entry {
            *usage = Some(Usage { input, cached, output });
        }
        entry
    }

    #[test]
    fn turns_have_the_usage_of_the_session() {
        let message = |text: &str| Entry::UserMessage { text: text.into() };
        let ended = || Entry::Ended { ending: Ending::Finished };
        let sub_agent = Entry::SubAgent { call: "1".into(), entry: Box::new(reply(5, 0, 1)) };
        let entries = vec![
            message("\nfirst\nmore"),
            reply(100, 0, 10),
            message("queued"),
            sub_agent,
            reply(200, 100, 20),
            ended(),
            Entry::Titled {
                title: "t".into(),
                by: crate::chat::TitleSource::Model,
                usage: Some(Usage { input: 7, cached: 0, output: 1 }),
            },
            message("second"),
            reply(300, 270, 30),
        ];
        let session = Session::replay(entries);
        let turns = list_turns(&session);
        let described: Vec<_> =
            turns.iter().map(|turn| (turn.message.as_str(), turn.usage.input, turn.replies)).collect();
        assert_eq!(described, [("first", 312, 2), ("second", 300, 1)]);
        let mut sum = Usage::default();
        turns.iter().for_each(|turn| sum += turn.usage);
        assert_eq!(sum, session.usage());
        assert_eq!([turns[1].usage.cached_percent(), Usage::default().cached_percent()], [Some(90), None]);
        assert!((turns[1].usage.cost((1.0, 0.1, 10.0)) - 0.000_357).abs() < 1e-9);
    }
}
