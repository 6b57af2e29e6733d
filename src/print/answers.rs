//! Files of answers: parsing them and matching them with the questions of a call. No answer is guessed.

mod given;

use crate::chat::{Answer, CallId, Giver, Questions, Status, once};
use given::given;
use serde_json::{Map, Value};

/// The accepted formats, as part of an error.
pub const FORMS: &str = "expected the JSON that -p printed with the answers filled in, or a map such as {\"keyword\": \"answer\"}";

/// Content of a file of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    list: Vec<One>,
    /// Ids of calls that are declined; `None` matches any call.
    declined: Vec<Option<String>>,
}

/// Answer to one keyword.
#[derive(Debug, Clone, PartialEq)]
struct One {
    /// Id of the call it is for, if the file names one.
    call: Option<String>,
    keyword: String,
    value: Value,
    used: bool,
}

/// Result of matching the answers with the questions of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    /// Every question is answered, or all are declined.
    Answered(Answer),
    /// Keywords of the questions without an answer; the call waits.
    Missing(Vec<String>),
    /// Errors, one line each, with what was expected.
    Wrong(String),
}

impl Answers {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Returns what is wrong and what was expected, in one sentence; for invalid JSON with line and column.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(format!("it is empty; {FORMS}"));
        }
        let value = whole(text)?;
        let mut answers = Self::default();
        match &value {
            Value::Object(fields) => answers.of_object(fields)?,
            Value::Array(items) => answers.of_list(items, None)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(format!("it holds no answers; {FORMS}"));
            }
        }
        if answers.list.is_empty() && answers.declined.is_empty() {
            return Err(format!("it holds no answers; {FORMS}"));
        }
        for (at, one) in answers.list.iter().enumerate() {
            let again = |other: &&One| other.keyword == one.keyword && other.call == one.call;
            if answers.list[..at].iter().any(|other| again(&other)) {
                return Err(format!("it answers {:?} twice", one.keyword));
            }
        }
        Ok(answers)
    }

    /// Matches the answers with these questions.
    pub fn hold(&mut self, call: &CallId, asked: &Questions) -> Held {
        if self.declined.iter().any(|one| one.as_ref().is_none_or(|id| *id == call.0)) {
            return Held::Answered(Answer { giver: Giver::File, ..Answer::without(Status::Declined) });
        }
        let (mut list, mut missing, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for question in &asked.list {
            let meant = |one: &&mut One| {
                one.keyword == question.keyword && one.call.as_ref().is_none_or(|id| *id == call.0)
            };
            match self.list.iter_mut().filter(|one| !one.value.is_null()).find(meant) {
                None => missing.push(question.keyword.clone()),
                Some(one) => {
                    one.used = true;
                    match given(question, &one.value) {
                        Ok(given) => list.push(given),
                        Err(why) => wrong.push(format!("{}: {why}", question.keyword)),
                    }
                }
            }
        }
        if !wrong.is_empty() {
            return Held::Wrong(wrong.join("\n"));
        }
        if !missing.is_empty() {
            return Held::Missing(missing);
        }
        Held::Answered(Answer { status: Status::Answered, given: list, giver: Giver::File })
    }

    /// Returns the answer to the waiting questions. The file must answer each of them and nothing else.
    ///
    /// # Errors
    /// Returns what is wrong and what was expected.
    pub fn exactly(&mut self, call: &CallId, asked: &Questions) -> Result<Answer, String> {
        let keywords: Vec<&str> = asked.list.iter().map(|question| question.keyword.as_str()).collect();
        let here = |one: &&One| one.call.as_ref().is_none_or(|id| *id == call.0);
        if let Some(one) = self.list.iter().filter(here).find(|one| !keywords.contains(&one.keyword.as_str()))
        {
            return Err(format!(
                "no question has the keyword {:?}; waiting: {}",
                one.keyword,
                names(&keywords)
            ));
        }
        match self.hold(call, asked) {
            Held::Answered(answer) => Ok(answer),
            Held::Wrong(why) => Err(why),
            Held::Missing(missing) => {
                Err(format!("no answer to {}; use {{\"skipped\": true}} to skip a question", names(&missing)))
            }
        }
    }

    /// Returns the keywords that no question has.
    pub fn unused(&self) -> Vec<&str> {
        self.list.iter().filter(|one| !one.used).map(|one| one.keyword.as_str()).collect()
    }

    fn of_object(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        if let Some(Value::Array(waits)) = fields.get("waits") {
            return waits.iter().try_for_each(|item| self.of_wait(item));
        }
        if fields.get("questions").is_some_and(Value::is_array) {
            return self.of_wait(&Value::Object(fields.clone()));
        }
        let declines = fields.get("status").is_some_and(|status| status == "declined");
        match fields.get("answers") {
            _ if declines => self.declined.push(None),
            Some(Value::Array(items)) => return self.of_list(items, None),
            Some(Value::Object(map)) => self.of_map(map),
            Some(_) | None => self.of_map(fields),
        }
        Ok(())
    }

    /// Adds the answers to one waiting call, in the format that was printed.
    fn of_wait(&mut self, item: &Value) -> Result<(), String> {
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
            let noted = !question["note"].is_null() || !question["notes"].is_null();
            if noted && !value.is_null() {
                let (note, notes) = (&question["note"], &question["notes"]);
                value = serde_json::json!({ "answer": value, "note": note, "notes": notes });
            }
            self.add(call.clone(), keyword, value);
        }
        Ok(())
    }

    /// Adds a list of answers that contain their keyword.
    fn of_list(&mut self, items: &[Value], call: Option<&str>) -> Result<(), String> {
        for item in items {
            let (Some(fields), Some(keyword)) = (item.as_object(), item["keyword"].as_str()) else {
                return Err(format!("an answer in it has no \"keyword\"; {FORMS}"));
            };
            let rest = fields.iter().filter(|(name, _)| *name != "keyword" && *name != "question");
            let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
            self.add(call.map(str::to_owned), keyword, Value::Object(rest));
        }
        Ok(())
    }

    fn of_map(&mut self, map: &Map<String, Value>) {
        for (keyword, value) in map {
            self.add(None, keyword, value.clone());
        }
    }

    fn add(&mut self, call: Option<String>, keyword: &str, value: Value) {
        self.list.push(One { call, keyword: keyword.to_owned(), value, used: false });
    }
}

/// Parses the JSON of a file. A duplicate key is an error, because it is ambiguous.
fn whole(text: &str) -> Result<Value, String> {
    let doubtful = |error: &serde_json::Error| format!("it is invalid: {error}");
    let error = match once::read(text) {
        Ok((value, None)) => return Ok(value),
        Err(error) if error.is_data() => return Err(doubtful(&error)),
        Ok((_, Some(error))) | Err(error) => error,
    };
    // The complete output of -p: text of the model, and the waiting questions as the last line.
    for line in text.lines().rev() {
        match once::read(line) {
            Ok((value, None)) if value["kind"] == "waits" => return Ok(value),
            Err(error) if error.is_data() && line.contains("\"waits\"") => return Err(doubtful(&error)),
            Ok(_) | Err(_) => {}
        }
    }
    Err(format!("it is not JSON: {error}; {FORMS}"))
}

fn names<T: AsRef<str>>(keywords: &[T]) -> String {
    keywords.iter().map(|keyword| format!("{:?}", keyword.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
