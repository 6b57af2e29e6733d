//! Records of the calls of a session, collected from its entries.

mod audit_item;
mod end_kind;
mod record_json;
mod sampling_record;
#[cfg(test)]
mod tests;

use super::apply_message::SERVED_MESSAGE;
use super::tool::parse_failure_status;
use super::{CallId, Decider, Decision, Digest, DisplayedPlan, Entry, Outcome, Preview, ResultOrigin, ToolCall};
pub use audit_item::{AuditItem, AuditKey, collect_items};
pub use end_kind::{EndKind, brief_decision, outcome_label};
pub use sampling_record::SamplingRecord;
use std::borrow::Cow;
use std::collections::HashMap;

/// Record of one call, from the reply that made it to its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    /// The call as the model made it.
    pub call: &'a ToolCall,
    /// Name of the sub-agent that made it; `None` if the turn itself did.
    pub sub_agent: Option<&'a str>,
    /// True if another program made it, through `aye serve`.
    pub is_served: bool,
    /// Index of the reply that made it.
    pub reply_index: usize,
    /// The entries about it, in order, each with its index.
    pub steps: Vec<(usize, &'a Entry)>,
}

/// Result of checking that the same plan was shown, decided and run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// The digests of all recorded steps match.
    Intact,
    /// They do not match, or the record was changed; with an explanation.
    Broken(&'static str),
    /// Written by an older version, which recorded no digests.
    Unknown,
}

/// Collects the calls of a session, in the order they were made.
pub fn collect_records(entries: &[Entry]) -> Vec<Record<'_>> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut record_index = HashMap::new();
    let mut is_served = false;
    for (index, entry) in entries.iter().enumerate() {
        let (sub_agent_call, entry) = match entry {
            Entry::SubAgent { call, entry } => (Some(call), &**entry),
            entry => (None, entry),
        };
        if let (None, Entry::UserMessage { text }) = (sub_agent_call, entry) {
            is_served = text == SERVED_MESSAGE;
        } else if let Entry::Replied { calls, .. } = entry {
            let name = |call: &CallId| record_index.get(call).map_or("", |index: &usize| records[*index].summary());
            let sub_agent = sub_agent_call.map(name);
            for call in calls {
                record_index.entry(&call.id).or_insert_with(|| {
                    records.push(Record { call, sub_agent, is_served, reply_index: index, steps: Vec::new() });
                    records.len() - 1
                });
            }
        } else if let Some(record) = entry.call().and_then(|id| record_index.get(id)) {
            records[*record].steps.push((index, entry));
        }
    }
    records
}

fn is_planned(entry: &Entry) -> bool {
    matches!(entry, Entry::Planned { .. })
}

impl<'a> Record<'a> {
    /// Returns its last plan and verdict.
    pub fn last_plan(&self) -> Option<&'a Entry> {
        self.find_last_step(is_planned)
    }

    /// Returns its last decision other than an edit, or its answer.
    pub fn last_decision(&self) -> Option<&'a Entry> {
        self.find_last_step(|entry| match entry {
            Entry::Decided { decision, .. } => !matches!(decision, Decision::Edited(_)),
            entry => matches!(entry, Entry::Answered { .. }),
        })
    }

    /// Returns who decided or answered.
    pub fn decider(&self) -> Option<&'a Decider> {
        match self.last_decision()? {
            Entry::Decided { by, .. } => Some(by),
            Entry::Answered { by, .. } => by.as_ref(),
            _ => None,
        }
    }

    /// Returns the reviews before the last verdict, in order, each an [`Entry::Reviewed`].
    pub fn reviews(&self) -> Vec<&'a Entry> {
        let steps = self.steps.iter().map(|(_, entry)| *entry);
        let earlier_steps: Vec<&'a Entry> = match self.steps.iter().rposition(|(_, entry)| is_planned(entry)) {
            Some(last) => steps.take(last).collect(),
            // The call ended before a verdict.
            None => steps.collect(),
        };
        let last_round = earlier_steps.iter().rposition(|entry| is_planned(entry)).map_or(0, |index| index + 1);
        earlier_steps[last_round..].iter().copied().filter(|entry| matches!(entry, Entry::Reviewed { .. })).collect()
    }

    /// Returns the arguments that were judged last: the model's, or those by which the user replaced them.
    pub fn arguments(&self) -> Cow<'a, str> {
        let edited_arguments = self.steps.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Decided { decision: Decision::Edited(arguments), .. } => Some(arguments.to_string()),
            _ => None,
        });
        edited_arguments.map_or(Cow::Borrowed(self.call.arguments.as_str()), Cow::Owned)
    }

    /// Returns the outcome, and the origin of a rehearsed result.
    pub(super) fn settlement(&self) -> Option<(&'a Outcome, Option<&'a ResultOrigin>)> {
        match self.find_last_step(|entry| matches!(entry, Entry::Settled { .. }))? {
            Entry::Settled { outcome, staged, .. } => Some((outcome, staged.as_ref())),
            _ => None,
        }
    }

    pub fn outcome(&self) -> Option<&'a Outcome> {
        self.settlement().map(|(outcome, _)| outcome)
    }

    /// Returns the status of a command that ran and failed: `exit 3`.
    pub fn failure_status(&self) -> Option<&'a str> {
        let (Outcome::Done(text) | Outcome::Rehearsed(text), origin) = self.settlement()? else { return None };
        let has_run = self.is_command() && origin.is_none_or(ResultOrigin::has_run);
        has_run.then(|| parse_failure_status(text)).flatten()
    }

    /// Returns whether it was planned as a command.
    pub fn is_command(&self) -> bool {
        matches!(self.last_plan(), Some(Entry::Planned { preview, .. }) if matches!(**preview, Preview::Command(_)))
    }

    /// Returns the short description, if the call was planned.
    pub fn summary(&self) -> &'a str {
        match self.last_plan() {
            Some(Entry::Planned { summary, .. }) => summary,
            _ => "",
        }
    }

    /// Returns the digest of what was shown last.
    pub fn sha256(&self) -> Option<&'a Digest> {
        match self.find_last_step(|entry| matches!(entry, Entry::Planned { .. } | Entry::Asked { .. }))? {
            Entry::Planned { sha256, .. } | Entry::Asked { sha256, .. } if !sha256.is_none() => Some(sha256),
            _ => None,
        }
    }

    /// Verifies that the same plan was shown, decided and run, and that the recorded plan still has its digest.
    /// Everything is hashed again. This detects errors and edits, but not a forger who updates the digests too.
    pub fn verify(&self) -> Integrity {
        let rehash = true;
        self.verify_steps(rehash)
    }

    /// Verifies the digests without hashing again, for long lists.
    pub fn verify_digests(&self) -> Integrity {
        let rehash = false;
        self.verify_steps(rehash)
    }

    /// Returns whether its last entry allows it to start, by approval or by the policy.
    pub fn is_allowed(&self) -> bool {
        match self.steps.last().map(|(_, entry)| *entry) {
            Some(Entry::Planned { verdict, .. }) => verdict == "allow" || verdict == "rehearse",
            Some(Entry::Decided { decision, .. }) => decision.is_approval(),
            _ => false,
        }
    }

    fn verify_steps(&self, rehash: bool) -> Integrity {
        let mut arguments = Cow::Borrowed(self.call.arguments.as_str());
        let mut shown_digest: Option<&Digest> = None;
        // Digest of the plan that a reviewer was asked about. The next `Planned` entry must be for the same plan.
        let mut reviewed_digest: Option<&Digest> = None;
        let mut is_approved = false;
        let mut has_digest = false;
        let mut last_trial: Option<&Digest> = None;
        for (_, entry) in &self.steps {
            match entry {
                Entry::Planned {
                    title, summary, access, preview, destroys, preconditions, verdict, sha256, ..
                } => {
                    (is_approved, shown_digest) = (verdict == "allow" || verdict == "rehearse", Some(sha256));
                    let destroys = destroys.as_deref();
                    let displayed = DisplayedPlan { title, summary, access, preview, destroys, preconditions };
                    let current_digest = || Digest::of_plan(&self.call.name, &arguments, displayed);
                    if rehash && !sha256.is_none() && current_digest() != *sha256 {
                        return Integrity::Broken("the recorded plan was modified");
                    }
                    // If the call is planned again and is then denied or only reads, no reviewer is asked again.
                    // `refuse` is the name of deny in the log.
                    let must_match_review = verdict != "refuse" && !access.is_inside_read();
                    if reviewed_digest.take().is_some_and(|digest| digest != sha256) && must_match_review {
                        return Integrity::Broken("the reviewed plan is not the plan that was shown");
                    }
                }
                Entry::Reviewed { sha256, .. } => reviewed_digest = Some(sha256).filter(|sha256| !sha256.is_none()),
                Entry::Asked { questions, sha256, .. } => {
                    shown_digest = Some(sha256);
                    let current_digest = || Digest::of_questions(&self.call.name, &arguments, questions);
                    if rehash && !sha256.is_none() && current_digest() != *sha256 {
                        return Integrity::Broken("the recorded questions were modified");
                    }
                }
                Entry::Tried { trial, sha256, .. } => {
                    if !sha256.is_none() && Some(sha256) != shown_digest {
                        return Integrity::Broken("the trial is not of the plan that was shown");
                    }
                    last_trial = Some(trial);
                }
                Entry::Decided { decision, sha256, .. } => {
                    if !sha256.is_none() && Some(sha256) != shown_digest {
                        return Integrity::Broken("the decision is not for the plan that was shown");
                    }
                    if let Decision::Kept(trial) = decision
                        && Some(trial) != last_trial
                    {
                        return Integrity::Broken("what was kept is not what the trial showed");
                    }
                    is_approved = decision.is_approval();
                    if let Decision::Edited(new_arguments) = decision {
                        arguments = Cow::Owned(new_arguments.to_string());
                    }
                }
                Entry::Answered { sha256, .. } if !sha256.is_none() && Some(sha256) != shown_digest => {
                    return Integrity::Broken("the answer is not for the questions that were shown");
                }
                Entry::Settled { sha256, .. } => {
                    if !sha256.is_none() && Some(sha256) != shown_digest {
                        return Integrity::Broken("the plan that ran is not the plan that was shown");
                    }
                    if !sha256.is_none() && !is_approved {
                        return Integrity::Broken("it ran without approval");
                    }
                }
                _ => {}
            }
            has_digest |= shown_digest.is_some_and(|digest| !digest.is_none());
        }
        if has_digest { Integrity::Intact } else { Integrity::Unknown }
    }

    pub(super) fn find_last_step(&self, predicate: impl Fn(&Entry) -> bool) -> Option<&'a Entry> {
        self.steps.iter().rev().map(|(_, entry)| *entry).find(|entry| predicate(entry))
    }
}
