//! Form for the arguments of a call: one row per field, validated against the tool's schema.

mod looks;

use crate::chat::ToolSpec;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::line::{self, Line};
use crate::tui::text::reveal;
use crossterm::event::KeyEvent;
use ratatui::style::Style;
use serde_json::{Map, Number, Value};

/// Form with one focused field.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub fields: Vec<Field>,
    pub at: usize,
    /// Initial text of each field.
    opened: Vec<String>,
    /// Validation error of the focused field, set on submit.
    pub trouble: Option<String>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name in the call's arguments.
    name: String,
    /// Display name with marks for invisible characters; the model may have invented the name.
    pub shown: String,
    kind: Kind,
    required: bool,
    pub written: Written,
}

/// Type of value that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    Switch,
    /// Any other value, entered as JSON.
    Json,
}

/// Text of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// One line, edited in place.
    Line(Line),
    /// Text of several lines, edited in `$EDITOR` only.
    Long(String),
}

/// Result of a key press.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The form handled the key.
    Nothing,
    /// The key has no effect in the form.
    Passed,
    /// Close the form.
    Closed,
    /// The user submitted these arguments.
    Wanted(Value),
    /// Open this text of the focused field in `$EDITOR`.
    Editor(String),
}

impl Form {
    /// Creates the form of a call: the tool's fields in schema order, filled fields first, then extra arguments that the
    /// model sent. Returns `None` if the arguments are not a JSON object or there is no field.
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
        // Stable sort: filled fields first, otherwise in order.
        fields.sort_by_key(Field::is_empty);
        let opened = fields.iter().map(|field| field.text().to_owned()).collect();
        (!fields.is_empty()).then_some(Self { fields, at: 0, opened, trouble: None })
    }

    /// Handles a key. The form receives every key while it is open.
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

    /// Inserts pasted text into the focused field.
    pub fn pasted(&mut self, text: &str) {
        match self.fields.get_mut(self.at).map(|field| &mut field.written) {
            Some(Written::Line(line)) => line.insert(text),
            Some(Written::Long(_)) | None => {}
        }
        self.trouble = None;
    }

    /// Sets the focused field to the text that the editor returned.
    pub fn edited(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.written = Written::new(text);
        }
        self.trouble = None;
    }

    /// Returns the arguments if any was edited. Invalid values are included as text.
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

    /// Returns the arguments, or the index of the first invalid field and its error.
    fn value(&self) -> Result<Value, (usize, String)> {
        let mut arguments = Map::new();
        for (at, field) in self.fields.iter().enumerate() {
            match field.value() {
                Ok(Some(value)) => drop(arguments.insert(field.name.clone(), value)),
                Ok(None) if field.required => return Err((at, format!("{} is required", field.shown))),
                Ok(None) => {}
                Err(takes) => return Err((at, format!("{} must be {takes}", field.shown))),
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
            // A value that does not match the schema is shown as JSON and can be corrected.
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

    /// Describes the accepted value.
    fn takes(&self) -> String {
        let what = match self.kind {
            Kind::Text => "text",
            Kind::Whole => "a whole number",
            Kind::Number => "a number",
            Kind::Switch => "true or false",
            Kind::Json => "JSON",
        };
        let need = if self.required { "required" } else { "optional" };
        format!("{}: {what}, {need}", self.shown)
    }

    fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Returns the value; `None` for an empty optional field. The error names the expected type.
    fn value(&self) -> Result<Option<Value>, &'static str> {
        let text = self.text();
        let bare = text.trim();
        if text.is_empty() || bare.is_empty() && self.kind != Kind::Text {
            // A required text field accepts an empty text.
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
            Kind::Json => serde_json::from_str(bare).map_err(|_| "JSON, for example [\"a\", \"b\"]")?,
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
    /// Uses a line only if a line can hold the text unchanged.
    fn new(text: &str) -> Self {
        let line = Line::new(text);
        if line.text() == text { Self::Line(line) } else { Self::Long(text.to_owned()) }
    }
}

#[cfg(test)]
mod tests;
