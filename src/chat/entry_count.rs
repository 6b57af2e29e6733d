//! Counts of entries in the user's terms.

use super::Entry;

/// Counts messages, replies and outcomes: `1 message, 2 replies`. Returns `state changes` if all entries are of other
/// kinds.
pub fn describe_entries(entries: &[Entry]) -> String {
    let count = |predicate: fn(&Entry) -> bool| entries.iter().filter(|entry| predicate(entry)).count();
    let kinds = [
        (count(|entry| matches!(entry, Entry::UserMessage { .. })), "message", "messages"),
        (count(|entry| matches!(entry, Entry::Replied { .. })), "reply", "replies"),
        (count(|entry| matches!(entry, Entry::Settled { .. })), "tool outcome", "tool outcomes"),
    ];
    let kinds = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = kinds
        .map(|(count, singular, plural)| format!("{count} {}", if count == 1 { singular } else { plural }))
        .collect();
    if counts.is_empty() { "state changes".to_owned() } else { counts.join(", ") }
}
