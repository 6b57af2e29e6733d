//! What the model asks the person, and what the person answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One to ten questions asked in one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions {
    /// Never empty.
    pub list: Vec<Question>,
    /// How many questions and options a limit cut off; the model is told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
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
}

/// What the person made of all questions of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Whether they answered at all.
    pub status: Status,
    /// One for each question, in their order; empty unless answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
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
    /// A note to the picked option; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
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
        if asked.dropped > 0 {
            result["dropped"] = json!(asked.dropped);
        }
        result.to_string()
    }
}

impl Given {
    /// The answer in words, for the model and the transcript; empty where it was skipped.
    pub fn words(&self, question: &Question) -> String {
        match &self.source {
            Source::Picked(picks) => {
                let labels: Vec<&str> = picks
                    .iter()
                    .filter_map(|&pick| question.options.get(pick).map(|choice| choice.label.as_str()))
                    .collect();
                labels.join(", ")
            }
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
                result["source"] = json!("option");
                match picks.as_slice() {
                    [one] => result["option_index"] = json!(one),
                    several => result["option_indexes"] = json!(several),
                }
            }
            Source::Written(_) => result["source"] = json!("text"),
            Source::Skipped => {
                result["source"] = json!("skipped");
                result["answer"] = Value::Null;
            }
        }
        if !self.note.is_empty() {
            result["note"] = json!(self.note);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Questions {
        let choice = |label: &str| Choice { label: label.into(), description: String::new() };
        let question = Question {
            keyword: "clock".into(),
            text: "Which clock?".into(),
            options: vec![choice("paused"), choice("a trait"), choice("real")],
            multi: false,
            allow_text: true,
            recommended: None,
        };
        Questions { list: vec![question], dropped: 0 }
    }

    fn result(source: Source) -> Value {
        let given = Given { keyword: "clock".into(), source, note: String::new() };
        let answer = Answer { status: Status::Answered, given: vec![given] };
        serde_json::from_str(&answer.result(&clock())).unwrap_or_default()
    }

    #[test]
    fn the_result_says_how_each_answer_came() {
        let picked = &result(Source::Picked(vec![1]))["answers"][0];
        assert_eq!(
            (&picked["answer"], &picked["source"], &picked["option_index"]),
            (&json!("a trait"), &json!("option"), &json!(1))
        );
        let written = &result(Source::Written("none".into()))["answers"][0];
        assert_eq!((&written["answer"], &written["source"]), (&json!("none"), &json!("text")));
        let skipped = &result(Source::Skipped)["answers"][0];
        assert_eq!((&skipped["answer"], &skipped["source"]), (&Value::Null, &json!("skipped")));
    }

    #[test]
    fn what_was_dropped_is_said() {
        let asked = Questions { dropped: 2, ..clock() };
        let declined = Answer { status: Status::Declined, given: vec![] };
        assert_eq!(
            declined.result(&asked),
            r#"{"type":"question_answers","status":"declined","answers":[],"dropped":2}"#
        );
    }
}
