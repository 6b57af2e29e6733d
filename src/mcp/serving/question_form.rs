//! Questions as a form that the client shows to its user (elicitation), and the reply as answers.

use crate::chat::{
    Answer, AnswerOrigin, AnswerStatus, AnswerValue, Question, QuestionAnswer, QuestionOption, Questions, pluralize,
};
use crate::text::truncation::truncate_end;
use serde_json::{Map, Value, json};

/// Maximum characters of the title of a field. A longer question is also its description.
const MAX_TITLE_CHARS: usize = 120;
/// Maximum characters of an answer.
const MAX_ANSWER_CHARS: usize = 20_000;

/// A form with all questions of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionForm {
    questions: Questions,
    /// True if a field may be a list of values. Otherwise each option of a question with several answers is a field.
    uses_lists: bool,
}

impl QuestionForm {
    pub fn new(questions: Questions, uses_lists: bool) -> Self {
        Self { questions, uses_lists }
    }

    /// Returns the parameters of the request. No field is required, because any question may be skipped.
    pub fn to_parameters(&self) -> Value {
        let mut properties = Map::new();
        for (index, question) in self.questions.list.iter().enumerate() {
            self.add_fields(index, question, &mut properties);
        }
        let message = match self.questions.list.as_slice() {
            [question] => question.text.clone(),
            list => pluralize(list.len(), "question"),
        };
        json!({ "message": message, "requestedSchema": { "type": "object", "properties": properties } })
    }

    fn add_fields(&self, index: usize, question: &Question, properties: &mut Map<String, Value>) {
        let name = field_name(index);
        let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
        let title = truncate_end(&question.text, MAX_TITLE_CHARS);
        let mut field = match (labels.is_empty(), question.is_multiple) {
            (true, _) => json!({ "type": "string", "title": title }),
            (false, false) => json!({ "type": "string", "title": title, "enum": labels }),
            (false, true) => json!({ "type": "array", "title": title, "items": { "type": "string", "enum": labels } }),
        };
        let description = describe_question(question);
        if !description.is_empty() {
            field["description"] = description.into();
        }
        if question.is_multiple && !labels.is_empty() && !self.uses_lists {
            for (option, label) in labels.iter().enumerate() {
                let title = truncate_end(&format!("{label} ({})", question.text), MAX_TITLE_CHARS);
                properties.insert(option_name(index, option), json!({ "type": "boolean", "title": title }));
            }
        } else {
            properties.insert(name, field);
        }
        if question.allow_text && !labels.is_empty() {
            let title = truncate_end(&format!("Other answer or note ({})", question.text), MAX_TITLE_CHARS);
            let mut text_field = json!({ "type": "string", "title": title });
            if !question.text_description.is_empty() {
                text_field["description"] = question.text_description.as_str().into();
            }
            properties.insert(text_name(index), text_field);
        }
    }

    /// Returns the answers in the client's result.
    ///
    /// # Errors
    /// Why the reply is invalid, as a sentence without a full stop.
    pub fn read_reply(&self, result: &Value) -> Result<Answer, String> {
        let from_status = |status| Answer { origin: AnswerOrigin::Client, ..Answer::from_status(status) };
        match result["action"].as_str() {
            Some("accept") => {}
            Some("decline") => return Ok(from_status(AnswerStatus::Declined)),
            Some("cancel") => return Ok(from_status(AnswerStatus::Deferred)),
            Some(_) | None => return Err("the action is none of accept, decline and cancel".to_owned()),
        }
        let no_content = Map::new();
        let content = result["content"].as_object().unwrap_or(&no_content);
        let questions = self.questions.list.iter().enumerate();
        let answers: Result<Vec<QuestionAnswer>, String> =
            questions.map(|(index, question)| self.read_answer(index, question, content)).collect();
        Ok(Answer { answers: answers?, ..from_status(AnswerStatus::Answered) })
    }

    fn read_answer(
        &self,
        index: usize,
        question: &Question,
        content: &Map<String, Value>,
    ) -> Result<QuestionAnswer, String> {
        let invalid = |expected: &str| format!("the answer to “{}” is not {expected}", question.keyword);
        let text_field = if question.options.is_empty() { field_name(index) } else { text_name(index) };
        let text = match content.get(&text_field) {
            None | Some(Value::Null) => "",
            Some(Value::String(text)) if question.allow_text && text.chars().count() <= MAX_ANSWER_CHARS => text.trim(),
            Some(_) => return Err(invalid("an accepted text")),
        };
        let value = content.get(&field_name(index)).filter(|value| !value.is_null() && *value != "");
        let find_option = |value: &Value| -> Result<usize, String> {
            let label = value.as_str().ok_or_else(|| invalid("one of the options"))?;
            let position = question.options.iter().position(|option| option.label == label);
            position.ok_or_else(|| invalid("one of the options"))
        };
        let mut selected: Vec<usize> = match (question.options.is_empty(), question.is_multiple, value) {
            (true, ..) | (false, false, None) => Vec::new(),
            (false, false, Some(value)) => vec![find_option(value)?],
            (false, true, Some(Value::Array(values))) => values.iter().map(find_option).collect::<Result<_, _>>()?,
            (false, true, Some(_)) => return Err(invalid("a list of options")),
            (false, true, None) => {
                let is_selected = |option: &usize| content.get(&option_name(index, *option)) == Some(&json!(true));
                (0..question.options.len()).filter(is_selected).collect()
            }
        };
        selected.sort_unstable();
        selected.dedup();
        Ok(match (selected.is_empty(), text) {
            (true, "") => QuestionAnswer::new(&question.keyword, AnswerValue::Skipped),
            (true, text) => QuestionAnswer::new(&question.keyword, AnswerValue::Text(text.to_owned())),
            (false, note) => QuestionAnswer {
                note: note.to_owned(),
                ..QuestionAnswer::new(&question.keyword, AnswerValue::Selected(selected))
            },
        })
    }
}

fn field_name(index: usize) -> String {
    format!("question_{}", index + 1)
}

fn text_name(index: usize) -> String {
    format!("question_{}_text", index + 1)
}

fn option_name(index: usize, option: usize) -> String {
    format!("question_{}_option_{}", index + 1, option + 1)
}

/// Returns the whole question if its title is truncated, then what the options mean, and which one is recommended.
fn describe_question(question: &Question) -> String {
    let mut lines = Vec::new();
    if question.text.chars().count() > MAX_TITLE_CHARS {
        lines.push(question.text.clone());
    }
    let explain = |option: &QuestionOption| match option.description.as_str() {
        "" => None,
        meaning => Some(format!("{}: {meaning}", option.label)),
    };
    lines.extend(question.options.iter().filter_map(explain));
    let recommended = question.recommended.and_then(|index| question.options.get(index));
    lines.extend(recommended.map(|option| format!("Recommended: {}", option.label)));
    lines.join("\n")
}

#[cfg(test)]
mod tests;
