//! Items of the audit: calls, commands that the user ran, and requests of MCP servers for the model.

use super::sampling_record::SamplingRecord;
use super::{Record, collect_records};
use crate::chat::{CallId, Entry, UserCommand};
use serde_json::{Value, json};

/// An item of the audit.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditItem<'a> {
    /// A call of the model or of the user's choice of changes to apply.
    Call(Record<'a>),
    /// A command that the user ran, with the index of its entry.
    UserCommand(usize, &'a UserCommand),
    /// A request of an MCP server for an answer of the model.
    Sampling(SamplingRecord<'a>),
}

/// Identity of an item, which stays valid when entries are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditKey {
    Call(CallId),
    /// Index of the entry.
    UserCommand(usize),
    /// Index of the first entry.
    Sampling(usize),
}

/// Collects the calls, the user's commands and the requests of servers of a session, in the order of their entries.
pub fn collect_items(entries: &[Entry]) -> Vec<AuditItem<'_>> {
    let calls = collect_records(entries).into_iter().map(AuditItem::Call);
    let commands = entries.iter().enumerate().filter_map(|(index, entry)| match entry {
        Entry::UserCommand(command) => Some(AuditItem::UserCommand(index, command)),
        _ => None,
    });
    let samplings = SamplingRecord::collect(entries).into_iter().map(AuditItem::Sampling);
    let mut items: Vec<AuditItem<'_>> = calls.chain(commands).chain(samplings).collect();
    items.sort_by_key(AuditItem::entry_index);
    items
}

impl AuditItem<'_> {
    /// Returns the index of its first entry.
    pub fn entry_index(&self) -> usize {
        match self {
            Self::Call(record) => record.reply_index,
            Self::UserCommand(index, _) => *index,
            Self::Sampling(record) => record.first_index(),
        }
    }

    /// Returns its identity.
    pub fn key(&self) -> AuditKey {
        match self {
            Self::Call(record) => AuditKey::Call(record.call.id.clone()),
            Self::UserCommand(index, _) => AuditKey::UserCommand(*index),
            Self::Sampling(record) => AuditKey::Sampling(record.first_index()),
        }
    }

    /// Returns all that is known about it as one object. `time` is that of [`Record::to_json`].
    pub fn to_json(&self, time: &dyn Fn(usize) -> Option<u64>) -> Value {
        match self {
            Self::Call(record) => record.to_json(time),
            Self::Sampling(record) => record.to_json(time),
            Self::UserCommand(index, command) => json!({
                "user_command": command.command, "status": command.status, "output": command.output,
                "is_shared": command.is_shared, "is_rehearsed": command.is_rehearsed, "took_ms": command.took_ms,
                "ended_at": time(*index),
            }),
        }
    }
}
