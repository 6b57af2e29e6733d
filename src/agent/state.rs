//! State of the agent: the session, the running turn and what it waits for.

use super::agent_config::AgentConfig;
use super::call_output::CallOutput;
use super::call_state::{PendingEdit, Preapproval, Trial, TrialSupport};
use super::context_estimate::ContextEstimate;
use super::reviewers::PendingReview;
use super::running_background::RunningBackground;
use super::streaming_reply::StreamingReply;
use super::turn_state::TurnState;
use crate::chat::folder_instructions::FoundInstructions;
use crate::chat::instructions::Instructions;
use crate::chat::{
    Access, CallId, CommandAccess, Digest, Ending, Entry, Plan, Questions, Session, ToolCall, ToolSpec, TurnId, Usage,
    Work,
};
use crate::policy::{Policy, Rules};
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
    pub model: CurrentModel,
    pub config: AgentConfig,
    /// Whether commands can be tried before they are approved.
    pub trial_support: TrialSupport,
    /// User messages entered while a turn runs. They are sent with the next request and can be withdrawn until then.
    pub queued_messages: Vec<String>,
    /// Background commands that run, in the order they were moved.
    pub background: Vec<RunningBackground>,
    /// Estimated tokens of requests.
    pub(super) estimate: ContextEstimate,
    pub(super) turn: TurnState,
    pub(super) queue: ApprovalQueue,
    pub(super) counts: ProcessCounts,
}

/// The model in use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurrentModel {
    /// Name as its provider knows it; empty for the provider's first model.
    pub name: String,
    /// Context window in tokens, if known.
    pub context_window: Option<u64>,
    /// Estimated tokens of all tools above which those of files and servers are deferred. `None`: no tools are sent.
    pub tool_limit: Option<u64>,
}

/// Calls waiting for the user, and the state of the queue view.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ApprovalQueue {
    /// Calls waiting for the user, those of sub-agents included, in the order in which they began to wait.
    pub(super) calls: Vec<CallId>,
    /// Call whose prompt the user opened before its turn.
    pub(super) early_prompt: Option<CallId>,
    /// True while waiting calls are planned for the queue view.
    pub(super) is_planning_previews: bool,
}

/// Counts since the start of the process, across turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProcessCounts {
    /// Turns started, sub-agents included. This is also the ID of the last one.
    pub(super) turns: u64,
    /// Reviews requested.
    pub(super) reviews: u64,
    /// Trials started.
    pub(super) trials: u64,
    pub(super) title_requests: u32,
}

impl ApprovalQueue {
    /// Returns whether the user opened the prompt of this call before its turn.
    pub(super) fn is_early_prompt(&self, id: &CallId) -> bool {
        self.early_prompt.as_ref() == Some(id)
    }

    /// Closes the prompt of this call if the user opened it before its turn.
    pub(super) fn close_early_prompt(&mut self, id: &CallId) {
        self.early_prompt.take_if(|early_id| early_id == id);
    }

    /// Closes the queue view and any prompt opened from it.
    pub(super) fn close_view(&mut self) {
        (self.early_prompt, self.is_planning_previews) = (None, false);
    }
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
    /// A command of the user runs. User messages are queued meanwhile.
    RunningUserCommand(Box<RunningUserCommand>),
}

/// A command of the user that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningUserCommand {
    /// Number of the run, shared with turns.
    pub turn: TurnId,
    pub command: String,
    /// False if the model must not see it.
    pub is_shared: bool,
    /// True once it waits for keys.
    pub needs_terminal: bool,
    /// Latest output for the screen, bounded.
    pub latest_output: String,
    /// Output for the record if it is stopped, bounded.
    pub(super) full_output: CallOutput,
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
    /// Trial of the call while it waits for approval.
    pub trial: Trial,
    /// True if its effects may be judged instead of the call: no rule, reviewer or edit requires a prompt.
    pub(super) may_try: bool,
    /// Latest output of the running call for the screen, bounded.
    pub latest_output: String,
    /// Output of the running call for its outcome if it is interrupted, bounded.
    pub(super) full_output: CallOutput,
    /// Token usage of a model that the call asked, once it was reported.
    pub(super) usage: Option<Usage>,
    pub(super) folder_instructions: FoundInstructions,
}

/// Stage of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallStage {
    /// An earlier call is not settled.
    AwaitingTurn,
    /// Its tool is planning.
    Planning,
    /// A hook or the model reviewer is checking it.
    UnderReview(Box<PendingReview>),
    /// Waits for the user's approval; with the reason for asking.
    AwaitingApproval(Box<Plan>, String),
    /// Waits for the user's answers.
    AwaitingAnswer(Questions),
    /// On trial in the mode `auto`; with the reason for asking if its effects are not kept.
    OnTrial(Box<Plan>, String),
    /// Running or being rehearsed.
    Running(Box<Plan>),
    /// Delegated to a sub-agent, which works or waits for a free slot.
    Delegated(Box<SubAgent>),
    /// Ended; the session holds its outcome.
    Settled,
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
            trial: Trial::None,
            may_try: false,
            latest_output: String::new(),
            full_output: CallOutput::default(),
            usage: None,
            folder_instructions: FoundInstructions::default(),
        }
    }

    /// Returns the output of the running call so far, truncated in the middle.
    pub fn output(&self) -> &str {
        self.full_output.text()
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
            model: CurrentModel { name: model, ..CurrentModel::default() },
            estimate: ContextEstimate::from_prompt(&system_prompt, &tools),
            config: AgentConfig { system_prompt, tools, ..AgentConfig::default() },
            trial_support: TrialSupport::default(),
            queued_messages: Vec::new(),
            background: Vec::new(),
            turn: TurnState::default(),
            queue: ApprovalQueue::default(),
            counts: ProcessCounts::default(),
        }
    }

    /// Replaces the project's instructions from the next request on.
    pub fn set_instructions(&mut self, instructions: Arc<Vec<Instructions>>) {
        self.config.instructions = instructions;
        self.update_fixed_estimate();
    }

    /// Changes the tools, also those of later sub-agents. Takes effect with the next request.
    pub(super) fn change_tools(&mut self, removed: &[String], added: &[ToolSpec]) {
        self.config.tools.retain(|tool| !removed.contains(&tool.name));
        self.config.tools.extend(added.iter().cloned());
        self.set_instructions(self.config.instructions.clone());
    }

    /// Restores user messages that were queued when the program exited. Nothing is sent.
    pub fn restore_queue(&mut self, queue: Vec<String>) {
        self.queued_messages = queue;
    }

    /// Returns the calls being carried out; empty in the other phases.
    pub fn pending(&self) -> &[PendingCall] {
        match &self.phase {
            Phase::RunningCalls { calls, .. } => calls,
            Phase::Idle | Phase::Replying(_) | Phase::RunningUserCommand(_) => &[],
        }
    }

    /// Returns whether the user is deciding on rehearsed changes and commands, to apply them live.
    pub fn is_applying(&self) -> bool {
        self.turn.is_apply_turn() && !self.is_idle()
    }

    /// Returns whether no turn runs.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Returns whether work continues without the user, for the spinner. While one call waits for the user, others
    /// may be planned, under review, running or delegated.
    pub fn is_busy(&self) -> bool {
        let is_running = |pending: &PendingCall| {
            matches!(pending.stage, CallStage::Planning | CallStage::UnderReview(_) | CallStage::Running(_))
                || pending.trial.is_running()
                || pending.sub_agent().is_some_and(|sub_agent| sub_agent.state.is_busy())
        };
        !self.is_idle() && (self.waiting_call().is_none() || self.pending().iter().any(is_running))
    }

    /// Returns whether the last turn failed, or was interrupted before any reply, so that the same request can be sent
    /// again.
    pub fn can_retry_turn(&self) -> bool {
        let mut newest_entries = self.session.entries().iter().rev().filter(|entry| !entry.may_be_outside_turns());
        self.is_idle()
            && match newest_entries.next() {
                Some(Entry::Ended { ending: Ending::Failed(_) }) => true,
                Some(Entry::Ended { ending: Ending::Interrupted }) => {
                    matches!(
                        newest_entries.next(),
                        Some(Entry::UserMessage { .. } | Entry::FellBack { .. } | Entry::ToolsDeferred { .. })
                    )
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
            Phase::RunningUserCommand(running) => Some(running.turn),
        }
    }

    /// Returns the running command of the user.
    pub fn user_command(&self) -> Option<&RunningUserCommand> {
        if let Phase::RunningUserCommand(running) = &self.phase { Some(running) } else { None }
    }

    /// Returns whether the model is writing a summary rather than a reply.
    pub fn is_summarizing(&self) -> bool {
        matches!(&self.phase, Phase::Replying(reply) if reply.is_summary())
    }

    /// Describes the source of simulated results, worded to follow “is”.
    pub fn describe_simulation(&self) -> String {
        match &self.config.dry_run.simulator {
            Some(model) => format!("an example or a result simulated by {model}"),
            None => "an example or a sample".to_owned(),
        }
    }

    /// Returns the reason shown on the approval prompt. For a command that the dry run does not run, the source of the
    /// simulated result is added.
    pub(super) fn prompt_reason(&self, reason: String, plan: &Plan) -> String {
        if !matches!(plan.work, Work::Command(_))
            || !self.is_dry_run()
            || self.config.dry_run.no_sandbox_reason.is_none()
        {
            return reason;
        }
        // A made-up file content would contradict the next read, and a made-up secret would mislead.
        if matches!(plan.access, Access::Read(_) | Access::Run(CommandAccess { may_disclose: true, .. })) {
            return format!("{reason}. Not run in this dry run; no simulated result");
        }
        format!("{reason}. Not run in this dry run; its result is {}", self.describe_simulation())
    }

    /// Returns whether this session is a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.policy.dry_run
    }

    /// Takes the reply that is being streamed and leaves the agent idle; the caller sets the next phase. Returns `None`
    /// and changes nothing if the model is not replying.
    pub(super) fn take_streaming_reply(&mut self) -> Option<StreamingReply> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Replying(reply) => Some(*reply),
            other @ (Phase::Idle | Phase::RunningCalls { .. } | Phase::RunningUserCommand(_)) => {
                self.phase = other;
                None
            }
        }
    }

    /// Counts a new turn and returns its ID. Late events of the previous turn are ignored from then on.
    pub(super) fn next_turn_id(&mut self) -> TurnId {
        self.counts.turns += 1;
        TurnId(self.counts.turns)
    }

    /// Returns a call being carried out.
    pub(super) fn pending_mut(&mut self, id: &CallId) -> Option<&mut PendingCall> {
        let Phase::RunningCalls { calls, .. } = &mut self.phase else { return None };
        calls.iter_mut().find(|pending| pending.call.id == *id)
    }
}
