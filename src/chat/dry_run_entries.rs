//! Which entries of a session belong to a dry run.

use super::{Entry, Outcome};

/// Returns for each entry whether it belongs to a dry run. This may change within a session: a copy of a dry run may
/// continue live, and a copy of a live session as a dry run. `now` is whether the session is a dry run after the last
/// entry, if known. If nothing else is known, a session with a rehearsed call is a dry run.
pub fn dry_run_entries(now: Option<bool>, entries: &[Entry]) -> Vec<bool> {
    let changed_dry_run = |entry: &Entry| match entry {
        Entry::DryRunChanged { dry_run, .. } => Some(*dry_run),
        _ => None,
    };
    let is_rehearsed =
        |entry: &Entry| matches!(entry.unwrap_sub_agent(), Entry::Settled { outcome: Outcome::Rehearsed(_), .. });
    // Before its first change the session was the opposite.
    let initial = entries.iter().find_map(changed_dry_run).map(|dry_run| !dry_run);
    let mut dry_run = initial.or(now).unwrap_or_else(|| entries.iter().any(is_rehearsed));
    let dry_run_after = |entry: &Entry| {
        dry_run = changed_dry_run(entry).unwrap_or(dry_run);
        dry_run
    };
    entries.iter().map(dry_run_after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Digest, SessionId};

    fn settle_entry(call: &str, outcome: Outcome) -> Entry {
        let call = call.into();
        Entry::Settled { call, outcome, took_ms: 1, sha256: Digest::of_bytes(b"x"), staged: None, usage: None }
    }

    #[test]
    fn r30_entries_belong_to_a_dry_run_until_the_copy_becomes_live() {
        let change_entry = |dry_run| Entry::DryRunChanged { dry_run, copied_from: SessionId("01J".into()) };
        let done_entry = || settle_entry("a", Outcome::Done("x".into()));
        assert_eq!(dry_run_entries(Some(true), &[done_entry()]), [true]);
        let now_live = [done_entry(), change_entry(false), done_entry()];
        assert_eq!(dry_run_entries(Some(false), &now_live), [true, false, false]);
        let now_dry_run = [done_entry(), change_entry(true), done_entry()];
        assert_eq!(dry_run_entries(Some(true), &now_dry_run), [false, true, true]);
        // If it is not known whether the session is a dry run now, its entries decide.
        let rehearsed_entry = settle_entry("b", Outcome::Rehearsed("x".into()));
        assert_eq!(dry_run_entries(None, &[done_entry(), rehearsed_entry]), [true, true]);
    }
}
