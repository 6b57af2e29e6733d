//! Events that the agent handles.

use crate::chat::folder_instructions::FoundInstructions;
use crate::chat::sampling::SamplingStep;
use crate::chat::{
    Answer, CallId, Chunk, Decider, Decision, Grant, Instructions, Intent, LiveCall, Outcome, ResultOrigin, Review,
    SessionId, ToolSpec, TrialReport, TurnId, UnacceptedTools, Usage,
};
use crate::policy::{Mode, Rules};
use std::sync::Arc;
use std::time::Duration;

/// Calls that apply the changes of a dry run. The user decides on each of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplyRequest {
    /// Text recorded as the user message.
    pub message: String,
    pub calls: Vec<LiveCall>,
}

/// A call that another program makes through aye.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedCall {
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// An event. Those with a `turn` are ignored once that turn has ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user sent a message.
    UserMessage(String),
    /// The user runs a command of their own. Ignored while a turn or another command runs, and in a dry run without an
    /// overlay sandbox.
    UserCommandRequested {
        command: String,
        /// False if the model must not see it.
        is_shared: bool,
    },
    /// The running command of the user printed something.
    UserCommandProgressed {
        turn: TurnId,
        /// Latest output, bounded.
        output: String,
        /// Output since the previous event of this kind.
        new_output: String,
    },
    /// The running command of the user waits for keys: it reads them one by one, hides them, or uses the whole screen.
    TerminalNeeded { turn: TurnId },
    /// The command of the user ended.
    UserCommandFinished {
        turn: TurnId,
        output: String,
        /// How it ended: `exit 0`.
        status: String,
        /// Run time.
        duration: Duration,
    },
    /// The user applies a dry run with these calls, which no model made. Ignored while a turn runs and in a dry run.
    ApplyRequested(ApplyRequest),
    /// Another program calls a tool. No model takes part: the turn ends with the call. Ignored while a turn runs.
    CallServed(ServedCall),
    /// The user withdrew the queued messages. The caller reads [`super::State::queued_messages`] first, to put them
    /// back into the draft.
    QueuedMessagesWithdrawn,
    /// A part of a reply arrived.
    ReplyChunk {
        turn: TurnId,
        chunk: Chunk,
        /// Time since the request was sent.
        elapsed: Duration,
    },
    /// The partial reply is due to be saved.
    ReplySaveDue { turn: TurnId },
    /// The request failed, or the reply was cut off.
    RequestFailed {
        turn: TurnId,
        /// Reason, one sentence for the user.
        reason: String,
        /// True if the provider reports that the request exceeds the context window.
        too_long: bool,
    },
    /// A tool has planned a call.
    CallPlanned {
        turn: TurnId,
        call: CallId,
        /// Its plan or questions, or an error for the model.
        intent: Result<Intent, String>,
    },
    /// A reviewer has answered, or failed.
    CallReviewed {
        turn: TurnId,
        call: CallId,
        /// Number of the review request; the event is ignored unless that request is pending.
        round: u64,
        review: Review,
    },
    /// A running call reported progress.
    CallProgressed {
        turn: TurnId,
        call: CallId,
        /// Latest output, bounded.
        output: String,
        /// Output since the previous event of this kind; empty if only progress is reported.
        new_output: String,
    },
    /// The output of a running call is due to be saved.
    OutputSaveDue { turn: TurnId, call: CallId },
    /// A running call asked a model, and its provider reported this token usage. The call ends after it.
    CallUsage { turn: TurnId, call: CallId, usage: Usage },
    /// The folders of the file that a running call has read have instructions. The call ends after it.
    FolderInstructionsFound { turn: TurnId, call: CallId, found: FoundInstructions },
    /// A call ended.
    CallFinished {
        turn: TurnId,
        call: CallId,
        outcome: Outcome,
        /// Source of the result, if the call was rehearsed.
        result_source: Option<ResultOrigin>,
        /// Run time.
        duration: Duration,
    },
    /// The user opened the queue of waiting calls.
    QueueOpened,
    /// The user opened the prompt of this call before its turn; `None` returns to the call whose turn it is.
    EarlyPromptRequested(Option<CallId>),
    /// The user or, without a screen, the headless frontend decided on a call.
    CallDecided {
        /// The call; ignored unless it waits. A denial is accepted for every call that has not started.
        call: CallId,
        decision: Decision,
        by: Decider,
    },
    /// The user wants to try a call before deciding on it. Ignored unless its prompt is shown.
    TrialRequested(CallId),
    /// The user stopped the running trial of this call.
    TrialStopped(CallId),
    /// A trial ended.
    TrialFinished {
        turn: TurnId,
        call: CallId,
        /// Number of the trial; the event is ignored unless that trial runs.
        number: u64,
        /// What the command did, or why it could not be tried.
        result: Result<Box<TrialReport>, String>,
    },
    /// It is known whether commands can be tried on this machine.
    TrialSupportChecked {
        /// The call that waited when the check was requested, if any.
        call: Option<CallId>,
        /// The error is the reason why they are not possible, as part of a sentence.
        result: Result<(), Arc<str>>,
    },
    /// Pending questions were answered.
    QuestionsAnswered {
        /// The call; ignored unless its questions are pending.
        call: CallId,
        answer: Answer,
        by: Decider,
    },
    /// The user stopped the turn.
    TurnInterrupted,
    /// The user named the session.
    SessionTitled(String),
    /// The model replied to a request for a session title.
    TitleSuggested {
        /// Its raw reply, which may be no title.
        text: String,
        /// Usage reported by the provider.
        usage: Option<Usage>,
    },
    /// The user asked for a summary of the session so far.
    CompactionRequested,
    /// The context window of the model in tokens changed, or became known or unknown.
    ContextWindowChanged(Option<u64>),
    /// Another profile is in use: above this number of estimated tokens, tools are deferred. `None`: never.
    ToolLimitChanged(Option<u64>),
    /// The user ends the wait before the next attempt of a failed request.
    RetryNow,
    /// The user retries the last turn, which failed. Adds no message and runs no call again; continues from the
    /// recorded outcomes.
    TurnRetried,
    /// The user chose another model.
    ModelSwitched {
        /// Model name as its provider knows it; empty for the provider's first model.
        model: String,
        /// Profile of the model, if it changed too.
        profile: Option<String>,
    },
    /// This session is a copy in another mode: a dry run of a live session, or a live copy of a dry run.
    SessionCopied {
        /// Session that was copied.
        source: SessionId,
    },
    /// The rules were read: when the session began, or before a call is planned if one of their files changed.
    RulesLoaded {
        rules: Arc<Rules>,
        /// Notices for the user, one sentence each.
        notices: Vec<String>,
    },
    /// The tools of MCP servers changed: one was connected, changed its tools, or ended.
    ToolsChanged {
        /// All tools of servers that may be offered now.
        tools: Vec<ToolSpec>,
        /// Notices for the user, one sentence each.
        notices: Vec<String>,
        /// New or changed tools, not offered until accepted.
        unaccepted: Option<UnacceptedTools>,
    },
    /// The next step of a request of an MCP server for an answer of the model.
    SamplingStepped(Box<SamplingStep>),
    /// The user trusts these instructions of the project. They replace the previous ones from the next request on.
    InstructionsChanged(Arc<Vec<Instructions>>),
    /// Tools of the project were trusted or are no longer trusted. Takes effect with the next request.
    ProjectToolsChanged {
        /// Names of the tools that are no longer offered.
        removed: Vec<String>,
        added: Vec<ToolSpec>,
    },
    /// The user revoked or edited a grant or a rule. The file of a rule has been changed by now.
    GrantRevoked {
        /// Call on whose approval prompt the grant was given; `None` for a rule.
        granting_call: Option<CallId>,
        /// Description of the grant or rule.
        description: String,
        /// The edited grant; `None` for a rule, or if the grant ends.
        replacement: Option<Box<Grant>>,
        by: Decider,
    },
    /// The user changed the permission mode. Only a key press creates this event; no prompt and no model can.
    ModeChanged(Mode),
    /// The user moves the running command of this call to the background. Ignored unless it runs.
    BackgroundRequested {
        call: CallId,
        /// Run time so far, as shown.
        elapsed: Duration,
    },
    /// The user stopped the background command with this number.
    BackgroundStopped(u32),
    /// The session is left. Its background commands end.
    SessionLeft,
}

impl Event {
    /// Returns the turn of an event that is ignored once that turn has ended.
    pub(super) fn turn(&self) -> Option<TurnId> {
        match self {
            Self::ReplyChunk { turn, .. }
            | Self::ReplySaveDue { turn }
            | Self::RequestFailed { turn, .. }
            | Self::CallPlanned { turn, .. }
            | Self::TrialFinished { turn, .. }
            | Self::CallReviewed { turn, .. }
            | Self::CallProgressed { turn, .. }
            | Self::OutputSaveDue { turn, .. }
            | Self::CallUsage { turn, .. }
            | Self::FolderInstructionsFound { turn, .. }
            | Self::CallFinished { turn, .. }
            | Self::UserCommandProgressed { turn, .. }
            | Self::TerminalNeeded { turn }
            | Self::UserCommandFinished { turn, .. } => Some(*turn),
            Self::UserMessage(_)
            | Self::UserCommandRequested { .. }
            | Self::ApplyRequested(_)
            | Self::CallServed(_)
            | Self::QueuedMessagesWithdrawn
            | Self::QueueOpened
            | Self::EarlyPromptRequested(_)
            | Self::CallDecided { .. }
            | Self::TrialRequested(_)
            | Self::TrialStopped(_)
            | Self::TrialSupportChecked { .. }
            | Self::QuestionsAnswered { .. }
            | Self::TurnInterrupted
            | Self::SessionTitled(_)
            | Self::TitleSuggested { .. }
            | Self::CompactionRequested
            | Self::ContextWindowChanged(_)
            | Self::ToolLimitChanged(_)
            | Self::RetryNow
            | Self::TurnRetried
            | Self::ModelSwitched { .. }
            | Self::SessionCopied { .. }
            | Self::RulesLoaded { .. }
            | Self::ToolsChanged { .. }
            | Self::SamplingStepped(_)
            | Self::InstructionsChanged(_)
            | Self::ProjectToolsChanged { .. }
            | Self::GrantRevoked { .. }
            | Self::ModeChanged(_)
            | Self::BackgroundRequested { .. }
            | Self::BackgroundStopped(_)
            | Self::SessionLeft => None,
        }
    }
}
