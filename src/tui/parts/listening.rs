//! Decides whether a prompt accepts answers: a key counts only if the user can have seen the prompt.

mod held_key;

use crate::tui::keys::Chord;
pub use held_key::{HeldKey, Press};
use std::time::Duration;

/// Time without a key press, and time since the prompt was first drawn, before a key answers.
pub const QUIET: Duration = Duration::from_millis(500);

/// Time after fast input before an Enter ends a text field in a prompt. Within a paste the next piece arrives sooner
/// than this, even over a slow connection.
pub const PIECE: Duration = Duration::from_millis(150);

/// Message for an Enter that came sooner.
pub const AT_ONCE: &str = "Too soon after a paste, not counted · press it again";

/// State of a prompt: accepts answers, or the reason it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    Yes,
    /// The prompt was not drawn yet, is covered, or does not have the focus.
    Unseen,
    /// Accepts answers from this time on if no other key is pressed until then. Draw again at that time.
    Until(Duration),
    /// The composer holds a draft and has the focus.
    Unsent,
}

impl Listening {
    /// True if a key may answer now.
    pub fn now(self) -> bool {
        self == Listening::Yes
    }
}

/// Recent key presses; one instance for the whole screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presses {
    elsewhere: Option<Duration>,
    hurried: Option<Duration>,
    answer: Option<(Chord, Duration)>,
    /// The key that sent the last message.
    pub sender: HeldKey,
}

impl Presses {
    /// Records a key that answered nothing, a paste, a click, or the return of the window to the front. Keys that move
    /// within a prompt are not recorded.
    pub fn elsewhere(&mut self, now: Duration) {
        self.elsewhere = Some(now);
    }

    /// Records input faster than a hand can type.
    pub fn hurried(&mut self, now: Duration) {
        self.hurried = Some(now);
    }

    /// Records that this key answered a prompt.
    pub fn answered(&mut self, chord: Chord, now: Duration) {
        self.answer = Some((chord, now));
    }

    /// Returns whether a key is a repeat of the last answer: the same key without a gap of `QUIET_TIME`. Call it for
    /// every key before anything else; a repeat has no effect anywhere. Any other key ends the series.
    pub fn goes_on(&mut self, chord: Chord, now: Duration) -> bool {
        let goes_on =
            self.answer.is_some_and(|(answer, at)| answer == chord && now.saturating_sub(at) < QUIET);
        self.answer = goes_on.then_some((chord, now));
        goes_on
    }
}

/// Returns whether a prompt accepts answers.
///
/// `seen` is the time at which it was first drawn, `unsent` is true if the composer holds a draft, `moved` if the user
/// moved the focus to the prompt, `line` if a text field in the prompt is being edited: fast input then is its text,
/// and the Enter after it need not wait as long as an answer.
pub fn listening(
    seen: Option<Duration>,
    presses: &Presses,
    unsent: bool,
    moved: bool,
    line: bool,
    now: Duration,
) -> Listening {
    let Some(seen) = seen else { return Listening::Unseen };
    if unsent && !moved {
        return Listening::Unsent;
    }
    let quiet = presses.elsewhere.map_or(seen, |pressed| seen.max(pressed)) + QUIET;
    let hurried = presses.hurried.map(|at| at + if line { PIECE } else { QUIET });
    let from = hurried.map_or(quiet, |hurried| hurried.max(quiet));
    if now < from { Listening::Until(from) } else { Listening::Yes }
}

#[cfg(test)]
mod tests;
