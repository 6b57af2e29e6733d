//! Counts of the calls of a dry run.

use super::dry_run_summary::live_ask_reason;
use super::{CallId, Entry, Outcome, Preview, ResultOrigin, pluralize};
use std::collections::{HashMap, HashSet};

/// Counts of the calls in a dry run or in one turn of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DryRunCounts {
    /// Calls that were rehearsed.
    pub rehearsed: usize,
    /// Calls that were withheld because of what they read.
    pub withheld: usize,
    /// Calls that would have asked the user live.
    pub would_ask: usize,
    /// Rehearsed commands.
    pub commands: usize,
    /// Rehearsed commands that ran in the overlay sandbox; file tools that wrote the overlay do not count.
    pub ran: usize,
    /// Calls that ran live and did more than read.
    pub live_effects: usize,
    /// Calls that were denied by the user, a rule or the program.
    pub denied: usize,
    /// All settled calls, including those that only read.
    pub calls: usize,
}

/// A call as last planned.
struct PlannedCall {
    only_reads: bool,
    /// True if the policy or the user allowed it to run live.
    is_allowed: bool,
    is_command: bool,
}

impl DryRunCounts {
    /// Counts the calls in these entries.
    pub fn from_entries(entries: &[Entry]) -> Self {
        let mut counts = Self::default();
        let mut planned_calls: HashMap<&CallId, PlannedCall> = HashMap::new();
        let mut asked_calls: HashSet<&CallId> = HashSet::new();
        for entry in entries {
            let entry = entry.unwrap_sub_agent();
            if let Entry::Settled { outcome, .. } = entry {
                counts.calls += 1;
                counts.denied += usize::from(matches!(outcome, Outcome::Refused(_)));
            }
            match entry {
                Entry::Planned { call, access, preview, verdict, reason, .. } => {
                    if live_ask_reason(verdict, reason).is_some() {
                        asked_calls.insert(call);
                    }
                    let is_command = matches!(**preview, Preview::Command(_));
                    let planned =
                        PlannedCall { only_reads: access.is_read(), is_allowed: verdict == "allow", is_command };
                    planned_calls.insert(call, planned);
                }
                Entry::Decided { call, decision, .. } if decision.is_approval() => {
                    if let Some(planned) = planned_calls.get_mut(call) {
                        planned.is_allowed = true;
                    }
                }
                Entry::Settled { outcome: Outcome::Rehearsed(_), staged: Some(origin), .. } if origin.is_withheld() => {
                    counts.withheld += 1;
                }
                Entry::Settled { call, outcome: Outcome::Rehearsed(_), staged, .. } => {
                    counts.rehearsed += 1;
                    let is_command = planned_calls.get(call).is_some_and(|planned| planned.is_command);
                    counts.commands += usize::from(is_command);
                    counts.ran += usize::from(is_command && staged.as_ref().is_some_and(ResultOrigin::has_run));
                }
                // Only calls that ran have a digest.
                Entry::Settled { call, sha256, staged: None, .. } if !sha256.is_none() => {
                    let has_effect = |planned: &PlannedCall| planned.is_allowed && !planned.only_reads;
                    counts.live_effects += usize::from(planned_calls.get(call).is_some_and(has_effect));
                }
                _ => {}
            }
        }
        counts.would_ask = asked_calls.len();
        counts
    }

    /// Counts the calls of the turn that the entry at `end` ends, or that is in progress there.
    pub fn from_turn(entries: &[Entry], end: usize) -> Self {
        let turn_entries = entries.get(..end).unwrap_or_default();
        let start =
            turn_entries.iter().rposition(|entry| matches!(entry, Entry::Ended { .. })).map_or(0, |index| index + 1);
        Self::from_entries(&turn_entries[start..])
    }

    /// Describes the counts: `4 calls rehearsed (2 in the overlay sandbox), 1 withheld, 1 denied; nothing changed
    /// on disk`. The overlay sandbox is mentioned only if commands were rehearsed, withheld and denied calls only if there
    /// are any.
    pub fn describe_counts(self) -> String {
        let Self { rehearsed, withheld, commands, ran, live_effects, denied, .. } = self;
        let calls = pluralize(rehearsed, "call");
        let on_disk = match live_effects {
            0 => "nothing changed on disk".to_owned(),
            count => format!("{} changed something on disk", pluralize(count, "call")),
        };
        let in_sandbox = match (commands, ran) {
            (0, _) => String::new(),
            (_, 0) => " (none in the overlay sandbox)".to_owned(),
            (_, ran) => format!(" ({ran} in the overlay sandbox)"),
        };
        let text_if_any = |count: usize, text: String| (count > 0).then_some(text);
        let parts = [
            Some(format!("{calls} rehearsed{in_sandbox}")),
            text_if_any(withheld, format!("{withheld} withheld")),
            text_if_any(denied, format!("{denied} denied")),
        ];
        format!("{}; {on_disk}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Access, CommandLine, Decider, Digest, Ending, SimulationSource};

    fn plan_entry(call: &str, access: Access, verdict: &str) -> Entry {
        Entry::Planned {
            call: call.into(),
            title: String::new(),
            summary: String::new(),
            access,
            preview: Box::new(Preview::Text(String::new())),
            destroys: None,
            preconditions: Box::default(),
            verdict: verdict.into(),
            reason: String::new(),
            hooks_not_run: Vec::new(),
            sha256: Digest::default(),
        }
    }

    fn settle_entry(call: &str, outcome: Outcome, origin: Option<ResultOrigin>) -> Entry {
        Entry::Settled {
            call: call.into(),
            outcome,
            took_ms: 1,
            sha256: Digest::of_bytes(b"x"),
            staged: origin,
            usage: None,
        }
    }

    fn rehearse_entries(call: &str, origin: Option<ResultOrigin>) -> [Entry; 2] {
        let outcome = Outcome::Rehearsed("x".into());
        let mut entry = plan_entry(call, Access::Write("a".into()), "rehearse");
        if let Entry::Planned { preview, .. } = &mut entry {
            **preview = Preview::Command(CommandLine::default());
        }
        [entry, settle_entry(call, outcome, origin)]
    }

    #[test]
    fn r30_counts_calls_of_a_turn_that_were_rehearsed_ran_or_had_an_effect() {
        let mut entries = vec![Entry::Ended { ending: Ending::Finished }];
        entries.extend(rehearse_entries("a", Some(ResultOrigin::ran())));
        entries.extend(rehearse_entries("b", Some(ResultOrigin::simulated(SimulationSource::Sample))));
        // A write to the overlay is not a command that ran.
        entries.push(plan_entry("w", Access::Write("a".into()), "rehearse"));
        entries.push(settle_entry("w", Outcome::Rehearsed("x".into()), Some(ResultOrigin::ran())));
        // A command recorded by an older version, without an origin, and a command of a sub-agent.
        entries.extend(rehearse_entries("c", None));
        let in_sub_agent = |entry: Entry| Entry::SubAgent { call: "s".into(), entry: Box::new(entry) };
        entries.extend(rehearse_entries("d", Some(ResultOrigin::ran())).map(in_sub_agent));
        entries.push(plan_entry("e", Access::Read(vec![]), "allow"));
        entries.push(settle_entry("e", Outcome::Done("x".into()), None));
        let counts = DryRunCounts::from_turn(&entries, entries.len());
        assert_eq!(counts, DryRunCounts { rehearsed: 5, commands: 4, ran: 2, calls: 6, ..DryRunCounts::default() });
        assert_eq!(counts.describe_counts(), "5 calls rehearsed (2 in the overlay sandbox); nothing changed on disk");
        // In the middle of the turn only its first call is settled.
        assert_eq!(
            DryRunCounts::from_turn(&entries, 3).describe_counts(),
            "1 call rehearsed (1 in the overlay sandbox); nothing changed on disk"
        );
        // A live call should never be in a dry run; if it is, it is reported.
        entries.push(plan_entry("f", Access::Write("a".into()), "allow"));
        entries.push(settle_entry("f", Outcome::Failed("x".into()), None));
        entries.push(plan_entry("g", Access::WriteOutside("a".into()), "ask"));
        let by = Decider::Headless;
        entries.push(Entry::Decided {
            call: "g".into(),
            decision: crate::chat::Decision::Once,
            by,
            sha256: Digest::default(),
        });
        entries.push(settle_entry("g", Outcome::Done("x".into()), None));
        assert_eq!(DryRunCounts::from_entries(&entries).live_effects, 2);
    }

    #[test]
    fn r30_counts_denied_calls_and_calls_that_only_read() {
        let denied = settle_entry("a", Outcome::Refused("no".into()), None);
        let read = settle_entry("b", Outcome::Done("x".into()), None);
        let text = DryRunCounts::from_entries(&[denied]).describe_counts();
        assert_eq!(text, "0 calls rehearsed, 1 denied; nothing changed on disk");
        assert_eq!(DryRunCounts::from_entries(&[read]), DryRunCounts { calls: 1, ..DryRunCounts::default() });
        assert_eq!(DryRunCounts::from_entries(&[]).calls, 0);
    }

    #[test]
    fn r30_counts_withheld_calls_and_calls_that_would_have_asked() {
        let ask_entry = |call: &str, verdict: &str, reason: &str| {
            let mut entry = plan_entry(call, Access::ReadSensitive(".env".into()), verdict);
            if let Entry::Planned { reason: entry_reason, .. } = &mut entry {
                *entry_reason = reason.to_owned();
            }
            entry
        };
        let would_ask = "this is a dry run; live, you would have been asked: it reads .env";
        let would_run = "this is a dry run; for real it would have run, because of a rule";
        let entries = [
            ask_entry("a", "withhold", would_ask),
            settle_entry(
                "a",
                Outcome::Rehearsed("x".into()),
                Some(ResultOrigin::simulated(SimulationSource::Withheld)),
            ),
            ask_entry("b", "rehearse", would_ask),
            settle_entry("b", Outcome::Rehearsed("x".into()), Some(ResultOrigin::ran())),
            // Planned again, it is still one call.
            ask_entry("b", "rehearse", would_ask),
            ask_entry("c", "ask", "it reads .env"),
            settle_entry("c", Outcome::Refused("no".into()), None),
            ask_entry("d", "withhold", would_run),
            settle_entry(
                "d",
                Outcome::Rehearsed("x".into()),
                Some(ResultOrigin::simulated(SimulationSource::Withheld)),
            ),
        ];
        let counts = DryRunCounts::from_entries(&entries);
        assert_eq!((counts.rehearsed, counts.withheld, counts.would_ask), (1, 2, 3), "{counts:?}");
        assert_eq!(counts.describe_counts(), "1 call rehearsed, 2 withheld, 1 denied; nothing changed on disk");
    }

    #[test]
    fn r30_an_approved_read_has_no_effect() {
        let (by, decision) = (Decider::Headless, crate::chat::Decision::Once);
        let entries = [
            plan_entry("a", Access::ReadSensitive(".env".into()), "ask"),
            Entry::Decided { call: "a".into(), decision, by, sha256: Digest::default() },
            settle_entry("a", Outcome::Done("x".into()), None),
        ];
        assert_eq!(DryRunCounts::from_entries(&entries).live_effects, 0);
    }
}
