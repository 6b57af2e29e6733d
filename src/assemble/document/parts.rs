//! Converts a session's entries to the parts of a document, in order.

use super::{Asked, Body, Called, End, Part, Tidy, Words, facts};
use crate::chat::audit::{Holds, Record, records};
use crate::chat::session::Call;
use crate::chat::staged::titled;
use crate::chat::{
    Answer, CallId, Ending, Entry, Outcome, Preview, Questions, Session, Source, Status, escape,
};
use crate::store::Read;
use crate::tui::parts::audit;
use std::collections::HashMap;

/// Parts of a session while they are collected.
pub(super) struct Gathering<'a> {
    session: &'a Session,
    read: &'a Read,
    records: HashMap<&'a CallId, Record<'a>>,
    /// For each entry, whether it belongs to a dry run.
    dry_run: Vec<bool>,
    tidy: &'a mut Tidy,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(session: &'a Session, read: &'a Read, dry_run: Vec<bool>, tidy: &'a mut Tidy) -> Self {
        let records =
            records(session.entries()).into_iter().map(|record| (&record.call.id, record)).collect();
        Self { session, read, records, dry_run, tidy }
    }

    /// Returns the transcript of the session, with each sub-agent's below its call.
    pub(super) fn talk(&mut self) -> Vec<Part> {
        let session = self.session;
        let own = session.entries().iter().enumerate();
        let own: Vec<_> = own.filter(|(_, entry)| !matches!(entry, Entry::Beneath { .. })).collect();
        self.parts(own)
    }

    fn parts(&mut self, entries: Vec<(usize, &'a Entry)>) -> Vec<Part> {
        let mut parts = Vec::new();
        for (at, entry) in entries {
            self.part(at, entry, &mut parts);
        }
        parts
    }

    fn when(&self, at: usize) -> String {
        self.read.times.get(at).copied().map(facts::clock).unwrap_or_default()
    }

    fn is_dry_run(&self, at: usize) -> bool {
        self.dry_run.get(at).copied().unwrap_or(false)
    }

    fn part(&mut self, at: usize, entry: &'a Entry, parts: &mut Vec<Part>) {
        let aside = match entry {
            Entry::Said { text } => {
                let (text, when) = (self.tidy.text(text), self.when(at));
                parts.push(Part::Words(Words {
                    who: "You".to_owned(),
                    model: false,
                    when,
                    text,
                    reasoning: String::new(),
                    incomplete: None,
                }));
                return;
            }
            Entry::Replied { text, reasoning, calls, incomplete, model, .. } => {
                if !text.trim().is_empty() || !reasoning.trim().is_empty() || incomplete.is_some() {
                    let who = if model.is_empty() { "The model" } else { model };
                    parts.push(Part::Words(Words {
                        who: titled(&self.tidy.line(who), self.is_dry_run(at)).into_owned(),
                        model: true,
                        when: self.when(at),
                        text: self.tidy.text(text),
                        reasoning: self.tidy.text(reasoning),
                        incomplete: incomplete.as_ref().map(|why| self.tidy.line(why)),
                    }));
                }
                for call in calls {
                    // If two calls have the same ID, the record belongs to the first.
                    if let Some(record) = self.records.remove(&call.id) {
                        parts.push(Part::Call(Box::new(self.called(&record))));
                    }
                }
                return;
            }
            Entry::Ended { ending: Ending::Finished } => return,
            Entry::Ended { ending: Ending::Interrupted } => "The turn was stopped.".to_owned(),
            Entry::Ended { ending: Ending::Failed(why) } => format!("The turn failed: {why}"),
            Entry::Titled { title, .. } => format!("The session was named “{title}”."),
            Entry::Compacted { summary, pinned, tokens: (before, after), .. } => format!(
                "{}From here on the model receives a summary of what was said before ({before} → {after} tokens):\n{summary}\n\nKept word for word:\n{pinned}",
                titled("", self.is_dry_run(at))
            ),
            Entry::FellBack { model, why } => format!("{why}; {model} answered instead"),
            Entry::Switched { model, .. } => format!("Model from here on: {model}."),
            Entry::Became { dry_run: true, .. } => {
                "From here on this is a dry run: nothing real is changed.".to_owned()
            }
            Entry::Became { dry_run: false, .. } => {
                "From here on this is live, in a copy of a dry run.".to_owned()
            }
            Entry::TakenBack { what, .. } => format!("Grant removed: {what}"),
            Entry::Planned { .. }
            | Entry::Consulted { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Answered { .. }
            | Entry::Settled { .. }
            | Entry::Beneath { .. } => return,
        };
        parts.push(Part::Aside(self.tidy.text(&aside)));
    }

    fn called(&mut self, record: &Record<'a>) -> Called {
        let steps = record.steps.iter().filter_map(|(_, entry)| audit::step(entry));
        let steps = steps.map(|step| self.tidy.line(&step)).collect();
        let careful = match record.holds() {
            Holds::No(why) => Some(why.to_owned()),
            Holds::Yes | Holds::Unknown => None,
        };
        let end = match record.outcome() {
            Some(Outcome::Rehearsed(_)) if record.bad_end().is_some() => End::RehearsedBadly,
            _ if record.bad_end().is_some() => End::Badly,
            Some(Outcome::Done(_)) => End::Done,
            Some(Outcome::Failed(_)) => End::Failed,
            Some(Outcome::Refused(_)) => End::Refused,
            Some(Outcome::Rehearsed(_)) => End::Rehearsed,
            Some(Outcome::Interrupted(_)) => End::Interrupted,
            None => End::Open,
        };
        let bodies = self.bodies(record);
        let session = self.session;
        let beneath = self.parts(session.beneath(&record.call.id).collect());
        Called {
            name: self.tidy.line(&record.call.name),
            summary: self.tidy.line(record.summary()),
            when: self.when(record.made),
            end,
            steps,
            careful,
            bodies,
            beneath,
        }
    }

    fn change(&mut self, diff: &crate::chat::Diff) -> Body {
        Body::Change {
            path: self.tidy.line(&diff.path.to_string_lossy()),
            note: diff.note.as_ref().map(|note| self.tidy.line(note)),
            lines: self.tidy.change(diff),
        }
    }

    fn bodies(&mut self, record: &Record<'a>) -> Vec<Body> {
        let mut bodies = Vec::new();
        let code = |label, language, text| Body::Code { label, language, text };
        match record.planned() {
            Some(Entry::Planned { preview, .. }) => match &**preview {
                Preview::Text(text) => bodies.push(code("", "", self.tidy.text(text))),
                Preview::Command(line) => {
                    bodies.push(code("", "bash", self.tidy.text(&line.command)));
                }
                Preview::Edit(diff) => bodies.push(self.change(diff)),
                Preview::Batch(batch) => {
                    let diffs = batch.items.iter().filter_map(|item| item.diff.as_ref());
                    bodies.extend(diffs.map(|diff| self.change(diff)));
                }
            },
            _ => {
                let asked = record.steps.iter().find_map(|(_, entry)| match entry {
                    Entry::Asked { questions, .. } => Some(questions),
                    _ => None,
                });
                match asked {
                    Some(questions) => {
                        bodies.push(self.asked(questions, record));
                        // The answers are shown with the questions.
                        return bodies;
                    }
                    None => bodies.push(code("arguments", "json", self.tidy.text(&record.call.arguments))),
                }
            }
        }
        if let Some(outcome) = record.outcome().filter(|outcome| !outcome.text().trim().is_empty()) {
            let edit = self.session.call(&record.call.id).and_then(Call::tell_edit).unwrap_or_default();
            let text = format!("{edit}{}", escape::strip_colors(outcome.text()));
            bodies.push(code("result", "", self.tidy.text(&text)));
        }
        bodies
    }

    fn asked(&mut self, questions: &Questions, record: &Record<'_>) -> Body {
        let answer = record.steps.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Answered { answer, .. } => Some(answer),
            _ => None,
        });
        let questions = questions.list.iter().map(|question| {
            let given =
                answer.and_then(|answer| answer.given.iter().find(|given| given.keyword == question.keyword));
            let picked = |at: usize| {
                given.is_some_and(
                    |given| matches!(&given.source, Source::Picked(picks) if picks.contains(&at)),
                )
            };
            let options = question.options.iter().enumerate().map(|(at, option)| {
                let dash = if option.description.is_empty() { "" } else { " — " };
                let words = format!("{}{dash}{}", option.label, option.description);
                (picked(at), self.tidy.line(&words))
            });
            let options = options.collect();
            let mut words = Vec::new();
            match (given, answer) {
                (Some(given), _) => {
                    match &given.source {
                        Source::Written(text) => words.push(self.tidy.text(text)),
                        Source::Skipped => words.push("(skipped)".to_owned()),
                        Source::Picked(_) => {}
                    }
                    let notes = given.notes.iter().map(|note| &note.text);
                    let notes = notes.chain(Some(&given.note).filter(|note| !note.is_empty()));
                    words.extend(notes.map(|note| format!("note: {}", self.tidy.text(note))));
                }
                (None, answer) => words.push(unanswered(answer).to_owned()),
            }
            Asked { text: self.tidy.text(&question.text), options, answer: words }
        });
        Body::Asked(questions.collect())
    }
}

/// Returns why a question has no answer.
fn unanswered(answer: Option<&Answer>) -> &'static str {
    match answer.map(|answer| answer.status) {
        Some(Status::Answered) => "(not answered)",
        Some(Status::Declined) => "(declined)",
        Some(Status::Deferred) => "(postponed)",
        None => "(waiting)",
    }
}
