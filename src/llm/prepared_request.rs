//! One request in preparation: the conversation adjusted so that strict providers accept it, and its parameters.

use super::simple_schema::{is_widely_refused, simplify_schema};
use super::tolerant_json::is_json_object;
use super::{Api, Settings, address, loopback};
use crate::chat::image::{self, Image};
use crate::chat::{CallId, Message, Request, ToolCall, ToolSpec};
use crate::text::hidden_chars::{escape_hidden, find_hidden, mark_hidden};
use reqwest::Url;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Parameter names that providers use for the limit of a reply.
const LIMIT_NAMES: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// A request that is ready to be serialized.
#[derive(Debug)]
pub struct PreparedRequest<'a> {
    /// Name of the model.
    pub model: String,
    /// The conversation, adjusted for strict providers.
    pub messages: Vec<Message>,
    /// Tools that may be called. Empty if no tools may be offered.
    pub tools: Vec<ToolSpec>,
    /// Images that may be sent. Empty if the model does not accept images.
    pub images: Vec<Image>,
    /// Settings of the provider.
    pub settings: &'a Settings,
    /// Host of the provider in lower case. Empty if its address is invalid.
    pub host: String,
    max_tokens: Option<u32>,
    /// JSON schema of the reply, if any.
    pub answer_schema: Option<Value>,
}

impl<'a> PreparedRequest<'a> {
    /// Prepares a request for the provider of these settings.
    pub fn new(request: Request, settings: &'a Settings) -> Self {
        let url = address::parse_base_address(&settings.base_url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_ascii_lowercase();
        let Request { model, messages, mut tools, images, max_tokens, answer_schema } = request;
        if !settings.quirks.tools {
            tools.clear();
        }
        let is_simple = settings.quirks.simple_schemas;
        let needs_simple = is_simple.unwrap_or_else(|| refuses_schemas(url.as_ref(), &host, &model));
        for tool in tools.iter_mut().filter(|tool| tool.is_custom && is_simple != Some(false)) {
            let schema = tool.parameters.to_value();
            if needs_simple || is_widely_refused(&schema) {
                tool.parameters = simplify_schema(&schema).into();
            }
        }
        let images = if settings.quirks.images { images } else { Vec::new() };
        let mut messages = fit_conversation(messages, !tools.is_empty());
        messages.iter_mut().for_each(mark_message);
        if is_mistral(&host, &model) {
            shorten_ids(&mut messages);
        }
        let origin = echo_origin(settings, &model);
        for message in &mut messages {
            if let Message::Model { echo, .. } = message
                && echo.as_ref().is_some_and(|echo| echo.origin != origin)
            {
                *echo = None;
            }
        }
        Self { model, messages, tools, images, settings, host, max_tokens, answer_schema }
    }

    /// Iterates over the images that this text mentions.
    pub fn images_in<'s>(&'s self, text: &'s str) -> impl Iterator<Item = &'s Image> {
        let names = if self.images.is_empty() { Vec::new() } else { image::find_images(text) };
        self.images.iter().filter(move |image| names.contains(&image.name.as_str()))
    }

    /// Returns the parameter that limits the reply: its name and value. The name comes from the quirks, else from a
    /// limit in the user's own parameters, else it is `default_name`. The value is the smallest of the limits that are
    /// set. `None` if no limit is set, or if the user's own parameter of that name is `null`.
    pub fn reply_limit(&self, default_name: &str) -> Option<(String, u64)> {
        let parameters = &self.settings.parameters;
        let name_in_parameters = || LIMIT_NAMES.into_iter().find(|name| parameters.contains_key(*name));
        let name =
            self.settings.quirks.max_tokens_parameter.as_deref().or_else(name_in_parameters).unwrap_or(default_name);
        if parameters.get(name).is_some_and(Value::is_null) {
            return None;
        }
        let limits = [self.settings.quirks.max_tokens, self.max_tokens].into_iter().flatten().map(u64::from);
        let limit = limits.chain(parameters.get(name).and_then(Value::as_u64)).min()?;
        Some((name.to_owned(), limit))
    }

    /// Iterates over the user's own parameters except for the fixed ones.
    pub fn own_parameters<'s>(&'s self, fixed: &'s [&str]) -> impl Iterator<Item = (&'s String, &'s Value)> {
        self.settings.parameters.iter().filter(|(name, _)| !fixed.contains(&name.as_str()))
    }

    /// Removes the parameters that are `null`, and the conversation, which is serialized separately. Without tools, also
    /// removes the parameters about tools, which some providers would reject.
    pub fn drop_unsendable_parameters(&self, body: &mut Map<String, Value>, conversation_key: &str, has_tools: bool) {
        let tool_keys = ["tool_choice", "parallel_tool_calls"];
        body.retain(|name, value| {
            !value.is_null() && name != conversation_key && (has_tools || !tool_keys.contains(&name.as_str()))
        });
    }
}

/// Identifies the provider, API and model an echo belongs to. No other model receives it.
pub fn echo_origin(settings: &Settings, model: &str) -> String {
    let origin =
        address::parse_base_address(&settings.base_url).map(|url| address::format_origin(&url)).unwrap_or_default();
    let api = match settings.api {
        Api::Chat => "chat",
        Api::Responses => "responses",
    };
    format!("{origin} {api} {model}")
}

/// Adjusts the conversation so that strict providers accept it. Many require alternating roles, some reject empty
/// messages, most reject a call with an invalid name or arguments, and some reject all calls in a request without
/// tools: there calls and results become text.
fn fit_conversation(mut messages: Vec<Message>, has_tools: bool) -> Vec<Message> {
    let mut names: HashMap<CallId, String> = HashMap::new();
    // In place because a long conversation takes megabytes.
    messages.retain_mut(|message| {
        match message {
            Message::System(text) | Message::User(text) => return !is_blank(text),
            Message::Model { text, calls, .. } if calls.is_empty() => return !is_blank(text),
            Message::Model { calls, .. } if has_tools => calls.iter_mut().for_each(sanitize_call),
            Message::Model { text, calls, echo } => {
                let call_texts = calls.iter().map(|call| format!("[called {} with {}]", call.name, call.arguments));
                let reply_text = Some(std::mem::take(text)).filter(|text| !is_blank(text));
                *text = reply_text.into_iter().chain(call_texts).collect::<Vec<_>>().join("\n");
                names.extend(calls.drain(..).map(|call| (call.id, call.name)));
                *echo = None;
            }
            Message::Tool { text, .. } if has_tools => {
                if is_blank(text) {
                    *text = "(no output)".to_owned();
                }
            }
            Message::Tool { call, text } => {
                let name = names.get(call).map_or("the call", String::as_str);
                *message = Message::User(format!("[result of {name}]\n{text}"));
            }
        }
        true
    });
    messages.dedup_by(|message, previous| match (previous, message) {
        (Message::User(previous), Message::User(text)) => {
            previous.push_str("\n\n");
            previous.push_str(text);
            true
        }
        _ => false,
    });
    messages
}

/// Makes hidden characters in a message visible: the model must not see text that the user cannot see. The model's own
/// text is marked when it is serialized, because its echo counts the original bytes.
fn mark_message(message: &mut Message) {
    match message {
        Message::System(text) | Message::User(text) | Message::Tool { text, .. } => {
            if find_hidden(text).is_some() {
                *text = mark_hidden(text).into_owned();
            }
        }
        Message::Model { calls, .. } => {
            for call in calls {
                // Inside JSON an escape is visible and means the same.
                if find_hidden(&call.arguments).is_some() {
                    call.arguments = escape_hidden(&call.arguments).into_owned();
                }
            }
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.trim_start().is_empty()
}

/// Replaces arguments that are not a JSON object, and a name that is not made of at most 64 ASCII letters, digits, `_`
/// and `-`. Providers reject a conversation with such a call, and with it every later request.
fn sanitize_call(call: &mut ToolCall) {
    if !is_json_object(&call.arguments) {
        call.arguments = "{}".to_owned();
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if call.name.is_empty() {
        call.name = "unknown".to_owned();
    } else if call.name.len() > 64 || !call.name.chars().all(is_allowed) {
        call.name = call.name.chars().map(|c| if is_allowed(c) { c } else { '_' }).take(64).collect();
    }
}

/// Returns whether this provider rejects parts of JSON schema that others accept: Gemini, Mistral, and servers on this
/// machine, many of which make a grammar of the schemas.
fn refuses_schemas(url: Option<&Url>, host: &str, model: &str) -> bool {
    host.ends_with(".googleapis.com")
        || model.to_ascii_lowercase().contains("gemini")
        || is_mistral(host, model)
        || url.is_some_and(loopback::is_loopback)
}

/// Returns whether this is Mistral or a model of its family (Ministral, Devstral, Mixtral) at any provider.
fn is_mistral(host: &str, model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    host == "mistral.ai" || host.ends_with(".mistral.ai") || model.contains("stral") || model.contains("xtral")
}

/// Shortens call ids for models whose chat templates require exactly nine letters or digits. Their own ids already fit,
/// so only ids of other models change, and ids that the agent extended to make them unique. An id
/// maps to the same short id in every request.
fn shorten_ids(messages: &mut [Message]) {
    let is_valid_id = |id: &CallId| id.0.len() == 9 && id.0.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut ids: Vec<&mut CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Model { calls, .. } => ids.extend(calls.iter_mut().map(|call| &mut call.id)),
            Message::Tool { call, .. } => ids.push(call),
            Message::System(_) | Message::User(_) => {}
        }
    }
    let mut used: HashSet<CallId> = ids.iter().filter(|id| is_valid_id(id)).map(|id| (**id).clone()).collect();
    let mut short_ids: HashMap<CallId, CallId> = HashMap::new();
    for id in ids.into_iter().filter(|id| !is_valid_id(id)) {
        let short_id = short_ids.entry(id.clone()).or_insert_with(|| {
            let mut number = hash(&id.0);
            loop {
                let short_id = CallId(nine_characters(number));
                if used.insert(short_id.clone()) {
                    return short_id;
                }
                number = number.wrapping_add(1);
            }
        });
        id.clone_from(short_id);
    }
}

/// FNV-1a hash. Ids must be the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn nine_characters(mut number: u64) -> String {
    const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let next_character = |_| {
        let index = (number % 62) as usize;
        number /= 62;
        char::from(CHARACTERS[index])
    };
    (0..9).map(next_character).collect()
}

#[cfg(test)]
mod tests;
