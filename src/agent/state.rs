//! State of the agent: the session, the running turn and what it waits for.

use super::call_output::CallOutput;
use super::call_state::{PendingEdit, Preapproval};
use super::context_estimate::{CompactionAttempts, ContextEstimate};
use super::repeated_calls::RepeatedCalls;
use super::reviewers::{PendingReview, Reviewers};
use super::streaming_reply::StreamingReply;
use crate::chat::instructions::{self, Instructions};
use crate::chat::{
    Access, CallId, CommandAccess, Digest, Ending, Entry, Plan, Questions, Session, ToolCall, ToolSpec, TurnId, Work,
};
use crate::policy::{Policy, Rules};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Complete state of the agent. Frontends read it; only `update` changes it.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub session: Session,
    pub phase: Phase,
    /// Permission mode and dry run setting.
    pub policy: Policy,
    /// Rules of the user and, if trusted, of the project, as last read.
    pub rules: Arc<Rules>,
    /// Model in use, by the name its provider knows.
    pub model: String,
    /// Context window of the model in tokens, if known.
    pub context_window: Option<u64>,
    /// True if the model may be asked for a session title.
    pub requests_titles: bool,
    /// Estimated tokens of requests.
    pub(super) estimate: ContextEstimate,
    /// Attempts of this turn to fit into the context window.
    pub(super) compaction_attempts: CompactionAttempts,
    /// Number of requests for a session title.
    pub(super) title_requests: u32,
    /// System prompt, with facts about the project.
    pub system_prompt: String,
    /// Trusted instructions of the project; [`State::set_instructions`] changes them.
    pub instructions: Arc<Vec<Instructions>>,
    /// True if every rehearsed result is labelled as rehearsed in requests.
    pub labels_rehearsed: bool,
    /// True if the model must not learn that the session is a dry run.
    pub hides_dry_run: bool,
    /// Tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Hooks and model reviewer that check a call before it starts.
    pub reviewers: Reviewers,
    /// Reason why commands are not run in this dry run, if they are not; worded to follow “no overlay sandbox: ”.
    pub no_sandbox_reason: Option<String>,
    /// Name of the model that simulates results in a dry run, if any; one line.
    pub simulator: Option<String>,
    /// System prompt and tools of sub-agents; `None` in a sub-agent, which cannot start others.
    pub sub_agent_config: Option<SubAgentConfig>,
    /// User messages entered while a turn runs. They are sent with the next request and can be withdrawn until then.
    pub queued_messages: Vec<String>,
    /// Number of the newest [`TurnId`] in this process. A summary or a request that is sent again within a turn takes a
    /// new ID, so that late events of the previous request are ignored.
    pub(super) turn_count: u64,
    /// Number of requests made in the current turn.
    pub(super) turn_requests: u32,
    /// True if the calls of this turn come from `/apply` and not from a model.
    pub(super) is_apply_turn: bool,
    /// Paths changed by each call while it was rehearsed.
    pub(super) rehearsed_paths: HashMap<CallId, Vec<String>>,
    /// Number of reviews requested so far.
    pub(super) review_count: u64,
    /// Number of tasks delegated to sub-agents in the current turn.
    pub(super) delegated_tasks: u32,
    /// Calls waiting for the user, those of sub-agents included, in the order in which they began to wait.
    pub(super) approval_queue: Vec<CallId>,
    /// Call whose approval prompt the user opened before its turn.
    pub(super) early_prompt: Option<CallId>,
    /// True while waiting calls are planned for the queue view.
    pub(super) is_planning_previews: bool,
    /// Failed calls of this turn, with the number of failures in a row.
    pub(super) failed_calls: Vec<(ToolCall, u32)>,
    /// Calls of this turn that have an outcome.
    pub(super) repeated_calls: RepeatedCalls,
}

/// Current activity of the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// No turn runs.
    Idle,
    /// The model is replying.
    Replying(Box<StreamingReply>),
    /// The calls of a reply are being carried out.
    RunningCalls {
        turn: TurnId,
        /// Calls of the reply, in the model's order.
        calls: Vec<PendingCall>,
    },
}

/// One call of the reply being carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    pub call: ToolCall,
    pub stage: CallStage,
    /// The call before the user's edit, while the edited call is planned.
    pub(super) pending_edit: Option<Box<PendingEdit>>,
    /// True if an earlier plan showed that the call changes something. That plan was made too early to be used.
    pub(super) has_effects: bool,
    /// State from before its turn: the plan for the queue view and an early approval.
    pub preapproval: Preapproval,
    /// Latest output of the running call for the screen, bounded.
    pub latest_output: String,
    /// Output of the running call for its outcome if it is interrupted, bounded.
    pub(super) full_output: CallOutput,
}

/// Stage of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallStage {
    /// An earlier call is not settled.
    Waiting,
    /// Its tool is planning.
    Planning,
    /// A hook or the model reviewer is checking it.
    UnderReview(Box<PendingReview>),
    /// Waits for the user's approval; with the reason for asking.
    AwaitingApproval(Box<Plan>, String),
    /// Waits for the user's answers.
    AwaitingAnswer(Questions),
    /// Running or being rehearsed.
    Running(Box<Plan>),
    /// Delegated to a sub-agent, which works or waits for a free slot.
    Delegated(Box<SubAgent>),
    /// Ended; the session holds its outcome.
    Settled,
}

/// System prompt and tools of every sub-agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SubAgentConfig {
    pub system_prompt: String,
    /// Tools it may call. A sub-agent cannot start others, whatever is listed here.
    pub tools: Vec<ToolSpec>,
}

/// A sub-agent that works on a call, or waits for a free slot.
#[derive(Debug, Clone, PartialEq)]
pub struct SubAgent {
    /// Display name: one line without control characters.
    pub name: String,
    /// State of its own session.
    pub state: State,
    /// Its task, until it starts.
    pub(super) task: Option<String>,
    /// Digest of what was approved.
    pub(super) sha256: Digest,
    /// Total time of its replies and calls.
    pub(super) work_time: Duration,
}

impl SubAgent {
    /// Creates a sub-agent with a task to start, or one that continues the session in `state`.
    pub(super) fn new(name: String, state: State, task: Option<String>, sha256: Digest) -> Self {
        Self { name, state, task, sha256, work_time: Duration::ZERO }
    }

    /// Returns whether it has started; until then it waits for a free slot.
    pub fn has_started(&self) -> bool {
        self.task.is_none()
    }
}

impl PendingCall {
    /// Creates a call at this stage.
    pub(super) fn new(call: ToolCall, stage: CallStage) -> Self {
        Self {
            call,
            stage,
            pending_edit: None,
            has_effects: false,
            preapproval: Preapproval::default(),
            latest_output: String::new(),
            full_output: CallOutput::default(),
        }
    }

    /// Returns the sub-agent that works on the call.
    pub fn sub_agent(&self) -> Option<&SubAgent> {
        if let CallStage::Delegated(sub_agent) = &self.stage { Some(sub_agent) } else { None }
    }

    pub(super) fn sub_agent_mut(&mut self) -> Option<&mut SubAgent> {
        if let CallStage::Delegated(sub_agent) = &mut self.stage { Some(sub_agent) } else { None }
    }
}

impl State {
    /// Creates an agent with an empty session.
    pub fn new(policy: Policy, model: String, system_prompt: String, tools: Vec<ToolSpec>) -> Self {
        Self {
            session: Session::default(),
            phase: Phase::Idle,
            policy,
            rules: Arc::default(),
            model,
            context_window: None,
            requests_titles: false,
            estimate: ContextEstimate::from_prompt(&system_prompt, &tools),
            compaction_attempts: CompactionAttempts::default(),
            title_requests: 0,
            system_prompt,
            instructions: Arc::default(),
            labels_rehearsed: false,
            hides_dry_run: false,
            tools,
            reviewers: Reviewers::default(),
            no_sandbox_reason: None,
            simulator: None,
            sub_agent_config: None,
            queued_messages: Vec::new(),
            turn_count: 0,
            turn_requests: 0,
            is_apply_turn: false,
            rehearsed_paths: HashMap::new(),
            review_count: 0,
            delegated_tasks: 0,
            approval_queue: Vec::new(),
            early_prompt: None,
            is_planning_previews: false,
            failed_calls: Vec::new(),
            repeated_calls: RepeatedCalls::default(),
        }
    }

    /// Replaces the project's instructions from the next request on.
    pub fn set_instructions(&mut self, instructions: Arc<Vec<Instructions>>) {
        self.instructions = instructions;
        let is_counted = self.session.token_count().is_some();
        self.estimate.update_fixed(&self.full_system_prompt(), &self.tools, is_counted);
    }

    /// Restores user messages that were queued when the program exited. Nothing is sent.
    pub fn restore_queue(&mut self, queue: Vec<String>) {
        self.queued_messages = queue;
    }

    /// Returns the system prompt with the project's instructions.
    pub(super) fn full_system_prompt(&self) -> String {
        instructions::append_instructions(&self.system_prompt, &self.instructions)
    }

    /// Returns the calls being carried out; empty in the other phases.
    pub fn pending(&self) -> &[PendingCall] {
        match &self.phase {
            Phase::RunningCalls { calls, .. } => calls,
            Phase::Idle | Phase::Replying(_) => &[],
        }
    }

    /// Returns whether the user is deciding on rehearsed changes and commands, to apply them live.
    pub fn is_applying(&self) -> bool {
        self.is_apply_turn && !self.is_idle()
    }

    /// Returns whether no turn runs.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Returns whether work continues without the user, for the spinner. While one call waits for the user, others
    /// may be planned, under review, running or delegated.
    pub fn is_busy(&self) -> bool {
        let is_running = |pending: &PendingCall| match &pending.stage {
            CallStage::Planning | CallStage::UnderReview(_) | CallStage::Running(_) => true,
            CallStage::Delegated(sub_agent) => sub_agent.state.is_busy(),
            CallStage::Waiting
            | CallStage::AwaitingApproval(..)
            | CallStage::AwaitingAnswer(_)
            | CallStage::Settled => false,
        };
        !self.is_idle() && (self.waiting_call().is_none() || self.pending().iter().any(is_running))
    }

    /// Returns whether the last turn failed, or was interrupted before any reply, so that the same request can be sent
    /// again.
    pub fn can_retry_turn(&self) -> bool {
        let mut newest_entries = self.session.entries().iter().rev().filter(|entry| !entry.is_outside_turns());
        self.is_idle()
            && match newest_entries.next() {
                Some(Entry::Ended { ending: Ending::Failed(_) }) => true,
                Some(Entry::Ended { ending: Ending::Interrupted }) => {
                    matches!(newest_entries.next(), Some(Entry::UserMessage { .. } | Entry::FellBack { .. }))
                }
                Some(_) | None => false,
            }
    }

    /// Returns the running turn.
    pub fn current_turn(&self) -> Option<TurnId> {
        match &self.phase {
            Phase::Idle => None,
            Phase::Replying(reply) => Some(reply.turn),
            Phase::RunningCalls { turn, .. } => Some(*turn),
        }
    }

    /// Returns whether the model is writing a summary rather than a reply.
    pub fn is_summarizing(&self) -> bool {
        matches!(&self.phase, Phase::Replying(reply) if reply.is_summary())
    }

    /// Describes the source of simulated results, worded to follow “is”.
    pub fn describe_simulation(&self) -> String {
        match &self.simulator {
            Some(model) => format!("an example or a result simulated by {model}"),
            None => "an example or a sample".to_owned(),
        }
    }

    /// Returns the reason shown on the approval prompt. For a command that the dry run does not run, the source of the
    /// simulated result is added.
    pub(super) fn prompt_reason(&self, reason: String, plan: &Plan) -> String {
        if !matches!(plan.work, Work::Command(_)) || !self.is_dry_run() || self.no_sandbox_reason.is_none() {
            return reason;
        }
        match plan.access {
            // A made-up file content would contradict the next read, and a made-up secret would mislead.
            Access::Read(_) | Access::Run(CommandAccess { may_disclose: true, .. }) => {
                format!("{reason}. Not run in this dry run; no simulated result")
            }
            Access::Nothing
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::AyeFiles(_)
            | Access::Run(_) => {
                format!("{reason}. Not run in this dry run; its result is {}", self.describe_simulation())
            }
        }
    }

    /// Returns whether this session is a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.policy.dry_run
    }
}

impl State {
    /// Takes the incomplete reply and leaves the agent idle; the caller sets the next phase.
    pub(super) fn take_streaming_reply(&mut self) -> Option<StreamingReply> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Replying(reply) => Some(*reply),
            other @ (Phase::Idle | Phase::RunningCalls { .. }) => {
                self.phase = other;
                None
            }
        }
    }

    /// Returns a call being carried out.
    pub(super) fn pending_mut(&mut self, id: &CallId) -> Option<&mut PendingCall> {
        match &mut self.phase {
            Phase::RunningCalls { calls, .. } => calls.iter_mut().find(|pending| pending.call.id == *id),
            Phase::Idle | Phase::Replying(_) => None,
        }
    }

    /// Returns how often this call failed in a row with the same arguments.
    pub(super) fn failure_count(&self, call: &ToolCall) -> u32 {
        let is_same_call = |(failed_call, _): &&(ToolCall, u32)| {
            failed_call.name == call.name && failed_call.arguments == call.arguments
        };
        self.failed_calls.iter().find(is_same_call).map_or(0, |(_, count)| *count)
    }

    /// Counts a failure of this call if `has_failed`; otherwise clears the failures of all calls of its tool.
    pub(super) fn count_failure(&mut self, call: &ToolCall, has_failed: bool) {
        if !has_failed {
            self.failed_calls.retain(|(failed_call, _)| failed_call.name != call.name);
            return;
        }
        let is_same_call = |(failed_call, _): &&mut (ToolCall, u32)| {
            failed_call.name == call.name && failed_call.arguments == call.arguments
        };
        match self.failed_calls.iter_mut().find(is_same_call) {
            Some((_, count)) => *count += 1,
            None => self.failed_calls.push((call.clone(), 1)),
        }
    }
}
