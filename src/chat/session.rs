//! A session, computed from its entries.

mod beneath;
mod talk;

use super::altered::live_ask;
use super::{
    Access, CallId, Decision, Entry, Namer, Outcome, Preview, Questions, Span, Staged, Standing, ToolCall,
    Usage, summary, tokens,
};
use serde_json::Value;
use std::collections::HashMap;

/// State of a session. It changes only by `apply`, so a live session and one read back from disk are equal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    entries: Vec<Entry>,
    calls: HashMap<CallId, Call>,
    /// Calls in the order they were made, including those of sub-agents.
    order: Vec<CallId>,
    /// Number of calls that are not settled, without those of sub-agents.
    open: usize,
    /// Indexes of the entries of each sub-agent, by the call that started it.
    beneath: HashMap<CallId, Vec<usize>>,
    granted: Vec<Standing>,
    title: Option<String>,
    /// Source of the title: the model does not change a title of the user.
    namer: Option<Namer>,
    /// Index of the last summary's entry.
    compacted: Option<usize>,
    model: Option<String>,
    usage: Usage,
    /// Estimated tokens of the conversation up to and including each entry. The values never decrease, so the tokens of
    /// any range of entries are one subtraction.
    upto: Vec<u64>,
    /// Estimated tokens of the current summary.
    told: u64,
    counted: Option<Counted>,
    rehearsed: usize,
    would_ask: usize,
}

/// Token count last reported by the provider, with this program's estimate of the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Tokens of the request, as reported.
    pub input: u64,
    /// Estimate for the conversation in that request.
    pub talk: u64,
    /// Tokens of that request and its reply, as they are sent again.
    pub then: u64,
    /// Estimate for the conversation including that reply.
    pub talk_then: u64,
    /// True if the conversation was compacted since: then only the ratio of report and estimate is still valid.
    pub outdated: bool,
}

/// State of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The last plan, if the call was planned.
    pub shown: Option<Shown>,
    /// Its questions, if it asks the user.
    pub questions: Option<Questions>,
    /// Arguments by which the user replaced the model's.
    pub edited: Option<Value>,
    /// True if the user or the policy allowed it to start.
    pub started: bool,
    /// Index of the entry that settled it.
    pub settled: Option<usize>,
    /// Index of the entry with the user's decision.
    pub decided: Option<usize>,
    /// The call that started the sub-agent which made this call; `None` if the turn itself made it.
    pub beneath: Option<CallId>,
}

/// Parts of a plan that the log keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Title of the approval prompt.
    pub title: String,
    /// Short description of the call.
    pub summary: String,
    /// Access of the call.
    pub access: Access,
    /// The preview that was shown.
    pub preview: Preview,
    /// Name of the verdict.
    pub verdict: String,
    /// True if the user would be asked about it live.
    pub asks_live: bool,
    /// Hooks that match the call but were not run, because this is a dry run.
    pub hooks_not_run: Vec<String>,
}

impl Session {
    /// Builds a session from its entries.
    pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut session = Self::default();
        for entry in entries {
            session.apply(entry);
        }
        session
    }

    /// Applies an entry and returns it as stored, with its tool result made readable. This is the only way a session
    /// changes. An entry about an unknown call is stored and has no other effect.
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
                        // The provider counts reasoning with a reply, but it is not sent again.
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
                // Another model counts differently.
                self.counted = None;
            }
            // The counts start again from here.
            Entry::Became { .. } => self.forget_asks(),
            Entry::Answered { .. } | Entry::Ended { .. } | Entry::FellBack { .. } => {}
        }
        self.entries.push(entry);
        &self.entries[index]
    }

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

    fn became(&mut self, index: usize, entry: &Entry) {
        match entry {
            Entry::Planned { call, title, summary, access, preview, verdict, why, hooks_not_run, .. } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.started |= verdict == "allow" || verdict == "rehearse";
                    // An earlier approval does not apply to a call that is asked about again.
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

    /// Returns the number of entries without those of sub-agents.
    pub fn own(&self) -> usize {
        self.entries.len() - self.beneath.values().map(Vec::len).sum::<usize>()
    }

    /// Returns every entry, oldest first. Stored entries never change.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn call(&self, id: &CallId) -> Option<&Call> {
        self.calls.get(id)
    }

    /// Returns the calls that are not settled, in the order they were made, without those of sub-agents.
    pub fn open_calls(&self) -> Vec<CallId> {
        if self.open == 0 {
            return Vec::new();
        }
        let open = |id: &&CallId| {
            self.calls.get(id).is_some_and(|call| call.settled.is_none() && call.beneath.is_none())
        };
        self.order.iter().filter(open).cloned().collect()
    }

    /// Returns the grants of this session that were not revoked, oldest first.
    pub fn granted(&self) -> &[Standing] {
        &self.granted
    }

    /// Returns the title by the user, else by the model, else the beginning of the first message.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns who chose the title; `None` if it is the beginning of the first message.
    pub fn namer(&self) -> Option<Namer> {
        self.namer
    }

    /// Returns the model the user switched to, if any.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the token usage of the whole session.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the provider's last token count; `None` if it never reported one, or another model answers since.
    pub fn counted(&self) -> Option<Counted> {
        self.counted
    }

    /// Returns the estimated tokens of the conversation as it is sent. Cheap: entries are counted when they are
    /// applied.
    pub fn weight(&self) -> u64 {
        self.told + self.weight_of(self.sent_from(), self.entries.len())
    }

    /// Returns the estimated tokens of the entries `from..to`.
    pub fn weight_of(&self, from: usize, to: usize) -> u64 {
        self.weighed(to).saturating_sub(self.weighed(from))
    }

    /// Returns the estimated tokens of the entries before this index.
    fn weighed(&self, index: usize) -> u64 {
        index.min(self.upto.len()).checked_sub(1).map_or(0, |last| self.upto[last])
    }

    /// Returns the index of the first entry that is still sent; earlier ones are covered by the summary.
    pub fn sent_from(&self) -> usize {
        match self.compacted.and_then(|at| self.entries.get(at)) {
            Some(Entry::Compacted { upto, .. }) => (*upto).min(self.entries.len()),
            Some(_) | None => 0,
        }
    }

    /// Returns the current summary.
    pub fn summary(&self) -> Option<&str> {
        match self.compacted.and_then(|at| self.entries.get(at)) {
            Some(Entry::Compacted { summary, .. }) => Some(summary),
            Some(_) | None => None,
        }
    }

    /// Returns every call, in the order they were made, including those of sub-agents.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.order.iter().filter_map(|id| self.calls.get(id))
    }

    /// Returns the origin of a rehearsed call's result, if known.
    pub fn staged(&self, id: &CallId) -> Option<&Staged> {
        match self.entries.get(self.call(id)?.settled?)?.bare() {
            Entry::Settled { staged, .. } => staged.as_ref(),
            _ => None,
        }
    }

    /// Returns the number of rehearsed calls.
    pub fn rehearsed(&self) -> usize {
        self.rehearsed
    }
}

/// Returns the estimated tokens that an entry adds to every later request.
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
