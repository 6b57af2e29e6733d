//! A session as a document: cleaned, with secrets of known forms redacted, in order.

mod escaping;
mod file_links;
mod file_section;
pub(super) mod html;
pub(super) mod included_files;
pub(super) mod json;
pub(super) mod markdown;
mod markdown_html;
mod neutral_markdown;
mod part_collector;
mod portable_paths;
#[cfg(test)]
mod tests;
pub(super) mod text_page;

use crate::chat::audit::EndKind;
use crate::chat::dry_run_entries::dry_run_entries;
use crate::chat::result_origin::mark_dry_run;
use crate::chat::{Diff, DiffLine, DryRunCounts, Session, SessionId};
use crate::commands::output::redaction_notice;
use crate::project::folder_facts;
use crate::store::StoredSession;
use crate::text::clean::{clean_line, clean_text};
use crate::text::redaction::redact;
use part_collector::PartCollector;

/// A session to export. No text contains terminal control characters; nothing is escaped for a format yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Document {
    pub(super) title: String,
    /// Labelled facts about the session.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) parts: Vec<Part>,
    /// Notices about unreadable parts of its file.
    pub(super) notices: Vec<String>,
    /// Number of secrets redacted.
    pub(super) redacted: usize,
}

/// One part of the transcript.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// A message.
    Message(Message),
    /// A tool call.
    Call(Box<CallPart>),
    /// A note.
    Aside(String),
}

/// A message of the user or the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) author: String,
    /// True if it is from the model; its text is then markdown.
    pub(super) is_model: bool,
    pub(super) time: String,
    pub(super) text: String,
    /// The reasoning before it; empty if unknown.
    pub(super) reasoning: String,
    /// Reason why it is incomplete, if it is.
    pub(super) incomplete: Option<String>,
}

/// A call with its steps and outcome.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallPart {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) time: String,
    pub(super) end: EndKind,
    /// Verdict, decision and outcome, in order.
    pub(super) steps: Vec<String>,
    /// A problem of the record, if any.
    pub(super) warning: Option<String>,
    pub(super) bodies: Vec<Body>,
    /// Parts of the sub-agent that the call started.
    pub(super) sub_agent: Vec<Part>,
}

/// Content shown for a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// Code or output; the language may be empty.
    Code { label: &'static str, language: &'static str, text: String },
    /// A change of a file.
    Change { path: String, note: Option<String>, lines: Vec<(DiffSign, String)> },
    /// Questions with their answers.
    Questions(Vec<QuestionPart>),
}

/// Kind of a diff line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffSign {
    Same,
    Added,
    Removed,
    /// Position of the following lines.
    Position,
}

impl DiffSign {
    /// Returns the character before the line.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Position => "",
        }
    }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuestionPart {
    pub(super) text: String,
    /// Labels of the options, each with whether it was picked.
    pub(super) options: Vec<(bool, String)>,
    /// Written answers, notes, or why there is no answer.
    pub(super) answers: Vec<String>,
}

impl Document {
    /// Creates the document of a session.
    pub(super) fn from_session(id: &SessionId, stored: &StoredSession) -> Self {
        let session = Session::replay(stored.entries.iter().cloned());
        let mut cleaner = Cleaner::default();
        let header_dry_run = stored.header.as_ref().map(|header| header.dry_run);
        let dry_run_flags = dry_run_entries(header_dry_run, &stored.entries);
        let title = cleaner.clean_line(session.title().unwrap_or("empty session"));
        let is_dry_run = header_dry_run.or(dry_run_flags.last().copied()).unwrap_or(false);
        let title = mark_dry_run(&title, is_dry_run).into_owned();
        let mut facts = vec![("session", id.0.clone())];
        if let Some(header) = &stored.header {
            facts.push(("folder", cleaner.clean_line(&folder_facts::shorten_home(&header.folder))));
            facts.push(("began", cleaner.clean_line(&header.time)));
            let model = session.model().unwrap_or(&header.model);
            if !model.is_empty() {
                facts.push(("model", cleaner.clean_line(model)));
            }
            if let Some(origin) = &header.from {
                facts.push(("copy of", cleaner.clean_line(&origin.0)));
            }
        }
        if let Some(extent) = dry_run_extent(is_dry_run, &dry_run_flags, DryRunCounts::from_entries(&stored.entries)) {
            facts.push(("dry run", extent));
        }
        let parts = PartCollector::new(&session, stored, dry_run_flags, &mut cleaner).collect_transcript();
        let notices = stored.notices.iter().map(|notice| cleaner.clean_line(&notice.to_string())).collect();
        Self { title, facts, parts, notices, redacted: cleaner.redacted }
    }

    /// Formats the number of redacted secrets; `None` if zero.
    pub(super) fn redaction_notice(&self) -> Option<String> {
        redaction_notice(self.redacted)
    }
}

/// Describes how much of a session was a dry run; `None` if nothing was.
fn dry_run_extent(is_dry_run: bool, entry_flags: &[bool], counts: DryRunCounts) -> Option<String> {
    let any = is_dry_run || entry_flags.contains(&true);
    let all = is_dry_run && !entry_flags.contains(&false);
    match (any, all, counts.live_effects) {
        (false, ..) => None,
        (true, false, _) => Some("in part; the replies of that part are marked".to_owned()),
        (true, true, 0) => Some("nothing real was changed".to_owned()),
        (true, true, 1) => Some("1 call had effects outside of it".to_owned()),
        (true, true, count) => Some(format!("{count} calls had effects outside of it")),
    }
}

/// Cleans and redacts text.
#[derive(Default)]
pub(super) struct Cleaner {
    redacted: usize,
}

impl Cleaner {
    fn clean_text(&mut self, text: &str) -> String {
        // Redact first: cleaning inserts marks for hidden characters, and a mark inside a secret would hide it.
        let (redacted, count) = redact(text);
        self.redacted += count;
        clean_text(&redacted).into_owned()
    }

    fn clean_line(&mut self, text: &str) -> String {
        clean_line(&self.clean_text(text)).into_owned()
    }

    /// Formats the lines of a change. They are redacted as one text, because a key may span several.
    fn clean_change(&mut self, diff: &Diff) -> Vec<(DiffSign, String)> {
        // The first character of each line is a sign that `parse_line` removes again.
        let mut lines = String::new();
        for hunk in &diff.hunks {
            lines.push_str(&format!("@line {} → {}\n", hunk.before, hunk.after));
            for line in &hunk.lines {
                let (sign, text) = match line {
                    DiffLine::Same(text) => (' ', text),
                    DiffLine::Added(text) => ('+', text),
                    DiffLine::Removed(text) => ('-', text),
                };
                lines.push(sign);
                // Only a damaged session file can contain a line feed here, which would split the line.
                lines.push_str(&text.replace('\n', " "));
                lines.push('\n');
            }
        }
        let lines = self.clean_text(&lines);
        let parse_line = |line: &str| {
            let sign = match line.as_bytes().first() {
                Some(b'+') => DiffSign::Added,
                Some(b'-') => DiffSign::Removed,
                Some(b'@') => DiffSign::Position,
                Some(_) | None => DiffSign::Same,
            };
            (sign, line.get(1..).unwrap_or_default().to_owned())
        };
        lines.lines().map(parse_line).collect()
    }
}
