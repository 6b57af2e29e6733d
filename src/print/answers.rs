//! Files of answers: parsing them and matching them with the questions of a call. No answer is guessed.

mod answer_value;
mod answers_file;

use crate::chat::{Answer, AnswerOrigin, AnswerStatus, CallId, Questions};
use crate::text::unique_keys;
use answer_value::parse_answer;
use serde_json::{Map, Value};

/// The accepted formats, as part of an error.
pub const EXPECTED_FORMATS: &str =
    "Use the JSON that -p printed with the answers filled in, or a map such as {\"keyword\": \"answer\"}.";

/// Content of a file of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    list: Vec<FileAnswer>,
    /// Ids of calls that are declined; `None` matches any call.
    declined: Vec<Option<String>>,
}

/// Answer to one keyword.
#[derive(Debug, Clone, PartialEq)]
struct FileAnswer {
    /// Id of the call it is for, if the file names one.
    call: Option<String>,
    keyword: String,
    value: Value,
    is_used: bool,
}

/// Result of matching the answers with the questions of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerMatch {
    /// Every question is answered, or all are declined.
    Answered(Answer),
    /// Keywords of the questions without an answer; the call waits.
    Missing(Vec<String>),
    /// Errors, one line each, with what was expected.
    Mismatch(String),
}

impl Answers {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Returns what is wrong and what was expected, in one sentence; for invalid JSON with line and column.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let value = parse_json(text)?;
        let mut answers = Self::default();
        match &value {
            Value::Object(fields) => answers.add_object(fields)?,
            Value::Array(items) => answers.add_list(items)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err("it holds no answers".to_owned());
            }
        }
        if answers.list.is_empty() && answers.declined.is_empty() {
            return Err("it holds no answers".to_owned());
        }
        for (index, answer) in answers.list.iter().enumerate() {
            let is_same = |other: &&FileAnswer| other.keyword == answer.keyword && other.call == answer.call;
            if answers.list[..index].iter().any(|other| is_same(&other)) {
                return Err(format!("it answers {:?} twice", answer.keyword));
            }
        }
        Ok(answers)
    }

    /// Matches the answers with these questions.
    pub fn match_questions(&mut self, call: &CallId, questions: &Questions) -> AnswerMatch {
        if self.declined.iter().any(|declined_call| declined_call.as_ref().is_none_or(|id| *id == call.0)) {
            return AnswerMatch::Answered(Answer {
                origin: AnswerOrigin::File,
                ..Answer::from_status(AnswerStatus::Declined)
            });
        }
        let (mut list, mut missing, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for question in &questions.list {
            let is_for_question = |answer: &&mut FileAnswer| {
                answer.keyword == question.keyword && answer.call.as_ref().is_none_or(|id| *id == call.0)
            };
            match self.list.iter_mut().filter(|answer| !answer.value.is_null()).find(is_for_question) {
                None => missing.push(question.keyword.clone()),
                Some(answer) => {
                    answer.is_used = true;
                    match parse_answer(question, &answer.value) {
                        Ok(question_answer) => list.push(question_answer),
                        Err(why) => errors.push(format!("{}: {why}", question.keyword)),
                    }
                }
            }
        }
        if !errors.is_empty() {
            return AnswerMatch::Mismatch(errors.join("\n"));
        }
        if !missing.is_empty() {
            return AnswerMatch::Missing(missing);
        }
        AnswerMatch::Answered(Answer { status: AnswerStatus::Answered, answers: list, origin: AnswerOrigin::File })
    }

    /// Returns the answer to the waiting questions. The file must answer each of them and nothing else.
    ///
    /// # Errors
    /// Returns what is wrong and what was expected.
    pub fn match_exactly(&mut self, call: &CallId, questions: &Questions) -> Result<Answer, String> {
        let keywords: Vec<&str> = questions.list.iter().map(|question| question.keyword.as_str()).collect();
        let is_for_call = |answer: &&FileAnswer| answer.call.as_ref().is_none_or(|id| *id == call.0);
        if let Some(answer) =
            self.list.iter().filter(is_for_call).find(|answer| !keywords.contains(&answer.keyword.as_str()))
        {
            return Err(format!(
                "no question has the keyword {:?}; waiting: {}",
                answer.keyword,
                quote_names(&keywords)
            ));
        }
        match self.match_questions(call, questions) {
            AnswerMatch::Answered(answer) => Ok(answer),
            AnswerMatch::Mismatch(why) => Err(why),
            AnswerMatch::Missing(missing) => {
                Err(format!("no answer to {}; use {{\"skipped\": true}} to skip a question", quote_names(&missing)))
            }
        }
    }

    /// Returns the keywords of the answers that were not used. A question whose answer is `null` counts as not answered.
    pub fn unused_keywords(&self) -> Vec<&str> {
        let unused = self.list.iter().filter(|answer| !answer.is_used && !answer.value.is_null());
        unused.map(|answer| answer.keyword.as_str()).collect()
    }

    fn add_object(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        let lists = ["waiting", "waits"].map(|name| fields.get(name).and_then(Value::as_array));
        if lists.iter().any(Option::is_some) {
            return self.add_waiting_calls(lists);
        }
        if fields.get("questions").is_some_and(Value::is_array) {
            return self.add_waiting_call(&Value::Object(fields.clone()));
        }
        let is_declined = fields.get("status").is_some_and(|status| status == "declined");
        match fields.get("answers") {
            _ if is_declined => self.declined.push(None),
            Some(Value::Array(items)) => return self.add_list(items),
            Some(Value::Object(map)) => self.add_map(map),
            Some(_) | None => self.add_map(fields),
        }
        Ok(())
    }

    /// Adds the answers to the waiting calls. The output of `-p` lists the same calls twice, under the new name
    /// `waiting` and the old name `waits`, in this order in `lists`. An answer may be filled in under either name.
    fn add_waiting_calls(&mut self, lists: [Option<&Vec<Value>>; 2]) -> Result<(), String> {
        let [from_new, from_old] = lists.map(|list| -> Result<Self, String> {
            let mut answers = Self::default();
            list.into_iter().flatten().try_for_each(|item| answers.add_waiting_call(item))?;
            Ok(answers)
        });
        let (mut answers, old_answers) = (from_new?, from_old?);
        let new_count = answers.list.len();
        for old_answer in old_answers.list {
            match answers.list[..new_count]
                .iter_mut()
                .find(|new_answer| new_answer.keyword == old_answer.keyword && new_answer.call == old_answer.call)
            {
                Some(new_answer) if new_answer.value.is_null() => *new_answer = old_answer,
                Some(new_answer) if old_answer.value.is_null() || old_answer.value == new_answer.value => {}
                Some(_) | None => answers.list.push(old_answer),
            }
        }
        self.list.append(&mut answers.list);
        self.declined.extend(answers.declined.into_iter().chain(old_answers.declined));
        Ok(())
    }

    /// Adds the answers to one waiting call, in the format that was printed.
    fn add_waiting_call(&mut self, item: &Value) -> Result<(), String> {
        let call = item["call"].as_str().map(str::to_owned);
        if item["status"] == "declined" {
            self.declined.push(call);
            return Ok(());
        }
        let Some(questions) = item["questions"].as_array() else { return Ok(()) };
        for question in questions {
            let Some(keyword) = question["keyword"].as_str() else {
                return Err("a question in it has no \"keyword\"".to_owned());
            };
            let mut value = question["answer"].clone();
            let has_note = !question["note"].is_null() || !question["notes"].is_null();
            if has_note && !value.is_null() {
                let (note, notes) = (&question["note"], &question["notes"]);
                value = serde_json::json!({ "answer": value, "note": note, "notes": notes });
            }
            self.add_answer(call.clone(), keyword, value);
        }
        Ok(())
    }

    /// Adds a list of answers that contain their keyword.
    fn add_list(&mut self, items: &[Value]) -> Result<(), String> {
        for item in items {
            let (Some(fields), Some(keyword)) = (item.as_object(), item["keyword"].as_str()) else {
                return Err("an answer in it has no \"keyword\"".to_owned());
            };
            let answer_fields = fields.iter().filter(|(name, _)| *name != "keyword" && *name != "question");
            let answer_fields: Map<String, Value> =
                answer_fields.map(|(name, value)| (name.clone(), value.clone())).collect();
            self.add_answer(None, keyword, Value::Object(answer_fields));
        }
        Ok(())
    }

    /// Adds a map from keywords to answers, for any call.
    fn add_map(&mut self, map: &Map<String, Value>) {
        for (keyword, value) in map {
            self.add_answer(None, keyword, value.clone());
        }
    }

    fn add_answer(&mut self, call: Option<String>, keyword: &str, value: Value) {
        self.list.push(FileAnswer { call, keyword: keyword.to_owned(), value, is_used: false });
    }
}

/// Parses the JSON of a file. A duplicate key is an error, because it is ambiguous.
fn parse_json(text: &str) -> Result<Value, String> {
    let invalid_error = |error: &serde_json::Error| format!("it is invalid: {error}");
    let error = match unique_keys::parse_unique(text) {
        Ok((value, None)) => return Ok(value),
        Err(error) if error.is_data() => return Err(invalid_error(&error)),
        Ok((_, Some(error))) | Err(error) => error,
    };
    // The text may be the complete output of -p: text of the model, and the waiting questions as the last line. The
    // line is recognized by `state`, or by its old form `kind`.
    for line in text.lines().rev() {
        match unique_keys::parse_unique(line) {
            Ok((value, None)) if value["kind"] == "waits" || value["state"] == "waiting" => return Ok(value),
            Err(error) if error.is_data() && ["\"waiting\"", "\"waits\""].iter().any(|name| line.contains(name)) => {
                return Err(invalid_error(&error));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Err(format!("it is not JSON: {error}"))
}

fn quote_names<T: AsRef<str>>(keywords: &[T]) -> String {
    keywords.iter().map(|keyword| format!("{:?}", keyword.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
