//! A session: the fold of its entries.

use super::{
    Access, CallId, Decision, Ending, Entry, Grant, Message, Outcome, Preview, Questions, ToolCall, Usage,
};
use std::collections::HashMap;

/// Everything that was said and done, and what follows from it. It changes by `apply` alone, so a live session and
/// one read back from disk cannot differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    entries: Vec<Entry>,
    calls: HashMap<CallId, Call>,
    /// Calls in the order they were made.
    order: Vec<CallId>,
    open: usize,
    granted: Vec<Grant>,
    title: Option<String>,
    model: Option<String>,
    usage: Usage,
    context: u64,
    rehearsed: usize,
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
    /// Whether a person or the policy let it start.
    pub started: bool,
    /// The entry that settled it, by index.
    pub settled: Option<usize>,
    /// The entry that decided it, by index.
    pub decided: Option<usize>,
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

    /// Adds a fact: the only way a session changes. A fact about a call nobody made is kept and changes nothing.
    pub fn apply(&mut self, entry: Entry) {
        let index = self.entries.len();
        match &entry {
            Entry::Said { text } => {
                if self.title.is_none() {
                    self.title = title_from(text);
                }
            }
            Entry::Replied { calls, usage, .. } => {
                for call in calls {
                    if self.calls.contains_key(&call.id) {
                        continue;
                    }
                    self.order.push(call.id.clone());
                    self.open += 1;
                    let call = Call {
                        call: call.clone(),
                        shown: None,
                        questions: None,
                        started: false,
                        settled: None,
                        decided: None,
                    };
                    self.calls.insert(call.call.id.clone(), call);
                }
                if let Some(usage) = usage {
                    self.usage += *usage;
                    self.context = usage.total();
                }
            }
            Entry::Planned { call, title, summary, access, preview, verdict } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.started |= verdict == "allow" || verdict == "rehearse";
                    call.shown = Some(Shown {
                        title: title.clone(),
                        summary: summary.clone(),
                        access: access.clone(),
                        preview: preview.clone(),
                        verdict: verdict.clone(),
                    });
                }
            }
            Entry::Asked { call, questions } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.questions = Some(questions.clone());
                }
            }
            Entry::Decided { call, decision, .. } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.decided = Some(index);
                    call.started |= !matches!(decision, Decision::Deny(_));
                }
                if let Decision::Always(grant) = decision {
                    self.granted.push(grant.clone());
                }
            }
            Entry::Settled { call, outcome, .. } => {
                if let Some(call) = self.calls.get_mut(call)
                    && call.settled.is_none()
                {
                    call.settled = Some(index);
                    self.open -= 1;
                    self.rehearsed += usize::from(matches!(outcome, Outcome::Rehearsed(_)));
                }
            }
            Entry::Titled { title } => self.title = Some(title.clone()),
            Entry::Switched { model } => self.model = Some(model.clone()),
            Entry::Answered { .. } | Entry::Ended { .. } => {}
        }
        self.entries.push(entry);
    }

    /// Every fact, oldest first. An entry never changes once it is here.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What is known of a call.
    pub fn call(&self, id: &CallId) -> Option<&Call> {
        self.calls.get(id)
    }

    /// Called, never settled; in the order they were made.
    pub fn open_calls(&self) -> Vec<CallId> {
        if self.open == 0 {
            return Vec::new();
        }
        let open = |id: &&CallId| self.calls.get(id).is_some_and(|call| call.settled.is_none());
        self.order.iter().filter(open).cloned().collect()
    }

    /// Every standing yes, oldest first.
    pub fn granted(&self) -> &[Grant] {
        &self.granted
    }

    /// The person's name for the session, or the first words that were said.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The model the person changed to, where they did.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Everything that was paid for in this session.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Tokens the last reply and all before it took, as the service counted; 0 where it never did.
    pub fn context(&self) -> u64 {
        self.context
    }

    /// How many calls were rehearsed.
    pub fn rehearsed(&self) -> usize {
        self.rehearsed
    }

    /// Whether the last turn has not ended.
    pub fn is_mid_turn(&self) -> bool {
        let turn = |entry: &&Entry| !matches!(entry, Entry::Titled { .. } | Entry::Switched { .. });
        let last = self.entries.iter().rev().find(turn);
        last.is_some_and(|entry| !matches!(entry, Entry::Ended { .. }))
    }

    /// The talk as the model is told it. Well formed whatever happened: every call is followed by its outcome, and a
    /// call without one is said to have none.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        // What is said while calls are open goes behind their outcomes, where a service expects it.
        let mut waiting = Vec::new();
        let mut unsettled: Vec<CallId> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Said { text } if unsettled.is_empty() => messages.push(Message::Person(text.clone())),
                Entry::Said { text } => waiting.push(Message::Person(text.clone())),
                Entry::Replied { text, calls, incomplete, .. } => {
                    close(&mut messages, &mut unsettled, &mut waiting);
                    if text.is_empty() && calls.is_empty() {
                        continue;
                    }
                    let text = match incomplete {
                        Some(_) => format!("{text}\n[the reply was cut short here]"),
                        None => text.clone(),
                    };
                    unsettled = calls.iter().map(|call| call.id.clone()).collect();
                    messages.push(Message::Model { text, calls: calls.clone() });
                }
                Entry::Settled { call, outcome, .. } => {
                    let Some(at) = unsettled.iter().position(|open| open == call) else { continue };
                    unsettled.remove(at);
                    messages.push(Message::Tool { call: call.clone(), text: outcome.text().to_owned() });
                    if unsettled.is_empty() {
                        messages.append(&mut waiting);
                    }
                }
                Entry::Ended { ending: Ending::Finished | Ending::Interrupted | Ending::Failed(_) }
                | Entry::Planned { .. }
                | Entry::Asked { .. }
                | Entry::Decided { .. }
                | Entry::Answered { .. }
                | Entry::Titled { .. }
                | Entry::Switched { .. } => {}
            }
        }
        close(&mut messages, &mut unsettled, &mut waiting);
        messages
    }
}

/// Answers what nothing answered, so that the request is well formed.
fn close(messages: &mut Vec<Message>, unsettled: &mut Vec<CallId>, waiting: &mut Vec<Message>) {
    for call in unsettled.drain(..) {
        messages.push(Message::Tool { call, text: "No outcome was recorded for this call.".to_owned() });
    }
    messages.append(waiting);
}

/// The first words, as a name: one line, 60 characters at most.
fn title_from(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    if line.chars().count() > 60 {
        title.truncate(title.rfind(' ').filter(|&at| at > 30).unwrap_or(title.len()));
        title.push('…');
    }
    Some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Entry {
        Entry::Said { text: text.into() }
    }

    fn replied(text: &str, calls: &[&str]) -> Entry {
        let call =
            |id: &&str| ToolCall { id: CallId::from(*id), name: "read_file".into(), arguments: "{}".into() };
        Entry::Replied {
            text: text.into(),
            reasoning: String::new(),
            calls: calls.iter().map(call).collect(),
            incomplete: None,
            model: String::new(),
            usage: Some(Usage { input: 10, cached: 0, output: 5 }),
            thought_ms: 0,
        }
    }

    fn settled(call: &str) -> Entry {
        Entry::Settled { call: call.into(), outcome: Outcome::Done(format!("did {call}")), took_ms: 1 }
    }

    fn shape(session: &Session) -> Vec<String> {
        let word = |message: Message| match message {
            Message::System(_) => "system".to_owned(),
            Message::Person(text) => format!("person {text}"),
            Message::Model { text, calls } => format!("model {text}{}", calls.len()),
            Message::Tool { call, text } => format!("{call}: {text}"),
        };
        session.messages().into_iter().map(word).collect()
    }

    #[test]
    fn every_call_is_followed_by_its_outcome_even_where_none_was_recorded() {
        let session = Session::replay([said("go"), replied("", &["a", "b"]), settled("b"), said("hello")]);
        assert_eq!(
            shape(&session),
            [
                "person go",
                "model 0".replace('0', "2").as_str(),
                "b: did b",
                "a: No outcome was recorded for this call.",
                "person hello"
            ]
        );
        assert_eq!(session.open_calls(), [CallId::from("a")]);
    }

    #[test]
    fn what_is_said_between_calls_goes_behind_their_outcomes() {
        let session = Session::replay([said("go"), replied("", &["a"]), said("also"), settled("a")]);
        assert_eq!(shape(&session), ["person go", "model 1", "a: did a", "person also"]);
    }

    #[test]
    fn a_call_is_settled_once() {
        let mut session = Session::replay([replied("", &["a"]), settled("a"), settled("a")]);
        assert!(session.open_calls().is_empty());
        session.apply(settled("never called"));
        assert!(session.open_calls().is_empty());
        assert_eq!(session.messages().len(), 2);
    }

    #[test]
    fn a_reply_cut_short_says_so_to_the_model() {
        let mut cut = replied("Half", &[]);
        if let Entry::Replied { incomplete, .. } = &mut cut {
            *incomplete = Some("connection lost".into());
        }
        assert_eq!(shape(&Session::replay([cut])), ["model Half\n[the reply was cut short here]0"]);
    }

    #[test]
    fn usage_adds_up_and_the_context_is_the_last() {
        let session = Session::replay([replied("a", &[]), replied("b", &[])]);
        assert_eq!((session.usage().input, session.usage().output, session.context()), (20, 10, 15));
    }

    #[test]
    fn the_first_words_name_a_session_until_a_person_does() {
        let mut session = Session::replay([said("  \n fix the test\nplease"), said("other")]);
        assert_eq!(session.title(), Some("fix the test"));
        session.apply(Entry::Titled { title: "mine".into() });
        assert_eq!(session.title(), Some("mine"));
    }

    #[test]
    fn an_entry_read_back_is_the_entry_that_was_written() {
        for entry in [
            said("x"),
            replied("y", &["a"]),
            settled("a"),
            Entry::Ended { ending: Ending::Failed("why".into()) },
        ] {
            let line = serde_json::to_string(&entry).unwrap_or_default();
            assert_eq!(serde_json::from_str::<Entry>(&line).ok(), Some(entry), "{line}");
        }
    }
}
