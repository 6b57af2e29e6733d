//! Decides whether a prompt accepts answers: a key counts only if the user can have seen the prompt.

mod held_key;

use crate::tui::keys::Chord;
pub use held_key::{HeldKey, Press};
use std::time::Duration;

/// Time that must have passed since the prompt was first drawn, and since the last other key press, before a key
/// answers.
pub const QUIET_TIME: Duration = Duration::from_millis(500);

/// Time after fast input before an Enter ends a text field in a prompt. Within a paste the next piece arrives sooner
/// than this, even over a slow connection.
pub const PASTE_GAP: Duration = Duration::from_millis(150);

/// Message for an Enter sooner than [`PASTE_GAP`] after fast input.
pub const TOO_SOON_AFTER_PASTE: &str = "Too soon after a paste, not counted · press it again";

/// State of a prompt: accepts answers, or the reason it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    Ready,
    /// The prompt was not drawn yet, is covered, or does not have the focus.
    Unseen,
    /// Accepts answers from this time on if no other key is pressed until then. Draw again at that time.
    Until(Duration),
    /// The composer holds a draft and has the focus.
    Unsent,
}

impl Listening {
    /// True if a key may answer now.
    pub fn is_listening(self) -> bool {
        self == Listening::Ready
    }
}

/// Recent key presses; one instance for the whole screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presses {
    last_other_press: Option<Duration>,
    last_fast_input: Option<Duration>,
    last_answer: Option<(Chord, Duration)>,
    /// The key that sent the last message.
    pub send_key: HeldKey,
}

impl Presses {
    /// Records a key that answered nothing, a paste, a click, or the return of the window to the front. Keys that move
    /// within a prompt are not recorded.
    pub fn record_other_press(&mut self, now: Duration) {
        self.last_other_press = Some(now);
    }

    /// Records input faster than a hand can type.
    pub fn record_fast_input(&mut self, now: Duration) {
        self.last_fast_input = Some(now);
    }

    /// Records that this key answered a prompt.
    pub fn record_answer(&mut self, chord: Chord, now: Duration) {
        self.last_answer = Some((chord, now));
    }

    /// Returns whether a key is a repeat of the last answer: the same key without a gap of `QUIET_TIME`. Call it for
    /// every key before anything else; the caller ignores repeats. Any other key ends the series.
    pub fn is_repeat_of_answer(&mut self, chord: Chord, now: Duration) -> bool {
        let is_repeat =
            self.last_answer.is_some_and(|(answer, time)| answer == chord && now.saturating_sub(time) < QUIET_TIME);
        self.last_answer = is_repeat.then_some((chord, now));
        is_repeat
    }
}

/// Returns whether a prompt accepts answers.
///
/// `first_drawn` is the time at which the prompt was first drawn. `has_draft` is true if the composer holds a draft,
/// `has_moved_focus` if the user moved the focus to the prompt, `is_editing_text` if a text field in the prompt is
/// being edited: fast input is then the text of the field, and the Enter after it needs only [`PASTE_GAP`] of quiet.
pub fn listening_state(
    first_drawn: Option<Duration>,
    presses: &Presses,
    has_draft: bool,
    has_moved_focus: bool,
    is_editing_text: bool,
    now: Duration,
) -> Listening {
    let Some(first_drawn) = first_drawn else { return Listening::Unseen };
    if has_draft && !has_moved_focus {
        return Listening::Unsent;
    }
    let quiet_until =
        presses.last_other_press.map_or(first_drawn, |last_press| first_drawn.max(last_press)) + QUIET_TIME;
    let fast_input_until =
        presses.last_fast_input.map(|time| time + if is_editing_text { PASTE_GAP } else { QUIET_TIME });
    let ready_at = fast_input_until.map_or(quiet_until, |time| time.max(quiet_until));
    if now < ready_at { Listening::Until(ready_at) } else { Listening::Ready }
}

#[cfg(test)]
mod tests;
