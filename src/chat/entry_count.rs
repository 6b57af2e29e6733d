//! Counts of entries in the user's terms.

use super::Entry;

/// Counts messages, replies and outcomes: `1 message, 2 replies`. Returns `state changes` if all entries are of other
/// kinds.
pub fn describe_entries(entries: &[Entry]) -> String {
    let count = |is: fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).count();
    let kinds = [
        (count(|entry| matches!(entry, Entry::UserMessage { .. })), "message", "messages"),
        (count(|entry| matches!(entry, Entry::Replied { .. })), "reply", "replies"),
        (count(|entry| matches!(entry, Entry::Settled { .. })), "tool outcome", "tool outcomes"),
    ];
    let kinds = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let named: Vec<String> =
        kinds.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).collect();
    if named.is_empty() { "state changes".to_owned() } else { named.join(", ") }
}
