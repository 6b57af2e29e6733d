//! What the model asks the person, and what the person answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One to ten questions asked in one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions {
    /// Never empty.
    pub list: Vec<Question>,
    /// What limits cut off; the model and the person are told.
    #[serde(default, skip_serializing_if = "Dropped::is_nothing")]
    pub dropped: Dropped,
}

/// How much of a call the limits cut off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Dropped {
    /// Questions that were left out.
    pub questions: usize,
    /// Options that were left out.
    pub options: usize,
    /// Texts that were cut short.
    pub shortened: usize,
}

/// How a session file has it: the first sessions counted questions and options together.
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
    /// Whether everything that was sent is there.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What is missing, in words; empty where nothing is.
    pub fn words(&self) -> String {
        let count = |n: usize, one: &str, many: &str, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {one} {what}")),
            n => Some(format!("{n} {many} {what}")),
        };
        let parts = [
            count(self.questions, "question", "questions", "left out"),
            count(self.options, "option", "options", "left out"),
            count(self.shortened, "text", "texts", "cut short"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The model's name for it, by which it knows the answer; unique within the call.
    pub keyword: String,
    /// What is asked.
    pub text: String,
    /// What may be picked; may be empty, then only own words answer.
    pub options: Vec<Choice>,
    /// Whether several may be picked.
    #[serde(default)]
    pub multi: bool,
    /// Whether own words are taken.
    #[serde(default = "yes")]
    pub allow_text: bool,
    /// The option the model recommends; marked, never chosen by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<usize>,
}

fn yes() -> bool {
    true
}

/// One thing that may be picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// A few words.
    pub label: String,
    /// What it means; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What picking it would look like, in markdown; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preview: String,
}

impl Choice {
    /// A choice that is its label alone.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), description: String::new(), preview: String::new() }
    }
}

/// What the person made of all questions of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Whether they answered at all.
    pub status: Status,
    /// One for each question, in their order; empty unless answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
    /// By which way it came.
    #[serde(default, skip_serializing_if = "Giver::is_person")]
    pub giver: Giver,
}

/// By which way an answer came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Giver {
    /// The person answered on the card.
    #[default]
    Person,
    /// The person wrote it into a file before.
    File,
}

impl Giver {
    fn is_person(&self) -> bool {
        *self == Self::Person
    }
}

/// Whether the questions were answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With at least one answer.
    Answered,
    /// The person said that they will not answer.
    Declined,
    /// Nobody was there to answer, or the turn was stopped first.
    Deferred,
}

/// What was given to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Which question.
    pub keyword: String,
    /// How the answer came.
    pub source: Source,
    /// A note to the answer as a whole; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Notes to single options, picked or not, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// What the person noted to one option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Which option, by index from 0.
    pub option: usize,
    /// Never empty.
    pub text: String,
}

/// How an answer came. An answer is never invented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", content = "value", rename_all = "snake_case")]
pub enum Source {
    /// These options were picked, by index from 0.
    Picked(Vec<usize>),
    /// In the person's own words.
    Written(String),
    /// This one was left out.
    Skipped,
}

impl Answer {
    /// An answer without answers, by the person.
    pub fn without(status: Status) -> Self {
        Self { status, given: Vec::new(), giver: Giver::Person }
    }

    /// What the model is told, as one JSON object.
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
    /// An answer without notes.
    pub fn new(keyword: &str, source: Source) -> Self {
        Self { keyword: keyword.to_owned(), source, note: String::new(), notes: Vec::new() }
    }

    /// The answer in words, for the model and the transcript; empty where it was skipped.
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
                // The same shape whatever was picked, where several could be.
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
