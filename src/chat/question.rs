//! Questions of the model to the user, and their answers.

use super::pluralize;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The questions of one call, one to ten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions {
    /// Never empty.
    pub list: Vec<Question>,
    /// Number of items removed by the limits, reported to the model and the user.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub dropped: Dropped,
}

/// Counts of items that the limits removed from a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredDropped")]
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
enum StoredDropped {
    OptionsOnly(usize),
    Separate {
        #[serde(default)]
        questions: usize,
        #[serde(default)]
        options: usize,
        #[serde(default)]
        shortened: usize,
    },
}

impl From<StoredDropped> for Dropped {
    fn from(stored: StoredDropped) -> Self {
        match stored {
            StoredDropped::OptionsOnly(options) => Self { options, ..Self::default() },
            StoredDropped::Separate { questions, options, shortened } => Self { questions, options, shortened },
        }
    }
}

impl Dropped {
    /// Returns whether nothing was removed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Describes what was removed: `2 questions omitted, 1 text truncated`; empty if nothing was.
    pub fn describe_dropped(&self) -> String {
        let describe_count = |count: usize, singular: &str, action: &str| {
            (count > 0).then(|| format!("{} {action}", pluralize(count, singular)))
        };
        let parts = [
            describe_count(self.questions, "question", "omitted"),
            describe_count(self.options, "option", "omitted"),
            describe_count(self.shortened, "text", "truncated"),
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
    pub options: Vec<QuestionOption>,
    /// True if several options may be selected.
    #[serde(default)]
    #[serde(rename = "multi")]
    pub is_multiple: bool,
    /// True if free text is accepted.
    #[serde(default = "default_true")]
    pub allow_text: bool,
    /// Explanation of the free text by the model; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text_description: String,
    /// Index of the option recommended by the model; marked, but never selected automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<usize>,
}

impl Question {
    /// Returns the keyword of a question for which the model gave none. `index` is that of the question in its call.
    pub fn generate_keyword(index: usize) -> String {
        format!("question-{index}")
    }

    /// Returns whether the keyword of the question at `index` was generated, so that it tells the user nothing.
    pub fn has_generated_keyword(&self, index: usize) -> bool {
        self.keyword == Self::generate_keyword(index)
    }
}

fn default_true() -> bool {
    true
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    pub label: String,
    /// Explanation; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Markdown preview of the result; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preview: String,
}

impl QuestionOption {
    /// Creates an option without description and preview.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), description: String::new(), preview: String::new() }
    }
}

/// Answer to all questions of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub status: AnswerStatus,
    /// One answer per question, in order; empty unless answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "given")]
    pub answers: Vec<QuestionAnswer>,
    /// Origin: typed, read from a file, or sent by a client.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[serde(rename = "giver")]
    pub origin: AnswerOrigin,
}

/// Origin of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerOrigin {
    /// In the question prompt.
    #[default]
    #[serde(rename = "person")]
    User,
    /// In a file of answers.
    File,
    /// From the client of `aye serve`.
    Client,
}

/// Status of the questions of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// Every question was answered or skipped.
    Answered,
    /// The user declined to answer.
    Declined,
    /// No user was available, or the turn was stopped first.
    Deferred,
}

/// Answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// Keyword of the question.
    pub keyword: String,
    #[serde(rename = "source")]
    pub value: AnswerValue,
    /// Note on the whole answer; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Notes on options, selected or not, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<OptionNote>,
}

/// Note of the user on one option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionNote {
    /// Index of the option.
    pub option: usize,
    /// The note; never empty.
    pub text: String,
}

/// The answer itself. It is never made up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", content = "value", rename_all = "snake_case")]
pub enum AnswerValue {
    /// Indexes of the selected options.
    #[serde(rename = "picked")]
    Selected(Vec<usize>),
    /// Free text.
    #[serde(rename = "written")]
    Text(String),
    /// The question was skipped.
    Skipped,
}

impl Answer {
    /// Returns an answer of the user with this status and no content.
    pub fn from_status(status: AnswerStatus) -> Self {
        Self { status, answers: Vec::new(), origin: AnswerOrigin::User }
    }

    /// Returns the answer to this question, if given.
    pub fn find_answer(&self, question: &Question) -> Option<&QuestionAnswer> {
        self.answers.iter().find(|answer| answer.keyword == question.keyword)
    }

    /// Returns the tool result, a JSON object.
    pub fn to_result(&self, questions: &Questions) -> String {
        let answers: Vec<Value> = self
            .answers
            .iter()
            .filter_map(|answer| {
                let question = questions.list.iter().find(|question| question.keyword == answer.keyword)?;
                Some(answer.to_result(question))
            })
            .collect();
        let mut result = json!({ "type": "question_answers", "status": self.status, "answers": answers });
        if !questions.dropped.is_empty() {
            result["dropped"] = json!(format!("{}: too many or too long", questions.dropped.describe_dropped()));
        }
        result.to_string()
    }
}

impl QuestionAnswer {
    /// Creates an answer without notes.
    pub fn new(keyword: &str, value: AnswerValue) -> Self {
        Self { keyword: keyword.to_owned(), value, note: String::new(), notes: Vec::new() }
    }

    /// Returns the answer as text, for the model and the transcript; empty if skipped.
    pub fn answer_text(&self, question: &Question) -> String {
        match &self.value {
            AnswerValue::Selected(selected) => option_labels(question, selected).join(", "),
            AnswerValue::Text(text) => text.clone(),
            AnswerValue::Skipped => String::new(),
        }
    }

    fn to_result(&self, question: &Question) -> Value {
        let mut result = json!({
            "keyword": question.keyword,
            "question": question.text,
            "answer": self.answer_text(question),
        });
        match &self.value {
            AnswerValue::Selected(selected) => {
                result["source"] = json!("picked");
                // If several may be selected, the result has the same form for any number of them.
                match selected.as_slice() {
                    [index] if !question.is_multiple => result["option_index"] = json!(index),
                    indexes => {
                        result["answer"] = json!(option_labels(question, indexes));
                        result["option_indexes"] = json!(indexes);
                    }
                }
            }
            AnswerValue::Text(_) => result["source"] = json!("written"),
            AnswerValue::Skipped => {
                result["source"] = json!("skipped");
                result["answer"] = Value::Null;
            }
        }
        if !self.note.is_empty() {
            result["note"] = json!(self.note);
        }
        let note = |note: &OptionNote| {
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

fn option_labels<'a>(question: &'a Question, selected: &[usize]) -> Vec<&'a str> {
    let label = |&index: &usize| question.options.get(index).map(|option| option.label.as_str());
    selected.iter().filter_map(label).collect()
}

#[cfg(test)]
mod tests;
