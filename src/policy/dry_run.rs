//! Verdicts of a dry run: the call is rehearsed, asks, or is withheld because of the data it reads. Changes can be
//! rehearsed, but data sent to a model cannot be recalled.

use super::coverage::grant_covers_whole;
use super::rule::{Rule, RuleEffect, RuleTarget, Rules, asking_reason};
use super::{Policy, Subject, Verdict, Withheld, coverage_gaps};
use crate::chat::dry_run_summary::WOULD_ASK_PREFIX;
use crate::chat::{Access, Plan, SessionGrant};

/// Converts a live verdict into that of a dry run. A refusal stays one.
pub(super) fn dry_run_verdict(
    policy: &Policy,
    grants: &[SessionGrant],
    rules: &Rules,
    subject: &Subject<'_>,
    plan: &Plan,
    live_verdict: Verdict,
) -> Verdict {
    if !policy.dry_run {
        return live_verdict;
    }
    let needs_disclosure_approval =
        is_disclosure(rules, subject) && !is_exactly_approved(policy, grants, rules, subject, plan);
    match live_verdict {
        Verdict::Ask(why) if policy.asks_as_live => Verdict::Ask(why),
        Verdict::Allow(_) if needs_disclosure_approval && policy.asks_as_live => {
            Verdict::Ask(format!("{POSSIBLE_SECRETS}; a dry run needs approval of exactly this call"))
        }
        Verdict::Ask(why) if needs_disclosure_approval => Verdict::Withhold(Withheld {
            reads: mention_secrets(&why, subject),
            asks_live: true,
            reason: format!("dry run; {WOULD_ASK_PREFIX}{why}"),
        }),
        Verdict::Allow(why) if needs_disclosure_approval => Verdict::Withhold(Withheld {
            reads: POSSIBLE_SECRETS.to_owned(),
            asks_live: false,
            reason: format!("dry run, {POSSIBLE_SECRETS}; live it would run: {why}"),
        }),
        Verdict::Ask(why) => Verdict::Rehearse(format!("dry run; {WOULD_ASK_PREFIX}{why}")),
        Verdict::Allow(why) => Verdict::Rehearse(format!("dry run; live it would run: {why}")),
        Verdict::Rehearse(_) | Verdict::Withhold(_) | Verdict::Deny(_) => live_verdict,
    }
}

/// Describes a command that may read secrets although it names none.
const POSSIBLE_SECRETS: &str = "possible read of secrets";

/// Returns whether the call reads data that the user must approve: sensitive data, or data that a rule asks about.
fn is_disclosure(rules: &Rules, subject: &Subject<'_>) -> bool {
    let path_rule_may_ask = || {
        let asking_rules = rules.all_matching(RuleEffect::Ask, subject);
        // An unreadable rules file may have a rule for this very path.
        rules.read_error.is_some() || asking_rules.iter().any(|rule| matches!(rule.target, RuleTarget::Path(_)))
    };
    let reference_rule_may_ask = || {
        let asking_rules = rules.all_matching(RuleEffect::Ask, subject);
        rules.read_error.is_some() || asking_rules.iter().any(|rule| rule.restricts_reads())
    };
    if !subject.preconditions.references.is_empty() && reference_rule_may_ask() {
        return true;
    }
    match subject.access {
        Access::ReadSensitive(_) => true,
        // If a rule asks about a tool that only reads, it asks because of the data that is read.
        Access::Read(_) if subject.command_line.is_none() => asking_reason(rules, subject).is_some(),
        Access::Read(_) => path_rule_may_ask(),
        Access::Run(run) => run.may_disclose || path_rule_may_ask(),
        // What is copied can be read without approval.
        Access::Workspace(access) if !access.changes => asking_reason(rules, subject).is_some(),
        Access::Workspace(access) => access.copied_file.is_some() && path_rule_may_ask(),
        Access::Nothing
        | Access::Write(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Fetch(_)
        | Access::External(_) => false,
    }
}

/// Returns whether the data this call reads may go to the model without a prompt: a grant is for the whole of it, a
/// rule allows exactly it, or it is a system file without secrets in a mode that allows reading those. Prefix rules and modes never
/// let a dry run read secrets.
pub fn may_disclose(policy: &Policy, grants: &[SessionGrant], rules: &Rules, tool: &str, plan: &Plan) -> bool {
    is_exactly_approved(policy, grants, rules, &Subject::from_plan(tool, plan), plan)
}

fn is_exactly_approved(
    policy: &Policy,
    grants: &[SessionGrant],
    rules: &Rules,
    subject: &Subject<'_>,
    plan: &Plan,
) -> bool {
    if !rules.permits_grants(subject) || plan.preconditions.hard_links.is_some() {
        return false;
    }
    let is_exact = |rule: &Rule| match subject.access {
        // Rules allow sensitive reads only by exact path.
        Access::ReadSensitive(_) => true,
        Access::Run(line) => rule.allows_exact_command(line, subject.tool),
        Access::Nothing
        | Access::Read(_)
        | Access::Write(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Workspace(_)
        | Access::Fetch(_)
        | Access::External(_) => false,
    };
    // A grant for a part of a line is none for what the parts read together: the line runs in one shell.
    grants.iter().any(|session_grant| grant_covers_whole(&session_grant.grant, subject))
        || rules.all_matching(RuleEffect::Allow, subject).into_iter().any(is_exact)
        || coverage_gaps::rules_for_named_secrets(rules, subject).is_some()
        || matches!(subject.access, Access::ReadSensitive(_)) && policy.mode.allows_plan(plan, subject)
}

/// Returns the reason of an ask verdict, with a note about secrets if it does not mention them.
fn mention_secrets(why: &str, subject: &Subject<'_>) -> String {
    let is_mentioned = ["secrets", "outside the project", "your rule"].iter().any(|phrase| why.contains(phrase));
    match subject.access {
        Access::Run(run) if run.may_disclose && !is_mentioned => {
            format!("{why}; possible read of secrets or files outside the project")
        }
        _ => why.to_owned(),
    }
}

#[cfg(test)]
mod tests;
