//! Times at which the screen changes without an event.

use super::parts::listening::Listening;
use super::parts::spinner::SPINNER_INTERVAL;
use super::state::State;
use std::time::Duration;

/// Time a key for a prompt is held back for the rest of a paste: longer than the gap between pasted
/// characters, shorter than a user notices.
const HOLD_TIME: Duration = Duration::from_millis(12);

impl State {
    /// Returns when the screen changes by itself next; `None` while nothing moves.
    pub fn next_change(&self) -> Option<Duration> {
        let spin = self.agent.is_busy().then(|| {
            if let Some(second) = self.timing.pace.next_tick(&self.agent, self.timing.now) {
                return second;
            }
            let since = self.timing.now.saturating_sub(self.timing.activity_start).as_millis();
            self.timing.activity_start
                + SPINNER_INTERVAL * u32::try_from(since / SPINNER_INTERVAL.as_millis() + 1).unwrap_or(u32::MAX)
        });
        let until = |listening| match listening {
            Some(Listening::Until(at)) => Some(at),
            Some(Listening::Ready | Listening::Unseen | Listening::Unsent) | None => None,
        };
        let card = until(self.prompt_listening()).or_else(|| until(self.confirmation_listening()));
        spin.into_iter()
            .chain(card)
            .chain(self.held_key_deadline())
            .chain(self.next_unsent_save())
            .chain(self.session.saving.next_attempt())
            .chain(self.notices.toasts.next_expiry())
            .min()
    }

    /// Returns when the key held back is handled as a key press.
    pub fn held_key_deadline(&self) -> Option<Duration> {
        self.input.held_key.map(|(_, at)| at + HOLD_TIME)
    }
}
