//! Counts of the calls of a dry run.

use super::dry_run_summary::live_ask_reason;
use super::{Access, CallId, Entry, Outcome, Preview, ResultOrigin};
use std::collections::{HashMap, HashSet};

/// Counts for a turn of a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DryRunCounts {
    /// Calls that were rehearsed.
    pub rehearsed: usize,
    /// Calls that were withheld because of what they read.
    pub withheld: usize,
    /// Calls that would have asked the user live.
    pub would_ask: usize,
    /// Rehearsed commands that ran in the overlay sandbox; file tools that wrote the overlay do not count.
    pub ran: usize,
    /// Calls that ran live and did more than read.
    pub live_effects: usize,
    /// Calls that were denied by the user, a rule or the program.
    pub denied: usize,
    /// All calls, including those that only read.
    pub calls: usize,
}

impl DryRunCounts {
    /// Counts the calls in these entries.
    pub fn from_entries(entries: &[Entry]) -> Self {
        let mut tally = Self::default();
        // For each call, whether it does more than read and whether it may start live.
        let mut started: HashMap<&CallId, (bool, bool)> = HashMap::new();
        let mut commands: HashSet<&CallId> = HashSet::new();
        let mut asked: HashSet<&CallId> = HashSet::new();
        for entry in entries {
            let entry = entry.unwrap_sub_agent();
            if let Entry::Settled { outcome, .. } = entry {
                tally.calls += 1;
                tally.denied += usize::from(matches!(outcome, Outcome::Refused(_)));
            }
            match entry {
                Entry::Planned { call, access, preview, verdict, reason: why, .. } => {
                    // Reading has no effect, whoever approved it.
                    let reads = matches!(access, Access::Nothing | Access::Read(_) | Access::ReadSensitive(_));
                    if live_ask_reason(verdict, why).is_some() {
                        asked.insert(call);
                    }
                    started.insert(call, (!reads, verdict == "allow"));
                    if matches!(**preview, Preview::Command(_)) {
                        commands.insert(call);
                    }
                }
                Entry::Decided { call, decision, .. } if decision.is_approval() => {
                    if let Some((_, may)) = started.get_mut(call) {
                        *may = true;
                    }
                }
                Entry::Settled { outcome: Outcome::Rehearsed(_), staged: Some(staged), .. } if staged.is_withheld() => {
                    tally.withheld += 1;
                }
                Entry::Settled { call, outcome: Outcome::Rehearsed(_), staged, .. } => {
                    tally.rehearsed += 1;
                    tally.ran +=
                        usize::from(staged.as_ref().is_some_and(ResultOrigin::is_ran) && commands.contains(call));
                }
                // Only calls that ran have a digest.
                Entry::Settled { call, sha256, staged: None, .. } if !sha256.is_none() => {
                    tally.live_effects += usize::from(started.get(call) == Some(&(true, true)));
                }
                _ => {}
            }
        }
        tally.would_ask = asked.len();
        tally
    }

    /// Counts the calls of the turn that the entry at `end` ends, or that is in progress there.
    pub fn from_turn(entries: &[Entry], end: usize) -> Self {
        let before = entries.get(..end).unwrap_or_default();
        let begin = before.iter().rposition(|entry| matches!(entry, Entry::Ended { .. })).map_or(0, |at| at + 1);
        Self::from_entries(&before[begin..])
    }

    /// Describes the counts: `4 calls rehearsed, 2 ran in the overlay sandbox, 1 withheld, 1 denied, nothing changed
    /// on disk`. Withheld and refused calls are mentioned only if there are any.
    pub fn describe_counts(self) -> String {
        let Self { rehearsed, withheld, would_ask: _, ran, live_effects: outside, denied: refused, calls: _ } = self;
        let calls = if rehearsed == 1 { "1 call" } else { &format!("{rehearsed} calls") };
        let on_disk = match outside {
            0 => "nothing changed on disk".to_owned(),
            1 => "1 call changed something on disk".to_owned(),
            more => format!("{more} calls changed something on disk"),
        };
        let some = |count: usize, words: String| (count > 0).then_some(words);
        let parts = [
            Some(format!("{calls} rehearsed")),
            Some(format!("{ran} ran in the overlay sandbox")),
            some(withheld, format!("{withheld} withheld")),
            some(refused, format!("{refused} denied")),
            Some(on_disk),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CommandLine, Decider, Digest, Ending, SimulationSource};

    fn planned(call: &str, access: Access, verdict: &str) -> Entry {
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

    fn settled(call: &str, outcome: Outcome, staged: Option<ResultOrigin>) -> Entry {
        Entry::Settled { call: call.into(), outcome, took_ms: 1, sha256: Digest::of_bytes(b"x"), staged }
    }

    fn rehearsed(call: &str, staged: Option<ResultOrigin>) -> [Entry; 2] {
        let outcome = Outcome::Rehearsed("x".into());
        let mut planned = planned(call, Access::Write("a".into()), "rehearse");
        if let Entry::Planned { preview, .. } = &mut planned {
            **preview = Preview::Command(CommandLine::default());
        }
        [planned, settled(call, outcome, staged)]
    }

    #[test]
    fn r30_counts_calls_of_a_turn_that_were_rehearsed_ran_or_had_an_effect() {
        let mut entries = vec![Entry::Ended { ending: Ending::Finished }];
        entries.extend(rehearsed("a", Some(ResultOrigin::ran())));
        entries.extend(rehearsed("b", Some(ResultOrigin::simulated(SimulationSource::Sample))));
        // A write to the overlay is not a command that ran.
        entries.push(planned("w", Access::Write("a".into()), "rehearse"));
        entries.push(settled("w", Outcome::Rehearsed("x".into()), Some(ResultOrigin::ran())));
        // One of an older version, and one of a sub-agent.
        entries.extend(rehearsed("c", None));
        let beneath = |entry: Entry| Entry::SubAgent { call: "s".into(), entry: Box::new(entry) };
        entries.extend(rehearsed("d", Some(ResultOrigin::ran())).map(beneath));
        entries.push(planned("e", Access::Read(vec![]), "allow"));
        entries.push(settled("e", Outcome::Done("x".into()), None));
        let tally = DryRunCounts::from_turn(&entries, entries.len());
        assert_eq!(tally, DryRunCounts { rehearsed: 5, ran: 2, calls: 6, ..DryRunCounts::default() });
        assert_eq!(tally.describe_counts(), "5 calls rehearsed, 2 ran in the overlay sandbox, nothing changed on disk");
        assert_eq!(
            DryRunCounts::from_turn(&entries, 3).describe_counts(),
            "1 call rehearsed, 1 ran in the overlay sandbox, nothing changed on disk"
        );
        // A live call should never be in a dry run; if it is, it is reported.
        entries.push(planned("f", Access::Write("a".into()), "allow"));
        entries.push(settled("f", Outcome::Failed("x".into()), None));
        entries.push(planned("g", Access::WriteOutside("a".into()), "ask"));
        let by = Decider::Headless;
        entries.push(Entry::Decided {
            call: "g".into(),
            decision: crate::chat::Decision::Once,
            by,
            sha256: Digest::default(),
        });
        entries.push(settled("g", Outcome::Done("x".into()), None));
        assert_eq!(DryRunCounts::from_entries(&entries).live_effects, 2);
    }

    #[test]
    fn r30_counts_denied_calls_and_calls_that_only_read() {
        let refused = settled("a", Outcome::Refused("no".into()), None);
        let reads = settled("b", Outcome::Done("x".into()), None);
        let words = DryRunCounts::from_entries(&[refused]).describe_counts();
        assert_eq!(words, "0 calls rehearsed, 0 ran in the overlay sandbox, 1 denied, nothing changed on disk");
        assert_eq!(DryRunCounts::from_entries(&[reads]), DryRunCounts { calls: 1, ..DryRunCounts::default() });
        assert_eq!(DryRunCounts::from_entries(&[]).calls, 0);
    }

    #[test]
    fn r30_counts_withheld_calls_and_calls_that_would_have_asked() {
        let asks = |call: &str, verdict: &str, reason: &str| {
            let mut planned = planned(call, Access::ReadSensitive(".env".into()), verdict);
            if let Entry::Planned { reason: why, .. } = &mut planned {
                *why = reason.to_owned();
            }
            planned
        };
        let why = "this is a dry run; live, you would have been asked: it reads .env";
        let would = "this is a dry run; for real it would have run, because of a rule";
        let entries = [
            asks("a", "withhold", why),
            settled("a", Outcome::Rehearsed("x".into()), Some(ResultOrigin::simulated(SimulationSource::Withheld))),
            asks("b", "rehearse", why),
            settled("b", Outcome::Rehearsed("x".into()), Some(ResultOrigin::ran())),
            // Planned again, it is still one call.
            asks("b", "rehearse", why),
            asks("c", "ask", "it reads .env"),
            settled("c", Outcome::Refused("no".into()), None),
            asks("d", "withhold", would),
            settled("d", Outcome::Rehearsed("x".into()), Some(ResultOrigin::simulated(SimulationSource::Withheld))),
        ];
        let tally = DryRunCounts::from_entries(&entries);
        assert_eq!((tally.rehearsed, tally.withheld, tally.would_ask), (1, 2, 3), "{tally:?}");
        assert_eq!(
            tally.describe_counts(),
            "1 call rehearsed, 0 ran in the overlay sandbox, 2 withheld, 1 denied, nothing changed on disk"
        );
    }

    #[test]
    fn r30_an_approved_read_has_no_effect() {
        let (by, decision) = (Decider::Headless, crate::chat::Decision::Once);
        let entries = [
            planned("a", Access::ReadSensitive(".env".into()), "ask"),
            Entry::Decided { call: "a".into(), decision, by, sha256: Digest::default() },
            settled("a", Outcome::Done("x".into()), None),
        ];
        assert_eq!(DryRunCounts::from_entries(&entries).live_effects, 0);
    }
}
