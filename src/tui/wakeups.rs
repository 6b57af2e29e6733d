//! Times at which the screen changes without an event.

use super::parts::listening::Listening;
use super::parts::spinner::SPINNER_INTERVAL;
use super::popup::{List, Popup};
use super::state::State;
use std::time::Duration;

/// Time for which a key for a prompt is held back, because it may be the first character of a paste: longer than the
/// gap between pasted characters, shorter than a user notices.
const HOLD_TIME: Duration = Duration::from_millis(12);

impl State {
    /// Returns when the screen changes by itself next; `None` while nothing moves.
    pub fn next_change(&self) -> Option<Duration> {
        let activity_tick = self.agent.is_busy().then(|| {
            if let Some(next_second) = self.timing.pace.next_tick(&self.agent, self.timing.now) {
                return next_second;
            }
            // The next step of the spinner.
            let elapsed_ms = self.timing.now.saturating_sub(self.timing.activity_start).as_millis();
            self.timing.activity_start
                + SPINNER_INTERVAL * u32::try_from(elapsed_ms / SPINNER_INTERVAL.as_millis() + 1).unwrap_or(u32::MAX)
        });
        let listening_start = |listening| match listening {
            Some(Listening::Until(time) | Listening::AfterFastInput(time)) => Some(time),
            Some(Listening::Ready | Listening::Unseen | Listening::Unsent) | None => None,
        };
        // The list of background commands shows their run times.
        let shows_times = matches!(self.viewport.popups.last(), Some(Popup::List(_, List::Background)));
        let next_second = (shows_times && !self.agent.background.is_empty())
            .then(|| Duration::from_secs(self.timing.now.as_secs() + 1));
        let next_file_check = match self.viewport.popups.last() {
            Some(Popup::List(_, List::Files(files))) => Some(files.next_check),
            _ => None,
        };
        let prompt_change =
            listening_start(self.prompt_listening()).or_else(|| listening_start(self.confirmation_listening()));
        activity_tick
            .into_iter()
            .chain(next_second)
            .chain(next_file_check)
            .chain(prompt_change)
            .chain(self.held_key_deadline())
            .chain(self.prompts.front().and_then(|prompt| prompt.next_change(self.timing.now)))
            .chain(self.next_unsent_save())
            .chain(self.session.saving.next_attempt())
            .chain(self.notices.toasts.next_expiry())
            .chain(self.input.key_caps.next_change(self.timing.now))
            .min()
    }

    /// Returns when the held-back key counts as a key press; `None` if no key is held back.
    pub fn held_key_deadline(&self) -> Option<Duration> {
        self.input.held_key.map(|(_, pressed_at)| pressed_at + HOLD_TIME)
    }
}
