//! Entries, counted by what a user calls them.

use super::Entry;

/// Names how many messages, replies and outcomes these are: `1 message, 2 replies`. Entries of other kinds alone are
/// `changes of its state`.
pub fn count_in_words(entries: &[Entry]) -> String {
    let count = |is: fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).count();
    let kinds = [
        (count(|entry| matches!(entry, Entry::Said { .. })), "message", "messages"),
        (count(|entry| matches!(entry, Entry::Replied { .. })), "reply", "replies"),
        (count(|entry| matches!(entry, Entry::Settled { .. })), "outcome of a call", "outcomes of calls"),
    ];
    let kinds = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let named: Vec<String> =
        kinds.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).collect();
    if named.is_empty() { "changes of its state".to_owned() } else { named.join(", ") }
}
