//! Secrets in the texts of a session. They are searched in the whole texts, because the screen may show the end of a secret without
//! the beginning that gives it away.

use super::masking::FrameMasker;
use crate::agent::{self, Phase, WaitingCall};
use crate::chat::{CallId, SessionId};
use crate::text::clean::clean_text;
use crate::text::known_secrets::KnownSecrets;
use crate::text::redaction::is_secret_name;
use crate::tui::popup::{Popup, ReaderBody};
use crate::tui::state::State;
use crate::tui::workspace_data::PreviewContent;
use serde::Serialize;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The secrets of the session on the screen.
#[derive(Debug, Default)]
pub(super) struct SessionSecrets {
    pub(super) masker: FrameMasker,
    /// The session, and the number of its entries that were searched.
    entries: Option<(SessionId, usize)>,
    /// The call whose preview was searched last.
    call: Option<CallId>,
    /// Hashes of the other texts when they were searched.
    other_texts: Vec<u64>,
}

impl SessionSecrets {
    /// These secrets are masked from the beginning.
    pub(super) fn new(known: KnownSecrets) -> Self {
        Self { masker: FrameMasker::new(known), ..Self::default() }
    }

    /// Searches the texts that are new or changed: entries, the preview of the open prompt, output and replies that are no entries yet,
    /// and the page in front.
    pub(super) fn learn(&mut self, state: &State) {
        let (id, entries) = (&state.session.id, state.agent.session.entries());
        let searched = self.entries.replace((id.clone(), entries.len())).filter(|(searched_id, _)| searched_id == id);
        let searched = searched.map_or(0, |(_, count)| count.min(entries.len()));
        entries[searched..].iter().for_each(|entry| learn_serialized(&mut self.masker, entry));
        if let Some(WaitingCall::Approval { call, plan, .. }) = state.agent.waiting_call()
            && self.call.as_ref() != Some(&call.id)
        {
            self.call = Some(call.id.clone());
            learn_serialized(&mut self.masker, &plan.preview);
        }
        let mut texts = live_texts(&state.agent);
        texts.extend(state.viewport.popups.last().and_then(page_text));
        let hashes: Vec<u64> = texts.iter().map(|text| hash_text(text)).collect();
        for (text, _) in texts.iter().zip(&hashes).filter(|(_, hash)| !self.other_texts.contains(hash)) {
            self.masker.learn(text);
        }
        self.other_texts = hashes;
    }
}

fn hash_text(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Learns the secrets in the strings of a value that can be serialized.
fn learn_serialized(masker: &mut FrameMasker, value: &impl Serialize) {
    learn_value(masker, &serde_json::to_value(value).unwrap_or_default());
}

/// Learns the secrets in the strings of a value. Arguments of a call are JSON in a string.
fn learn_value(masker: &mut FrameMasker, value: &Value) {
    match value {
        Value::String(text) => {
            masker.learn(text);
            masker.learn(&clean_text(text));
            if text.starts_with('{')
                && let Ok(arguments) = serde_json::from_str::<Value>(text)
            {
                learn_value(masker, &arguments);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| learn_value(masker, item)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Value::String(text) = field
                    && is_secret_name(name)
                {
                    masker.remember(text);
                }
                learn_value(masker, field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the text of a page with the content of a file or an output.
fn page_text(popup: &Popup) -> Option<&str> {
    let Popup::Reader(reader) = popup else { return None };
    let preview = match &reader.body {
        ReaderBody::File(page) => page.preview.as_deref()?.as_ref().ok()?,
        ReaderBody::Link(page) => page.preview.as_deref()?.as_ref().ok()?,
        _ => return Some(&reader.text),
    };
    match &preview.content {
        PreviewContent::Markdown(text) | PreviewContent::Text { text, .. } => Some(text),
        PreviewContent::Lines(lines) => Some(&lines.text),
        PreviewContent::Json(_) | PreviewContent::Table(_) | PreviewContent::NoText(_) => None,
    }
}

/// Returns the texts of the turn that are not entries yet.
fn live_texts(agent: &agent::State) -> Vec<&str> {
    let mut texts: Vec<&str> = agent.background.iter().map(|command| &*command.latest_output).collect();
    match &agent.phase {
        Phase::Replying(reply) => texts.extend([&*reply.text, &*reply.reasoning]),
        Phase::RunningUserCommand(command) => texts.push(&command.latest_output),
        Phase::RunningCalls { calls, .. } => {
            for call in calls {
                texts.push(call.output());
                texts.extend(call.sub_agent().into_iter().flat_map(|sub_agent| live_texts(&sub_agent.state)));
            }
        }
        Phase::Idle => {}
    }
    texts
}
