//! Grants and rules: the scopes offered for a call, and the calls that each of them covered.

use super::state::State;
use super::waiting_calls::WaitingCall;
use crate::chat::{CallId, Entry, Grant, GrantSpan, SessionGrant};
use crate::policy::{self, Rule, RuleEffect, Subject, can_be_rule, grant_covers, grant_scopes};

/// A scope offered for the waiting call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantOption {
    /// Grant for this session.
    pub grant: Grant,
    /// True if it can also be saved as a rule.
    pub can_be_rule: bool,
    /// Short descriptions of earlier calls of this session that it would have covered.
    pub earlier_calls: Vec<String>,
}

/// A grant or a rule that allows calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastingApproval {
    pub source: ApprovalSource,
    /// Calls of this session that it allowed: the entry of the plan and a short description.
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
    let seen = recorded_plans(state, 0);
    grant_scopes(&call.name, plan)
        .into_iter()
        .map(|grant| {
            let mine = |look: &&RecordedPlan<'_>| *look.call != call.id && grant_covers(&grant, &look.subject);
            let covered = seen.iter().filter(mine).map(|look| look.summary.to_owned()).collect();
            // A rule would also be valid live, so a dry run offers none.
            GrantOption { can_be_rule: can_be_rule(&grant) && !state.is_dry_run(), grant, earlier_calls: covered }
        })
        .collect()
}

/// Returns why no grant can be given for the waiting call.
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

/// Returns the grants of this session, then the rules that allow.
pub fn list_lasting_approvals(state: &State) -> Vec<LastingApproval> {
    let seen = recorded_plans(state, 0);
    let by = |speaks: &dyn Fn(&RecordedPlan<'_>) -> bool| {
        let went = seen.iter().filter(|look| look.allowed && speaks(look));
        went.map(|look| (look.entry, look.summary.to_owned())).collect::<Vec<_>>()
    };
    let here = state.grants().iter().map(|standing| LastingApproval {
        allowed_calls: by(&|look| look.entry > standing.entry_index && grant_covers(&standing.grant, &look.subject)),
        source: ApprovalSource::Session(standing.clone()),
    });
    let allowing = state.rules.list.iter().filter(|rule| rule.effect == RuleEffect::Allow);
    // A call covered by a grant was allowed by the grant, not by a rule.
    let first = |look: &RecordedPlan<'_>| {
        let before = state.grants().iter().filter(|standing| standing.entry_index < look.entry);
        before.into_iter().all(|standing| !grant_covers(&standing.grant, &look.subject))
    };
    let rules = allowing.map(|rule| LastingApproval {
        allowed_calls: by(&|look| rule.matches(&look.subject) && first(look)),
        source: ApprovalSource::Rule(Box::new(rule.clone())),
    });
    here.chain(rules).collect()
}

impl State {
    /// Returns the grants of this session.
    pub fn grants(&self) -> &[SessionGrant] {
        self.session.grants()
    }
}

/// A recorded plan of a call.
struct RecordedPlan<'a> {
    entry: usize,
    call: &'a CallId,
    summary: &'a str,
    allowed: bool,
    subject: Subject<'a>,
}

/// Returns the last plan of every call of the session, starting at an entry.
fn recorded_plans(state: &State, from: usize) -> Vec<RecordedPlan<'_>> {
    let mut looks: Vec<RecordedPlan<'_>> = Vec::new();
    for (index, entry) in state.session.entries().iter().enumerate().skip(from) {
        let Entry::Planned { call, summary, access, preview, destroys, preconditions: basis, verdict, .. } = entry
        else {
            continue;
        };
        let Some(made) = state.session.call(call) else { continue };
        let subject = Subject::new(&made.call.name, access, preview, destroys.is_some(), basis);
        looks.retain(|look| look.call != call);
        looks.push(RecordedPlan { entry: index, call, summary, allowed: verdict == "allow", subject });
    }
    looks
}

impl LastingApproval {
    /// Describes what it allows.
    pub fn describe(&self) -> String {
        match &self.source {
            ApprovalSource::Session(standing) => standing.grant.describe_grant(),
            ApprovalSource::Rule(rule) => rule.describe(),
        }
    }

    /// Returns the entry of the grant; `None` for a rule.
    pub fn grant_entry(&self) -> Option<usize> {
        match &self.source {
            ApprovalSource::Session(standing) => Some(standing.entry_index),
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
