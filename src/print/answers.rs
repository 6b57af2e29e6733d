//! Answers known before: what a file holds, held against what is asked. Nothing is guessed.

mod given;

use crate::chat::{Answer, CallId, Giver, Questions, Status, once};
use given::given;
use serde_json::{Map, Value};

/// The forms that are taken, for the person who wrote another.
pub const FORMS: &str = "expected the JSON that -p printed with the answers filled in, or a map such as {\"keyword\": \"answer\"}";

/// What a file of answers holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    list: Vec<One>,
    /// Calls that are declined; `None` stands for any.
    declined: Vec<Option<String>>,
}

/// What the file says to one keyword.
#[derive(Debug, Clone, PartialEq)]
struct One {
    /// The call it is meant for, where the file says so.
    call: Option<String>,
    keyword: String,
    value: Value,
    used: bool,
}

/// What the answers are worth for the questions of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    /// Every question has its answer, or all of them are declined.
    Answered(Answer),
    /// These questions have none; the call has to wait.
    Missing(Vec<String>),
    /// What is wrong, and what was expected: a sentence for each.
    Wrong(String),
}

impl Answers {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it and what was expected, in one sentence; with line and column where it is not JSON.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(format!("there is nothing in it; {FORMS}"));
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

    /// What the answers are worth for these questions.
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

    /// The answer to questions that wait now: a file made for them has an answer to each and to nothing else.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn exactly(&mut self, call: &CallId, asked: &Questions) -> Result<Answer, String> {
        let keywords: Vec<&str> = asked.list.iter().map(|question| question.keyword.as_str()).collect();
        let here = |one: &&One| one.call.as_ref().is_none_or(|id| *id == call.0);
        if let Some(one) = self.list.iter().filter(here).find(|one| !keywords.contains(&one.keyword.as_str()))
        {
            return Err(format!(
                "nothing called {:?} is asked; what waits is {}",
                one.keyword,
                names(&keywords)
            ));
        }
        match self.hold(call, asked) {
            Held::Answered(answer) => Ok(answer),
            Held::Wrong(why) => Err(why),
            Held::Missing(missing) => Err(format!(
                "there is no answer to {}; {{\"skipped\": true}} leaves a question out",
                names(&missing)
            )),
        }
    }

    /// Keywords that nobody asked for.
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

    /// One of the things that waited, as it was printed.
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

    /// Answers that name their keyword themselves.
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

/// The JSON of a file. Of a key that is given twice nobody could say which of the two was meant.
fn whole(text: &str) -> Result<Value, String> {
    let doubtful = |error: &serde_json::Error| format!("it is not clear: {error}");
    let error = match once::read(text) {
        Ok((value, None)) => return Ok(value),
        Err(error) if error.is_data() => return Err(doubtful(&error)),
        Ok((_, Some(error))) | Err(error) => error,
    };
    // All that -p printed: the words of the model, and the waiting questions as the last line.
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
