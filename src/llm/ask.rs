//! One request on its way to a service: the talk made so that strict services take it, and what else it is told.

use super::{Api, Settings, address};
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
    pub model: &'a str,
    /// The talk, as [`fit`] makes it.
    pub messages: Vec<Message>,
    /// What may be called; nothing where no tools may be offered.
    pub tools: &'a [ToolSpec],
    /// The pictures that may be shown; none where the model cannot see.
    pub pictures: &'a [Picture],
    /// What it is told beside the talk.
    pub settings: &'a Settings,
    /// The service's host in small letters; empty where its address is wrong.
    pub host: String,
    most: Option<u32>,
}

impl<'a> Ask<'a> {
    /// This request, for the service of these settings.
    pub fn new(request: &'a Request, settings: &'a Settings) -> Self {
        let url = address::parse(&settings.base_url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_ascii_lowercase();
        let tools: &[ToolSpec] = if settings.tools { &request.tools } else { &[] };
        let pictures: &[Picture] = if settings.images { &request.pictures } else { &[] };
        let mut messages = fit(&request.messages, !tools.is_empty());
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
        Self { model: &request.model, messages, tools, pictures, settings, host, most: request.most }
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
fn fit(messages: &[Message], offered: bool) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    let mut names: HashMap<&CallId, &str> = HashMap::new();
    for message in messages {
        let next = match message {
            Message::System(text) | Message::Person(text) if text.trim().is_empty() => continue,
            Message::System(_) | Message::Person(_) => message.clone(),
            Message::Model { text, calls, .. } if calls.is_empty() && text.trim().is_empty() => continue,
            Message::Model { text, calls, echo } if offered || calls.is_empty() => Message::Model {
                text: text.clone(),
                calls: calls.iter().map(fit_call).collect(),
                echo: echo.clone(),
            },
            Message::Model { text, calls, .. } => {
                names.extend(calls.iter().map(|call| (&call.id, call.name.as_str())));
                let told = calls.iter().map(|call| format!("[called {} with {}]", call.name, call.arguments));
                let said = Some(text.clone()).filter(|text| !text.trim().is_empty());
                let all: Vec<String> = said.into_iter().chain(told).collect();
                Message::Model { text: all.join("\n"), calls: Vec::new(), echo: None }
            }
            Message::Tool { call, text } if offered => {
                let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text.clone() };
                Message::Tool { call: call.clone(), text }
            }
            Message::Tool { call, text } => {
                let name = names.get(call).copied().unwrap_or("the call");
                Message::Person(format!("[what came of {name}]\n{text}"))
            }
        };
        match (out.last_mut(), next) {
            (Some(Message::Person(before)), Message::Person(text)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (_, next) => out.push(next),
        }
    }
    out
}

fn fit_call(call: &ToolCall) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        name: fit_name(&call.name),
        arguments: fit_arguments(&call.arguments).to_owned(),
    }
}

/// Services refuse a talk in which a call's arguments are not an object, and with it every request that follows.
fn fit_arguments(arguments: &str) -> &str {
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(_) => arguments,
        Err(_) => "{}",
    }
}

/// The same goes for a name that a model made up.
fn fit_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
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
