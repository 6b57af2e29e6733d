//! Replies and outputs of which the session holds the pieces and no end: the program ended while they came.

use crate::chat::grown::Growing;
use crate::chat::{CallId, Entry, Grown, Printed};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// What such a reply says of itself.
pub const WHY: &str = "aye ended in the middle of it";
/// How the part of a line begins that says what kind it is.
const KINDS: [&[u8]; 2] = [b"\"entry\":{\"kind\":\"grown\"", b"\"entry\":{\"kind\":\"printed\""];

/// A line of the file: of a kind like an entry, so that an older version leaves it out by name.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    #[serde(default)]
    pub(super) at: u64,
    pub(super) entry: Kind<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Kind<'a> {
    Grown(Cow<'a, Grown>),
    Printed(Cow<'a, Printed>),
}

impl<'a> Line<'a> {
    pub(super) fn grown(seq: u64, at: u64, grown: &'a Grown) -> Self {
        Self { seq, at, entry: Kind::Grown(Cow::Borrowed(grown)) }
    }

    pub(super) fn printed(seq: u64, at: u64, printed: &'a Printed) -> Self {
        Self { seq, at, entry: Kind::Printed(Cow::Borrowed(printed)) }
    }
}

/// Whether a line that begins as an entry's does is one of these.
pub(super) fn is_one(line: &[u8]) -> bool {
    let head = &line[..line.len().min(100)];
    KINDS.iter().any(|kind| head.windows(kind.len()).any(|window| window == *kind))
}

/// Replies and outputs that came to no end so far, while the lines of a file go by in their order.
#[derive(Default)]
pub(super) struct Halves {
    replies: Vec<Half>,
    printed: HashMap<CallId, String>,
}

struct Half {
    beneath: Option<CallId>,
    at: u64,
    model: String,
    text: Growing,
    reasoning: Growing,
}

impl Halves {
    /// More of a reply or of an output.
    pub(super) fn add(&mut self, line: &Line<'_>) {
        match &line.entry {
            Kind::Grown(grown) => self.grew(grown, line.at),
            Kind::Printed(more) => self.printed.entry(more.call.clone()).or_default().push_str(&more.text),
        }
    }

    fn grew(&mut self, grown: &Grown, at: u64) {
        let found = self.replies.iter().position(|half| half.beneath == grown.beneath);
        let found = found.unwrap_or_else(|| {
            let beneath = grown.beneath.clone();
            let (text, reasoning) = (Growing::default(), Growing::default());
            self.replies.push(Half { beneath, at, model: String::new(), text, reasoning });
            self.replies.len() - 1
        });
        let half = &mut self.replies[found];
        half.at = at;
        half.model.clone_from(&grown.model);
        half.text.add(&grown.text);
        half.reasoning.add(&grown.reasoning);
    }

    /// A fact: some say that a reply came to its end.
    pub(super) fn passed(&mut self, entry: &Entry) {
        if let Entry::Settled { call, .. } = entry.bare() {
            self.printed.remove(call);
        }
        if self.replies.is_empty() {
            return;
        }
        match entry {
            Entry::Beneath { call, entry } if is_end(entry) => {
                self.replies.retain(|half| half.beneath.as_ref() != Some(call));
            }
            Entry::Settled { call, .. } => self.replies.retain(|half| half.beneath.as_ref() != Some(call)),
            Entry::Ended { .. } => self.replies.clear(),
            entry if is_end(entry) => self.replies.retain(|half| half.beneath.is_some()),
            _ => {}
        }
    }

    /// What calls had printed that were not settled.
    pub(super) fn take_printed(&mut self) -> HashMap<CallId, String> {
        std::mem::take(&mut self.printed)
    }

    /// The replies that never came to their end, as the facts that are made of them, and when they last grew.
    pub(super) fn rest(self) -> impl Iterator<Item = (u64, Entry)> {
        self.replies.into_iter().filter_map(|half| {
            let (text, reasoning) = (half.text.whole(), half.reasoning.whole());
            if text.is_empty() && reasoning.is_empty() {
                return None;
            }
            let entry = Entry::Replied {
                text,
                reasoning,
                calls: Vec::new(),
                incomplete: Some(WHY.to_owned()),
                model: half.model,
                usage: None,
                thought_ms: 0,
                echo: None,
            };
            let entry = match half.beneath {
                Some(call) => Entry::Beneath { call, entry: Box::new(entry) },
                None => entry,
            };
            Some((half.at, entry))
        })
    }
}

/// Whether no reply is under way behind this.
fn is_end(entry: &Entry) -> bool {
    matches!(entry, Entry::Replied { .. } | Entry::Ended { .. } | Entry::Said { .. })
}

#[cfg(test)]
mod tests;
