//! One request on its way to a service: the talk made so that strict services take it, and what else it is told.

use super::{Api, Settings, address};
use crate::chat::hidden::{escape_hidden, find_hidden, mark_hidden};
use crate::chat::picture::{self, Picture};
use crate::chat::{CallId, Message, Request, ToolCall, ToolSpec};
use reqwest::Url;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The names under which services take a limit for a reply.
const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// A request that only has to be written.
#[derive(Debug)]
pub struct Ask<'a> {
    /// Its model.
    pub model: String,
    /// The talk, as [`fit`] makes it.
    pub messages: Vec<Message>,
    /// What may be called; nothing where no tools may be offered.
    pub tools: Vec<ToolSpec>,
    /// The pictures that may be shown; none where the model cannot see.
    pub pictures: Vec<Picture>,
    /// What it is told beside the talk.
    pub settings: &'a Settings,
    /// The service's host in small letters; empty where its address is wrong.
    pub host: String,
    most: Option<u32>,
}

impl<'a> Ask<'a> {
    /// This request, for the service of these settings.
    pub fn new(request: Request, settings: &'a Settings) -> Self {
        let url = address::parse(&settings.base_url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_ascii_lowercase();
        let tools = if settings.tools { request.tools } else { Vec::new() };
        let pictures = if settings.images { request.pictures } else { Vec::new() };
        let mut messages = fit(request.messages, !tools.is_empty());
        messages.iter_mut().for_each(mark_message);
        if is_mistral(&host, &request.model) {
            shorten_ids(&mut messages);
        }
        let from = origin(settings, &request.model);
        for message in &mut messages {
            if let Message::Model { echo, .. } = message
                && echo.as_ref().is_some_and(|echo| echo.from != from)
            {
                *echo = None;
            }
        }
        Self { model: request.model, messages, tools, pictures, settings, host, most: request.most }
    }

    /// The pictures that this text names.
    pub fn shown<'s>(&'s self, text: &'s str) -> impl Iterator<Item = &'s Picture> {
        let names = if self.pictures.is_empty() { Vec::new() } else { picture::named(text) };
        self.pictures.iter().filter(move |picture| names.contains(&picture.name.as_str()))
    }

    /// The limit for the reply and the parameter that carries it: the smallest that anybody named. A parameter of the
    /// person's own says which one it is, and `null` in its place that there is to be none.
    pub fn limit(&self, usual: &str) -> Option<(String, u64)> {
        let extra = &self.settings.extra;
        let own = || LIMITS.into_iter().find(|name| extra.contains_key(*name));
        let name = self.settings.most_name.as_deref().or_else(own).unwrap_or(usual);
        if extra.get(name).is_some_and(Value::is_null) {
            return None;
        }
        let set = [self.settings.most, self.most].into_iter().flatten().map(u64::from);
        let least = set.chain(extra.get(name).and_then(Value::as_u64)).min()?;
        Some((name.to_owned(), least))
    }

    /// What every body ends with: that it is to stream, what may be called, each as `tool` writes it, and nothing that
    /// is null.
    pub fn finish(&self, body: &mut Map<String, Value>, tool: fn(&ToolSpec) -> Value) {
        body.insert("stream".to_owned(), Value::Bool(true));
        if self.tools.is_empty() {
            // Some services refuse these where there is nothing to choose from.
            for about_tools in ["tools", "tool_choice", "parallel_tool_calls"] {
                body.remove(about_tools);
            }
        } else {
            body.insert("tools".to_owned(), self.tools.iter().map(tool).collect());
        }
        body.retain(|_, value| !value.is_null());
    }
}

/// Which service and model an echo belongs to; no other is ever sent it.
pub fn origin(settings: &Settings, model: &str) -> String {
    let origin = address::parse(&settings.base_url).map(|url| address::origin(&url)).unwrap_or_default();
    let api = match settings.api {
        Api::Chat => "chat",
        Api::Responses => "responses",
    };
    format!("{origin} {api} {model}")
}

/// The talk so that no service has a reason to refuse it. Many let the roles alternate, some refuse a message that
/// says nothing, most refuse a call whose name or arguments are none, and some refuse all calls where no tools are
/// offered: then they are told in words.
fn fit(mut messages: Vec<Message>, offered: bool) -> Vec<Message> {
    let mut names: HashMap<CallId, String> = HashMap::new();
    // In place: a long talk is megabytes.
    messages.retain_mut(|message| {
        match message {
            Message::System(text) | Message::Person(text) => return !is_blank(text),
            Message::Model { text, calls, .. } if calls.is_empty() => return !is_blank(text),
            Message::Model { calls, .. } if offered => calls.iter_mut().for_each(fit_call),
            Message::Model { text, calls, echo } => {
                let told = calls.iter().map(|call| format!("[called {} with {}]", call.name, call.arguments));
                let said = Some(std::mem::take(text)).filter(|text| !is_blank(text));
                *text = said.into_iter().chain(told).collect::<Vec<_>>().join("\n");
                names.extend(calls.drain(..).map(|call| (call.id, call.name)));
                *echo = None;
            }
            Message::Tool { text, .. } if offered => {
                if is_blank(text) {
                    *text = "(nothing)".to_owned();
                }
            }
            Message::Tool { call, text } => {
                let name = names.get(call).map_or("the call", String::as_str);
                *message = Message::Person(format!("[what came of {name}]\n{text}"));
            }
        }
        true
    });
    messages.dedup_by(|message, before| match (before, message) {
        (Message::Person(before), Message::Person(text)) => {
            before.push_str("\n\n");
            before.push_str(text);
            true
        }
        _ => false,
    });
    messages
}

/// Marks what does not show in a message: nothing reaches a model that the user cannot see. The model's own words are
/// marked as they are written, since their echo counts their bytes.
fn mark_message(message: &mut Message) {
    match message {
        Message::System(text) | Message::Person(text) | Message::Tool { text, .. } => {
            if find_hidden(text).is_some() {
                *text = mark_hidden(text).into_owned();
            }
        }
        Message::Model { calls, .. } => {
            for call in calls {
                // Within JSON an escape shows, and means the same.
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

fn fit_call(call: &mut ToolCall) {
    if !fits_as_arguments(&call.arguments) {
        call.arguments = "{}".to_owned();
    }
    fit_name(call);
}

/// Services refuse a talk in which a call's arguments are not an object, and with it every request that follows.
fn fits_as_arguments(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

/// The same goes for a name that a model made up: it is made of these letters, 64 at most.
fn fit_name(call: &mut ToolCall) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if call.name.is_empty() {
        call.name = "unknown".to_owned();
    } else if call.name.len() > 64 || !call.name.chars().all(fits) {
        call.name = call.name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect();
    }
}

/// Mistral, Ministral, Devstral, Mixtral and the rest of the family, whoever serves them.
fn is_mistral(host: &str, model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    host == "mistral.ai"
        || host.ends_with(".mistral.ai")
        || model.contains("stral")
        || model.contains("xtral")
}

/// These models' templates take no id of a call that is not nine letters or digits, and their own are. So this
/// changes only what came from another model or was named apart here; the same id becomes the same in every request.
fn shorten_ids(messages: &mut [Message]) {
    let fits = |id: &CallId| id.0.len() == 9 && id.0.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut ids: Vec<&mut CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Model { calls, .. } => ids.extend(calls.iter_mut().map(|call| &mut call.id)),
            Message::Tool { call, .. } => ids.push(call),
            Message::System(_) | Message::Person(_) => {}
        }
    }
    let mut used: HashSet<CallId> = ids.iter().filter(|id| fits(id)).map(|id| (**id).clone()).collect();
    let mut short: HashMap<CallId, CallId> = HashMap::new();
    for id in ids.into_iter().filter(|id| !fits(id)) {
        let own = short.entry(id.clone()).or_insert_with(|| {
            let mut number = hash(&id.0);
            loop {
                let own = CallId(nine_letters(number));
                if used.insert(own.clone()) {
                    return own;
                }
                number = number.wrapping_add(1);
            }
        });
        id.clone_from(own);
    }
}

/// FNV-1a: the same on every machine and in every version, as ids must be.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn nine_letters(mut number: u64) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let letter = |_| {
        let at = (number % 62) as usize;
        number /= 62;
        char::from(LETTERS[at])
    };
    (0..9).map(letter).collect()
}

#[cfg(test)]
mod tests;
