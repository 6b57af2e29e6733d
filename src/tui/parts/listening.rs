//! Decides whether a prompt accepts answers: a key counts only if the user can have seen the prompt.

mod held_key;

use crate::tui::keys::Chord;
pub use held_key::{HeldKey, Press};
use std::time::Duration;

/// Time without a key press before a key may answer a prompt. It starts when the prompt is first drawn, and again with
/// every key press that does not answer.
pub const QUIET_TIME: Duration = Duration::from_millis(500);

/// Time after fast input before an Enter ends a text field in a prompt. Within a paste the next piece arrives sooner
/// than this, even over a slow connection.
pub const PASTE_GAP: Duration = Duration::from_millis(150);

/// Message for a key that would answer, pressed before its prompt accepts answers.
pub const TOO_SOON: &str = "Too fast, not counted · press it again";

/// Message for an Enter sooner than [`PASTE_GAP`] after fast input.
pub const TOO_SOON_AFTER_PASTE: &str = "Too fast after a paste, not counted · press it again";

/// State of a prompt: accepts answers, or the reason it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    /// A key may answer now.
    Ready,
    /// The prompt was not drawn yet, is covered, or does not have the focus.
    Unseen,
    /// The prompt accepts answers from this time on if no other key is pressed until then. Draw again at that time.
    Until(Duration),
    /// A text field accepts text, but its last keys came as fast as a paste. Until this time Enter is part of the paste.
    AfterFastInput(Duration),
    /// The composer has an unsent draft, which receives the keys.
    Unsent,
}

/// Receiver of the keys that are typed while a prompt is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyReceiver {
    Prompt,
    /// A text field in the prompt. Fast input is then the text of the field.
    TextField,
    /// A draft in the composer.
    Draft,
}

impl Listening {
    /// Returns whether a key may answer now.
    pub fn is_listening(self) -> bool {
        self == Listening::Ready
    }
}

/// Recent key presses; one instance for the whole screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presses {
    /// Time of the last call of `record_other_press`.
    last_other_press: Option<Duration>,
    last_fast_input: Option<Duration>,
    /// Key that answered last, and the time of its last repeat.
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

    /// Returns whether an Enter now may be part of a paste.
    pub fn may_be_pasting(&self, now: Duration) -> bool {
        self.last_fast_input.is_some_and(|time| now < time + PASTE_GAP)
    }

    /// Records that this key answered a prompt.
    pub fn record_answer(&mut self, chord: Chord, now: Duration) {
        self.last_answer = Some((chord, now));
    }

    /// Returns whether a key is a repeat of the last answer: the same key without a gap of `QUIET_TIME`, and without
    /// another key between. Call it for every key before anything else, and ignore repeats.
    pub fn is_repeat_of_answer(&mut self, chord: Chord, now: Duration) -> bool {
        let is_repeat =
            self.last_answer.is_some_and(|(answer, time)| answer == chord && now.saturating_sub(time) < QUIET_TIME);
        self.last_answer = is_repeat.then_some((chord, now));
        is_repeat
    }

    /// Returns whether a prompt whose first readable frame was at `first_drawn` accepts answers now.
    pub fn listening_state(&self, first_drawn: Option<Duration>, receiver: KeyReceiver, now: Duration) -> Listening {
        let Some(first_drawn) = first_drawn else { return Listening::Unseen };
        let fast_input_pause = match receiver {
            KeyReceiver::Draft => return Listening::Unsent,
            KeyReceiver::TextField => PASTE_GAP,
            KeyReceiver::Prompt => QUIET_TIME,
        };
        let quiet_until = self.last_other_press.map_or(first_drawn, |time| time.max(first_drawn)) + QUIET_TIME;
        let ready_at = self.last_fast_input.map_or(quiet_until, |time| quiet_until.max(time + fast_input_pause));
        match receiver {
            _ if now >= ready_at => Listening::Ready,
            KeyReceiver::TextField if now >= quiet_until => Listening::AfterFastInput(ready_at),
            KeyReceiver::TextField | KeyReceiver::Prompt | KeyReceiver::Draft => Listening::Until(ready_at),
        }
    }
}

#[cfg(test)]
mod tests;
