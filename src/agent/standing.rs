//! What stands without being asked about: how wide a yes may be kept, and what each kept yes has covered.

use super::state::State;
use super::waiting::Waiting;
use crate::chat::{CallId, Entry, Grant, Span, Standing};
use crate::policy::{self, Rule, Says, Subject, covers, may_be_rule, offers};

/// One width in which a yes for the call that waits may be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Width {
    /// What is granted, for this session.
    pub grant: Grant,
    /// Whether it can also be written as a rule that lasts.
    pub lasts: bool,
    /// The earlier calls of this session that it would have covered, each in a few words.
    pub covered: Vec<String>,
}

/// Something that was allowed for longer than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it allows.
    pub what: Allowed,
    /// The calls of this session that went ahead by it, each with the entry that says so.
    pub covered: Vec<(usize, String)>,
}

/// What was allowed, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// In this session.
    Here(Standing),
    /// By a rule.
    Rule(Box<Rule>),
}

/// Every width in which a yes for the call that waits may be kept, the narrowest first.
pub fn widths(state: &State) -> Vec<Width> {
    let Some(Waiting::Approval { call, plan, .. }) = state.waiting() else { return Vec::new() };
    // What a rule asks about every time no yes keeps from being asked.
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
            // A rule would also hold live, so a dry run keeps none.
            Width { lasts: may_be_rule(&grant) && !state.is_dry_run(), grant, covered }
        })
        .collect()
}

/// Why nothing lasting may be kept for the call that waits, in words that follow “because”.
pub fn why_none(state: &State) -> Option<String> {
    let Some(Waiting::Approval { call, plan, .. }) = state.waiting() else { return None };
    if state.rules.broken.is_some() {
        return Some("your rules cannot all be read".to_owned());
    }
    if let Some(rule) = state.rules.first(Says::Ask, &Subject::of(&call.name, plan)) {
        return Some(format!("a rule of yours asks: {}", rule.told()));
    }
    policy::why_none(&call.name, plan)
}

/// Everything that stands: what was allowed in this session, then the rules that allow.
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
    // What a grant of the session covers went ahead by that.
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
    /// Every standing yes of this session.
    pub fn granted(&self) -> &[Standing] {
        self.session.granted()
    }
}

/// A call that was looked at, as the session keeps it.
struct Look<'a> {
    entry: usize,
    call: &'a CallId,
    summary: &'a str,
    allowed: bool,
    subject: Subject<'a>,
}

/// The last look at every call of the session, from an entry on.
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
    /// What it allows, in words.
    pub fn words(&self) -> String {
        match &self.what {
            Allowed::Here(standing) => standing.grant.words(),
            Allowed::Rule(rule) => rule.words(),
        }
    }

    /// The entry that granted it, where that is one of this session.
    pub fn entry(&self) -> Option<usize> {
        match &self.what {
            Allowed::Here(standing) => Some(standing.entry),
            Allowed::Rule(_) => None,
        }
    }
}

impl Width {
    /// The same for longer.
    pub fn spanning(&self, span: Span) -> Grant {
        Grant { span, ..self.grant.clone() }
    }
}
