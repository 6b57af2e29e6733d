//! Restores incomplete replies and outputs from their pieces, after the program ended while they arrived.

use super::line_parts::{Line, has_kind};
use crate::chat::partial_reply::PartialText;
use crate::chat::{CallId, Entry, PartialOutput, PartialReply};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// Reason stored with an incomplete reply.
pub const INCOMPLETE_REASON: &str = "aye exited before it was complete";
/// Start of the `entry` field of a line with a piece of a reply.
pub(super) const REPLY_KIND: &str = r#""entry":{"kind":"grown""#;
/// Start of the `entry` field of a line with a piece of a reply or of an output.
const KINDS: [&str; 2] = [REPLY_KIND, r#""entry":{"kind":"printed""#];

/// A piece of a reply or of an output.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub(super) enum Piece<'a> {
    #[serde(rename = "grown")]
    Reply(Cow<'a, PartialReply>),
    #[serde(rename = "printed")]
    Output(Cow<'a, PartialOutput>),
}

/// Returns whether a line that starts like an entry is a piece of a reply or of an output.
pub(super) fn is_piece(line: &[u8]) -> bool {
    KINDS.iter().any(|kind| has_kind(line, kind))
}

/// Replies and outputs that are incomplete so far, while the lines of a file are read in order.
#[derive(Default)]
pub(super) struct IncompleteReplies {
    replies: Vec<IncompleteReply>,
    /// Outputs so far of calls that are not settled.
    pub(super) outputs: HashMap<CallId, String>,
}

struct IncompleteReply {
    sub_agent_call: Option<CallId>,
    time: u64,
    model: String,
    text: PartialText,
    reasoning: PartialText,
}

impl IncompleteReplies {
    /// Adds a piece of a reply or an output.
    pub(super) fn add_piece(&mut self, line: &Line<Piece<'_>>) {
        match &line.entry {
            Piece::Reply(piece) => self.add_reply_piece(piece, line.at),
            Piece::Output(piece) => self.outputs.entry(piece.call.clone()).or_default().push_str(&piece.text),
        }
    }

    fn add_reply_piece(&mut self, piece: &PartialReply, time: u64) {
        let index = self.replies.iter().position(|reply| reply.sub_agent_call == piece.sub_agent_call);
        let index = index.unwrap_or_else(|| {
            let sub_agent_call = piece.sub_agent_call.clone();
            let (text, reasoning) = (PartialText::default(), PartialText::default());
            self.replies.push(IncompleteReply { sub_agent_call, time, model: String::new(), text, reasoning });
            self.replies.len() - 1
        });
        let reply = &mut self.replies[index];
        reply.time = time;
        reply.model.clone_from(&piece.model);
        reply.text.append(&piece.text);
        reply.reasoning.append(&piece.reasoning);
    }

    /// Removes the replies and outputs that this entry completes.
    pub(super) fn process_entry(&mut self, entry: &Entry) {
        if let Entry::Settled { call, .. } = entry.unwrap_sub_agent() {
            self.outputs.remove(call);
        }
        if self.replies.is_empty() {
            return;
        }
        match entry {
            Entry::SubAgent { call, entry } if is_end(entry) => {
                self.replies.retain(|reply| reply.sub_agent_call.as_ref() != Some(call));
            }
            Entry::Settled { call, .. } => self.replies.retain(|reply| reply.sub_agent_call.as_ref() != Some(call)),
            Entry::Ended { .. } => self.replies.clear(),
            entry if is_end(entry) => self.replies.retain(|reply| reply.sub_agent_call.is_some()),
            _ => {}
        }
    }

    /// Returns the incomplete replies as entries, with the time of their last piece.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (u64, Entry)> {
        self.replies.into_iter().filter_map(|reply| {
            let (text, reasoning) = (reply.text.into_text(), reply.reasoning.into_text());
            if text.is_empty() && reasoning.is_empty() {
                return None;
            }
            let entry = Entry::Replied {
                text,
                reasoning,
                calls: Vec::new(),
                incomplete: Some(INCOMPLETE_REASON.to_owned()),
                model: reply.model,
                usage: None,
                thought_ms: 0,
                echo: None,
            };
            let entry = match reply.sub_agent_call {
                Some(call) => Entry::SubAgent { call, entry: Box::new(entry) },
                None => entry,
            };
            Some((reply.time, entry))
        })
    }
}

/// Returns whether this entry ends the reply that is in progress.
fn is_end(entry: &Entry) -> bool {
    matches!(entry, Entry::Replied { .. } | Entry::Ended { .. } | Entry::UserMessage { .. })
}

#[cfg(test)]
mod tests;
