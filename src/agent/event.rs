//! Everything that can happen to the agent.

use crate::chat::{
    Answer, By, CallId, Chunk, Decision, Instructions, Intent, Outcome, Said, SessionId, Staged, TurnId,
    Usage,
};
use crate::policy::{Mode, Rules};
use std::sync::Arc;
use std::time::Duration;

/// Something that happened. Those that carry a turn are dropped when that turn is over.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The person said something.
    Said(String),
    /// The person wants to decide over these calls, which no model makes. Nothing where a turn runs, and in a dry run.
    Offered(super::Offered),
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
    /// It is time to keep what came of the reply so far.
    Grew {
        /// The turn that asked.
        turn: TurnId,
    },
    /// The request failed, or the reply was cut short.
    Failed {
        /// The turn that asked.
        turn: TurnId,
        /// One sentence for the person.
        why: String,
        /// The service says that the request does not fit into the model's window.
        too_long: bool,
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
    /// Whoever was asked about a call has answered, or could not.
    Consulted {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// Which question it answers; ignored unless that is the one that is open.
        round: u64,
        /// What they said.
        said: Said,
    },
    /// A running call has something to show.
    Progressed {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// The latest output, bounded.
        output: String,
        /// What the call has printed since the last of these events; empty if it only says how far it is.
        more: String,
    },
    /// It is time to keep what a running call has printed.
    OutputDue {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
    },
    /// A call came to its end.
    Finished {
        /// The turn it belongs to.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
        /// How that came about, where it was rehearsed.
        staged: Option<Staged>,
        /// How long it ran.
        took: Duration,
    },
    /// The person looks at the list of what waits.
    Listed,
    /// The person wants the card of this call before its turn; without one, that of the call whose turn it is.
    Brought(Option<CallId>),
    /// The waiting call was decided.
    Decided {
        /// Which call; ignored unless it waits. A no is taken for every call that has not begun.
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
        /// Who answered.
        by: By,
    },
    /// The person stopped the turn.
    Interrupted,
    /// The person named the session.
    Titled(String),
    /// The model was asked for a name of the session, and said this.
    Named {
        /// Its words as they came; they need not be a name at all.
        said: String,
        /// What the service counted.
        usage: Option<Usage>,
    },
    /// The person wants what was said so far told by a summary from here on.
    CompactionWanted,
    /// How many tokens fit into a request to the present model, where that is known.
    WindowKnown(Option<u64>),
    /// The person does not want to wait until a failed request is sent again.
    Hurried,
    /// The person wants to be answered after all where the last turn went wrong. Nothing new is said, and no call is
    /// run again: it goes on from what came of them.
    AskedAgain,
    /// The person chose another model.
    Switched {
        /// Its name as its service knows it; empty where the service's first is taken.
        model: String,
        /// The profile of the settings that leads to it, where that is another one too.
        profile: Option<String>,
    },
    /// The session was made as a copy that is a dry run where the old one is none, or the other way round.
    Became {
        /// What it was made of.
        of: SessionId,
    },
    /// The rules are these now: read when the session began, and again before a call is looked at where a file of them
    /// changed.
    RulesRead {
        /// What holds.
        rules: Arc<Rules>,
        /// What the person should know of them: one sentence each.
        notices: Vec<String>,
    },
    /// The person trusts these words of the project, or none any more: the model is told them from the next request on.
    Instructed(Arc<Vec<Instructions>>),
    /// The person took a standing yes back. What was a rule is out of its file by now.
    TookBack {
        /// The call on whose card it was given in this session; none for a rule.
        given_on: Option<CallId>,
        /// What it was.
        what: String,
        /// Who took it back.
        by: By,
    },
    /// The person chose how much runs without asking. Only a key of theirs makes this; no card and no model does.
    ModeChanged(Mode),
}
