//! Everything that can happen to the agent.

use crate::chat::{Answer, By, CallId, Chunk, Decision, Intent, Outcome, TurnId};
use std::time::Duration;

/// Something that happened. Those that carry a turn are dropped when that turn is over.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The person said something.
    Said(String),
    /// The person took back what they said while a turn ran; the text goes back to the composer by
    /// [`super::State::queue`], read before.
    TakenBack,
    /// A piece of a reply came.
    Chunk {
        /// The turn that asked.
        turn: TurnId,
        /// The piece.
        chunk: Chunk,
        /// Since the request was sent.
        after: Duration,
    },
    /// The request failed, or the reply was cut short.
    Failed {
        /// The turn that asked.
        turn: TurnId,
        /// One sentence for the person.
        why: String,
    },
    /// A tool has looked at a call.
    Planned {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// What it would do, or words for the model about what was wrong.
        intent: Result<Intent, String>,
    },
    /// A running call has something to show.
    Progressed {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// The latest output, bounded.
        output: String,
    },
    /// A call came to its end.
    Finished {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
        /// How long it ran.
        took: Duration,
    },
    /// The waiting call was decided.
    Decided {
        /// Which call; ignored unless it is the one that waits.
        call: CallId,
        /// What was decided.
        decision: Decision,
        /// Who decided.
        by: By,
    },
    /// The waiting questions were answered.
    Answered {
        /// Which call; ignored unless it is the one that waits.
        call: CallId,
        /// What was answered.
        answer: Answer,
    },
    /// The person stopped the turn.
    Interrupted,
    /// The person named the session.
    Titled(String),
    /// The person chose another model.
    Switched(String),
    /// The person went on to the next mode. Only a key of theirs makes this; no card and no model does.
    ModeChanged,
}
