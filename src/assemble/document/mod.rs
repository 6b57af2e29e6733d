//! A session as a document: cleaned, with secrets of known forms redacted, in order.

pub(super) mod html;
pub(super) mod json;
pub(super) mod markdown;
pub(super) mod page;
mod parts;
mod reply;
#[cfg(test)]
mod tests;

use super::facts;
use crate::chat::Tally;
use crate::chat::redact::redact;
use crate::chat::staged::{dry_run_entries, titled};
use crate::chat::{Diff, Line, Session, SessionId};
use crate::store::Read;
use crate::tui::text::clean::{clean, one_line};
use parts::Gathering;

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
    Words(Words),
    /// A tool call.
    Call(Box<Called>),
    /// A note.
    Aside(String),
}

/// A message of the user or the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    pub(super) who: String,
    /// True if it is from the model; its text is then markdown.
    pub(super) model: bool,
    pub(super) when: String,
    pub(super) text: String,
    /// The reasoning before it; empty if unknown.
    pub(super) reasoning: String,
    /// Reason why it is incomplete, if it is.
    pub(super) incomplete: Option<String>,
}

/// A call with its steps and outcome.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) when: String,
    pub(super) end: End,
    /// Verdict, decision and outcome, in order.
    pub(super) steps: Vec<String>,
    /// A problem of the record, if any.
    pub(super) careful: Option<String>,
    pub(super) bodies: Vec<Body>,
    /// Parts of the sub-agent that the call started.
    pub(super) beneath: Vec<Part>,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// A command ran and failed.
    Badly,
    /// A command ran in the overlay sandbox and failed.
    RehearsedBadly,
    Failed,
    Refused,
    Rehearsed,
    Interrupted,
    Open,
}

impl End {
    /// Returns the mark that the screen uses too.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Done => "✓",
            Self::Badly | Self::RehearsedBadly | Self::Failed => "✗",
            Self::Refused => "⊘",
            Self::Rehearsed => "◇",
            Self::Interrupted => "■",
            Self::Open => "…",
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Badly => "exited with an error",
            Self::RehearsedBadly => "rehearsed, exited with an error",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Rehearsed => "rehearsed",
            Self::Interrupted => "interrupted",
            Self::Open => "open",
        }
    }
}

/// Content shown for a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// Code or output; the language may be empty.
    Code { label: &'static str, language: &'static str, text: String },
    /// A change of a file.
    Change { path: String, note: Option<String>, lines: Vec<(Sign, String)> },
    /// Questions with their answers.
    Asked(Vec<Asked>),
}

/// Kind of a diff line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Same,
    Added,
    Removed,
    /// Position of the following lines.
    Place,
}

impl Sign {
    /// Returns the character before the line.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Place => "",
        }
    }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) text: String,
    /// Each with whether it was picked.
    pub(super) options: Vec<(bool, String)>,
    /// Written answers, notes, or why there is no answer.
    pub(super) answer: Vec<String>,
}

impl Document {
    /// Creates the document of a session.
    pub(super) fn of(id: &SessionId, read: &Read) -> Self {
        let session = Session::replay(read.entries.iter().cloned());
        let mut tidy = Tidy::default();
        let now = read.header.as_ref().map(|header| header.dry_run);
        let dry_run = dry_run_entries(now, &read.entries);
        let title = tidy.line(session.title().unwrap_or("empty session"));
        let is_dry_run = now.or(dry_run.last().copied()).unwrap_or(false);
        let title = titled(&title, is_dry_run).into_owned();
        let mut facts = vec![("session", id.0.clone())];
        if let Some(header) = &read.header {
            facts.push(("folder", tidy.line(&facts::in_short(&header.folder))));
            facts.push(("began", tidy.line(&header.time)));
            let model = session.model().unwrap_or(&header.model);
            if !model.is_empty() {
                facts.push(("model", tidy.line(model)));
            }
            if let Some(from) = &header.from {
                facts.push(("copy of", tidy.line(&from.0)));
            }
        }
        if let Some(words) = extent(is_dry_run, &dry_run, Tally::of(&read.entries)) {
            facts.push(("dry run", words));
        }
        let parts = Gathering::new(&session, read, dry_run, &mut tidy).talk();
        let notices = read.notices.iter().map(|notice| tidy.line(&notice.to_string())).collect();
        Self { title, facts, parts, notices, redacted: tidy.redacted }
    }

    /// Formats the number of redacted secrets; `None` if zero.
    pub(super) fn told(&self) -> Option<String> {
        told(self.redacted)
    }
}

/// Describes how much of a session was a dry run; `None` if nothing was.
fn extent(is_dry_run: bool, entries: &[bool], tally: Tally) -> Option<String> {
    let any = is_dry_run || entries.contains(&true);
    let all = is_dry_run && !entries.contains(&false);
    match (any, all, tally.outside) {
        (false, ..) => None,
        (true, false, _) => Some("in part; the replies of that part are marked".to_owned()),
        (true, true, 0) => Some("nothing real was changed".to_owned()),
        (true, true, 1) => Some("1 call had effects outside of it".to_owned()),
        (true, true, many) => Some(format!("{many} calls had effects outside of it")),
    }
}

/// Formats the number of redacted secrets; `None` if zero.
pub(super) fn told(redacted: usize) -> Option<String> {
    match redacted {
        0 => None,
        1 => Some("1 secret of a known form was redacted; there may be others".to_owned()),
        many => Some(format!("{many} secrets of known forms were redacted; there may be others")),
    }
}

/// Cleans and redacts text.
#[derive(Default)]
pub(super) struct Tidy {
    redacted: usize,
}

impl Tidy {
    fn text(&mut self, text: &str) -> String {
        // Redaction is first: a mark inside a secret would hide it.
        let (redacted, count) = redact(text);
        self.redacted += count;
        clean(&redacted).into_owned()
    }

    fn line(&mut self, text: &str) -> String {
        one_line(&self.text(text)).into_owned()
    }

    /// Formats the lines of a change. They are redacted as one text, because a key may span several.
    fn change(&mut self, diff: &Diff) -> Vec<(Sign, String)> {
        let mut lines = String::new();
        for hunk in &diff.hunks {
            lines.push_str(&format!("@line {} → {}\n", hunk.before, hunk.after));
            for line in &hunk.lines {
                let (sign, text) = match line {
                    Line::Same(text) => (' ', text),
                    Line::Added(text) => ('+', text),
                    Line::Removed(text) => ('-', text),
                };
                lines.push(sign);
                // A line of a file has no line feed.
                lines.push_str(&text.replace('\n', " "));
                lines.push('\n');
            }
        }
        let lines = self.text(&lines);
        let line = |line: &str| {
            let sign = match line.as_bytes().first() {
                Some(b'+') => Sign::Added,
                Some(b'-') => Sign::Removed,
                Some(b'@') => Sign::Place,
                Some(_) | None => Sign::Same,
            };
            (sign, line.get(1..).unwrap_or_default().to_owned())
        };
        lines.lines().map(line).collect()
    }
}
