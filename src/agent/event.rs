//! Events that the agent handles.

use crate::chat::{
    Answer, By, CallId, Chunk, Decision, Instructions, Intent, Outcome, Said, SessionId, Staged, TurnId,
    Usage,
};
use crate::policy::{Mode, Rules};
use std::sync::Arc;
use std::time::Duration;

/// An event. Those with a `turn` are ignored once that turn has ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user sent a message.
    Said(String),
    /// The user wants to decide on these calls, which no model made. Ignored while a turn runs and in a dry run.
    Offered(super::Offered),
    /// The user withdrew the queued messages. The caller reads [`super::State::queue`] first, to put them back into the
    /// draft.
    TakenBack,
    /// A part of a reply arrived.
    Chunk {
        turn: TurnId,
        chunk: Chunk,
        /// Time since the request was sent.
        after: Duration,
    },
    /// The partial reply is due to be saved.
    Grew { turn: TurnId },
    /// The request failed, or the reply was cut off.
    Failed {
        turn: TurnId,
        /// Reason, one sentence for the user.
        why: String,
        /// True if the provider reports that the request exceeds the context window.
        too_long: bool,
    },
    /// A tool has planned a call.
    Planned {
        turn: TurnId,
        call: CallId,
        /// Its plan or questions, or an error for the model.
        intent: Result<Intent, String>,
    },
    /// A reviewer has answered, or failed.
    Consulted {
        turn: TurnId,
        call: CallId,
        /// Number of the review; the event is ignored unless that review is pending.
        round: u64,
        said: Said,
    },
    /// A running call reported progress.
    Progressed {
        turn: TurnId,
        call: CallId,
        /// Latest output, bounded.
        output: String,
        /// Output since the previous event of this kind; empty if only progress is reported.
        more: String,
    },
    /// The output of a running call is due to be saved.
    OutputDue { turn: TurnId, call: CallId },
    /// A call ended.
    Finished {
        turn: TurnId,
        call: CallId,
        outcome: Outcome,
        /// Source of the result, if the call was rehearsed.
        staged: Option<Staged>,
        /// Run time.
        took: Duration,
    },
    /// The user opened the queue of waiting calls.
    Listed,
    /// The user opens the approval prompt of this call before its turn; `None` returns to the call whose turn it is.
    Brought(Option<CallId>),
    /// The user or a caller decided on a call.
    Decided {
        /// The call; ignored unless it waits. A denial is accepted for every call that has not started.
        call: CallId,
        decision: Decision,
        by: By,
    },
    /// Pending questions were answered.
    Answered {
        /// The call; ignored unless its questions are pending.
        call: CallId,
        answer: Answer,
        by: By,
    },
    /// The user stopped the turn.
    Interrupted,
    /// The user named the session.
    Titled(String),
    /// The model replied to a request for a session title.
    Named {
        /// Its raw reply, which may be no title.
        said: String,
        /// Usage reported by the provider.
        usage: Option<Usage>,
    },
    /// The user asked for a summary of the session so far.
    CompactionWanted,
    /// The context window of the model in tokens changed, or became known or unknown.
    WindowKnown(Option<u64>),
    /// The user does not want to wait for the next retry of a failed request.
    Hurried,
    /// The user retries the last turn, which failed. Adds no message and runs no call again; continues from the
    /// recorded outcomes.
    AskedAgain,
    /// The user chose another model.
    Switched {
        /// Model name as its provider knows it; empty for the provider's first model.
        model: String,
        /// Profile of the model, if it changed too.
        profile: Option<String>,
    },
    /// The session was copied: the copy of a live session is a dry run, or the reverse.
    Became {
        /// Session that was copied.
        of: SessionId,
    },
    /// The rules were read: when the session began, or before a call is planned if one of their files changed.
    RulesRead {
        rules: Arc<Rules>,
        /// Notices for the user, one sentence each.
        notices: Vec<String>,
    },
    /// The user trusts these instructions of the project. They replace the previous ones from the next request on.
    Instructed(Arc<Vec<Instructions>>),
    /// The user revoked a grant or a rule. A rule has been removed from its file by now.
    TookBack {
        /// Call on whose approval prompt the grant was given; `None` for a rule.
        given_on: Option<CallId>,
        /// Description of the grant or rule.
        what: String,
        by: By,
    },
    /// The user changed the permission mode. Only a key press creates this event; no prompt and no model can.
    ModeChanged(Mode),
}
