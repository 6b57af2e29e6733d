//! Questions of the model to the user, and their answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The questions of one call, one to ten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions {
    /// Never empty.
    pub list: Vec<Question>,
    /// Number of items removed by the limits, reported to the model and the user.
    #[serde(default, skip_serializing_if = "Dropped::is_nothing")]
    pub dropped: Dropped,
}

/// Counts of items that the limits removed from a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Dropped {
    /// Questions removed.
    pub questions: usize,
    /// Options removed.
    pub options: usize,
    /// Texts truncated.
    pub shortened: usize,
}

/// Format in a session file: early versions stored one number, of options.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Together(usize),
    Apart {
        #[serde(default)]
        questions: usize,
        #[serde(default)]
        options: usize,
        #[serde(default)]
        shortened: usize,
    },
}

impl From<Kept> for Dropped {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Together(options) => Self { options, ..Self::default() },
            Kept::Apart { questions, options, shortened } => Self { questions, options, shortened },
        }
    }
}

impl Dropped {
    /// Returns whether nothing was removed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Describes what was removed: `2 questions omitted, 1 text truncated`; empty if nothing was.
    pub fn words(&self) -> String {
        let count = |n: usize, one: &str, many: &str, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {one} {what}")),
            n => Some(format!("{n} {many} {what}")),
        };
        let parts = [
            count(self.questions, "question", "questions", "omitted"),
            count(self.options, "option", "options", "omitted"),
            count(self.shortened, "text", "texts", "truncated"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Identifies the answer for the model; unique within the call.
    pub keyword: String,
    pub text: String,
    /// Options; if empty, the answer is free text.
    pub options: Vec<Choice>,
    /// True if several options may be selected.
    #[serde(default)]
    pub multi: bool,
    /// True if free text is accepted.
    #[serde(default = "yes")]
    pub allow_text: bool,
    /// Index of the option recommended by the model; marked, but never selected automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<usize>,
}

fn yes() -> bool {
    true
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub label: String,
    /// Explanation; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Markdown preview of the result; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preview: String,
}

impl Choice {
    /// Creates an option without description and preview.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), description: String::new(), preview: String::new() }
    }
}

/// Answer to all questions of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub status: Status,
    /// One answer per question, in order; empty unless answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
    /// Origin: typed or read from a file.
    #[serde(default, skip_serializing_if = "Giver::is_person")]
    pub giver: Giver,
}

/// Origin of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Giver {
    /// In the question prompt.
    #[default]
    Person,
    /// In a file of answers.
    File,
}

impl Giver {
    fn is_person(&self) -> bool {
        *self == Self::Person
    }
}

/// Status of the questions of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With at least one answer.
    Answered,
    /// The user declined to answer.
    Declined,
    /// No user was available, or the turn was stopped first.
    Deferred,
}

/// Answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Keyword of the question.
    pub keyword: String,
    pub source: Source,
    /// Note on the whole answer; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Notes on options, selected or not, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// Note of the user on one option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Index of the option.
    pub option: usize,
    /// The note; never empty.
    pub text: String,
}

/// The answer itself. It is never made up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", content = "value", rename_all = "snake_case")]
pub enum Source {
    /// Indexes of the selected options.
    Picked(Vec<usize>),
    /// Free text.
    Written(String),
    /// The question was skipped.
    Skipped,
}

impl Answer {
    /// Returns an answer of the user with this status and no content.
    pub fn without(status: Status) -> Self {
        Self { status, given: Vec::new(), giver: Giver::Person }
    }

    /// Returns the tool result, a JSON object.
    pub fn result(&self, asked: &Questions) -> String {
        let answers: Vec<Value> = self
            .given
            .iter()
            .filter_map(|given| {
                let question = asked.list.iter().find(|question| question.keyword == given.keyword)?;
                Some(given.result(question))
            })
            .collect();
        let mut result = json!({ "type": "question_answers", "status": self.status, "answers": answers });
        if !asked.dropped.is_nothing() {
            result["dropped"] = json!(format!("{}: too many or too long", asked.dropped.words()));
        }
        result.to_string()
    }
}

impl Given {
    /// Creates an answer without notes.
    pub fn new(keyword: &str, source: Source) -> Self {
        Self { keyword: keyword.to_owned(), source, note: String::new(), notes: Vec::new() }
    }

    /// Returns the answer as text, for the model and the transcript; empty if skipped.
    pub fn words(&self, question: &Question) -> String {
        match &self.source {
            Source::Picked(picks) => labels(question, picks).join(", "),
            Source::Written(text) => text.clone(),
            Source::Skipped => String::new(),
        }
    }

    fn result(&self, question: &Question) -> Value {
        let mut result = json!({
            "keyword": question.keyword,
            "question": question.text,
            "answer": self.words(question),
        });
        match &self.source {
            Source::Picked(picks) => {
                result["source"] = json!("picked");
                // If several may be selected, the result has the same form for any number of them.
                match picks.as_slice() {
                    [one] if !question.multi => result["option_index"] = json!(one),
                    several => {
                        result["answer"] = json!(labels(question, several));
                        result["option_indexes"] = json!(several);
                    }
                }
            }
            Source::Written(_) => result["source"] = json!("written"),
            Source::Skipped => {
                result["source"] = json!("skipped");
                result["answer"] = Value::Null;
            }
        }
        if !self.note.is_empty() {
            result["note"] = json!(self.note);
        }
        let note = |note: &Note| {
            let option = &question.options.get(note.option)?.label;
            Some(json!({ "option_index": note.option, "option": option, "note": note.text }))
        };
        let notes: Vec<Value> = self.notes.iter().filter_map(note).collect();
        if !notes.is_empty() {
            result["notes"] = json!(notes);
        }
        result
    }
}

fn labels<'a>(question: &'a Question, picks: &[usize]) -> Vec<&'a str> {
    let label = |&pick: &usize| question.options.get(pick).map(|choice| choice.label.as_str());
    picks.iter().filter_map(label).collect()
}

#[cfg(test)]
mod tests;
