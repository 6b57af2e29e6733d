//! What the agent knows: the session, the turn that runs, and what it waits for.

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

/// All of the agent's state. Frontends read it; only `update` changes it.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Everything that was said and done.
    pub session: Session,
    /// What goes on now.
    pub phase: Phase,
    /// What may go ahead, and whether this is a dry run.
    pub policy: Policy,
    /// The rules of the person, and of the project where they trust it, as they stand now.
    pub rules: Arc<Rules>,
    /// The model that is asked, by its service's name.
    pub model: String,
    /// Tokens that fit into a request to it, where that is known.
    pub window: Option<u64>,
    /// Whether the model may be asked for a name of the session.
    pub titles: bool,
    /// What is known of how full the window is.
    pub(super) measure: Measure,
    /// What this turn has already tried to make room.
    pub(super) tries: Tries,
    /// How often the model was asked for a name.
    pub(super) asked_names: u32,
    /// The standing words to the model, facts about the project included.
    pub system: String,
    /// The project's own words to it, which the person trusts: [`State::instruct`] changes them.
    pub instructions: Arc<Vec<Instructions>>,
    /// Whether the model is told with each rehearsed result that it was rehearsed.
    pub tells_each: bool,
    /// Whether the model is told nothing of the dry run.
    pub tells_nothing: bool,
    /// What may be called.
    pub tools: Vec<ToolSpec>,
    /// Who is asked about a call before it is let start.
    pub advisers: Advisers,
    /// Why the commands of this dry run do not run, where they do not: words that follow “no stage here: ”.
    pub unstaged: Option<String>,
    /// The model that imagines what would come of what this dry run leaves undone, where there is one: its name on one line.
    pub simulator: Option<String>,
    /// What a sub-agent is given; `None` where no task can be handed to one, as beneath a turn.
    pub offer: Option<Offer>,
    /// What the person said while a turn ran: it goes with the next request, and can be taken back until then.
    pub queue: Vec<String>,
    /// Turns begun in this process.
    pub(super) turns: u64,
    /// Requests made in the present turn.
    pub(super) rounds: u32,
    /// Whether the calls of this turn are the person's own, and no model's.
    pub(super) offered: bool,
    /// What each of them changed when it was rehearsed.
    pub(super) did: HashMap<CallId, Vec<String>>,
    /// How often an adviser was asked.
    pub(super) asked: u64,
    /// Tasks handed to sub-agents in the present turn.
    pub(super) handed: u32,
    /// The calls that wait for a person, the sub-agents' among them: whose card was first stays first.
    pub(super) line: Vec<CallId>,
    /// The call whose card the person brought before its turn.
    pub(super) brought: Option<CallId>,
    /// Whether calls are looked at for the list of what waits.
    pub(super) listed: bool,
    /// Calls that failed, and how often in a row; within one turn.
    pub(super) failures: Vec<(ToolCall, u32)>,
    /// Calls that came to something in the present turn.
    pub(super) repeats: Repeats,
}

/// What goes on now.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Nothing; the person's word is next.
    Idle,
    /// The model was asked and replies.
    Thinking(Box<Draft>),
    /// The calls of a reply are carried out.
    Acting {
        /// Which turn.
        turn: TurnId,
        /// The calls of the reply, in its order.
        calls: Vec<Pending>,
    },
}

/// One call of the reply being carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The call.
    pub call: ToolCall,
    /// How far it is.
    pub step: Step,
    /// The call as it was before the person edited it, while the edit is looked at.
    pub(super) before: Option<Box<Before>>,
    /// Whether it is known to change something, from a look that was taken too early to count.
    pub(super) changes: bool,
    /// What is known of it before its turn, where the person looked at the list of what waits.
    pub ahead: Ahead,
    /// The latest output of a running call, bounded; for the screen.
    pub output: String,
    /// All output of a running call, bounded; for its outcome if it is stopped.
    pub(super) printed: Printed,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Something before it is not settled.
    Waiting,
    /// Its tool looks.
    Planning,
    /// Somebody of the person's choice is asked about it.
    Consulting(Box<Consulting>),
    /// A person has to say yes; with why they are asked.
    ForApproval(Box<Plan>, String),
    /// A person has to answer.
    ForAnswer(Questions),
    /// It runs, or is rehearsed.
    Running(Box<Plan>),
    /// A sub-agent works on it, or waits for a place to.
    Delegated(Box<SubAgent>),
    /// It came to its end; the session has its outcome.
    Settled,
}

impl State {
    /// The agent before anything was said.
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

    /// Lets the model be told these words of the project from the next request on, in place of any before.
    pub fn instruct(&mut self, instructions: Arc<Vec<Instructions>>) {
        self.instructions = instructions;
        let counted = self.session.counted().is_some();
        self.measure.fix(&self.words(), &self.tools, counted);
    }

    /// Puts back messages that waited to be sent when the program ended. They wait on: nothing is sent by this.
    pub fn restore_queue(&mut self, queue: Vec<String>) {
        self.queue = queue;
    }

    /// Everything that stands before the talk in a request.
    pub(super) fn words(&self) -> String {
        instructions::with(&self.system, &self.instructions)
    }

    /// The calls being carried out; empty unless the agent is acting.
    pub fn pending(&self) -> &[Pending] {
        match &self.phase {
            Phase::Acting { calls, .. } => calls,
            Phase::Idle | Phase::Thinking(_) => &[],
        }
    }

    /// Whether the person decides over what was rehearsed, to have it done for real.
    pub fn applies(&self) -> bool {
        self.offered && !self.is_idle()
    }

    /// Whether the person's word is next.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Whether something runs that needs nobody: the spinner turns. While one thing waits for a person another may go on: a
    /// look at a call, a read, a sub-agent.
    pub fn is_busy(&self) -> bool {
        let goes_on = |pending: &Pending| match &pending.step {
            Step::Planning | Step::Consulting(_) | Step::Running(_) => true,
            Step::Delegated(sub_agent) => sub_agent.state.is_busy(),
            Step::Waiting | Step::ForApproval(..) | Step::ForAnswer(_) | Step::Settled => false,
        };
        !self.is_idle() && (self.waiting().is_none() || self.pending().iter().any(goes_on))
    }

    /// Whether the last turn went wrong, or was stopped before anything came of it, so that the same can be asked
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

    /// The turn that runs.
    pub fn turn(&self) -> Option<TurnId> {
        match &self.phase {
            Phase::Idle => None,
            Phase::Thinking(draft) => Some(draft.turn),
            Phase::Acting { turn, .. } => Some(*turn),
        }
    }

    /// Whether the model is summarising what was said before, rather than replying.
    pub fn is_summarising(&self) -> bool {
        matches!(&self.phase, Phase::Thinking(draft) if draft.is_summary())
    }

    /// Where the results of what is not run come from, in words behind “is”.
    pub fn stands_in(&self) -> String {
        match &self.simulator {
            Some(model) => format!("an example, or imagined by {model}"),
            None => "an example or a sample".to_owned(),
        }
    }

    /// Why the person is asked, and in a dry run that leaves the command undone where its result comes from.
    pub(super) fn on_card(&self, reason: String, plan: &Plan) -> String {
        if !matches!(plan.work, Work::Command(_)) || !self.is_dry_run() || self.unstaged.is_none() {
            return reason;
        }
        match plan.access {
            // What would be made up about files would be belied by the next look at them; a made-up secret misleads.
            Access::Read(_) | Access::Run(Run { discloses: true, .. }) => {
                format!("{reason}. In this dry run it is not run, and nothing stands in for its result")
            }
            Access::Nothing
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::Own(_)
            | Access::Run(_) => {
                format!("{reason}. In this dry run it is not run: its result is {}", self.stands_in())
            }
        }
    }

    /// Whether nothing real is touched in this session.
    pub fn is_dry_run(&self) -> bool {
        self.policy.dry_run
    }
}

impl State {
    /// Takes the reply that was coming; nothing goes on until the caller says what does.
    pub(super) fn take_draft(&mut self) -> Option<Draft> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Thinking(draft) => Some(*draft),
            other @ (Phase::Idle | Phase::Acting { .. }) => {
                self.phase = other;
                None
            }
        }
    }

    /// A call being carried out.
    pub(super) fn pending_mut(&mut self, id: &CallId) -> Option<&mut Pending> {
        match &mut self.phase {
            Phase::Acting { calls, .. } => calls.iter_mut().find(|pending| pending.call.id == *id),
            Phase::Idle | Phase::Thinking(_) => None,
        }
    }

    /// How often this call failed in a row with the same arguments.
    pub(super) fn failures(&self, call: &ToolCall) -> u32 {
        let same =
            |(failed, _): &&(ToolCall, u32)| failed.name == call.name && failed.arguments == call.arguments;
        self.failures.iter().find(same).map_or(0, |(_, count)| *count)
    }

    /// Counts a failure; a success of a tool forgives all of its calls.
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
