//! A session as a document: everything in it cleaned, secrets of known shapes masked, in the order it happened.

pub(super) mod html;
pub(super) mod json;
pub(super) mod markdown;
pub(super) mod page;
mod parts;
mod reply;
#[cfg(test)]
mod tests;

use super::facts;
use crate::chat::{Diff, Line, Session, SessionId, mask};
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
    /// How many secrets were masked.
    pub(super) masked: usize,
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
        let title = tidy.line(session.title().unwrap_or("nothing was said"));
        let mut facts = vec![("session", id.0.clone())];
        if let Some(header) = &read.header {
            facts.push(("folder", tidy.line(&facts::in_short(&header.folder))));
            facts.push(("began", tidy.line(&header.time)));
            let model = session.model().unwrap_or(&header.model);
            if !model.is_empty() {
                facts.push(("model", tidy.line(model)));
            }
            if header.dry_run {
                facts.push(("dry run", "nothing real was touched".to_owned()));
            }
            if let Some(from) = &header.from {
                facts.push(("copy of", tidy.line(&from.0)));
            }
        }
        let parts = Gathering::new(&session, read, &mut tidy).talk();
        let notices = read.notices.iter().map(|notice| tidy.line(&notice.to_string())).collect();
        Self { title, facts, parts, notices, masked: tidy.masked }
    }

    /// How many secrets were masked, in words; nothing where none was.
    pub(super) fn told(&self) -> Option<String> {
        told(self.masked)
    }
}

/// How many secrets were masked, in words; nothing where none was.
pub(super) fn told(masked: usize) -> Option<String> {
    match masked {
        0 => None,
        1 => Some("1 secret of a known shape was masked; there may be others".to_owned()),
        many => Some(format!("{many} secrets of known shapes were masked; there may be others")),
    }
}

/// Makes texts harmless.
#[derive(Default)]
pub(super) struct Tidy {
    masked: usize,
}

impl Tidy {
    fn text(&mut self, text: &str) -> String {
        let clean = clean(text);
        let (masked, count) = mask::mask(&clean);
        self.masked += count;
        masked.into_owned()
    }

    fn line(&mut self, text: &str) -> String {
        one_line(&self.text(text)).into_owned()
    }

    /// The lines of a change. They are masked as one text: a key may stand on several.
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
                // What would end the line stands in it as a mark nobody sees.
                lines.push_str(&one_line(text));
                lines.push('\n');
            }
        }
        let (masked, count) = mask::mask(&lines);
        self.masked += count;
        let line = |line: &str| {
            let sign = match line.as_bytes().first() {
                Some(b'+') => Sign::Added,
                Some(b'-') => Sign::Removed,
                Some(b'@') => Sign::Place,
                Some(_) | None => Sign::Same,
            };
            (sign, line.get(1..).unwrap_or_default().to_owned())
        };
        masked.lines().map(line).collect()
    }
}
