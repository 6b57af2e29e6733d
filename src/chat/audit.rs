//! What became of every call of a session: read from its entries, which are the record.

mod json;
#[cfg(test)]
mod tests;

use super::tool::bad_end;
use super::{Access, By, CallId, Decision, Digest, Entry, Outcome, Preview, Staged, Told, ToolCall};
pub use json::outcome_word;
use std::borrow::Cow;
use std::collections::HashMap;

/// One call, from the reply that made it to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    /// As the model made it.
    pub call: &'a ToolCall,
    /// The name of the sub-agent that made it; `None` where the turn itself did.
    pub sub_agent: Option<&'a str>,
    /// The reply that made it, by the index of its entry.
    pub made: usize,
    /// The entries about it, in order, each with its index.
    pub steps: Vec<(usize, &'a Entry)>,
}

/// Whether what was shown, what was decided and what ran is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// It is, as far as it came.
    Yes,
    /// It is not, or the record was changed since: what is wrong.
    No(&'static str),
    /// An older version wrote this and kept no digests.
    Unknown,
}

/// Every call of a session, in the order they were made.
pub fn records(entries: &[Entry]) -> Vec<Record<'_>> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut at = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let (above, entry) = match entry {
            Entry::Beneath { call, entry } => (Some(call), &**entry),
            entry => (None, entry),
        };
        let id = match entry {
            Entry::Replied { calls, .. } => {
                let name = |above: &CallId| at.get(above).map_or("", |at: &usize| records[*at].summary());
                let sub_agent = above.map(name);
                for call in calls {
                    at.entry(&call.id).or_insert_with(|| {
                        records.push(Record { call, sub_agent, made: index, steps: Vec::new() });
                        records.len() - 1
                    });
                }
                continue;
            }
            Entry::Planned { call, .. }
            | Entry::Consulted { call, .. }
            | Entry::Asked { call, .. }
            | Entry::Decided { call, .. }
            | Entry::Answered { call, .. }
            | Entry::Settled { call, .. } => call,
            Entry::Said { .. }
            | Entry::Ended { .. }
            | Entry::Titled { .. }
            | Entry::TakenBack { .. }
            | Entry::Compacted { .. }
            | Entry::FellBack { .. }
            | Entry::Beneath { .. }
            | Entry::Switched { .. }
            | Entry::Became { .. } => continue,
        };
        if let Some(record) = at.get(id).and_then(|at| records.get_mut(*at)) {
            record.steps.push((index, entry));
        }
    }
    records
}

fn is_planned(entry: &Entry) -> bool {
    matches!(entry, Entry::Planned { .. })
}

impl<'a> Record<'a> {
    /// What was told of it last, and judged.
    pub fn planned(&self) -> Option<&'a Entry> {
        self.last(is_planned)
    }

    /// What was decided last that was no edit, or answered.
    pub fn decided(&self) -> Option<&'a Entry> {
        self.last(|entry| match entry {
            Entry::Decided { decision, .. } => !matches!(decision, Decision::Edited(_)),
            entry => matches!(entry, Entry::Answered { .. }),
        })
    }

    /// Who decided or answered it.
    pub fn by(&self) -> Option<&'a By> {
        match self.decided()? {
            Entry::Decided { by, .. } => Some(by),
            Entry::Answered { by, .. } => by.as_ref(),
            _ => None,
        }
    }

    /// Everybody who was asked before the last verdict, in order, each an [`Entry::Consulted`].
    pub fn consulted(&self) -> Vec<&'a Entry> {
        let steps = self.steps.iter().map(|(_, entry)| *entry);
        let before: Vec<&'a Entry> = match self.steps.iter().rposition(|(_, entry)| is_planned(entry)) {
            Some(last) => steps.take(last).collect(),
            // The end came before the verdict.
            None => steps.collect(),
        };
        let from = before.iter().rposition(|entry| is_planned(entry)).map_or(0, |at| at + 1);
        before[from..].iter().copied().filter(|entry| matches!(entry, Entry::Consulted { .. })).collect()
    }

    /// Its arguments as they counted in the end: the model's, or what the person put in their place.
    pub fn arguments(&self) -> Cow<'a, str> {
        let edited = self.steps.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Decided { decision: Decision::Edited(arguments), .. } => Some(arguments.to_string()),
            _ => None,
        });
        edited.map_or(Cow::Borrowed(self.call.arguments.as_str()), Cow::Owned)
    }

    /// How it ended.
    pub fn outcome(&self) -> Option<&'a Outcome> {
        match self.last(|entry| matches!(entry, Entry::Settled { .. }))? {
            Entry::Settled { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    /// How it ended, where it is a command that ran and not to a good end: `exit 3`.
    pub fn bad_end(&self) -> Option<&'a str> {
        let Some(Entry::Planned { preview, .. }) = self.planned() else { return None };
        let settled = self.last(|entry| matches!(entry, Entry::Settled { .. }))?;
        match (&**preview, settled) {
            (
                Preview::Command(_),
                Entry::Settled { outcome: Outcome::Done(text) | Outcome::Rehearsed(text), staged, .. },
            ) if staged.as_ref().is_none_or(Staged::is_ran) => bad_end(text),
            _ => None,
        }
    }

    /// The call in a few words, where it was looked at.
    pub fn summary(&self) -> &'a str {
        match self.planned() {
            Some(Entry::Planned { summary, .. }) => summary,
            _ => "",
        }
    }

    /// The digest of what was shown last.
    pub fn sha256(&self) -> Option<&'a Digest> {
        let shown = self.last(|entry| matches!(entry, Entry::Planned { .. } | Entry::Asked { .. }))?;
        match shown {
            Entry::Planned { sha256, .. } | Entry::Asked { sha256, .. } => {
                Some(sha256).filter(|sha256| !sha256.is_none())
            }
            _ => None,
        }
    }

    /// Whether what was shown, what was decided and what ran is the same, and what is kept of it still what was kept:
    /// everything is hashed anew. It finds mistakes and changes, not a forger who hashes anew too.
    pub fn holds(&self) -> Holds {
        self.checked(true)
    }

    /// The same by the digests alone, for a list of thousands.
    pub fn agrees(&self) -> Holds {
        self.checked(false)
    }

    /// Whether the last that is known of it is that it may start, by a yes or by the policy.
    pub fn is_allowed(&self) -> bool {
        match self.steps.last().map(|(_, entry)| *entry) {
            Some(Entry::Planned { verdict, .. }) => verdict == "allow" || verdict == "rehearse",
            Some(Entry::Decided { decision, .. }) => decision.is_approval(),
            _ => false,
        }
    }

    fn checked(&self, hashing: bool) -> Holds {
        let mut arguments = Cow::Borrowed(self.call.arguments.as_str());
        let mut shown: Option<&Digest> = None;
        // Of what an adviser was asked about, which is judged next.
        let mut asked: Option<&Digest> = None;
        let mut may = false;
        let mut known = false;
        for (_, entry) in &self.steps {
            match entry {
                Entry::Planned {
                    title, summary, access, preview, destroys, basis, verdict, sha256, ..
                } => {
                    (may, shown) = (verdict == "allow" || verdict == "rehearse", Some(sha256));
                    let destroys = destroys.as_deref();
                    let told = Told { title, summary, access, preview, destroys, basis };
                    let anew = || Digest::of_act(&self.call.name, &arguments, told);
                    if hashing && !sha256.is_none() && anew() != *sha256 {
                        return Holds::No("what was shown was changed in the record");
                    }
                    // Where it was looked at again and is refused or only reads by then, nobody is asked anew.
                    let anew = verdict != "refuse" && !matches!(access, Access::Nothing | Access::Read(_));
                    if asked.take().is_some_and(|asked| asked != sha256) && anew {
                        return Holds::No("what an adviser was asked about is not what was shown");
                    }
                }
                Entry::Consulted { sha256, .. } => asked = Some(sha256).filter(|sha256| !sha256.is_none()),
                Entry::Asked { questions, sha256, .. } => {
                    shown = Some(sha256);
                    let anew = || Digest::of_questions(&self.call.name, &arguments, questions);
                    if hashing && !sha256.is_none() && anew() != *sha256 {
                        return Holds::No("what was asked was changed in the record");
                    }
                }
                Entry::Decided { decision, sha256, .. } => {
                    if !sha256.is_none() && Some(sha256) != shown {
                        return Holds::No("what was decided over is not what was shown");
                    }
                    may = decision.is_approval();
                    if let Decision::Edited(edited) = decision {
                        arguments = Cow::Owned(edited.to_string());
                    }
                }
                Entry::Answered { sha256, .. } if !sha256.is_none() && Some(sha256) != shown => {
                    return Holds::No("what was answered is not what was asked");
                }
                Entry::Settled { sha256, .. } => {
                    if !sha256.is_none() && Some(sha256) != shown {
                        return Holds::No("what ran is not what was shown");
                    }
                    if !sha256.is_none() && !may {
                        return Holds::No("it ran without a yes");
                    }
                }
                _ => {}
            }
            known |= shown.is_some_and(|shown| !shown.is_none());
        }
        if known { Holds::Yes } else { Holds::Unknown }
    }

    fn last(&self, is: impl Fn(&Entry) -> bool) -> Option<&'a Entry> {
        self.steps.iter().rev().map(|(_, entry)| *entry).find(|entry| is(entry))
    }
}
