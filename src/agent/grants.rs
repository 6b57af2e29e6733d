//! Grants and rules: the scopes offered for a call, and the calls that each of them covered.

use super::state::State;
use super::waiting_calls::WaitingCall;
use crate::chat::{CallId, Entry, Grant, GrantSpan, SessionGrant};
use crate::policy::{self, Rule, RuleEffect, Subject, can_be_rule, example_call, grant_covers, grant_scopes_beside};

/// A scope offered for the waiting call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantOption {
    pub grant: Grant,
    /// True if it can also be saved as a rule.
    pub can_be_rule: bool,
    /// Short descriptions of earlier calls of this session that it would have covered.
    pub earlier_calls: Vec<String>,
    /// Another call that it covers; `None` if it covers no other, or no example is known.
    pub example: Option<String>,
}

/// A grant, or a rule of any verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastingApproval {
    pub source: ApprovalSource,
    /// Calls of this session that it allowed: the entry of the plan and a short description. Empty for a rule that asks
    /// or denies.
    pub allowed_calls: Vec<(usize, String)>,
}

/// A grant or a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalSource {
    /// A grant of this session.
    Session(SessionGrant),
    /// A rule of a rules file.
    Rule(Box<Rule>),
}

/// Returns the scopes offered for the waiting call, narrowest first.
pub fn grant_options(state: &State) -> Vec<GrantOption> {
    let Some(WaitingCall::Approval { call, plan, .. }) = state.waiting_call() else { return Vec::new() };
    // A rule that asks cannot be overridden by a grant.
    if state.rules.read_error.is_some()
        || state.rules.first_matching(RuleEffect::Ask, &Subject::from_plan(&call.name, plan)).is_some()
    {
        return Vec::new();
    }
    let plans = recorded_plans(state);
    grant_scopes_beside(state.session.grants(), &state.rules, &call.name, plan)
        .into_iter()
        .map(|grant| {
            let is_covered =
                |recorded: &&RecordedPlan<'_>| *recorded.call != call.id && grant_covers(&grant, &recorded.subject);
            let earlier_calls = plans.iter().filter(is_covered).map(|recorded| recorded.summary.to_owned()).collect();
            // A rule would also be valid live, so a dry run offers none.
            let can_be_rule = can_be_rule(&grant) && !state.is_dry_run();
            GrantOption { can_be_rule, example: example_call(&grant, plan), grant, earlier_calls }
        })
        .collect()
}

/// Returns the reason why no grant can be given for the waiting call; `None` if one can be given.
pub fn explain_no_grant(state: &State) -> Option<String> {
    let Some(WaitingCall::Approval { call, plan, .. }) = state.waiting_call() else { return None };
    if state.rules.read_error.is_some() {
        return Some("rules not fully readable".to_owned());
    }
    if let Some(rule) = state.rules.first_matching(RuleEffect::Ask, &Subject::from_plan(&call.name, plan)) {
        return Some(format!("your rule: {}", rule.describe_with_location()));
    }
    policy::explain_no_scopes(&call.name, plan)
}

/// Returns the grants of this session, then the rules that allow, ask and deny, each with the calls it allowed.
pub fn list_lasting_approvals(state: &State) -> Vec<LastingApproval> {
    let plans = recorded_plans(state);
    let calls_matching = |predicate: &dyn Fn(&RecordedPlan<'_>) -> bool| {
        let allowed_plans = plans.iter().filter(|recorded| recorded.is_allowed && predicate(recorded));
        allowed_plans.map(|recorded| (recorded.entry_index, recorded.summary.to_owned())).collect::<Vec<_>>()
    };
    let from_grants = state.session.grants().iter().map(|session_grant| LastingApproval {
        allowed_calls: calls_matching(&|recorded| {
            recorded.entry_index > session_grant.entry_index
                && policy::grant_allows_some_part(&session_grant.grant, &recorded.subject)
        }),
        source: ApprovalSource::Session(session_grant.clone()),
    });
    let mut rules: Vec<&Rule> = state.rules.list.iter().collect();
    rules.sort_by_key(|rule| rule.effect);
    // A call covered by a grant was allowed by the grant, not by a rule.
    let is_not_granted = |recorded: &RecordedPlan<'_>| {
        let earlier_grants =
            state.session.grants().iter().filter(|session_grant| session_grant.entry_index < recorded.entry_index);
        earlier_grants.into_iter().all(|session_grant| !grant_covers(&session_grant.grant, &recorded.subject))
    };
    let from_rules = rules.into_iter().map(|rule| LastingApproval {
        allowed_calls: calls_matching(&|recorded| {
            rule.effect == RuleEffect::Allow
                && policy::rule_allows_some_part(rule, &recorded.subject)
                && is_not_granted(recorded)
        }),
        source: ApprovalSource::Rule(Box::new(rule.clone())),
    });
    from_grants.chain(from_rules).collect()
}

/// A recorded plan of a call.
struct RecordedPlan<'a> {
    entry_index: usize,
    call: &'a CallId,
    summary: &'a str,
    is_allowed: bool,
    subject: Subject<'a>,
}

/// Returns the last plan of every call of the session.
fn recorded_plans(state: &State) -> Vec<RecordedPlan<'_>> {
    let mut plans: Vec<RecordedPlan<'_>> = Vec::new();
    for (index, entry) in state.session.entries().iter().enumerate() {
        let Entry::Planned { call, summary, access, preview, destroys, preconditions, verdict, .. } = entry else {
            continue;
        };
        let Some(session_call) = state.session.find_call(call) else { continue };
        let subject = Subject::new(&session_call.call.name, access, preview, destroys.is_some(), preconditions);
        plans.retain(|recorded| recorded.call != call);
        plans.push(RecordedPlan { entry_index: index, call, summary, is_allowed: verdict == "allow", subject });
    }
    plans
}

impl LastingApproval {
    /// Describes what it allows.
    pub fn describe(&self) -> String {
        match &self.source {
            ApprovalSource::Session(session_grant) => session_grant.grant.describe_grant(),
            ApprovalSource::Rule(rule) => rule.describe(),
        }
    }

    /// Returns the index of the entry that recorded the grant; `None` for a rule.
    pub fn grant_entry(&self) -> Option<usize> {
        match &self.source {
            ApprovalSource::Session(session_grant) => Some(session_grant.entry_index),
            ApprovalSource::Rule(_) => None,
        }
    }
}

impl GrantOption {
    /// Returns the grant for another span.
    pub fn grant_for_span(&self, span: GrantSpan) -> Grant {
        Grant { span, ..self.grant.clone() }
    }
}
