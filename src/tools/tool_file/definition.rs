//! Definitions of tools: what a tool file says after it was checked.

use super::answer_schema::AnswerSchema;
use super::definition_fields::FileKind;
use super::parameters::{Parameter, arguments_schema, reference_uses};
use super::presets::Preset;
use super::result_list::ResultPaths;
use super::template::Template;
use super::url_template::UrlTemplate;
use super::value_template::ValueTemplate;
use crate::chat::ToolSpec;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use std::path::PathBuf;
use std::time::Duration;

/// A tool that a file defines.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    pub head: ToolHead,
    pub kind: ToolKind,
}

/// The parts that every kind of tool has.
#[derive(Debug, Clone)]
pub struct ToolHead {
    /// Name for the model, made from the one in the file.
    pub function_name: String,
    pub description: String,
    pub parameters: Vec<Parameter>,
    pub presets: Vec<Preset>,
    /// Result of a call in a dry run.
    pub example: Option<String>,
}

/// What a tool does.
#[derive(Debug, Clone)]
pub enum ToolKind {
    Http(Box<HttpDefinition>),
    Command(CommandDefinition),
    EndConversation(EndDefinition),
    Transfer(TransferDefinition),
    Prompt(Box<PromptDefinition>),
}

/// A request to a server.
#[derive(Debug, Clone)]
pub struct HttpDefinition {
    pub method: Method,
    pub url: UrlTemplate,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Name of the credential that is added when the request is sent.
    pub credential: Option<String>,
    /// Parameters of the address instead of the arguments.
    pub query: Option<Vec<(String, Template)>>,
    pub query_array: QueryArray,
    /// Body instead of the arguments.
    pub body: Option<ValueTemplate>,
    /// Time limit of each attempt.
    pub timeout: Duration,
    /// True if the host may be in a private network.
    pub allow_private: bool,
    /// True if a request may change something, or is to be treated so.
    pub is_external: bool,
    /// Places of the results in the response, if it is a list of them.
    pub results: Option<ResultPaths>,
}

/// Form of a list in the parameters of an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryArray {
    /// `ids=[1,2]`
    #[default]
    Json,
    /// `ids=1&ids=2`
    Repeat,
    /// `ids=1,2`
    Csv,
}

/// A command.
#[derive(Debug, Clone)]
pub struct CommandDefinition {
    /// The program and its arguments. The program has no placeholder.
    pub argv: Vec<Template>,
    /// Working folder, relative to the project.
    pub folder: Option<PathBuf>,
    /// Time limit in seconds; `None`: the default of commands.
    pub seconds: Option<u64>,
    /// Reason for network access.
    pub network: Option<String>,
}

/// The end of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndDefinition {
    /// Message for the user; may be empty.
    pub message: String,
    /// True if the model gives a reason.
    pub asks_reason: bool,
}

/// A transfer of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferDefinition {
    pub destination: Destination,
    /// Message for the user; may be empty.
    pub message: String,
    /// Line of the destination in the file.
    pub line: usize,
}

/// A question to a model.
#[derive(Debug, Clone)]
pub struct PromptDefinition {
    pub template: Template,
    /// System prompt; may be empty.
    pub system: String,
    /// Profile that answers; `None` for that of the session.
    pub profile: Option<String>,
    /// Model that answers; `None` for that of the profile or of the session.
    pub model: Option<String>,
    /// Line of the profile in the file.
    pub profile_line: usize,
    /// Maximum tokens of an answer.
    pub max_tokens: u32,
    /// Time limit of each attempt.
    pub timeout: Duration,
    /// Schema of the answer; `None` for a text.
    pub schema: Option<AnswerSchema>,
}

/// Where a session is transferred to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A profile of the settings, which answers from the next turn on.
    Profile(String),
    /// The user.
    User,
}

impl ToolHead {
    /// Returns the description of the tool for the model.
    pub fn tool_spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.function_name.clone(),
            description: self.description.clone(),
            parameters: arguments_schema(&self.parameters).into(),
            is_custom: true,
            ..ToolSpec::default()
        }
        .with_file_references(&reference_uses(&self.parameters))
    }
}

impl ToolDefinition {
    /// Returns the name of the kind, as in the file.
    pub fn kind_name(&self) -> &'static str {
        let kind = match &self.kind {
            ToolKind::Http(_) => FileKind::Http,
            ToolKind::Command(_) => FileKind::Command,
            ToolKind::EndConversation(_) => FileKind::EndConversation,
            ToolKind::Transfer(_) => FileKind::Transfer,
            ToolKind::Prompt(_) => FileKind::Prompt,
        };
        kind.name()
    }

    /// Returns the worst that a call may do: `read`, `external`, `command`, `ends turn` or `model`.
    pub fn effect_name(&self) -> &'static str {
        match &self.kind {
            ToolKind::Http(http) if http.is_external => "external",
            ToolKind::Http(_) => "read",
            ToolKind::Command(_) => "command",
            ToolKind::Transfer(TransferDefinition { destination: Destination::Profile(_), .. }) => "external",
            ToolKind::EndConversation(_) | ToolKind::Transfer(_) => "ends turn",
            ToolKind::Prompt(prompt) if prompt.profile.is_some() => "external",
            ToolKind::Prompt(_) => "model",
        }
    }

    /// Describes what a call sends where, one fact per line. Warnings begin with `warning`.
    pub fn describe_effects(&self) -> Vec<String> {
        let mut lines = vec![format!("tool {} for the model: {}", self.head.function_name, self.head.description)];
        let names = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let parameters = self.head.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        match &self.kind {
            ToolKind::Http(http) => {
                lines.push(format!("sends {} {}", http.method, http.url.as_str()));
                lines.extend(http.credential.iter().map(|name| format!("warning: sends the credential {name}")));
                if http.allow_private {
                    lines.push("warning: its server may be in a private network".to_owned());
                }
            }
            ToolKind::Command(command) => {
                let words: Vec<String> = command.argv.iter().map(ToString::to_string).collect();
                lines.push(format!("warning: runs the command {}", words.join(" ")));
            }
            ToolKind::Prompt(prompt) => {
                lines.push(match &prompt.profile {
                    Some(profile) => format!("warning: sends its prompt to the profile {profile}"),
                    None => "sends its prompt to the provider of the session".to_owned(),
                });
                lines.extend(prompt.model.iter().map(|model| format!("asks the model {model}")));
                lines.push(format!("prompt: {}", prompt.template));
            }
            ToolKind::EndConversation(_) => lines.push("ends the turn".to_owned()),
            ToolKind::Transfer(transfer) => lines.push(match &transfer.destination {
                Destination::Profile(profile) => {
                    format!("warning: ends the turn, and the session continues with the profile {profile}")
                }
                Destination::User => "ends the turn, and leaves a note for the user".to_owned(),
            }),
        }
        if let ToolKind::EndConversation(EndDefinition { message, .. })
        | ToolKind::Transfer(TransferDefinition { message, .. }) = &self.kind
            && !message.is_empty()
        {
            lines.push(format!("shows the user: {message}"));
        }
        lines.push(format!("arguments set by the model: {}", names(parameters)));
        if !self.head.presets.is_empty() {
            let presets = self.head.presets.iter().map(|preset| format!("{} = {}", preset.name, preset.template));
            lines.push(format!("arguments set by the file: {}", presets.collect::<Vec<_>>().join(", ")));
        }
        lines
    }
}
