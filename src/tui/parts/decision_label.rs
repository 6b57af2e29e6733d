//! Short texts about verdicts and decisions, for lists and pages.

use crate::chat::audit::{Record, brief_decision};
use crate::chat::trial::split_unmade_changes;
use crate::chat::{Decider, Decision, Entry, Outcome};

/// Describes who decided about a call and how: `you approved`; `None` if only the policy did.
pub fn label_decision(record: &Record<'_>) -> Option<String> {
    match record.last_decision()? {
        Entry::Decided { by: Decider::Headless, .. } => Some("no interactive user".to_owned()),
        Entry::Decided { decision, by, .. } => {
            let outcome_text = record.outcome().map_or("", Outcome::text);
            let is_in_part = matches!(decision, Decision::Kept(_)) && split_unmade_changes(outcome_text).is_some();
            let part = if is_in_part { " in part" } else { "" };
            Some(format!("{} {}{part}", decider_name(by), brief_decision(decision)))
        }
        Entry::Answered { by, .. } => Some(format!("{} answered", by.as_ref().map_or("you", decider_name))),
        _ => None,
    }
}

/// Describes a verdict with its reason. A reason that begins with the verdict stands alone.
pub fn describe_verdict(verdict: &str, reason: &str) -> String {
    let verdict = brief_verdict(verdict);
    match reason {
        "" => verdict.to_owned(),
        _ if reason.starts_with(verdict) => reason.to_owned(),
        _ => format!("{verdict}: {reason}"),
    }
}

/// Returns a verdict as the user reads it.
pub fn brief_verdict(verdict: &str) -> &str {
    match verdict {
        "allow" => "allowed",
        "ask" => "needed approval",
        "rehearse" => "rehearsed",
        "withhold" => "withheld",
        "refuse" => "denied",
        other => other,
    }
}

pub fn decider_name(decider: &Decider) -> &'static str {
    match decider {
        Decider::User { .. } => "you",
        Decider::File => "your answers file",
        Decider::Client => "the client of aye serve",
        Decider::AutoMode => "auto mode",
        Decider::Headless => "no interactive user: aye",
    }
}
