//! A session: the fold of its entries.

mod beneath;
mod talk;

use super::altered::live_ask;
use super::{
    Access, CallId, Decision, Entry, Namer, Outcome, Preview, Questions, Span, Staged, Standing, ToolCall,
    Usage, summary, tokens,
};
use serde_json::Value;
use std::collections::HashMap;

/// Everything that was said and done, and what follows from it. It changes by `apply` alone, so a live session and
/// one read back from disk cannot differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    entries: Vec<Entry>,
    calls: HashMap<CallId, Call>,
    /// Calls in the order they were made, those of sub-agents among them.
    order: Vec<CallId>,
    /// Calls that are not settled; not those of sub-agents.
    open: usize,
    /// The entries of each sub-agent, by index.
    beneath: HashMap<CallId, Vec<usize>>,
    granted: Vec<Standing>,
    title: Option<String>,
    /// Who named it; what the person chose no model changes.
    namer: Option<Namer>,
    /// The entry that the last summary is, by index.
    compacted: Option<usize>,
    model: Option<String>,
    usage: Usage,
    /// Tokens of the talk up to and with each entry, about. They only grow, so that every stretch of it is counted
    /// by one subtraction.
    upto: Vec<u64>,
    /// Tokens of the summary in force.
    told: u64,
    counted: Option<Counted>,
    rehearsed: usize,
    would_ask: usize,
}

/// What the service counted last, beside what this program thought it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Tokens of the request, as the service counted.
    pub input: u64,
    /// The talk in that request, by our measure.
    pub talk: u64,
    /// Tokens of that request and the reply to it, as they are sent again.
    pub then: u64,
    /// The talk with that reply, by our measure.
    pub talk_then: u64,
    /// Whether a summary has taken the place of what was counted: then only what it taught about our measure holds.
    pub outdated: bool,
}

/// What is known of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What the model asked for.
    pub call: ToolCall,
    /// What it would do, once it was looked at.
    pub shown: Option<Shown>,
    /// What it asks, where it asks.
    pub questions: Option<Questions>,
    /// The arguments that the person put in place of the model's.
    pub edited: Option<Value>,
    /// Whether a person or the policy let it start.
    pub started: bool,
    /// The entry that settled it, by index.
    pub settled: Option<usize>,
    /// The entry that decided it, by index.
    pub decided: Option<usize>,
    /// Whose it is, where it is a sub-agent's: the call that handed it the task.
    pub beneath: Option<CallId>,
}

/// What the log keeps of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The card's heading.
    pub title: String,
    /// The call in a few words.
    pub summary: String,
    /// How far it reaches.
    pub access: Access,
    /// What the person could see.
    pub preview: Preview,
    /// The verdict, in one word.
    pub verdict: String,
    /// Whether the user is asked about it live.
    pub asks_live: bool,
    /// The hooks that wanted it and were not run, since this is a dry run.
    pub hooks_not_run: Vec<String>,
}

impl Session {
    /// The session that these entries make.
    pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut session = Self::default();
        for entry in entries {
            session.apply(entry);
        }
        session
    }

    /// Adds a fact and returns it as it is kept, its tool result readable: the only way a session changes. A fact about a
    /// call nobody made is kept and changes nothing.
    pub fn apply(&mut self, entry: Entry) -> &Entry {
        let entry = self.make_readable(entry);
        let index = self.entries.len();
        let talk = self.weight();
        self.upto.push(self.weighed(index) + weight(&entry));
        match &entry {
            Entry::Said { text } => {
                if self.title.is_none() {
                    self.title = talk::title_from(text);
                }
            }
            Entry::Replied { text, calls, usage, .. } => {
                self.made(calls, None);
                if let Some(usage) = usage {
                    self.usage += *usage;
                    if usage.input > 0 {
                        // Reasoning is counted with a reply and not sent again.
                        let reply = tokens::estimate(text) + tokens::of_calls(calls);
                        let plain = usage.output <= 2 * reply + 64;
                        let then = usage.input + if plain { usage.output } else { reply };
                        let talk_then = talk + weight(&entry);
                        self.counted =
                            Some(Counted { input: usage.input, talk, then, talk_then, outdated: false });
                    }
                }
            }
            Entry::Planned { .. } | Entry::Asked { .. } | Entry::Decided { .. } | Entry::Settled { .. } => {
                self.became(index, &entry);
            }
            Entry::Beneath { call, entry } => self.below(index, call, entry),
            Entry::Consulted { usage, .. } => self.usage += usage.unwrap_or_default(),
            Entry::TakenBack { given_on, .. } => {
                if let Some(call) = given_on {
                    self.granted.retain(|standing| standing.call != *call);
                }
            }
            Entry::Titled { title, by, usage } => {
                if *by == Namer::Person || self.namer != Some(Namer::Person) {
                    self.title = Some(title.clone());
                    self.namer = Some(*by);
                }
                self.usage += usage.unwrap_or_default();
            }
            Entry::Compacted { summary, pinned, usage, .. } => {
                self.compacted = Some(index);
                self.told = tokens::FRAME + tokens::estimate(&summary::told(summary, pinned));
                self.usage += usage.unwrap_or_default();
                if let Some(counted) = &mut self.counted {
                    counted.outdated = true;
                }
            }
            Entry::Switched { model, .. } => {
                self.model = Some(model.clone());
                // Another model counts otherwise.
                self.counted = None;
            }
            // From here on it counts anew.
            Entry::Became { .. } => self.forget_asks(),
            Entry::Answered { .. } | Entry::Ended { .. } | Entry::FellBack { .. } => {}
        }
        self.entries.push(entry);
        &self.entries[index]
    }

    /// The model made these calls.
    fn made(&mut self, calls: &[ToolCall], beneath: Option<&CallId>) {
        for call in calls {
            if self.calls.contains_key(&call.id) {
                continue;
            }
            self.order.push(call.id.clone());
            self.open += usize::from(beneath.is_none());
            let call = Call {
                call: call.clone(),
                shown: None,
                questions: None,
                edited: None,
                started: false,
                settled: None,
                decided: None,
                beneath: beneath.cloned(),
            };
            self.calls.insert(call.call.id.clone(), call);
        }
    }

    /// What became of a call.
    fn became(&mut self, index: usize, entry: &Entry) {
        match entry {
            Entry::Planned { call, title, summary, access, preview, verdict, why, hooks_not_run, .. } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.started |= verdict == "allow" || verdict == "rehearse";
                    // Asked once more: the yes from before does not count.
                    call.started &= verdict != "ask";
                    let asked = call.shown.as_ref().is_some_and(|shown| shown.asks_live);
                    let asks_live = live_ask(verdict, why).is_some();
                    self.would_ask = self.would_ask - usize::from(asked) + usize::from(asks_live);
                    call.shown = Some(Shown {
                        title: title.clone(),
                        summary: summary.clone(),
                        access: access.clone(),
                        preview: (**preview).clone(),
                        verdict: verdict.clone(),
                        asks_live,
                        hooks_not_run: hooks_not_run.clone(),
                    });
                }
            }
            Entry::Asked { call, questions, .. } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.questions = Some(questions.clone());
                }
            }
            Entry::Decided { call, decision, by, .. } => {
                let number = self.order.iter().position(|id| id == call).map_or(0, |at| at + 1);
                if let Decision::Always(grant) = decision
                    && grant.span == Span::Session
                {
                    let (call, by) = (call.clone(), by.clone());
                    self.granted.push(Standing { grant: grant.clone(), entry: index, number, call, by });
                }
                if let Some(call) = self.calls.get_mut(call) {
                    call.decided = Some(index);
                    call.started |= decision.is_approval();
                    if let Decision::Edited(arguments) = decision {
                        call.edited = Some(arguments.clone());
                    }
                }
            }
            Entry::Settled { call, outcome, staged, .. } => {
                if let Some(Staged::Simulated(how)) = staged {
                    self.usage += how.usage.unwrap_or_default();
                }
                if let Some(call) = self.calls.get_mut(call)
                    && call.settled.is_none()
                {
                    call.settled = Some(index);
                    self.open -= usize::from(call.beneath.is_none());
                    let is_withheld = staged.as_ref().is_some_and(Staged::is_withheld);
                    self.rehearsed += usize::from(matches!(outcome, Outcome::Rehearsed(_)) && !is_withheld);
                }
            }
            Entry::Said { .. }
            | Entry::Replied { .. }
            | Entry::Consulted { .. }
            | Entry::Answered { .. }
            | Entry::Ended { .. }
            | Entry::Titled { .. }
            | Entry::TakenBack { .. }
            | Entry::Compacted { .. }
            | Entry::FellBack { .. }
            | Entry::Beneath { .. }
            | Entry::Switched { .. }
            | Entry::Became { .. } => {}
        }
    }

    /// How many facts there are beside those of sub-agents.
    pub fn own(&self) -> usize {
        self.entries.len() - self.beneath.values().map(Vec::len).sum::<usize>()
    }

    /// Every fact, oldest first. An entry never changes once it is here.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What is known of a call.
    pub fn call(&self, id: &CallId) -> Option<&Call> {
        self.calls.get(id)
    }

    /// Called, never settled; in the order they were made. Not those of sub-agents.
    pub fn open_calls(&self) -> Vec<CallId> {
        if self.open == 0 {
            return Vec::new();
        }
        let open = |id: &&CallId| {
            self.calls.get(id).is_some_and(|call| call.settled.is_none() && call.beneath.is_none())
        };
        self.order.iter().filter(open).cloned().collect()
    }

    /// Every standing yes of this session that was not taken back, oldest first.
    pub fn granted(&self) -> &[Standing] {
        &self.granted
    }

    /// The person's name for the session, else the model's, else the first words that were said.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Who named the session; `None` where it goes by the first words that were said.
    pub fn namer(&self) -> Option<Namer> {
        self.namer
    }

    /// The model the person changed to, where they did.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Everything that was paid for in this session.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What the service counted last; `None` where it never did, or another model answers since.
    pub fn counted(&self) -> Option<Counted> {
        self.counted
    }

    /// Tokens of the talk as the model is told it, about. Costs nothing: each entry was counted when it came.
    pub fn weight(&self) -> u64 {
        self.told + self.weight_of(self.sent_from(), self.entries.len())
    }

    /// Tokens of the entries from one index up to another, about.
    pub fn weight_of(&self, from: usize, to: usize) -> u64 {
        self.weighed(to).saturating_sub(self.weighed(from))
    }

    /// Tokens of every entry before this one.
    fn weighed(&self, index: usize) -> u64 {
        index.min(self.upto.len()).checked_sub(1).map_or(0, |last| self.upto[last])
    }

    /// The first entry that is still sent itself; what is before it is told by the summary.
    pub fn sent_from(&self) -> usize {
        match self.compacted.and_then(|at| self.entries.get(at)) {
            Some(Entry::Compacted { upto, .. }) => (*upto).min(self.entries.len()),
            Some(_) | None => 0,
        }
    }

    /// The summary in force.
    pub fn summary(&self) -> Option<&str> {
        match self.compacted.and_then(|at| self.entries.get(at)) {
            Some(Entry::Compacted { summary, .. }) => Some(summary),
            Some(_) | None => None,
        }
    }

    /// Every call, in the order they were made, those of sub-agents among them.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.order.iter().filter_map(|id| self.calls.get(id))
    }

    /// How what came of a call came about, where it was rehearsed and that is known.
    pub fn staged(&self, id: &CallId) -> Option<&Staged> {
        match self.entries.get(self.call(id)?.settled?)?.bare() {
            Entry::Settled { staged, .. } => staged.as_ref(),
            _ => None,
        }
    }

    /// How many calls were rehearsed.
    pub fn rehearsed(&self) -> usize {
        self.rehearsed
    }
}

/// Tokens that an entry adds to every request after it.
fn weight(entry: &Entry) -> u64 {
    match entry {
        Entry::Said { text } => tokens::FRAME + tokens::estimate(text),
        Entry::Replied { text, calls, .. } if text.is_empty() && calls.is_empty() => 0,
        Entry::Replied { text, calls, .. } => {
            tokens::FRAME + tokens::estimate(text) + tokens::of_calls(calls)
        }
        Entry::Settled { outcome, .. } => tokens::FRAME + tokens::estimate(outcome.text()),
        Entry::Planned { .. }
        | Entry::Asked { .. }
        | Entry::Decided { .. }
        | Entry::Answered { .. }
        | Entry::Ended { .. }
        | Entry::Titled { .. }
        | Entry::TakenBack { .. }
        | Entry::Compacted { .. }
        | Entry::Consulted { .. }
        | Entry::FellBack { .. }
        | Entry::Beneath { .. }
        | Entry::Switched { .. }
        | Entry::Became { .. } => 0,
    }
}

#[cfg(test)]
mod tests;
