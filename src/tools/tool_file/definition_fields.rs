//! The keys of a tool file, and the lines they are on.

use super::definition::QueryArray;
use super::parameters::ValueType;
use super::result_list::ResultPaths;
use crate::chat::ReferenceUse;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use toml_edit::{Document, Item};

/// Keys of every kind of tool.
const COMMON_KEYS: &[&str] = &["name", "description", "type", "category", "icon", "icon_color", "schema_version"];
/// Keys of the kinds whose arguments the file declares.
const ARGUMENT_KEYS: &[&str] = &["parameters", "preset_parameters", "example"];
const HTTP_KEYS: &[&str] = &[
    "method",
    "url",
    "headers",
    "credential",
    "query",
    "query_array",
    "body_template",
    "timeout_ms",
    "allow_private",
    "effect",
    "results",
];
const COMMAND_KEYS: &[&str] = &["argv", "folder", "timeout_ms", "network"];
/// Keys for the message to the user when the turn ends.
const MESSAGE_KEYS: &[&str] = &["messageType", "customMessage", "audioRecordingId"];
const END_KEYS: &[&str] = &["endCallReason", "endCallReasonDescription"];
const TRANSFER_KEYS: &[&str] = &["destination", "timeout"];
const PROMPT_KEYS: &[&str] = &["template", "system", "profile", "model", "answer_schema", "max_tokens", "timeout_ms"];
/// Keys that other programs use for speech before a request. They are kept and have no effect.
const SPEECH_KEYS: &[&str] = &["customMessage", "customMessageType", "customMessageRecordingId"];

/// Kind of a tool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Http,
    Command,
    EndConversation,
    Transfer,
    Prompt,
}

impl FileKind {
    pub const ALL: [Self; 5] = [Self::Http, Self::Command, Self::EndConversation, Self::Transfer, Self::Prompt];

    /// Returns the name, as in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http_api",
            Self::Command => "command",
            Self::EndConversation => "end_conversation",
            Self::Transfer => "transfer",
            Self::Prompt => "prompt",
        }
    }

    /// Returns the kind of this name.
    ///
    /// # Errors
    /// Which names there are.
    pub fn parse_name(name: &str) -> Result<Self, String> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        let names = || Self::ALL.map(|kind| format!("{:?}", kind.name())).join(", ");
        kind.ok_or_else(|| format!("one of {}", names()))
    }

    /// Returns the keys of a file of this kind.
    pub(super) fn keys(self) -> Vec<&'static str> {
        let own_keys: &[&[&str]] = match self {
            Self::Http => &[ARGUMENT_KEYS, SPEECH_KEYS, HTTP_KEYS],
            Self::Command => &[ARGUMENT_KEYS, SPEECH_KEYS, COMMAND_KEYS],
            Self::EndConversation => &[MESSAGE_KEYS, END_KEYS],
            Self::Transfer => &[MESSAGE_KEYS, TRANSFER_KEYS],
            Self::Prompt => &[ARGUMENT_KEYS, PROMPT_KEYS],
        };
        COMMON_KEYS.iter().chain(own_keys.iter().copied().flatten()).copied().collect()
    }

    /// Returns the keys that are kept and have no effect.
    pub(super) fn ignored_keys(self) -> &'static [&'static str] {
        match self {
            Self::Http | Self::Command => SPEECH_KEYS,
            Self::Prompt => &[],
            Self::EndConversation => &["audioRecordingId"],
            Self::Transfer => &["audioRecordingId", "timeout"],
        }
    }
}

/// All keys with the types of their values.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolFields {
    pub(super) name: String,
    pub(super) description: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) category: Option<String>,
    pub(super) schema_version: Option<u64>,
    pub(super) parameters: Vec<ParameterFields>,
    pub(super) preset_parameters: Vec<PresetFields>,
    pub(super) example: Option<Value>,
    pub(super) method: Option<Value>,
    pub(super) url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) credential: Option<String>,
    pub(super) query: Option<BTreeMap<String, String>>,
    pub(super) query_array: QueryArray,
    pub(super) body_template: Option<Value>,
    pub(super) timeout_ms: Option<i64>,
    pub(super) allow_private: bool,
    pub(super) effect: Option<String>,
    pub(super) results: Option<ResultPaths>,
    pub(super) argv: Vec<String>,
    pub(super) folder: Option<String>,
    pub(super) network: Option<String>,
    #[serde(rename = "messageType")]
    pub(super) message_type: Option<String>,
    #[serde(rename = "customMessage")]
    pub(super) custom_message: Option<String>,
    #[serde(rename = "endCallReason")]
    pub(super) asks_reason: bool,
    #[serde(rename = "endCallReasonDescription")]
    pub(super) reason_description: Option<String>,
    pub(super) destination: Option<String>,
    pub(super) template: Option<String>,
    pub(super) system: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) model: Option<String>,
    pub(super) answer_schema: Option<Value>,
    pub(super) max_tokens: Option<i64>,
    pub(super) timeout: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParameterFields {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) value_type: ValueType,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default = "default_required")]
    pub(super) required: bool,
    pub(super) file_references: Option<ReferenceUse>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetFields {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) value_type: ValueType,
    pub(super) value_template: String,
    #[serde(default = "default_required")]
    pub(super) required: bool,
}

fn default_required() -> bool {
    true
}

/// The lines of keys in a file, counted from 1.
pub(super) struct KeyLines<'a> {
    text: &'a str,
    document: Document<&'a str>,
}

impl<'a> KeyLines<'a> {
    /// Parses the text.
    ///
    /// # Errors
    /// The line and what is wrong there, if it is not TOML.
    pub(super) fn parse(text: &'a str) -> Result<Self, (usize, String)> {
        match Document::parse(text) {
            Ok(document) => Ok(Self { text, document }),
            Err(error) => {
                let message = error.message().lines().next().unwrap_or("syntax error");
                let start = error.span().map_or(0, |span| span.start);
                Err((line_at(text, start), format!("this is not TOML ({message})")))
            }
        }
    }

    /// Iterates over the keys of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.document.as_table().iter().map(|(key, _)| key)
    }

    /// Returns the line of a key; 1 if the file does not have it.
    pub(super) fn line_of_key(&self, key: &str) -> usize {
        let key = self.document.as_table().get_key_value(key).map(|(key, _)| key);
        self.line_of_span(key.and_then(toml_edit::Key::span))
            .unwrap_or_else(|| key.map_or(1, |key| self.line_of_item(key.get(), 0)))
    }

    /// Returns the line of a key in a section such as `headers`.
    pub(super) fn line_in_section(&self, section: &str, key: &str) -> usize {
        let table = self.document.as_table().get(section).and_then(Item::as_table_like);
        let span = table.and_then(|table| table.get_key_value(key)).and_then(|(key, _)| key.span());
        self.line_of_span(span).unwrap_or_else(|| self.line_of_key(section))
    }

    /// Returns the line of an item of a list such as `parameters`.
    pub(super) fn line_of_item(&self, key: &str, index: usize) -> usize {
        let item = self.document.as_table().get(key);
        let span = match item {
            Some(Item::ArrayOfTables(tables)) => tables.get(index).and_then(toml_edit::Table::span),
            Some(item) => item.as_array().and_then(|array| array.get(index)).and_then(toml_edit::Value::span),
            None => None,
        };
        self.line_of_span(span.or_else(|| item.and_then(Item::span))).unwrap_or(1)
    }

    fn line_of_span(&self, span: Option<std::ops::Range<usize>>) -> Option<usize> {
        span.map(|span| line_at(self.text, span.start))
    }
}

/// Returns the line, counted from 1, of a byte offset.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
