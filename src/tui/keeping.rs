//! What was chosen on a question card and not sent is kept outside soon after it changes, so that no end of the
//! program takes more than a moment of it.

use super::effect::Effect;
use super::host::Wish;
use super::prompt::Card;
use super::state::State;
use std::time::Duration;

/// So long changes gather before they are kept: less than a second of typing, and not each key.
const SOON: Duration = Duration::from_millis(700);

/// What is kept of the card, and since when it is behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keeping {
    text: String,
    behind: Option<Duration>,
}

impl Keeping {
    /// What the outside holds when a session is opened.
    pub fn of(text: String) -> Self {
        Self { text, behind: None }
    }

    /// What the outside holds.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When what changed has to be kept.
    pub(super) fn due(&self) -> Option<Duration> {
        self.behind.map(|since| since + SOON)
    }
}

impl State {
    /// Keeps what changed on the card: after a moment, or at once where the card is gone or `now` says so.
    pub(super) fn keep_card(&mut self, now: bool) -> Option<Effect> {
        let text = match self.prompt.as_ref().map(|prompt| &prompt.card) {
            Some(Card::Question(card)) => card.kept(),
            Some(Card::Approval(_) | Card::Trust(_)) | None => String::new(),
        };
        // A card that was put back is kept where none is in front.
        let text = match (text.is_empty(), self.aside.last()) {
            (true, Some(aside)) => aside.kept(),
            (true, None) | (false, _) => text,
        };
        if text == self.keeping.text {
            self.keeping.behind = None;
            return None;
        }
        let since = *self.keeping.behind.get_or_insert(self.now);
        if !now && !text.is_empty() && self.now < since + SOON {
            return None;
        }
        self.keeping = Keeping::of(text.clone());
        Some(Effect::Ask(Wish::KeepCard(self.session.clone(), text)))
    }
}
