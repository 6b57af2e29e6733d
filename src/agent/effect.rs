//! Effects that the agent requests.

use super::ReviewContext;
use crate::chat::{CallId, Entry, PartialOutput, PartialReply, Plan, Request, ToolCall, TrialReport, TurnId};
use crate::policy::ExcludedPaths;

/// An action outside the agent. Effects of one update are carried out in order, and an `AppendEntry` is written to the
/// log before a later effect starts. The `turn` and the `round` of an effect are returned with its events.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Record an entry.
    AppendEntry(Entry),
    /// Save a partial reply. It is not an entry; the complete reply will be.
    SavePartialReply(Box<PartialReply>),
    /// Save output of a running call since the previous save. It is not an entry; the outcome will be.
    SaveOutput(PartialOutput),
    /// Request a reply from the model.
    RequestReply { turn: TurnId, request: Box<Request> },
    /// Plan a call, without side effects.
    PlanCall {
        turn: TurnId,
        call: ToolCall,
        /// True if the call applies a dry run. Only then may it use a tool that is not offered to models.
        is_apply_call: bool,
    },
    /// Ask a reviewer about a call, without side effects.
    ReviewCall {
        turn: TurnId,
        call: ToolCall,
        plan: Box<Plan>,
        /// Number of the review request.
        round: u64,
        /// The reviewer and its context.
        context: Box<ReviewContext>,
    },
    /// Run a call.
    RunCall {
        turn: TurnId,
        call: ToolCall,
        /// Plan as shown to the user.
        plan: Box<Plan>,
        /// Paths that it must skip.
        excluded_paths: ExcludedPaths,
        /// As [`crate::tools::LiveContext::runs_in_parts`].
        runs_in_parts: bool,
    },
    /// Rehearse a call in the overlay, or simulate it.
    RehearseCall {
        turn: TurnId,
        call: ToolCall,
        plan: Box<Plan>,
        /// Paths that it must skip.
        excluded_paths: ExcludedPaths,
        /// True if the user approved this call at a prompt, or a grant or a rule allows exactly this call, so that the
        /// data it reads may go to the model.
        approved: bool,
    },
    /// Run a command of the user, in a dry run in the overlay sandbox. Answered by
    /// [`super::Event::UserCommandFinished`].
    RunUserCommand { turn: TurnId, command: String },
    /// Find out whether commands can be tried. Answered by [`super::Event::TrialSupportChecked`] with this call, which is
    /// `None` if no call waits for the answer.
    CheckTrialSupport { call: Option<CallId> },
    /// Try a command. Answered by [`super::Event::TrialFinished`].
    TryCall {
        turn: TurnId,
        call: ToolCall,
        plan: Box<Plan>,
        /// Number of the trial in this session.
        number: u64,
        /// True if the mode `auto` tries it: its output may go to the model without having been shown to the user.
        is_automatic: bool,
    },
    /// Make the effects of a finished trial real. Answered by [`super::Event::CallFinished`].
    KeepTrial { turn: TurnId, call: ToolCall, number: u64, report: Box<TrialReport> },
    /// Stop the trial of a call, or forget what it did.
    DropTrial { call: CallId },
    /// Ask the model for a session title in parallel to everything else. Answered by
    /// [`super::Event::TitleSuggested`], or not at all.
    RequestTitle { request: Box<Request> },
    /// Switch to another profile, as the user could, because the turn ended with a transfer. Answered by
    /// [`super::Event::ModelSwitched`], or not at all. The runtime does nothing: the frontend connects.
    SwitchProfile {
        profile: String,
        /// Model of the profile; empty for the provider's first one.
        model: String,
    },
    /// End the wait before the next attempt of a failed request.
    RetryNow,
    /// Move the running command of a call out of its turn: it continues without a time limit, as the background command
    /// with this number. Its events keep the turn.
    DetachCall {
        call: CallId,
        number: u32,
        /// The command line, for the plans of later calls about it.
        command: String,
        /// Bytes of its output that the outcome of the call has.
        seen_bytes: u64,
    },
    /// Stop a background command. Answered by [`super::Event::CallFinished`].
    StopBackground { number: u32 },
    /// Stop everything that runs for this turn.
    CancelTurn { turn: TurnId },
}
