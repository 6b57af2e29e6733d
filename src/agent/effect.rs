//! Everything the agent can want done.

use super::Brief;
use crate::chat::{Entry, Grown, Plan, Printed, Request, ToolCall, TurnId};
use crate::policy::LeftOut;

/// Something wanted done outside. Effects of one update are done in their order, and an `Append` is on its way to the
/// disk before anything after it starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Keep this fact.
    Append(Entry),
    /// Keep what came of a reply that is not whole yet. It is no fact: the reply will be.
    KeepGrown(Box<Grown>),
    /// Keep what a running call has printed since the last of these. It is no entry: the outcome of the call will be.
    KeepPrinted(Printed),
    /// Ask the model.
    Stream {
        /// Comes back with every event.
        turn: TurnId,
        /// What to send.
        request: Box<Request>,
    },
    /// Let a tool look; touch nothing.
    Plan {
        /// Comes back with the event.
        turn: TurnId,
        /// The call to look at.
        call: ToolCall,
    },
    /// Ask somebody of the person's choice about a call; touch nothing.
    Consult {
        /// Comes back with the event.
        turn: TurnId,
        /// The call.
        call: ToolCall,
        /// What it would do.
        plan: Box<Plan>,
        /// Comes back with the event.
        round: u64,
        /// Whom, and what they are told beside it.
        brief: Box<Brief>,
    },
    /// Do what was planned.
    Act {
        /// Comes back with the event.
        turn: TurnId,
        /// The call.
        call: ToolCall,
        /// Its plan, as it was shown.
        plan: Box<Plan>,
        /// What it leaves out of what it comes upon.
        left_out: LeftOut,
    },
    /// Do it on the rehearsal's stage, or say what would have been done.
    Rehearse {
        /// Comes back with the event.
        turn: TurnId,
        /// The call.
        call: ToolCall,
        /// Its plan.
        plan: Box<Plan>,
        /// What it leaves out of what it comes upon.
        left_out: LeftOut,
        /// Whether the user approved this call at a prompt, or a grant or a rule allows exactly it, so that what it reads may
        /// go to the model.
        approved: bool,
    },
    /// Let the model name the session, beside whatever else goes on; what comes of it is [`super::Event::Named`], or
    /// nothing.
    Name {
        /// What to send.
        request: Box<Request>,
    },
    /// Send the request that waits to be sent again, now.
    Hurry,
    /// Stop everything that runs for this turn.
    Cancel {
        /// The turn.
        turn: TurnId,
    },
}
