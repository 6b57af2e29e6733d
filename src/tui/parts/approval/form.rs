//! The arguments of a call as a form: one row a field, checked against the tool's schema.

mod looks;

use crate::chat::ToolSpec;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::line::{self, Line};
use crate::tui::text::reveal;
use crossterm::event::KeyEvent;
use ratatui::style::Style;
use serde_json::{Map, Number, Value};

/// The form and where the person is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub fields: Vec<Field>,
    pub at: usize,
    /// The text of each field as the form was opened.
    opened: Vec<String>,
    /// What is wrong with the field the person is in, once they wanted to go on.
    pub trouble: Option<String>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// As the call has it.
    name: String,
    /// As it can be shown: the model may have made it up.
    pub shown: String,
    kind: Kind,
    required: bool,
    pub written: Written,
}

/// What a field takes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    Switch,
    /// Anything else, written as JSON.
    Json,
}

/// What stands in a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// One line, written in place.
    Line(Line),
    /// Text of several lines, which only an editor can show whole.
    Long(String),
}

/// What a key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Something within the form.
    Nothing,
    /// It means nothing here.
    Passed,
    /// Back to the card.
    Closed,
    /// These arguments are wanted.
    Wanted(Value),
    /// The text of the field is to be opened in an editor.
    Editor(String),
}

impl Form {
    /// The form of a call: the fields of its tool in the schema's order, those that are filled in first, and whatever
    /// else the model sent. `None` where the arguments are not one object.
    pub fn new(spec: Option<&ToolSpec>, arguments: &str) -> Option<Self> {
        let Ok(Value::Object(mut given)) = serde_json::from_str(arguments) else { return None };
        let schema = spec.map(|spec| &spec.parameters);
        let required = |name: &str| {
            let list = schema.and_then(|schema| schema["required"].as_array());
            list.is_some_and(|list| list.iter().any(|field| field == name))
        };
        let properties = schema.and_then(|schema| schema["properties"].as_object());
        let known = properties.into_iter().flatten().map(|(name, of)| {
            let written = given.remove(name);
            Field::new(name, Kind::of(of), required(name), written.as_ref())
        });
        let mut fields: Vec<Field> = known.collect();
        fields.extend(given.iter().map(|(name, value)| Field::new(name, Kind::Json, false, Some(value))));
        // Stable: what is filled in comes first, the rest keeps its order.
        fields.sort_by_key(Field::is_empty);
        let opened = fields.iter().map(|field| field.text().to_owned()).collect();
        (!fields.is_empty()).then_some(Self { fields, at: 0, opened, trouble: None })
    }

    /// A key, which is all the form's.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap) -> Reply {
        if keys.lookup(Scope::Composer, key) == Some(Action::OpenEditor) {
            return self.field().map_or(Reply::Nothing, |field| Reply::Editor(field.text().to_owned()));
        }
        let step = match keys.lookup(Scope::List, key) {
            Some(Action::Up) => self.fields.len().saturating_sub(1),
            Some(Action::Down) => 1,
            _ => 0,
        };
        if step > 0 {
            self.at = (self.at + step) % self.fields.len().max(1);
            return Reply::Nothing;
        }
        let Some(field) = self.fields.get_mut(self.at) else { return Reply::Closed };
        let reply = match &mut field.written {
            Written::Line(line) => line.key(key, keys),
            Written::Long(_) => match keys.lookup(Scope::Line, key) {
                Some(Action::Accept) => line::Reply::Accepted,
                Some(Action::Close) => line::Reply::Closed,
                _ => line::Reply::Moved,
            },
        };
        match reply {
            line::Reply::Passed => Reply::Passed,
            line::Reply::Moved => Reply::Nothing,
            line::Reply::Changed => {
                self.trouble = None;
                Reply::Nothing
            }
            line::Reply::Closed => Reply::Closed,
            line::Reply::Accepted => match self.value() {
                Ok(value) => Reply::Wanted(value),
                Err((at, trouble)) => {
                    (self.at, self.trouble) = (at, Some(trouble));
                    Reply::Nothing
                }
            },
        }
    }

    /// Text was pasted into the field.
    pub fn pasted(&mut self, text: &str) {
        match self.fields.get_mut(self.at).map(|field| &mut field.written) {
            Some(Written::Line(line)) => line.insert(text),
            Some(Written::Long(_)) | None => {}
        }
        self.trouble = None;
    }

    /// The editor is closed: this is what the field holds now.
    pub fn edited(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.written = Written::new(text);
        }
        self.trouble = None;
    }

    /// The arguments as they are written, if any of them was changed. What does not fit its field is there as text.
    pub fn changed(&self) -> Option<Value> {
        if self.fields.iter().map(Field::text).eq(self.opened.iter().map(String::as_str)) {
            return None;
        }
        let written = self.fields.iter().filter_map(|field| {
            let value = field.value().unwrap_or_else(|_| Some(Value::String(field.text().to_owned())))?;
            Some((field.name.clone(), value))
        });
        Some(Value::Object(written.collect()))
    }

    fn field(&self) -> Option<&Field> {
        self.fields.get(self.at)
    }

    /// The arguments as they stand, or which field is wrong and what it takes.
    fn value(&self) -> Result<Value, (usize, String)> {
        let mut arguments = Map::new();
        for (at, field) in self.fields.iter().enumerate() {
            match field.value() {
                Ok(Some(value)) => drop(arguments.insert(field.name.clone(), value)),
                Ok(None) if field.required => return Err((at, format!("{} is needed", field.shown))),
                Ok(None) => {}
                Err(takes) => return Err((at, format!("{} takes {takes}", field.shown))),
            }
        }
        Ok(Value::Object(arguments))
    }
}

impl Field {
    fn new(name: &str, kind: Kind, required: bool, value: Option<&Value>) -> Self {
        let (kind, text) = match value {
            None | Some(Value::Null) => (kind, String::new()),
            Some(Value::String(text)) if kind == Kind::Text => (kind, text.clone()),
            // What does not fit the schema is shown as it is, and can be put right.
            Some(value) if kind == Kind::Text => (Kind::Json, value.to_string()),
            Some(value) => (kind, value.to_string()),
        };
        let shown = reveal::pieces(name, Style::new(), Style::new()).into_iter().map(|piece| piece.text);
        Self { name: name.to_owned(), shown: shown.collect(), kind, required, written: Written::new(&text) }
    }

    pub fn text(&self) -> &str {
        match &self.written {
            Written::Line(line) => line.text(),
            Written::Long(text) => text,
        }
    }

    /// What it takes, in a few words.
    fn takes(&self) -> String {
        let what = match self.kind {
            Kind::Text => "text",
            Kind::Whole => "a whole number",
            Kind::Number => "a number",
            Kind::Switch => "true or false",
            Kind::Json => "JSON",
        };
        let need = if self.required { "required" } else { "may be empty" };
        format!("{}: {what}, {need}", self.shown)
    }

    fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// What it says; nothing where it is empty and need not be. An error is what it takes.
    fn value(&self) -> Result<Option<Value>, &'static str> {
        let text = self.text();
        let bare = text.trim();
        if text.is_empty() || bare.is_empty() && self.kind != Kind::Text {
            // An empty text is a value where one is wanted.
            return Ok((self.kind == Kind::Text && self.required).then(|| Value::String(text.to_owned())));
        }
        let value = match self.kind {
            Kind::Text => Value::String(text.to_owned()),
            Kind::Whole => Value::Number(Number::from(bare.parse::<i64>().map_err(|_| "a whole number")?)),
            Kind::Number => {
                let number = bare.parse::<f64>().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or("a number")?)
            }
            Kind::Switch => Value::Bool(bare.parse::<bool>().map_err(|_| "true or false")?),
            Kind::Json => serde_json::from_str(bare).map_err(|_| "JSON, such as [\"a\", \"b\"]")?,
        };
        Ok(Some(value))
    }
}

impl Kind {
    fn of(schema: &Value) -> Self {
        match schema["type"].as_str() {
            Some("string") => Self::Text,
            Some("integer") => Self::Whole,
            Some("number") => Self::Number,
            Some("boolean") => Self::Switch,
            Some(_) | None => Self::Json,
        }
    }
}

impl Written {
    /// What a line would change in it, a line must not show.
    fn new(text: &str) -> Self {
        let line = Line::new(text);
        if line.text() == text { Self::Line(line) } else { Self::Long(text.to_owned()) }
    }
}

#[cfg(test)]
mod tests;
