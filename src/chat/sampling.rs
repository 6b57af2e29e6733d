//! Requests of MCP servers for an answer of a model (sampling): what is asked, decided and answered.

use super::{Decider, Digest, Usage, pluralize};
use crate::text::escape_sequences::strip_controls;
use crate::text::hidden_chars::remove_hidden;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum bytes of the system prompt and all messages.
pub const MAX_BYTES: usize = 100_000;
/// Maximum number of messages.
const MAX_MESSAGES: usize = 100;
/// Maximum tokens of an answer, whatever the server asks for.
pub const MAX_TOKENS: u32 = 4_096;
/// Parameters of the protocol that are not used.
const IGNORED: [&str; 5] = ["includeContext", "modelPreferences", "temperature", "stopSequences", "metadata"];

/// What a server wants to ask a model. Its texts have no control or hidden characters: they are sent as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingRequest {
    /// Name of the server in the settings.
    pub server: String,
    /// System prompt; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// At least one.
    pub messages: Vec<SamplingMessage>,
    /// Maximum tokens of the answer.
    pub max_tokens: u32,
    /// Parameters of the request that are not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingMessage {
    /// True if it stands for an earlier reply of the model; otherwise for a message of a user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_model: bool,
    pub text: String,
}

/// Step of a request. A server has one request at a time, so its steps follow each other in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum SamplingStep {
    /// The user decided whether the request is sent. Recorded before it is.
    Decided {
        request: SamplingRequest,
        /// Model and host that answer: `gpt-5 at api.openai.com`.
        model: String,
        is_approved: bool,
        by: Decider,
        /// Digest of the request that was shown.
        sha256: Digest,
    },
    /// The model answered, or did not.
    Answered {
        server: String,
        /// Its answer; may be incomplete after an error.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Why there is no answer for the server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Token usage reported by the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        took_ms: u64,
    },
    /// The user decided whether the server receives the answer, or the server stopped waiting. An approval is recorded
    /// before the answer is sent, which may be too late for the server.
    Returned {
        server: String,
        is_approved: bool,
        /// `None` if the server stopped waiting before the user decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Decider>,
    },
}

impl SamplingRequest {
    /// Reads the parameters of `sampling/createMessage`.
    ///
    /// # Errors
    /// Why the request cannot be asked, as the end of a sentence about it.
    pub fn parse(server: &str, parameters: &Value) -> Result<Self, String> {
        let is_given = |name: &str| !matches!(&parameters[name], Value::Null) && parameters[name] != "none";
        if is_given("tools") || is_given("toolChoice") {
            return Err("it offers tools to the model, which aye does not support".to_owned());
        }
        let system = parameters["systemPrompt"].as_str().unwrap_or_default();
        let messages = parameters["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        if messages.is_empty() || messages.len() > MAX_MESSAGES {
            return Err(format!("it needs 1 to {MAX_MESSAGES} messages and has {}", messages.len()));
        }
        let messages = messages.iter().map(SamplingMessage::parse).collect::<Result<Vec<_>, String>>()?;
        let bytes = system.len() + messages.iter().map(|message| message.text.len()).sum::<usize>();
        if bytes > MAX_BYTES {
            return Err(format!("it has {bytes} bytes of text, and the limit is {MAX_BYTES}"));
        }
        let requested = parameters["maxTokens"].as_u64().filter(|tokens| *tokens > 0);
        let requested = requested.ok_or("it does not say how many tokens the answer may have")?;
        let max_tokens = u32::try_from(requested).unwrap_or(u32::MAX).min(MAX_TOKENS);
        let mut ignored: Vec<String> = IGNORED.into_iter().filter(|name| is_given(name)).map(str::to_owned).collect();
        if requested > u64::from(max_tokens) {
            ignored.push(format!("maxTokens above {MAX_TOKENS}"));
        }
        let clean_message = |message: SamplingMessage| SamplingMessage { text: clean(&message.text), ..message };
        Ok(Self {
            server: server.to_owned(),
            system: clean(system),
            messages: messages.into_iter().map(clean_message).collect(),
            max_tokens,
            ignored,
        })
    }

    /// Returns the texts in the order they are sent, each with a heading.
    pub fn sections(&self) -> Vec<(&'static str, &str)> {
        let system = Some(("System prompt", self.system.as_str())).filter(|(_, text)| !text.trim().is_empty());
        let heading = |message: &SamplingMessage| if message.is_of_model { "Model" } else { "User" };
        system
            .into_iter()
            .chain(self.messages.iter().map(|message| (heading(message), message.text.as_str())))
            .collect()
    }

    fn full_text(&self, bar: &str) -> String {
        let sections =
            self.sections().into_iter().map(|(heading, text)| format!("{heading}:\n{}", mark_lines(text, bar)));
        sections.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the digest of everything that is sent.
    pub fn digest(&self) -> Digest {
        Digest::of_bytes(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }
}

impl SamplingMessage {
    /// Reads a message whose content is text, in one block or several.
    fn parse(message: &Value) -> Result<Self, String> {
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.as_slice(),
            block => std::slice::from_ref(block),
        };
        let texts = blocks.iter().map(|block| match (block["type"].as_str(), block["text"].as_str()) {
            (Some("text"), Some(text)) => Ok(text),
            (Some("image"), _) => Err("it contains a picture, and only text is supported".to_owned()),
            (Some("audio"), _) => Err("it contains sound, and only text is supported".to_owned()),
            _ => Err("it contains something other than text".to_owned()),
        });
        let text = texts.collect::<Result<Vec<_>, String>>()?.join("\n");
        match message["role"].as_str() {
            Some(role @ ("user" | "assistant")) => Ok(Self { is_of_model: role == "assistant", text }),
            _ => Err("the author of a message is unknown".to_owned()),
        }
    }
}

/// Puts a bar before each line.
fn mark_lines(text: &str, bar: &str) -> String {
    text.trim_end().split('\n').map(|line| format!("{bar}{line}")).collect::<Vec<_>>().join("\n")
}

/// Removes characters that the user could not see.
fn clean(text: &str) -> String {
    remove_hidden(&strip_controls(&text.replace("\r\n", "\n"))).into_owned()
}

impl SamplingStep {
    /// Returns the name of the server.
    pub fn server(&self) -> &str {
        match self {
            Self::Decided { request, .. } => &request.server,
            Self::Answered { server, .. } | Self::Returned { server, .. } => server,
        }
    }

    /// Returns whether another step follows, unless the program ends.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Decided { is_approved, .. } => *is_approved,
            Self::Answered { error, .. } => error.is_none(),
            Self::Returned { .. } => false,
        }
    }

    /// Returns the token usage that the step records.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Self::Answered { usage, .. } => *usage,
            Self::Decided { .. } | Self::Returned { .. } => None,
        }
    }

    /// Returns the state that the step leads to, in a word or two.
    pub fn state_name(&self) -> &'static str {
        match self {
            Self::Decided { is_approved: true, .. } => "approved",
            Self::Decided { .. } => "denied",
            Self::Answered { error: None, .. } => "answered",
            Self::Answered { .. } => "not answered",
            Self::Returned { is_approved: true, .. } => "answer approved",
            Self::Returned { by: Some(_), .. } => "answer kept",
            Self::Returned { .. } => "abandoned",
        }
    }

    /// Describes the step in one line. Errors may have any characters.
    pub fn describe(&self) -> String {
        let server = self.server();
        match self {
            Self::Decided { model, is_approved, .. } => {
                format!("MCP server {server} asks {model} · you {}", if *is_approved { "approved" } else { "denied" })
            }
            Self::Answered { error: Some(error), .. } => format!("No answer for MCP server {server}: {error}"),
            Self::Answered { text, error: None, .. } => {
                format!("The model answered MCP server {server} · {}", pluralize(text.len(), "byte"))
            }
            Self::Returned { is_approved: true, .. } => format!("You approved the answer for MCP server {server}"),
            Self::Returned { by: Some(_), .. } => format!("You did not send the answer to MCP server {server}"),
            Self::Returned { .. } => format!("MCP server {server} stopped waiting, the answer was not sent"),
        }
    }

    /// Returns whether texts were asked or answered.
    pub fn has_text(&self) -> bool {
        match self {
            Self::Decided { .. } => true,
            Self::Answered { text, .. } => !text.is_empty(),
            Self::Returned { .. } => false,
        }
    }

    /// Returns the texts that were asked or answered, with headings; `None` if the step has none. Each line of the server or
    /// the model is after this bar, so that none can pass for a heading.
    pub fn full_text(&self, bar: &str) -> Option<String> {
        match self {
            Self::Decided { request, .. } => {
                Some(format!("{}\n\nAnswer: at most {} tokens", request.full_text(bar), request.max_tokens))
            }
            Self::Answered { text, .. } => Some(mark_lines(text, bar)).filter(|_| self.has_text()),
            Self::Returned { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(role: &str, text: &str) -> Value {
        json!({ "role": role, "content": { "type": "text", "text": text } })
    }

    fn parse(parameters: &Value) -> Result<SamplingRequest, String> {
        SamplingRequest::parse("files", parameters)
    }

    #[test]
    fn a_request_is_read_with_what_is_not_used() {
        let parameters = json!({
            "messages": [
                text("user", "One\r\n\u{1B}[2J\u{202E}two"),
                { "role": "assistant", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] },
            ],
            "systemPrompt": "Be \u{E0041}short", "maxTokens": 90_000, "includeContext": "allServers",
            "temperature": 0.5, "metadata": null,
        });
        let request = parse(&parameters).unwrap();
        let expected = [("System prompt", "Be short"), ("User", "One\ntwo"), ("Model", "a\nb")];
        assert_eq!(request.sections(), expected);
        assert_eq!(request.max_tokens, MAX_TOKENS);
        assert_eq!(request.ignored, ["includeContext", "temperature", "maxTokens above 4096"]);
        let none = json!({ "messages": [text("user", "a")], "maxTokens": 7, "includeContext": "none" });
        let request = parse(&none).unwrap();
        assert_eq!((request.max_tokens, request.ignored.len()), (7, 0));
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_the_reason() {
        let with = |messages: Value| json!({ "messages": messages, "maxTokens": 9 });
        let of_block = |block: Value| with(json!([{ "role": "user", "content": block }]));
        for (parameters, reason) in [
            (json!({}), "it needs 1 to 100 messages and has 0"),
            (with(json!(vec![text("user", "a"); 101])), "has 101"),
            (with(json!([text("user", &"a".repeat(100_001))])), "100001 bytes"),
            (with(json!([text("system", "a")])), "author"),
            (of_block(json!({ "type": "image", "data": "", "mimeType": "image/png" })), "a picture"),
            (of_block(json!({ "type": "audio", "data": "", "mimeType": "audio/wav" })), "sound"),
            (of_block(json!({ "type": "tool_use" })), "other than text"),
            (json!({ "messages": [text("user", "a")] }), "how many tokens"),
            (json!({ "messages": [text("user", "a")], "maxTokens": 0 }), "how many tokens"),
            (json!({ "messages": [text("user", "a")], "maxTokens": 9, "tools": [] }), "tools"),
        ] {
            let error = parse(&parameters).unwrap_err();
            assert!(error.contains(reason), "{reason}: {error}");
        }
        assert!(parse(&with(json!([text("user", &"a".repeat(MAX_BYTES))]))).is_ok());
    }

    #[test]
    fn the_digest_changes_with_everything_that_is_sent() {
        let request = parse(&json!({ "messages": [text("user", "a")], "maxTokens": 9 })).unwrap();
        let changes = [
            SamplingRequest { system: "b".to_owned(), ..request.clone() },
            SamplingRequest { max_tokens: 10, ..request.clone() },
            SamplingRequest { server: "other".to_owned(), ..request.clone() },
            SamplingRequest {
                messages: vec![SamplingMessage { is_of_model: true, text: "a".to_owned() }],
                ..request.clone()
            },
        ];
        assert!(changes.iter().all(|changed| changed.digest() != request.digest()));
        assert_eq!(request.clone().digest(), request.digest());
    }
}
