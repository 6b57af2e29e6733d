//! Entries of a session, one per line of its log.

use super::sampling::SamplingStep;
use super::{
    Access, Answer, BackgroundEnd, CallId, Conclusion, Decider, Decision, Digest, Echo, Ending, Grant, Outcome,
    Preconditions, Preview, Questions, ResultOrigin, ReviewVerdict, Reviewer, SessionId, ToolCall, TrialCounts,
    UnacceptedTools, Usage, UserCommand,
};
use serde::{Deserialize, Serialize};

/// A permanent record. A session is the list of its entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// The user sent a message.
    #[serde(rename = "said")]
    UserMessage {
        /// The full text, including pasted parts.
        text: String,
    },
    /// The model replied.
    Replied {
        /// Markdown; may be empty if there are calls.
        text: String,
        /// The model's reasoning, if the provider shows it. Never sent back.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// Tool calls. Empty if the reply is incomplete: calls of an incomplete reply are not run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// Reason why the reply is incomplete, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        incomplete: Option<String>,
        /// Name of the model.
        #[serde(default)]
        model: String,
        /// Token usage reported by the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Milliseconds from the request to the first text or call, shown as the thinking time.
        #[serde(default)]
        thought_ms: u64,
        /// Data that the provider wants back with this reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        echo: Option<Box<Echo>>,
    },
    /// A call was planned and judged.
    Planned {
        call: CallId,
        /// Title of the approval prompt.
        title: String,
        /// Short description of the call.
        summary: String,
        access: Access,
        /// The preview that was shown.
        preview: Box<Preview>,
        /// Things it destroys, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        destroys: Option<String>,
        /// Preconditions of the plan.
        #[serde(default, skip_serializing_if = "super::is_default")]
        #[serde(rename = "basis")]
        preconditions: Box<Preconditions>,
        /// Name of the verdict: `allow`, `ask`, `rehearse`, `withhold`, `refuse`.
        verdict: String,
        /// Reason of the verdict.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[serde(rename = "why")]
        reason: String,
        /// Hooks that match this call but were not run, because the settings do not let them run in a dry run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hooks_not_run: Vec<String>,
        /// Digest of the call and its preview: `Digest::of_plan`.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A reviewer was asked about a call, before the verdict that follows.
    #[serde(rename = "consulted")]
    Reviewed {
        call: CallId,
        #[serde(rename = "by")]
        reviewer: Reviewer,
        /// Name of the verdict so far.
        #[serde(rename = "before")]
        earlier_verdict: String,
        /// The reviewer's verdict; `ask` if the review failed.
        #[serde(rename = "advice")]
        verdict: ReviewVerdict,
        /// The reviewer's reason, or the error; one line.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[serde(rename = "why")]
        reason: String,
        /// True if the reviewer gave no valid answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[serde(rename = "failed")]
        is_failed: bool,
        /// Milliseconds the review took.
        #[serde(default)]
        took_ms: u64,
        /// Token usage reported by the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Digest of the reviewed plan: `Digest::of_plan`. The `Planned` entry that follows has the same digest.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A call asks the user questions.
    Asked {
        call: CallId,
        questions: Questions,
        /// Digest of the call and its questions: [`Digest::of_questions`].
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// The user decided on a call.
    Decided {
        call: CallId,
        decision: Decision,
        /// Source of the decision, with the key.
        by: Decider,
        /// Digest of the last plan, which was decided on.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A command ran on trial before it was decided on. Nothing it did was real then.
    Tried {
        call: CallId,
        /// How it ended: `exit 0`.
        status: String,
        /// Changes of the project.
        changes: TrialCounts,
        /// The first changes, as in [`TrialReport::list_changes`](super::TrialReport::list_changes).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// What keeping the trial destroys, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        destroys: Option<String>,
        /// True if the permission mode started the trial; otherwise the user did.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_automatic: bool,
        /// Milliseconds the command ran.
        took_ms: u64,
        /// Digest of everything that the command wrote.
        trial: Digest,
        /// Digest of the plan.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// The user answered the questions of a call.
    Answered {
        call: CallId,
        answer: Answer,
        /// Source of the answer, with the key; missing in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Decider>,
        /// Digest of the questions that were answered.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A call ended; exactly one per call.
    Settled {
        call: CallId,
        outcome: Outcome,
        /// Milliseconds the call ran; 0 if it did not.
        #[serde(default)]
        took_ms: u64,
        /// Digest of the plan that ran, if any.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
        /// Token usage of a model that the call asked, reported by its provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Origin of a rehearsed result; missing in logs of older versions. An unknown value of a newer version is
        /// dropped.
        #[serde(flatten)]
        staged: Option<ResultOrigin>,
    },
    /// The user moved the running command of a call to the background, under this number.
    BackgroundStarted { call: CallId, number: u32 },
    /// A background command ended.
    BackgroundEnded(BackgroundEnd),
    /// A call ended the model's work in this session, and the turn ends.
    Concluded(Conclusion),
    /// The turn ended.
    Ended { ending: Ending },
    /// The session was titled. A later title replaces an earlier one, but a title by the model never replaces one by
    /// the user.
    Titled {
        /// One line.
        title: String,
        #[serde(default)]
        by: TitleSource,
        /// Token usage reported by the provider, if the model chose the title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// From here on the model receives a summary in place of earlier entries. The entries stay in the log.
    Compacted {
        /// The model's summary of the entries before `upto`. It was written from the previous summary, if any, and the
        /// entries that the previous summary does not cover.
        summary: String,
        /// Text that is kept verbatim next to the summary.
        pinned: String,
        /// Entries before this index are no longer sent.
        upto: usize,
        /// Estimated tokens of the next request: before the compaction, and after it.
        #[serde(default)]
        tokens: (u64, u64),
        /// Token usage of the summary, reported by the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The requested model failed, and another one answers this request.
    FellBack {
        /// Name of the model that answers.
        model: String,
        /// Error of the first model, in one sentence.
        #[serde(rename = "why")]
        reason: String,
    },
    /// The descriptions of these tools are not sent from here on, because all together have too many tokens: the model finds
    /// and calls them with other tools. Replaces the previous list; empty if all tools are sent again.
    ToolsDeferred {
        /// Names of the tools.
        tools: Vec<String>,
        /// Estimated tokens of all tools, with the deferred ones.
        tokens: u64,
        /// The limit of the profile.
        limit: u64,
    },
    /// New or changed tools of an MCP server, not offered until accepted.
    #[serde(rename = "tools_changed")]
    UnacceptedTools(UnacceptedTools),
    /// Step of a request of an MCP server for an answer of the model.
    Sampling(Box<SamplingStep>),
    /// The user revoked a grant or a rule.
    #[serde(rename = "taken_back")]
    Revoked {
        /// The call on whose prompt the grant was given, for a grant of this session; `None` for a rule of a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "given_on")]
        granting_call: Option<CallId>,
        /// Description of what was revoked.
        #[serde(rename = "what")]
        description: String,
        /// Grant that replaces the revoked one, because the user edited it. Earlier versions ignore it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replacement: Option<Box<Grant>>,
        /// Source of the revocation, with the key.
        by: Decider,
    },
    /// An entry of the sub-agent that works on a call, in its own conversation, which begins with the task.
    #[serde(rename = "beneath")]
    SubAgent {
        /// The call that started the sub-agent.
        call: CallId,
        /// The entry. An entry of a nested sub-agent is kept but has no effect.
        entry: Box<Entry>,
    },
    /// Another model answers from here on.
    Switched {
        /// Name of the model.
        model: String,
        /// Profile of the settings, if it changed too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
    },
    /// The session is a copy that changed from dry run to live, or the other way around.
    #[serde(rename = "became")]
    DryRunChanged {
        /// True if it is a dry run from here on.
        dry_run: bool,
        /// The session it was copied from, which is unchanged.
        #[serde(rename = "of")]
        copied_from: SessionId,
    },
    /// The user ran a command of their own, between two turns.
    UserCommand(Box<UserCommand>),
}

impl Entry {
    /// Returns a reply that consists of these calls and names no model.
    pub fn from_calls(calls: Vec<ToolCall>) -> Self {
        Self::Replied {
            text: String::new(),
            reasoning: String::new(),
            calls,
            incomplete: None,
            model: String::new(),
            usage: None,
            thought_ms: 0,
            echo: None,
        }
    }

    /// Returns the entry itself, or the one inside if it belongs to a sub-agent.
    pub fn unwrap_sub_agent(&self) -> &Self {
        if let Self::SubAgent { entry, .. } = self { entry.unwrap_sub_agent() } else { self }
    }

    /// Returns the call that the entry is about; `None` if it makes calls, or is about a sub-agent or no call.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::Planned { call, .. }
            | Self::Reviewed { call, .. }
            | Self::Asked { call, .. }
            | Self::Decided { call, .. }
            | Self::Tried { call, .. }
            | Self::Answered { call, .. }
            | Self::Settled { call, .. }
            | Self::BackgroundStarted { call, .. }
            | Self::BackgroundEnded(BackgroundEnd { call, .. }) => Some(call),
            Self::UserMessage { .. }
            | Self::Replied { .. }
            | Self::Concluded(_)
            | Self::Ended { .. }
            | Self::Titled { .. }
            | Self::Compacted { .. }
            | Self::FellBack { .. }
            | Self::ToolsDeferred { .. }
            | Self::UnacceptedTools(_)
            | Self::Sampling(_)
            | Self::Revoked { .. }
            | Self::SubAgent { .. }
            | Self::Switched { .. }
            | Self::DryRunChanged { .. }
            | Self::UserCommand(_) => None,
        }
    }

    /// Returns the token usage that the entry records, if any; `None` for the entry of a sub-agent.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Self::Replied { usage, .. }
            | Self::Settled { usage: usage @ Some(_), .. }
            | Self::Reviewed { usage, .. }
            | Self::Titled { usage, .. }
            | Self::Compacted { usage, .. } => *usage,
            Self::Sampling(step) => step.usage(),
            Self::Settled { staged: Some(ResultOrigin::Simulated(simulated)), .. } => simulated.usage,
            Self::Settled { staged: Some(ResultOrigin::Ran(_)) | None, .. }
            | Self::UserMessage { .. }
            | Self::Planned { .. }
            | Self::Asked { .. }
            | Self::Decided { .. }
            | Self::Tried { .. }
            | Self::Answered { .. }
            | Self::BackgroundStarted { .. }
            | Self::BackgroundEnded(_)
            | Self::Concluded(_)
            | Self::Ended { .. }
            | Self::FellBack { .. }
            | Self::ToolsDeferred { .. }
            | Self::UnacceptedTools(_)
            | Self::Revoked { .. }
            | Self::SubAgent { .. }
            | Self::Switched { .. }
            | Self::DryRunChanged { .. }
            | Self::UserCommand(_) => None,
        }
    }

    /// Returns whether the entry may occur between turns as well as inside one: it neither starts nor ends a turn.
    pub fn may_be_outside_turns(&self) -> bool {
        matches!(
            self,
            Self::Titled { .. }
                | Self::Revoked { .. }
                | Self::Switched { .. }
                | Self::DryRunChanged { .. }
                | Self::Compacted { .. }
                | Self::BackgroundEnded(_)
                | Self::UnacceptedTools(_)
                | Self::Sampling(_)
                | Self::UserCommand(_)
        )
    }
}

/// Source of a title.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// The user; the model does not change such a title.
    #[default]
    #[serde(rename = "person")]
    User,
    /// The model.
    Model,
}
