//! Says whether a card listens: a key is an answer only if the person can have seen the question.

mod held_key;

use crate::tui::keys::Chord;
pub use held_key::{HeldKey, Press};
use std::time::Duration;

/// How long nothing may have been pressed, and how long a card must have been seen, before a key answers it.
pub const QUIET: Duration = Duration::from_millis(500);

/// A line that is written in a card ends with an Enter that comes so much later than letters that came at once, and no
/// sooner: within a paste the next piece comes faster than that, even over a slow connection.
pub const PIECE: Duration = Duration::from_millis(150);

/// What a card says of an Enter that came sooner.
pub const AT_ONCE: &str = "too soon, as in a paste: nothing was taken · press it again";

/// Whether a card takes a key as an answer, and where not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    /// It does.
    Yes,
    /// It was not drawn yet, or something covers it or has the keyboard: nobody can mean it.
    Unseen,
    /// Not before this time, if nothing else is pressed until then: draw again then.
    Until(Duration),
    /// The composer holds unsent words and the keyboard is there.
    Unsent,
}

impl Listening {
    /// Whether a key may answer now.
    pub fn now(self) -> bool {
        self == Listening::Yes
    }
}

/// What is known of the keys pressed lately: one for the whole screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presses {
    elsewhere: Option<Duration>,
    hurried: Option<Duration>,
    answer: Option<(Chord, Duration)>,
    /// The key that sent the last message.
    pub sender: HeldKey,
}

impl Presses {
    /// A key that answered nothing was pressed, something was pasted, the mouse clicked, or the window came back
    /// to the front. Keys that move within a card do not count.
    pub fn elsewhere(&mut self, now: Duration) {
        self.elsewhere = Some(now);
    }

    /// Keys came faster than a hand presses them.
    pub fn hurried(&mut self, now: Duration) {
        self.hurried = Some(now);
    }

    /// This key answered a card.
    pub fn answered(&mut self, chord: Chord, now: Duration) {
        self.answer = Some((chord, now));
    }

    /// Whether a key is only the last answer going on: the same one without a gap of [`QUIET`]. Ask it of every
    /// key before anything else; a key that goes on does nothing anywhere. Any other key ends it.
    pub fn goes_on(&mut self, chord: Chord, now: Duration) -> bool {
        let goes_on =
            self.answer.is_some_and(|(answer, at)| answer == chord && now.saturating_sub(at) < QUIET);
        self.answer = goes_on.then_some((chord, now));
        goes_on
    }
}

/// Whether a card listens. `seen` is when it was first drawn, `unsent` whether the composer holds words, `moved`
/// whether the person moved the keyboard to the card, `line` whether a line is being written in it: letters that came at
/// once are its words then, and what ends it need not wait as long as an answer.
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
