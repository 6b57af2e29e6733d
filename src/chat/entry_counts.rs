//! Says how many entries of each kind there are.

use super::entry::Entry;

/// Counts messages, replies, outcomes and commands of the user: `1 message, 2 replies`. Returns `state changes` if all
/// entries are of other kinds.
pub fn describe_entries(entries: &[Entry]) -> String {
    let count = |predicate: fn(&Entry) -> bool| entries.iter().filter(|entry| predicate(entry)).count();
    let kinds = [
        (count(|entry| matches!(entry, Entry::UserMessage { .. })), "message", "messages"),
        (count(|entry| matches!(entry, Entry::Replied { .. })), "reply", "replies"),
        (count(|entry| matches!(entry, Entry::Settled { .. })), "tool outcome", "tool outcomes"),
        (count(|entry| matches!(entry, Entry::UserCommand(_))), "command", "commands"),
    ];
    let kinds = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = kinds
        .map(|(count, singular, plural)| format!("{count} {}", if count == 1 { singular } else { plural }))
        .collect();
    if counts.is_empty() { "state changes".to_owned() } else { counts.join(", ") }
}
