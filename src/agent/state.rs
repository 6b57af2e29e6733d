//! State of the agent: the session, the running turn and what it waits for.

use super::ahead::Ahead;
use super::compacting::Tries;
use super::consulting::{Advisers, Consulting};
use super::draft::Draft;
use super::editing::Before;
use super::printed::Printed;
use super::repeats::Repeats;
use super::sub_agent::{Offer, SubAgent};
use super::window::Measure;
use crate::chat::instructions::{self, Instructions};
use crate::chat::{
    Access, CallId, Ending, Entry, Plan, Questions, Run, Session, ToolCall, ToolSpec, TurnId, Work,
};
use crate::policy::{Policy, Rules};
use std::collections::HashMap;
use std::sync::Arc;

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
    pub window: Option<u64>,
    /// True if the model may be asked for a session title.
    pub titles: bool,
    /// Estimate of the tokens in use.
    pub(super) measure: Measure,
    /// Attempts of this turn to fit into the context window.
    pub(super) tries: Tries,
    /// Number of requests for a session title.
    pub(super) asked_names: u32,
    /// System prompt, with facts about the project.
    pub system: String,
    /// Trusted instructions of the project; [`State::instruct`] changes them.
    pub instructions: Arc<Vec<Instructions>>,
    /// True if every rehearsed result is labelled as rehearsed in requests.
    pub tells_each: bool,
    /// True if the model must not learn that the session is a dry run.
    pub tells_nothing: bool,
    /// Tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Hooks and model reviewer that check a call before it starts.
    pub advisers: Advisers,
    /// Reason why commands are not run in this dry run, if they are not. Follows “no overlay sandbox: ”.
    pub unstaged: Option<String>,
    /// Name of the model that simulates results in a dry run, if any; one line.
    pub simulator: Option<String>,
    /// System prompt and tools of sub-agents; `None` in a sub-agent, which cannot start others.
    pub offer: Option<Offer>,
    /// User messages entered while a turn runs. They are sent with the next request and can be withdrawn until then.
    pub queue: Vec<String>,
    /// Number of turns started in this process.
    pub(super) turns: u64,
    /// Number of requests made in the current turn.
    pub(super) rounds: u32,
    /// True if the calls of this turn come from `/apply` and not from a model.
    pub(super) offered: bool,
    /// Paths changed by each call while it was rehearsed.
    pub(super) did: HashMap<CallId, Vec<String>>,
    /// Number of reviews requested so far.
    pub(super) asked: u64,
    /// Number of tasks delegated to sub-agents in the current turn.
    pub(super) handed: u32,
    /// Calls waiting for the user, those of sub-agents included, in the order in which they began to wait.
    pub(super) line: Vec<CallId>,
    /// Call whose approval prompt the user opened before its turn.
    pub(super) brought: Option<CallId>,
    /// True while waiting calls are planned for the queue view.
    pub(super) listed: bool,
    /// Failed calls of this turn, with the number of failures in a row.
    pub(super) failures: Vec<(ToolCall, u32)>,
    /// Calls of this turn that have an outcome.
    pub(super) repeats: Repeats,
}

/// Current activity of the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// No turn runs.
    Idle,
    /// The model is replying.
    Thinking(Box<Draft>),
    /// The calls of a reply are being carried out.
    Acting {
        turn: TurnId,
        /// Calls of the reply, in the model's order.
        calls: Vec<Pending>,
    },
}

/// One call of the reply being carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    pub call: ToolCall,
    pub step: Step,
    /// The call before the user's edit, while the edited call is planned.
    pub(super) before: Option<Box<Before>>,
    /// True if an earlier plan showed that the call changes something. That plan was made too early to be used.
    pub(super) changes: bool,
    /// State from before its turn: the plan for the queue view and an early approval.
    pub ahead: Ahead,
    /// Latest output of the running call for the screen, bounded.
    pub output: String,
    /// Output of the running call for its outcome if it is interrupted, bounded.
    pub(super) printed: Printed,
}

/// Stage of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// An earlier call is not settled.
    Waiting,
    /// Its tool is planning.
    Planning,
    /// A hook or the model reviewer is checking it.
    Consulting(Box<Consulting>),
    /// Waits for the user's approval; with the reason for asking.
    ForApproval(Box<Plan>, String),
    /// Waits for the user's answers.
    ForAnswer(Questions),
    /// Running or being rehearsed.
    Running(Box<Plan>),
    /// Delegated to a sub-agent, which works or waits for a free slot.
    Delegated(Box<SubAgent>),
    /// Ended; the session holds its outcome.
    Settled,
}

impl State {
    /// Creates an agent with an empty session.
    pub fn new(policy: Policy, model: String, system: String, tools: Vec<ToolSpec>) -> Self {
        Self {
            session: Session::default(),
            phase: Phase::Idle,
            policy,
            rules: Arc::default(),
            model,
            window: None,
            titles: false,
            measure: Measure::of(&system, &tools),
            tries: Tries::default(),
            asked_names: 0,
            system,
            instructions: Arc::default(),
            tells_each: false,
            tells_nothing: false,
            tools,
            advisers: Advisers::default(),
            unstaged: None,
            simulator: None,
            offer: None,
            queue: Vec::new(),
            turns: 0,
            rounds: 0,
            offered: false,
            did: HashMap::new(),
            asked: 0,
            handed: 0,
            line: Vec::new(),
            brought: None,
            listed: false,
            failures: Vec::new(),
            repeats: Repeats::default(),
        }
    }

    /// Replaces the project's instructions from the next request on.
    pub fn instruct(&mut self, instructions: Arc<Vec<Instructions>>) {
        self.instructions = instructions;
        let counted = self.session.counted().is_some();
        self.measure.fix(&self.words(), &self.tools, counted);
    }

    /// Restores user messages that were queued when the program exited. Nothing is sent.
    pub fn restore_queue(&mut self, queue: Vec<String>) {
        self.queue = queue;
    }

    /// Returns the system prompt with the project's instructions.
    pub(super) fn words(&self) -> String {
        instructions::with(&self.system, &self.instructions)
    }

    /// Returns the calls being carried out; empty unless the agent is acting.
    pub fn pending(&self) -> &[Pending] {
        match &self.phase {
            Phase::Acting { calls, .. } => calls,
            Phase::Idle | Phase::Thinking(_) => &[],
        }
    }

    /// Returns whether the user is deciding on rehearsed changes and commands, to apply them live.
    pub fn applies(&self) -> bool {
        self.offered && !self.is_idle()
    }

    /// Returns whether no turn runs.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Returns whether something runs that needs no user, so that the spinner turns. While one call waits for the user,
    /// another may be planned, read or worked on by a sub-agent.
    pub fn is_busy(&self) -> bool {
        let goes_on = |pending: &Pending| match &pending.step {
            Step::Planning | Step::Consulting(_) | Step::Running(_) => true,
            Step::Delegated(sub_agent) => sub_agent.state.is_busy(),
            Step::Waiting | Step::ForApproval(..) | Step::ForAnswer(_) | Step::Settled => false,
        };
        !self.is_idle() && (self.waiting().is_none() || self.pending().iter().any(goes_on))
    }

    /// Returns whether the last turn failed, or was interrupted before any reply, so that the same request can be sent
    /// again.
    pub fn can_ask_again(&self) -> bool {
        let mut last = self.session.entries().iter().rev().filter(|entry| !entry.is_beside());
        self.is_idle()
            && match last.next() {
                Some(Entry::Ended { ending: Ending::Failed(_) }) => true,
                Some(Entry::Ended { ending: Ending::Interrupted }) => {
                    matches!(last.next(), Some(Entry::Said { .. } | Entry::FellBack { .. }))
                }
                Some(_) | None => false,
            }
    }

    /// Returns the running turn.
    pub fn turn(&self) -> Option<TurnId> {
        match &self.phase {
            Phase::Idle => None,
            Phase::Thinking(draft) => Some(draft.turn),
            Phase::Acting { turn, .. } => Some(*turn),
        }
    }

    /// Returns whether the model is writing a summary rather than a reply.
    pub fn is_summarising(&self) -> bool {
        matches!(&self.phase, Phase::Thinking(draft) if draft.is_summary())
    }

    /// Describes the source of simulated results; follows “is”.
    pub fn stands_in(&self) -> String {
        match &self.simulator {
            Some(model) => format!("an example, or simulated by {model}"),
            None => "an example or a sample".to_owned(),
        }
    }

    /// Returns the reason shown on the approval prompt. In a dry run that does not run the command it adds the source
    /// of its result.
    pub(super) fn on_card(&self, reason: String, plan: &Plan) -> String {
        if !matches!(plan.work, Work::Command(_)) || !self.is_dry_run() || self.unstaged.is_none() {
            return reason;
        }
        match plan.access {
            // A made-up file content would contradict the next read, and a made-up secret would mislead.
            Access::Read(_) | Access::Run(Run { discloses: true, .. }) => {
                format!("{reason}. Not run in this dry run; no simulated result")
            }
            Access::Nothing
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::Own(_)
            | Access::Run(_) => {
                format!("{reason}. Not run in this dry run; its result is {}", self.stands_in())
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
    pub(super) fn take_draft(&mut self) -> Option<Draft> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Thinking(draft) => Some(*draft),
            other @ (Phase::Idle | Phase::Acting { .. }) => {
                self.phase = other;
                None
            }
        }
    }

    /// Returns a call being carried out.
    pub(super) fn pending_mut(&mut self, id: &CallId) -> Option<&mut Pending> {
        match &mut self.phase {
            Phase::Acting { calls, .. } => calls.iter_mut().find(|pending| pending.call.id == *id),
            Phase::Idle | Phase::Thinking(_) => None,
        }
    }

    /// Returns how often this call failed in a row with the same arguments.
    pub(super) fn failures(&self, call: &ToolCall) -> u32 {
        let same =
            |(failed, _): &&(ToolCall, u32)| failed.name == call.name && failed.arguments == call.arguments;
        self.failures.iter().find(same).map_or(0, |(_, count)| *count)
    }

    /// Counts a failure. A success of a tool clears the failures of all its calls.
    pub(super) fn count_failure(&mut self, call: &ToolCall, failed: bool) {
        if !failed {
            self.failures.retain(|(other, _)| other.name != call.name);
            return;
        }
        let same =
            |(other, _): &&mut (ToolCall, u32)| other.name == call.name && other.arguments == call.arguments;
        match self.failures.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => self.failures.push((call.clone(), 1)),
        }
    }
}
