//! Form for the arguments of a call: one row per field, validated against the tool's schema.

mod form_layout;

use crate::chat::ToolSpec;
use crate::text::reveal::reveal_to_string;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::text_field::{KeyResult, TextField};
use crossterm::event::KeyEvent;
use serde_json::{Map, Number, Value};

/// Form with one focused field.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub fields: Vec<Field>,
    /// Index of the focused field.
    pub focused: usize,
    /// Initial text of each field.
    initial_texts: Vec<String>,
    /// Validation error of the focused field, set on submit.
    pub error: Option<String>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name in the call's arguments.
    name: String,
    /// Display name with marks for invisible characters; the model may have invented the name.
    pub display_name: String,
    field_type: FieldType,
    is_required: bool,
    pub text: FieldText,
}

/// Type of value that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FieldType {
    Text,
    Integer,
    Number,
    Boolean,
    /// Any other value, entered as JSON.
    Json,
}

/// Text of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldText {
    /// One line, edited in place.
    Line(TextField),
    /// Text of several lines, edited in `$EDITOR` only.
    Multiline(String),
}

impl Form {
    /// Creates the form of a call: the filled fields of the tool in schema order, then extra arguments that the model
    /// sent, then the empty fields. Returns `None` if the arguments are not a JSON object or there is no field.
    pub fn new(spec: Option<&ToolSpec>, arguments: &str) -> Option<Self> {
        let Ok(Value::Object(mut values)) = serde_json::from_str(arguments) else { return None };
        let schema = spec.map(|spec| spec.parameters.to_value());
        let is_required = |name: &str| {
            let list = schema.as_ref().and_then(|schema| schema["required"].as_array());
            list.is_some_and(|list| list.iter().any(|field| field == name))
        };
        let properties = schema.as_ref().and_then(|schema| schema["properties"].as_object());
        let schema_fields = properties.into_iter().flatten().map(|(name, property)| {
            let value = values.remove(name);
            Field::new(name, FieldType::from_schema(property), is_required(name), value.as_ref())
        });
        let mut fields: Vec<Field> = schema_fields.collect();
        let extra_field = |(name, value): (&String, &Value)| {
            let is_required = false;
            Field::new(name, FieldType::Json, is_required, Some(value))
        };
        fields.extend(values.iter().map(extra_field));
        // Stable sort: filled fields first, otherwise in order.
        fields.sort_by_key(Field::is_empty);
        let initial_texts = fields.iter().map(|field| field.as_str().to_owned()).collect();
        (!fields.is_empty()).then_some(Self { fields, focused: 0, initial_texts, error: None })
    }

    /// Handles a key, except the one that opens the editor. The form receives every key while it is open.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        // The focus wraps around, so one field up is the same as `len - 1` fields down.
        let step = match keys.lookup(Scope::List, key) {
            Some(Action::Up) => self.fields.len().saturating_sub(1),
            Some(Action::Down) => 1,
            _ => 0,
        };
        if step > 0 {
            self.focused = (self.focused + step) % self.fields.len().max(1);
            return KeyResult::Handled;
        }
        let Some(field) = self.fields.get_mut(self.focused) else { return KeyResult::Cancelled };
        let result = match &mut field.text {
            FieldText::Line(input) => input.handle_key(key, keys),
            FieldText::Multiline(_) => match keys.lookup(Scope::TextField, key) {
                Some(Action::Accept) => KeyResult::Accepted,
                Some(Action::Close) => KeyResult::Cancelled,
                _ => KeyResult::Handled,
            },
        };
        if result == KeyResult::Changed {
            self.error = None;
        }
        result
    }

    /// Returns the arguments. If one is invalid, focuses its field, shows the error and returns `None`.
    pub fn submit(&mut self) -> Option<Value> {
        match self.parse_arguments() {
            Ok(arguments) => Some(arguments),
            Err((index, message)) => {
                (self.focused, self.error) = (index, Some(message));
                None
            }
        }
    }

    /// Returns the text of the focused field.
    pub fn focused_text(&self) -> &str {
        self.fields.get(self.focused).map_or("", Field::as_str)
    }

    /// Inserts pasted text into the focused field.
    pub fn insert_paste(&mut self, text: &str) {
        match self.fields.get_mut(self.focused).map(|field| &mut field.text) {
            Some(FieldText::Line(input)) => input.insert(text),
            Some(FieldText::Multiline(_)) | None => {}
        }
        self.error = None;
    }

    /// Replaces the text of the focused field by that of the editor.
    pub fn apply_editor_text(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.focused) {
            field.text = FieldText::new(text);
        }
        self.error = None;
    }

    /// Returns the arguments, or `None` if no field was edited. Invalid values are included as text.
    pub fn edited_arguments(&self) -> Option<Value> {
        if self.fields.iter().map(Field::as_str).eq(self.initial_texts.iter().map(String::as_str)) {
            return None;
        }
        let values = self.fields.iter().filter_map(|field| {
            let value = field.parse_value().unwrap_or_else(|_| Some(Value::String(field.as_str().to_owned())))?;
            Some((field.name.clone(), value))
        });
        Some(Value::Object(values.collect()))
    }

    /// Returns the arguments, or the index of the first invalid field and its error.
    fn parse_arguments(&self) -> Result<Value, (usize, String)> {
        let mut arguments = Map::new();
        for (index, field) in self.fields.iter().enumerate() {
            match field.parse_value() {
                Ok(Some(value)) => drop(arguments.insert(field.name.clone(), value)),
                Ok(None) if field.is_required => {
                    return Err((index, format!("{} is required", field.display_name)));
                }
                Ok(None) => {}
                Err(expected_type) => return Err((index, format!("{} must be {expected_type}", field.display_name))),
            }
        }
        Ok(Value::Object(arguments))
    }
}

impl Field {
    fn new(name: &str, schema_type: FieldType, is_required: bool, value: Option<&Value>) -> Self {
        let (field_type, text) = match (value, schema_type) {
            (None | Some(Value::Null), _) => (schema_type, String::new()),
            (Some(Value::String(text)), FieldType::Text) => (schema_type, text.clone()),
            // A value that is no text although the schema requires one is shown as JSON and can be corrected.
            (Some(value), FieldType::Text) => (FieldType::Json, value.to_string()),
            (Some(value), _) => (schema_type, value.to_string()),
        };
        Self {
            name: name.to_owned(),
            display_name: reveal_to_string(name),
            field_type,
            is_required,
            text: FieldText::new(&text),
        }
    }

    /// Returns the text of the field.
    pub fn as_str(&self) -> &str {
        match &self.text {
            FieldText::Line(input) => input.text(),
            FieldText::Multiline(text) => text,
        }
    }

    /// Describes the accepted values: `seconds: a whole number, optional`.
    fn describe_type(&self) -> String {
        let necessity = if self.is_required { "required" } else { "optional" };
        format!("{}: {}, {necessity}", self.display_name, self.field_type.describe())
    }

    fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Returns the value, or `None` for an empty field. An empty text field that is required has the value `""`. The error
    /// describes the expected type.
    fn parse_value(&self) -> Result<Option<Value>, &'static str> {
        let text = self.as_str();
        let trimmed = text.trim();
        let is_text = self.field_type == FieldType::Text;
        if text.is_empty() || trimmed.is_empty() && !is_text {
            return Ok((is_text && self.is_required).then(|| Value::String(String::new())));
        }
        let value = match self.field_type {
            FieldType::Text => Some(Value::String(text.to_owned())),
            FieldType::Integer => trimmed.parse::<i64>().ok().map(Value::from),
            // An integer stays one; other notations than JSON's, such as `.5`, become a float.
            FieldType::Number => {
                let float = || trimmed.parse().ok().and_then(Number::from_f64);
                trimmed.parse().ok().or_else(float).map(Value::Number)
            }
            FieldType::Boolean => trimmed.parse::<bool>().ok().map(Value::Bool),
            FieldType::Json => {
                return serde_json::from_str(trimmed).map(Some).map_err(|_| "JSON, for example [\"a\", \"b\"]");
            }
        };
        value.map(Some).ok_or(self.field_type.describe())
    }
}

impl FieldType {
    fn from_schema(schema: &Value) -> Self {
        match schema["type"].as_str() {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some(_) | None => Self::Json,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Json => "JSON",
        }
    }
}

impl FieldText {
    /// Creates a line if a line can hold the text unchanged, otherwise multiline text.
    fn new(text: &str) -> Self {
        let field = TextField::new(text);
        if field.text() == text { Self::Line(field) } else { Self::Multiline(text.to_owned()) }
    }
}

#[cfg(test)]
mod tests;
