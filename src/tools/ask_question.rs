//! Lets the person choose.

use super::arguments::checked;
use super::{Error, Tool, brief};
use crate::chat::{Choice, Intent, Question, Questions, ToolSpec};
use crate::project::Reader;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

/// Questions of a call.
const QUESTIONS: usize = 10;
/// Options of a question.
const OPTIONS: usize = 25;
/// Characters of a label, and of a keyword.
const LABEL: usize = 200;
/// Characters of a question, and of an option's description.
const WORDS: usize = 2_000;
/// Raw items looked at in any list.
const SCANNED: usize = 500;

/// Asks the person.
pub struct AskQuestion;

/// One question on its own is taken too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    questions: Option<Value>,
    question: Option<Value>,
    #[serde(alias = "choices")]
    options: Option<Value>,
    keyword: Option<Value>,
    multi: Option<bool>,
    allow_text: Option<bool>,
    #[serde(alias = "default")]
    recommended: Option<Value>,
}

#[async_trait]
impl Tool for AskQuestion {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_question".to_owned(),
            description: include_str!("words/ask_question.md").trim().to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "questions": {
                    "type": "array",
                    "description": "1 to 10",
                    "items": { "type": "object", "properties": {
                        "question": { "type": "string", "description": "What is asked" },
                        "options": { "type": "array", "items": { "type": "string" }, "description": "Up to 25 short answers" },
                        "keyword": { "type": "string", "description": "Your name for it" },
                        "multi": { "type": "boolean", "description": "Several may be picked" },
                        "allow_text": { "type": "boolean", "description": "Own words taken, default true" },
                        "recommended": { "type": "integer", "description": "Option you advise, from 0" },
                    }, "required": ["question"] },
                } },
                "required": ["questions"],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, _files: &dyn Reader) -> Result<Intent, Error> {
        let top: Arguments = checked(&self.spec(), arguments)?;
        let wrong = |why: &str| Err(Error::Arguments(format!("ask_question requires {why}.")));
        let blank = |text: &Option<Value>| {
            text.as_ref().and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
        };
        let items = match (&top.questions, blank(&top.question)) {
            (Some(_), false) => return wrong("either 'questions' or one 'question', not both"),
            (None, false) => vec![arguments.clone()],
            (questions, true) => match questions.as_ref().and_then(list) {
                Some(items) if !items.is_empty() => items,
                Some(_) | None => return wrong("a non-empty 'questions' array"),
            },
        };
        let mut dropped = items.len().saturating_sub(SCANNED);
        let mut asked: Vec<Question> = Vec::new();
        for item in items.into_iter().take(SCANNED).filter(|item| item["question"].is_string()) {
            let item: Arguments = checked(&self.spec(), &item)?;
            let text = item.question.as_ref().and_then(Value::as_str).unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            if asked.len() == QUESTIONS {
                dropped += 1;
                continue;
            }
            let raw = match &item.options {
                None | Some(Value::Null) => Vec::new(),
                Some(options) => match list(options) {
                    Some(options) => options,
                    None => return wrong("'options' to be an array of strings"),
                },
            };
            let (options, recommended) = choices(&raw, item.recommended.as_ref(), &mut dropped);
            let keyword = item.keyword.as_ref().and_then(Value::as_str).map(str::trim).unwrap_or_default();
            let keyword = if keyword.is_empty() {
                format!("question-{}", asked.len())
            } else {
                bounded(keyword, LABEL, &mut dropped)
            };
            asked.push(Question {
                keyword: unique(keyword, &asked),
                text: bounded(text, WORDS, &mut dropped),
                multi: item.multi.unwrap_or(false),
                // Without options there is no other way to answer.
                allow_text: item.allow_text.unwrap_or(true) || options.is_empty(),
                options,
                recommended,
            });
        }
        if asked.is_empty() {
            return wrong("at least one valid question: an object with a non-empty 'question' string");
        }
        Ok(Intent::Ask(Questions { list: asked, dropped }))
    }
}

/// A list, also where it came as a string of JSON.
fn list(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The options worth showing, and which of them is recommended: by its place in `raw` or by its label.
fn choices(raw: &[Value], recommended: Option<&Value>, dropped: &mut usize) -> (Vec<Choice>, Option<usize>) {
    let (mut options, mut best): (Vec<Choice>, _) = (Vec::new(), None);
    *dropped += raw.len().saturating_sub(SCANNED);
    for (at, value) in raw.iter().take(SCANNED).enumerate() {
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        let whole = value.as_str().unwrap_or_else(|| text("label")).trim();
        let mut cut = 0;
        let label = bounded(whole, LABEL, &mut cut);
        if label.is_empty() || options.iter().any(|option| option.label == label) {
            continue;
        }
        if options.len() == OPTIONS {
            *dropped += 1;
            continue;
        }
        *dropped += cut;
        let advised = |wanted: &Value| {
            wanted.as_u64() == Some(at as u64) || wanted.as_str().map(str::trim) == Some(whole)
        };
        if best.is_none() && recommended.is_some_and(advised) {
            best = Some(options.len());
        }
        options.push(Choice { label, description: bounded(text("description").trim(), WORDS, dropped) });
    }
    (options, best)
}

fn bounded(text: &str, limit: usize, dropped: &mut usize) -> String {
    let (kept, whole) = brief::cut(text, limit);
    *dropped += usize::from(whole.is_some());
    kept.to_owned()
}

fn unique(keyword: String, asked: &[Question]) -> String {
    let taken = |name: &String| asked.iter().any(|question| question.keyword == *name);
    let numbered = (1..).map(|n| format!("{keyword}-{n}"));
    std::iter::once(keyword.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(keyword)
}

#[cfg(test)]
mod tests;
