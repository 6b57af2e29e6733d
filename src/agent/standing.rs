//! Grants and rules: the scopes offered for a call, and the calls that each of them covered.

use super::state::State;
use super::waiting::Waiting;
use crate::chat::{CallId, Entry, Grant, Span, Standing};
use crate::policy::{self, Rule, Says, Subject, covers, may_be_rule, offers};

/// A scope offered for the waiting call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Width {
    /// Grant for this session.
    pub grant: Grant,
    /// True if it can also be saved as a rule.
    pub lasts: bool,
    /// Short descriptions of earlier calls of this session that it would have covered.
    pub covered: Vec<String>,
}

/// A grant or a rule that allows calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub what: Allowed,
    /// Calls of this session that it allowed: the entry of the plan and a short description.
    pub covered: Vec<(usize, String)>,
}

/// A grant or a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// A grant of this session.
    Here(Standing),
    /// A rule of a rules file.
    Rule(Box<Rule>),
}

/// Returns the scopes offered for the waiting call, narrowest first.
pub fn widths(state: &State) -> Vec<Width> {
    let Some(Waiting::Approval { call, plan, .. }) = state.waiting() else { return Vec::new() };
    // A rule that asks cannot be overridden by a grant.
    if state.rules.broken.is_some() || state.rules.first(Says::Ask, &Subject::of(&call.name, plan)).is_some()
    {
        return Vec::new();
    }
    let seen = looks(state, 0);
    offers(&call.name, plan)
        .into_iter()
        .map(|grant| {
            let mine = |look: &&Look<'_>| *look.call != call.id && covers(&grant, &look.subject);
            let covered = seen.iter().filter(mine).map(|look| look.summary.to_owned()).collect();
            // A rule would also be valid live, so a dry run offers none.
            Width { lasts: may_be_rule(&grant) && !state.is_dry_run(), grant, covered }
        })
        .collect()
}

/// Returns why no grant can be given for the waiting call.
pub fn why_none(state: &State) -> Option<String> {
    let Some(Waiting::Approval { call, plan, .. }) = state.waiting() else { return None };
    if state.rules.broken.is_some() {
        return Some("rules not fully readable".to_owned());
    }
    if let Some(rule) = state.rules.first(Says::Ask, &Subject::of(&call.name, plan)) {
        return Some(format!("your rule: {}", rule.told()));
    }
    policy::why_none(&call.name, plan)
}

/// Returns the grants of this session, then the rules that allow.
pub fn kept(state: &State) -> Vec<Kept> {
    let seen = looks(state, 0);
    let by = |speaks: &dyn Fn(&Look<'_>) -> bool| {
        let went = seen.iter().filter(|look| look.allowed && speaks(look));
        went.map(|look| (look.entry, look.summary.to_owned())).collect::<Vec<_>>()
    };
    let here = state.granted().iter().map(|standing| Kept {
        covered: by(&|look| look.entry > standing.entry && covers(&standing.grant, &look.subject)),
        what: Allowed::Here(standing.clone()),
    });
    let allowing = state.rules.list.iter().filter(|rule| rule.says == Says::Allow);
    // A call covered by a grant was allowed by the grant, not by a rule.
    let first = |look: &Look<'_>| {
        let before = state.granted().iter().filter(|standing| standing.entry < look.entry);
        before.into_iter().all(|standing| !covers(&standing.grant, &look.subject))
    };
    let rules = allowing.map(|rule| Kept {
        covered: by(&|look| rule.speaks(&look.subject) && first(look)),
        what: Allowed::Rule(Box::new(rule.clone())),
    });
    here.chain(rules).collect()
}

impl State {
    /// Returns the grants of this session.
    pub fn granted(&self) -> &[Standing] {
        self.session.granted()
    }
}

/// A recorded plan of a call.
struct Look<'a> {
    entry: usize,
    call: &'a CallId,
    summary: &'a str,
    allowed: bool,
    subject: Subject<'a>,
}

/// Returns the last plan of every call of the session, starting at an entry.
fn looks(state: &State, from: usize) -> Vec<Look<'_>> {
    let mut looks: Vec<Look<'_>> = Vec::new();
    for (index, entry) in state.session.entries().iter().enumerate().skip(from) {
        let Entry::Planned { call, summary, access, preview, destroys, basis, verdict, .. } = entry else {
            continue;
        };
        let Some(made) = state.session.call(call) else { continue };
        let subject = Subject::new(&made.call.name, access, preview, destroys.is_some(), basis);
        looks.retain(|look| look.call != call);
        looks.push(Look { entry: index, call, summary, allowed: verdict == "allow", subject });
    }
    looks
}

impl Kept {
    /// Describes what it allows.
    pub fn words(&self) -> String {
        match &self.what {
            Allowed::Here(standing) => standing.grant.words(),
            Allowed::Rule(rule) => rule.words(),
        }
    }

    /// Returns the entry of the grant; `None` for a rule.
    pub fn entry(&self) -> Option<usize> {
        match &self.what {
            Allowed::Here(standing) => Some(standing.entry),
            Allowed::Rule(_) => None,
        }
    }
}

impl Width {
    /// Returns the grant for another span.
    pub fn spanning(&self, span: Span) -> Grant {
        Grant { span, ..self.grant.clone() }
    }
}
