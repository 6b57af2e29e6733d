//! Converts a session's entries to the parts of a document, in order.

use super::{Body, CallEnd, CallPart, Cleaner, Message, Part, QuestionPart};
use crate::assemble::run_facts;
use crate::chat::audit::{Integrity, Record, collect_records};
use crate::chat::result_origin::mark_dry_run;
use crate::chat::session::CallState;
use crate::chat::{Answer, AnswerStatus, AnswerValue, CallId, Ending, Entry, Outcome, Preview, Questions, Session};
use crate::store::StoredSession;
use crate::text::escape_sequences;
use crate::tui::parts::audit_page;
use std::collections::HashMap;

/// Parts of a session while they are collected.
pub(super) struct PartCollector<'a> {
    session: &'a Session,
    read: &'a StoredSession,
    records: HashMap<&'a CallId, Record<'a>>,
    /// For each entry, whether it belongs to a dry run.
    dry_run: Vec<bool>,
    tidy: &'a mut Cleaner,
}

impl<'a> PartCollector<'a> {
    pub(super) fn new(
        session: &'a Session,
        read: &'a StoredSession,
        dry_run: Vec<bool>,
        tidy: &'a mut Cleaner,
    ) -> Self {
        let records = collect_records(session.entries()).into_iter().map(|record| (&record.call.id, record)).collect();
        Self { session, read, records, dry_run, tidy }
    }

    /// Returns the transcript of the session, with each sub-agent's below its call.
    pub(super) fn collect_transcript(&mut self) -> Vec<Part> {
        let session = self.session;
        let own = session.entries().iter().enumerate();
        let own: Vec<_> = own.filter(|(_, entry)| !matches!(entry, Entry::SubAgent { .. })).collect();
        self.collect_parts(own)
    }

    fn collect_parts(&mut self, entries: Vec<(usize, &'a Entry)>) -> Vec<Part> {
        let mut parts = Vec::new();
        for (at, entry) in entries {
            self.add_part(at, entry, &mut parts);
        }
        parts
    }

    fn entry_time(&self, at: usize) -> String {
        self.read.times.get(at).copied().map(run_facts::format_entry_time).unwrap_or_default()
    }

    fn is_dry_run(&self, at: usize) -> bool {
        self.dry_run.get(at).copied().unwrap_or(false)
    }

    fn add_part(&mut self, at: usize, entry: &'a Entry, parts: &mut Vec<Part>) {
        let aside = match entry {
            Entry::UserMessage { text } => {
                let (text, when) = (self.tidy.clean_text(text), self.entry_time(at));
                parts.push(Part::Words(Message {
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
                    parts.push(Part::Words(Message {
                        who: mark_dry_run(&self.tidy.clean_line(who), self.is_dry_run(at)).into_owned(),
                        model: true,
                        when: self.entry_time(at),
                        text: self.tidy.clean_text(text),
                        reasoning: self.tidy.clean_text(reasoning),
                        incomplete: incomplete.as_ref().map(|why| self.tidy.clean_line(why)),
                    }));
                }
                for call in calls {
                    // If two calls have the same ID, the record belongs to the first.
                    if let Some(record) = self.records.remove(&call.id) {
                        parts.push(Part::Call(Box::new(self.call_part(&record))));
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
                mark_dry_run("", self.is_dry_run(at))
            ),
            Entry::FellBack { model, reason: why } => format!("{why}; {model} answered instead"),
            Entry::Switched { model, .. } => format!("Model from here on: {model}."),
            Entry::DryRunChanged { dry_run: true, .. } => {
                "From here on this is a dry run: nothing real is changed.".to_owned()
            }
            Entry::DryRunChanged { dry_run: false, .. } => {
                "From here on this is live, in a copy of a dry run.".to_owned()
            }
            Entry::Revoked { description: what, .. } => format!("Grant removed: {what}"),
            Entry::Planned { .. }
            | Entry::Reviewed { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Answered { .. }
            | Entry::Settled { .. }
            | Entry::SubAgent { .. } => return,
        };
        parts.push(Part::Aside(self.tidy.clean_text(&aside)));
    }

    fn call_part(&mut self, record: &Record<'a>) -> CallPart {
        let steps = record.steps.iter().filter_map(|(_, entry)| audit_page::describe_step(entry));
        let steps = steps.map(|step| self.tidy.clean_line(&step)).collect();
        let careful = match record.verify() {
            Integrity::Broken(why) => Some(why.to_owned()),
            Integrity::Intact | Integrity::Unknown => None,
        };
        let end = match record.outcome() {
            Some(Outcome::Rehearsed(_)) if record.failure_status().is_some() => CallEnd::RehearsedExitError,
            _ if record.failure_status().is_some() => CallEnd::ExitError,
            Some(Outcome::Done(_)) => CallEnd::Done,
            Some(Outcome::Failed(_)) => CallEnd::Failed,
            Some(Outcome::Refused(_)) => CallEnd::Refused,
            Some(Outcome::Rehearsed(_)) => CallEnd::Rehearsed,
            Some(Outcome::Interrupted(_)) => CallEnd::Interrupted,
            None => CallEnd::Open,
        };
        let bodies = self.call_bodies(record);
        let session = self.session;
        let beneath = self.collect_parts(session.sub_agent_entries(&record.call.id).collect());
        CallPart {
            name: self.tidy.clean_line(&record.call.name),
            summary: self.tidy.clean_line(record.summary()),
            when: self.entry_time(record.reply_index),
            end,
            steps,
            warning: careful,
            bodies,
            sub_agent: beneath,
        }
    }

    fn change_body(&mut self, diff: &crate::chat::Diff) -> Body {
        Body::Change {
            path: self.tidy.clean_line(&diff.path.to_string_lossy()),
            note: diff.note.as_ref().map(|note| self.tidy.clean_line(note)),
            lines: self.tidy.clean_change(diff),
        }
    }

    fn call_bodies(&mut self, record: &Record<'a>) -> Vec<Body> {
        let mut bodies = Vec::new();
        let code = |label, language, text| Body::Code { label, language, text };
        match record.last_plan() {
            Some(Entry::Planned { preview, .. }) => match &**preview {
                Preview::Text(text) => bodies.push(code("", "", self.tidy.clean_text(text))),
                Preview::Command(line) => {
                    bodies.push(code("", "bash", self.tidy.clean_text(&line.command)));
                }
                Preview::Edit(diff) => bodies.push(self.change_body(diff)),
                Preview::Batch(batch) => {
                    let diffs = batch.items.iter().filter_map(|item| item.diff.as_ref());
                    bodies.extend(diffs.map(|diff| self.change_body(diff)));
                }
            },
            _ => {
                let asked = record.steps.iter().find_map(|(_, entry)| match entry {
                    Entry::Asked { questions, .. } => Some(questions),
                    _ => None,
                });
                match asked {
                    Some(questions) => {
                        bodies.push(self.question_body(questions, record));
                        // The answers are shown with the questions.
                        return bodies;
                    }
                    None => bodies.push(code("arguments", "json", self.tidy.clean_text(&record.call.arguments))),
                }
            }
        }
        if let Some(outcome) = record.outcome().filter(|outcome| !outcome.text().trim().is_empty()) {
            let edit = self.session.call(&record.call.id).and_then(CallState::edit_notice).unwrap_or_default();
            let text = format!("{edit}{}", escape_sequences::strip_colors(outcome.text()));
            bodies.push(code("result", "", self.tidy.clean_text(&text)));
        }
        bodies
    }

    fn question_body(&mut self, questions: &Questions, record: &Record<'_>) -> Body {
        let answer = record.steps.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Answered { answer, .. } => Some(answer),
            _ => None,
        });
        let questions = questions.list.iter().map(|question| {
            let given = answer.and_then(|answer| answer.answers.iter().find(|given| given.keyword == question.keyword));
            let picked = |at: usize| {
                given.is_some_and(|given| matches!(&given.value, AnswerValue::Selected(picks) if picks.contains(&at)))
            };
            let options = question.options.iter().enumerate().map(|(at, option)| {
                let dash = if option.description.is_empty() { "" } else { " — " };
                let words = format!("{}{dash}{}", option.label, option.description);
                (picked(at), self.tidy.clean_line(&words))
            });
            let options = options.collect();
            let mut words = Vec::new();
            match (given, answer) {
                (Some(given), _) => {
                    match &given.value {
                        AnswerValue::Text(text) => words.push(self.tidy.clean_text(text)),
                        AnswerValue::Skipped => words.push("(skipped)".to_owned()),
                        AnswerValue::Selected(_) => {}
                    }
                    let notes = given.notes.iter().map(|note| &note.text);
                    let notes = notes.chain(Some(&given.note).filter(|note| !note.is_empty()));
                    words.extend(notes.map(|note| format!("note: {}", self.tidy.clean_text(note))));
                }
                (None, answer) => words.push(no_answer_reason(answer).to_owned()),
            }
            QuestionPart { text: self.tidy.clean_text(&question.text), options, answer: words }
        });
        Body::Asked(questions.collect())
    }
}

/// Returns why a question has no answer.
fn no_answer_reason(answer: Option<&Answer>) -> &'static str {
    match answer.map(|answer| answer.status) {
        Some(AnswerStatus::Answered) => "(not answered)",
        Some(AnswerStatus::Declined) => "(declined)",
        Some(AnswerStatus::Deferred) => "(postponed)",
        None => "(waiting)",
    }
}
