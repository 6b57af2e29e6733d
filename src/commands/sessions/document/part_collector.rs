//! Converts a session's entries to the parts of a document, in order.

use super::{Body, CallPart, Cleaner, Message, Part, QuestionPart};
use crate::chat::audit::{EndKind, Integrity, Record, collect_records};
use crate::chat::deferred_tools::describe_change;
use crate::chat::result_origin::mark_dry_run;
use crate::chat::session::CallState;
use crate::chat::{Answer, AnswerStatus, AnswerValue, CallId, Ending, Entry, Preview, Questions, Session, UserCommand};
use crate::store::{StoredSession, local_time};
use crate::text::escape_sequences;
use crate::tui::parts::audit_page;
use std::collections::HashMap;

/// Collects the parts of a document from one session.
pub(super) struct PartCollector<'a> {
    session: &'a Session,
    stored: &'a StoredSession,
    records: HashMap<&'a CallId, Record<'a>>,
    /// For each entry, whether it belongs to a dry run.
    dry_run: Vec<bool>,
    cleaner: &'a mut Cleaner,
}

impl<'a> PartCollector<'a> {
    pub(super) fn new(
        session: &'a Session,
        stored: &'a StoredSession,
        dry_run: Vec<bool>,
        cleaner: &'a mut Cleaner,
    ) -> Self {
        let records = collect_records(session.entries()).into_iter().map(|record| (&record.call.id, record)).collect();
        Self { session, stored, records, dry_run, cleaner }
    }

    /// Returns the transcript of the session, with each sub-agent's below its call.
    pub(super) fn collect_transcript(&mut self) -> Vec<Part> {
        let session = self.session;
        let entries = session.entries().iter().enumerate();
        let own_entries: Vec<_> = entries.filter(|(_, entry)| !matches!(entry, Entry::SubAgent { .. })).collect();
        self.collect_parts(own_entries)
    }

    fn collect_parts(&mut self, entries: Vec<(usize, &'a Entry)>) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, entry) in entries {
            self.add_part(index, entry, &mut parts);
        }
        parts
    }

    fn entry_time(&self, index: usize) -> String {
        self.stored.times.get(index).copied().map(local_time::format_entry_time).unwrap_or_default()
    }

    fn is_dry_run(&self, index: usize) -> bool {
        self.dry_run.get(index).copied().unwrap_or(false)
    }

    fn add_part(&mut self, index: usize, entry: &'a Entry, parts: &mut Vec<Part>) {
        let aside = match entry {
            Entry::UserMessage { text } => {
                let (text, time) = (self.cleaner.clean_text(text), self.entry_time(index));
                parts.push(Part::Message(Message {
                    author: "You".to_owned(),
                    is_model: false,
                    time,
                    text,
                    reasoning: String::new(),
                    incomplete: None,
                }));
                return;
            }
            Entry::Replied { text, reasoning, calls, incomplete, model, .. } => {
                if !text.trim().is_empty() || !reasoning.trim().is_empty() || incomplete.is_some() {
                    let author = if model.is_empty() { "The model" } else { model };
                    parts.push(Part::Message(Message {
                        author: mark_dry_run(&self.cleaner.clean_line(author), self.is_dry_run(index)).into_owned(),
                        is_model: true,
                        time: self.entry_time(index),
                        text: self.cleaner.clean_text(text),
                        reasoning: self.cleaner.clean_text(reasoning),
                        incomplete: incomplete.as_ref().map(|why| self.cleaner.clean_line(why)),
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
            Entry::UserCommand(command) => {
                let part = self.user_command_part(index, command);
                return parts.push(Part::Call(Box::new(part)));
            }
            Entry::Concluded(conclusion) => [conclusion.message(), &conclusion.describe()].join("\n").trim().to_owned(),
            Entry::Ended { ending: Ending::Finished } => return,
            Entry::Ended { ending: Ending::Interrupted } => "The turn was stopped.".to_owned(),
            Entry::Ended { ending: Ending::Failed(why) } => format!("The turn failed: {why}"),
            Entry::Titled { title, .. } => format!("The session was named “{title}”."),
            Entry::Compacted { summary, pinned, tokens: (before, after), .. } => format!(
                "{}From here on the model receives a summary of what was said before ({before} → {after} tokens):\n{summary}\n\nKept word for word:\n{pinned}",
                mark_dry_run("", self.is_dry_run(index))
            ),
            Entry::ToolsDeferred { tools, tokens, limit } => describe_change(tools, *tokens, *limit),
            Entry::UnacceptedTools(unaccepted) => unaccepted.describe(),
            Entry::Sampling(step) => {
                [Some(step.describe()), step.full_text("")].into_iter().flatten().collect::<Vec<_>>().join("\n")
            }
            Entry::FellBack { model, reason } => format!("{reason}; {model} answered instead"),
            Entry::Switched { model, .. } => format!("Model from here on: {model}."),
            Entry::DryRunChanged { dry_run: true, .. } => {
                "From here on this is a dry run: nothing real is changed.".to_owned()
            }
            Entry::DryRunChanged { dry_run: false, .. } => {
                "From here on this is live, in a copy of a dry run.".to_owned()
            }
            Entry::Revoked { description, .. } => format!("Grant removed: {description}"),
            Entry::BackgroundEnded(end) => {
                let output = escape_sequences::strip_colors(&end.output);
                let output = if output.is_empty() { String::new() } else { format!("\n{output}") };
                format!("Background command {} ended: {}.{output}", end.number, end.status)
            }
            Entry::Planned { .. }
            | Entry::Reviewed { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Tried { .. }
            | Entry::Answered { .. }
            | Entry::Settled { .. }
            | Entry::BackgroundStarted { .. }
            | Entry::SubAgent { .. } => return,
        };
        parts.push(Part::Aside(self.cleaner.clean_text(&aside)));
    }

    fn call_part(&mut self, record: &Record<'a>) -> CallPart {
        let steps = record.steps.iter().filter_map(|(_, entry)| audit_page::describe_step(record, entry));
        let steps = steps.map(|step| self.cleaner.clean_line(&step)).collect();
        let warning = match record.verify() {
            Integrity::Broken(why) => Some(why.to_owned()),
            Integrity::Intact | Integrity::Unknown => None,
        };
        let bodies = self.call_bodies(record);
        let session = self.session;
        let sub_agent = self.collect_parts(session.sub_agent_entries(&record.call.id).collect());
        CallPart {
            name: self.cleaner.clean_line(&record.call.name),
            summary: self.cleaner.clean_line(record.summary()),
            time: self.entry_time(record.reply_index),
            end: record.end(),
            steps,
            warning,
            bodies,
            sub_agent,
        }
    }

    fn user_command_part(&mut self, index: usize, command: &UserCommand) -> CallPart {
        let code_body = |label, language, text| Body::Code { label, language, text };
        let mut bodies = vec![code_body("", "bash", self.cleaner.clean_text(&command.command))];
        if !command.output.trim().is_empty() {
            let output = escape_sequences::strip_colors(&command.output);
            bodies.push(code_body("result", "", self.cleaner.clean_text(&output)));
        }
        CallPart {
            name: "Your command".to_owned(),
            summary: self.cleaner.clean_line(&command.command),
            time: self.entry_time(index),
            end: EndKind::from(command),
            steps: vec![self.cleaner.clean_line(&audit_page::describe_user_command(command))],
            warning: None,
            bodies,
            sub_agent: Vec::new(),
        }
    }

    fn change_body(&mut self, diff: &crate::chat::Diff) -> Body {
        Body::Change {
            path: self.cleaner.clean_line(&diff.path.to_string_lossy()),
            note: diff.note.as_ref().map(|note| self.cleaner.clean_line(note)),
            lines: self.cleaner.clean_change(diff),
        }
    }

    fn call_bodies(&mut self, record: &Record<'a>) -> Vec<Body> {
        let mut bodies = Vec::new();
        let code_body = |label, language, text| Body::Code { label, language, text };
        match record.last_plan() {
            Some(Entry::Planned { preview, .. }) => match &**preview {
                Preview::Text(text) => bodies.push(code_body("", "", self.cleaner.clean_text(text))),
                Preview::Command(line) => {
                    bodies.push(code_body("", "bash", self.cleaner.clean_text(&line.command)));
                }
                Preview::Edit(diff) => bodies.push(self.change_body(diff)),
                Preview::Batch(batch) => {
                    let diffs = batch.items.iter().filter_map(|item| item.diff.as_ref());
                    bodies.extend(diffs.map(|diff| self.change_body(diff)));
                }
            },
            _ => {
                let questions = record.steps.iter().find_map(|(_, entry)| match entry {
                    Entry::Asked { questions, .. } => Some(questions),
                    _ => None,
                });
                match questions {
                    Some(questions) => {
                        bodies.push(self.question_body(questions, record));
                        // The answers are shown with the questions.
                        return bodies;
                    }
                    None => {
                        bodies.push(code_body("arguments", "json", self.cleaner.clean_text(&record.call.arguments)))
                    }
                }
            }
        }
        if let Some(outcome) = record.outcome().filter(|outcome| !outcome.text().trim().is_empty()) {
            let edit_notice =
                self.session.find_call(&record.call.id).and_then(CallState::edit_notice).unwrap_or_default();
            let text = format!("{edit_notice}{}", escape_sequences::strip_colors(outcome.text()));
            bodies.push(code_body("result", "", self.cleaner.clean_text(&text)));
        }
        bodies
    }

    fn question_body(&mut self, questions: &Questions, record: &Record<'_>) -> Body {
        let answer = record.steps.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Answered { answer, .. } => Some(answer),
            _ => None,
        });
        let questions = questions.list.iter().map(|question| {
            let response = answer.and_then(|answer| answer.find_answer(question));
            let picked = |index: usize| {
                response.is_some_and(
                    |response| matches!(&response.value, AnswerValue::Selected(picks) if picks.contains(&index)),
                )
            };
            let options = question.options.iter().enumerate().map(|(index, option)| {
                let separator = if option.description.is_empty() { "" } else { " — " };
                let option_text = format!("{}{separator}{}", option.label, option.description);
                (picked(index), self.cleaner.clean_line(&option_text))
            });
            let options = options.collect();
            let mut answers = Vec::new();
            match (response, answer) {
                (Some(response), _) => {
                    match &response.value {
                        AnswerValue::Text(text) => answers.push(self.cleaner.clean_text(text)),
                        AnswerValue::Skipped => answers.push("(skipped)".to_owned()),
                        AnswerValue::Selected(_) => {}
                    }
                    let notes = response.notes.iter().map(|note| &note.text);
                    let notes = notes.chain(Some(&response.note).filter(|note| !note.is_empty()));
                    answers.extend(notes.map(|note| format!("note: {}", self.cleaner.clean_text(note))));
                }
                (None, answer) => answers.push(no_answer_reason(answer).to_owned()),
            }
            QuestionPart { text: self.cleaner.clean_text(&question.text), options, answers }
        });
        Body::Questions(questions.collect())
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
