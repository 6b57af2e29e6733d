//! A session as a document: everything in it cleaned, secrets of known forms redacted, in the order it happened.

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

/// A session to be read. No text in it has anything that a terminal obeys; nothing of it is escaped for a format yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Document {
    pub(super) title: String,
    /// What it is, in labelled facts.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) parts: Vec<Part>,
    /// What was left out of its file.
    pub(super) notices: Vec<String>,
    /// How many secrets were redacted.
    pub(super) redacted: usize,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Something was said.
    Words(Words),
    /// Something was called.
    Call(Box<Called>),
    /// Something was noted beside the talk.
    Aside(String),
}

/// Words of somebody.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    pub(super) who: String,
    /// Whether they are the model's, and markdown.
    pub(super) model: bool,
    pub(super) when: String,
    pub(super) text: String,
    /// What was thought before; empty where nothing is known of it.
    pub(super) reasoning: String,
    /// Why they are not whole, where they are not.
    pub(super) incomplete: Option<String>,
}

/// A call, from the model's words to its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) when: String,
    pub(super) end: End,
    /// Verdict, decision and end, in words and in order.
    pub(super) steps: Vec<String>,
    /// What is wrong with the record, where something is.
    pub(super) careful: Option<String>,
    pub(super) bodies: Vec<Body>,
    /// What the sub-agent did that it handed its task to.
    pub(super) beneath: Vec<Part>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// A command that ran, and not to a good end.
    Badly,
    /// The same on the stage of a dry run.
    RehearsedBadly,
    Failed,
    Refused,
    Rehearsed,
    Interrupted,
    Open,
}

impl End {
    /// Its mark, as on the screen.
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

    /// In a word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Badly => "ended badly",
            Self::RehearsedBadly => "rehearsed ended badly",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Rehearsed => "rehearsed",
            Self::Interrupted => "interrupted",
            Self::Open => "open",
        }
    }
}

/// What a call shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// Code or output; the language is empty where there is none.
    Code { label: &'static str, language: &'static str, text: String },
    /// A change to a file.
    Change { path: String, note: Option<String>, lines: Vec<(Sign, String)> },
    /// Questions with what was answered.
    Asked(Vec<Asked>),
}

/// What a line of a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Same,
    Added,
    Removed,
    /// Where the lines stand.
    Place,
}

impl Sign {
    /// What stands before the line.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Place => "",
        }
    }
}

/// A question and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) text: String,
    /// Each with whether it was picked.
    pub(super) options: Vec<(bool, String)>,
    /// What was written, noted or left open.
    pub(super) answer: Vec<String>,
}

impl Document {
    /// The document of a session.
    pub(super) fn of(id: &SessionId, read: &Read) -> Self {
        let session = Session::replay(read.entries.iter().cloned());
        let mut tidy = Tidy::default();
        let now = read.header.as_ref().map(|header| header.dry_run);
        let dry_run = dry_run_entries(now, &read.entries);
        let title = tidy.line(session.title().unwrap_or("nothing was said"));
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

    /// The number of secrets redacted, in words; `None` if there were none.
    pub(super) fn told(&self) -> Option<String> {
        told(self.redacted)
    }
}

/// How much of a session was a dry run; `None` if nothing was.
fn extent(is_dry_run: bool, entries: &[bool], tally: Tally) -> Option<String> {
    let any = is_dry_run || entries.contains(&true);
    let all = is_dry_run && !entries.contains(&false);
    match (any, all, tally.outside) {
        (false, ..) => None,
        (true, false, _) => Some("in part; the replies of that part are marked".to_owned()),
        (true, true, 0) => Some("nothing real was touched".to_owned()),
        (true, true, 1) => Some("1 call had an effect outside of it".to_owned()),
        (true, true, many) => Some(format!("{many} calls had effects outside of it")),
    }
}

/// The number of secrets redacted, in words; `None` if there were none.
pub(super) fn told(redacted: usize) -> Option<String> {
    match redacted {
        0 => None,
        1 => Some("1 secret of a known form was redacted; there may be others".to_owned()),
        many => Some(format!("{many} secrets of known forms were redacted; there may be others")),
    }
}

/// Makes texts harmless.
#[derive(Default)]
pub(super) struct Tidy {
    redacted: usize,
}

impl Tidy {
    fn text(&mut self, text: &str) -> String {
        // A mark within a secret would hide it from those who look for secrets.
        let (redacted, count) = redact(text);
        self.redacted += count;
        clean(&redacted).into_owned()
    }

    fn line(&mut self, text: &str) -> String {
        one_line(&self.text(text)).into_owned()
    }

    /// The lines of a change. They are redacted as one text: a key may stand on several.
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
                // A line of a file holds no line feed.
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
