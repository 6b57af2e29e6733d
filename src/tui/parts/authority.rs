//! Why a call ran or did not: the decision, the rule, the grant or the mode behind it.

use crate::chat::session::CallState;
use crate::chat::{Access, CallId, Decider, Decision, Entry};
use crate::tui::parts::quantities::format_duration;
use std::time::Duration;

/// Steps of a call that say why it ran.
#[derive(Debug, Clone, Copy, Default)]
pub struct Authority<'a> {
    /// Verdict of the policy and its reason, with the index of the entry.
    verdict: Option<(usize, &'a str, &'a str)>,
    /// The last decision other than an edit.
    decision: Option<(&'a Decision, &'a Decider)>,
}

/// Returns the steps of this call, which may be one of a sub-agent.
pub fn find_authority<'a>(entries: &'a [Entry], id: &CallId) -> Authority<'a> {
    let mut authority = Authority::default();
    for (index, entry) in entries.iter().enumerate() {
        let entry = if let Entry::SubAgent { entry, .. } = entry { entry } else { entry };
        match entry {
            Entry::Planned { call, verdict, reason, .. } if call == id => {
                authority = Authority { verdict: Some((index, verdict, reason)), decision: None };
            }
            Entry::Decided { call, decision, by, .. } if call == id && !matches!(decision, Decision::Edited(_)) => {
                authority.decision = Some((decision, by));
            }
            _ => {}
        }
    }
    authority
}

impl Authority<'_> {
    /// Returns the index of the entry with the last verdict.
    pub fn verdict_index(&self) -> Option<usize> {
        self.verdict.map(|(index, ..)| index)
    }

    /// Returns whether nobody decided about the call, because its verdict was not to ask.
    pub fn is_without_decision(&self) -> bool {
        self.decision.is_none()
    }

    /// Says why the call ran or did not; `None` if nothing was decided about it yet.
    pub fn describe(&self) -> Option<String> {
        if let Some((decision, by)) = self.decision {
            return Some(describe_decision(decision, by));
        }
        let (_, verdict, reason) = self.verdict?;
        Some(match verdict {
            "allow" => describe_permission(reason),
            "refuse" => "denied by the policy".to_owned(),
            "rehearse" => format!("rehearsed: {}", reason.trim_start_matches("dry run; ")),
            "withhold" => format!("withheld: {reason}"),
            _ => return None,
        })
    }
}

/// Names what let a settled call run without a key: `rule`, `grant`, the mode, or otherwise `no prompt`. `None` if the user
/// decided, and for calls that only read the project or have no effects. Reads no more entries than those since the plan.
pub fn unprompted_word(entries: &[Entry], call: &CallState) -> Option<&'static str> {
    let plan = call.plan.as_ref().filter(|plan| !matches!(plan.access, Access::Nothing | Access::Read(_)))?;
    let decision = call.decided_at.and_then(|index| entries.get(index)).map(Entry::unwrap_sub_agent);
    if let Some(Entry::Decided { by, .. }) = decision {
        return matches!(by, Decider::AutoMode).then_some("auto");
    }
    if plan.verdict != "allow" {
        return None;
    }
    let earlier = entries.get(..call.settled_at?)?;
    let reason = earlier.iter().rev().find_map(|entry| match entry.unwrap_sub_agent() {
        Entry::Planned { call: id, reason, .. } if *id == call.call.id => Some(reason.as_str()),
        _ => None,
    })?;
    Some(permission_word(reason))
}

/// Shortens the reason of the policy to a word.
fn permission_word(reason: &str) -> &'static str {
    match reason {
        "full mode" => "full",
        "auto mode" => "auto",
        _ if reason.starts_with("your rule") => "rule",
        _ if reason.starts_with("allowed ") => "grant",
        _ => "no prompt",
    }
}

/// Says why a call ran without a prompt, from the reason of the policy.
fn describe_permission(reason: &str) -> String {
    match reason {
        "read inside the project" => "read-only".to_owned(),
        _ if reason.starts_with("allowed ") => reason.to_owned(),
        _ => match (reason.strip_prefix("your rule: allow "), reason.strip_prefix("your rules ")) {
            (Some(rule), _) => format!("allowed by rule: {rule}"),
            (None, Some(rules)) => format!("allowed by your rules {rules}"),
            (None, None) => format!("allowed: {reason}"),
        },
    }
}

fn describe_decision(decision: &Decision, by: &Decider) -> String {
    let by_text = match by {
        Decider::User { after_ms, .. } => {
            format!("by you after {}", format_duration(Duration::from_millis(*after_ms)))
        }
        Decider::File => "by your answers file".to_owned(),
        Decider::Client => "by the client of aye serve".to_owned(),
        Decider::AutoMode => return "kept from a trial by the mode auto: its effects were harmless".to_owned(),
        Decider::Headless => return "denied: no user available".to_owned(),
    };
    match decision {
        Decision::Once | Decision::Edited(_) => format!("approved {by_text}"),
        Decision::Selected(_) => format!("approved in part {by_text}"),
        Decision::Always(grant) => format!("approved {by_text}, with a grant: {}", grant.describe_grant()),
        Decision::Deny(_) => format!("denied {by_text}"),
        Decision::Kept(_) => format!("kept from a trial {by_text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Digest, Grant, GrantScope};

    #[test]
    fn a_decision_names_who_decided_and_when() {
        let user = Decider::User { key: "y".into(), after_ms: 3000 };
        let grant = Grant::new("edit_file", GrantScope::File("a.rs".into()));
        let digest = Digest::of_bytes(b"a trial");
        for (decision, by, expected) in [
            (Decision::Once, &user, "approved by you after 3 s"),
            (Decision::Deny("no".into()), &user, "denied by you after 3 s"),
            (
                Decision::Always(grant),
                &user,
                "approved by you after 3 s, with a grant: every edit_file of a.rs, for this session",
            ),
            (Decision::Once, &Decider::File, "approved by your answers file"),
            (Decision::Once, &Decider::Client, "approved by the client of aye serve"),
            (Decision::Kept(digest.clone()), &user, "kept from a trial by you after 3 s"),
            (
                Decision::Kept(digest),
                &Decider::AutoMode,
                "kept from a trial by the mode auto: its effects were harmless",
            ),
            (Decision::Deny(String::new()), &Decider::Headless, "denied: no user available"),
        ] {
            assert_eq!(describe_decision(&decision, by), expected);
        }
    }

    #[test]
    fn a_permission_names_its_rule_grant_or_mode() {
        for (reason, expected) in [
            ("read inside the project", "read-only"),
            ("no effects", "allowed: no effects"),
            ("full mode", "allowed: full mode"),
            (
                "your rule: allow cargo test … (this project, saved 2 days ago, rules.toml:3)",
                "allowed by rule: cargo test … (this project, saved 2 days ago, rules.toml:3)",
            ),
            ("your rules for the files it reads: .env", "allowed by your rules for the files it reads: .env"),
            (
                "allowed before with a, on call 1 of this session: x",
                "allowed before with a, on call 1 of this session: x",
            ),
        ] {
            assert_eq!(describe_permission(reason), expected);
        }
    }

    #[test]
    fn a_word_names_what_allowed_a_call() {
        for (reason, expected) in [
            ("full mode", "full"),
            ("auto mode", "auto"),
            ("your rule: allow cargo test … (everywhere, rules.toml:3)", "rule"),
            ("your rules for the files it reads: .env", "rule"),
            ("allowed before with a, on call 1 of this session: x", "grant"),
            ("the hook “check” allows it", "no prompt"),
        ] {
            assert_eq!(permission_word(reason), expected, "{reason}");
        }
    }
}
