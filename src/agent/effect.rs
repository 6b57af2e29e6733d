//! Effects that the agent requests.

use super::Brief;
use crate::chat::{Entry, Grown, Plan, Printed, Request, ToolCall, TurnId};
use crate::policy::LeftOut;

/// An action outside the agent. Effects of one update are carried out in order, and an `Append` is written before a
/// later effect starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Record an entry.
    Append(Entry),
    /// Save a partial reply. It is not an entry; the complete reply will be.
    KeepGrown(Box<Grown>),
    /// Save output of a running call since the previous save. It is not an entry; the outcome will be.
    KeepPrinted(Printed),
    /// Request a reply from the model.
    Stream {
        /// Returned with every event.
        turn: TurnId,
        request: Box<Request>,
    },
    /// Plan a call, without side effects.
    Plan {
        /// Returned with the event.
        turn: TurnId,
        call: ToolCall,
    },
    /// Ask a reviewer about a call, without side effects.
    Consult {
        /// Returned with the event.
        turn: TurnId,
        call: ToolCall,
        plan: Box<Plan>,
        /// Returned with the event.
        round: u64,
        /// The reviewer and its context.
        brief: Box<Brief>,
    },
    /// Run a call.
    Act {
        /// Returned with the event.
        turn: TurnId,
        call: ToolCall,
        /// Plan as shown to the user.
        plan: Box<Plan>,
        /// Paths that it must skip.
        left_out: LeftOut,
    },
    /// Rehearse a call in the overlay, or simulate it.
    Rehearse {
        /// Returned with the event.
        turn: TurnId,
        call: ToolCall,
        plan: Box<Plan>,
        /// Paths that it must skip.
        left_out: LeftOut,
        /// True if the user approved this call at a prompt, or a grant or a rule allows exactly it, so that what it
        /// reads may go to the model.
        approved: bool,
    },
    /// Ask the model for a session title in parallel to everything else. Answered by [`super::Event::Named`], or not at
    /// all.
    Name { request: Box<Request> },
    /// Retry the failed request now.
    Hurry,
    /// Stop everything that runs for this turn.
    Cancel { turn: TurnId },
}
