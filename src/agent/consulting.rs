//! Reviews of a call by hooks and a model reviewer, after the verdict and before the call starts.
//!
//! A hook can deny a call, require approval for it, or replace an approval that a rule could have replaced too. The
//! strictest hook wins, in any order. The model reviewer comes last, sees only calls that would run, and can only
//! require approval. No reviewer lifts a denial. An invalid answer requires approval.

use super::state::{State, Step};
use super::{Desk, Effect, acting};
use crate::chat::{Access, Advice, Adviser, CallId, Entry, Plan, Reach, Said};
use crate::policy::{Subject, Verdict, judge};

/// Number of the latest user messages sent to the model reviewer.
const LAST_WORDS: usize = 3;

/// Reviewers named in the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advisers {
    /// Hooks, in the order in which they are run.
    pub hooks: Vec<Hook>,
    /// True if a model reviews calls that would run.
    pub second_reader: bool,
}

/// A hook and the calls it reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hook {
    /// Name in the settings.
    pub name: String,
    /// Tools whose calls it reviews. `None`: every call that does more than read inside the project.
    pub tools: Option<Vec<String>>,
    /// True if it also runs in a dry run.
    pub in_dry_run: bool,
}

/// A call under review.
#[derive(Debug, Clone, PartialEq)]
pub struct Consulting {
    pub plan: Box<Plan>,
    /// Current reviewer.
    pub adviser: Adviser,
    /// Verdict so far.
    verdict: Verdict,
    /// Number of hooks skipped or run.
    passed: usize,
    /// True if a hook cannot lift the need for approval.
    stays: bool,
    /// True if a hook lifted the need for approval.
    lifted: bool,
    /// Number of this review; unique, so that a late answer to another review is ignored.
    round: u64,
}

/// Context for a reviewer, in addition to the call and its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    pub adviser: Adviser,
    /// Verdict so far, one word.
    pub verdict: String,
    /// Reason for the verdict.
    pub why: String,
    /// Permission mode, one word.
    pub mode: &'static str,
    pub dry_run: bool,
    /// Latest user messages, oldest first; only for the model reviewer.
    pub said: Vec<String>,
}

impl Hook {
    /// Returns whether the hook reviews such a call live.
    fn wants(&self, tool: &str, plan: &Plan) -> bool {
        match &self.tools {
            Some(tools) => tools.iter().any(|name| name == tool),
            None => !only_reads(plan),
        }
    }
}

/// Returns the hooks that would review this call live but do not run in this dry run; empty if the call is denied.
pub(super) fn hooks_not_run(state: &State, tool: &str, plan: &Plan, verdict: &Verdict) -> Vec<String> {
    if !state.is_dry_run() || matches!(verdict, Verdict::Refuse(_)) {
        return Vec::new();
    }
    let missed = |hook: &&Hook| !hook.in_dry_run && hook.wants(tool, plan);
    state.advisers.hooks.iter().filter(missed).map(|hook| hook.name.clone()).collect()
}

fn only_reads(plan: &Plan) -> bool {
    matches!(plan.access, Access::Nothing | Access::Read(_))
}

/// Returns whether a hook may replace the user's approval of this plan: only if a grant could. Destructive, sensitive,
/// irreversible and unclear calls are always the user's decision.
fn may_be_lifted(plan: &Plan) -> bool {
    let within = match &plan.access {
        Access::Nothing | Access::Read(_) | Access::Write(_) => true,
        Access::ReadSensitive(_) | Access::WriteOutside(_) | Access::Own(_) => false,
        Access::Run(run) => match run.reach {
            Reach::Reads | Reach::Writes | Reach::Runs => !run.sensitive,
            Reach::Outside | Reach::Unclear | Reach::Never => false,
        },
    };
    let keeps = plan.destroys.is_none() && plan.basis.hard_links.is_none();
    within && keeps && plan.always.is_some() && !plan.basis.partial
}

/// Starts the review of a call after its verdict. Without reviewers the verdict takes effect at once. If `stays` is
/// set, no hook can lift the need for approval.
pub(super) fn begin(ctx: &mut Desk<'_>, id: &CallId, plan: Box<Plan>, verdict: Verdict, stays: bool) {
    // Nor can a hook override a rule that asks.
    let call = ctx.state.pending().iter().find(|pending| pending.call.id == *id);
    let asks = call.is_some_and(|pending| {
        let of = Subject::of(&pending.call.name, &plan);
        !ctx.state.rules.lets_grants(&of)
    });
    let stays = stays || asks || !may_be_lifted(&plan);
    // Replaced below by the first reviewer.
    let adviser = Adviser::SecondReader;
    go_on(ctx, id, Consulting { plan, adviser, verdict, passed: 0, stays, lifted: false, round: 0 });
}

fn go_on(ctx: &mut Desk<'_>, id: &CallId, mut consulting: Consulting) {
    let (Some(turn), Some(call)) = (ctx.state.turn(), ctx.state.pending_mut(id)) else { return };
    let call = call.call.clone();
    let Some(adviser) = next(ctx, &call.name, &mut consulting) else {
        let Consulting { plan, verdict, lifted, .. } = consulting;
        // Meanwhile the user may have chosen a narrower mode or revoked a grant.
        let now = judge(&ctx.state.policy, ctx.granted(), &ctx.state.rules, &call.name, &plan);
        let lifted = lifted && ctx.state.rules.lets_grants(&Subject::of(&call.name, &plan));
        let verdict = match (now, verdict) {
            (refused @ Verdict::Refuse(_), _) | (Verdict::Withhold(_), refused @ Verdict::Refuse(_)) => {
                refused
            }
            (withheld @ Verdict::Withhold(_), _) => withheld,
            (asks @ Verdict::Ask(_), Verdict::Allow(_)) if !lifted => asks,
            (Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_), verdict) => verdict,
        };
        return acting::concluded(ctx, id, plan, verdict);
    };
    ctx.state.asked += 1;
    (consulting.adviser, consulting.round) = (adviser, ctx.state.asked);
    let brief = Brief {
        said: if consulting.adviser == Adviser::SecondReader { last_words(ctx) } else { Vec::new() },
        adviser: consulting.adviser.clone(),
        verdict: consulting.verdict.word().to_owned(),
        why: consulting.verdict.why().to_owned(),
        mode: ctx.state.policy.mode.word(),
        dry_run: ctx.state.is_dry_run(),
    };
    let (round, plan) = (consulting.round, consulting.plan.clone());
    if let Some(pending) = ctx.state.pending_mut(id) {
        pending.step = Step::Consulting(Box::new(consulting));
    }
    ctx.effects.push(Effect::Consult { turn, call, plan, round, brief: Box::new(brief) });
}

/// Returns the next reviewer; `None` if no reviewer could change the verdict.
fn next(ctx: &Desk<'_>, tool: &str, consulting: &mut Consulting) -> Option<Adviser> {
    if matches!(consulting.verdict, Verdict::Refuse(_)) {
        return None;
    }
    let (advisers, dry_run) = (&ctx.state.advisers, ctx.state.is_dry_run());
    while let Some(hook) = advisers.hooks.get(consulting.passed) {
        consulting.passed += 1;
        if (hook.in_dry_run || !dry_run) && hook.wants(tool, &consulting.plan) {
            return Some(Adviser::Hook(hook.name.clone()));
        }
    }
    let was_asked = consulting.passed > advisers.hooks.len();
    // In a dry run no call has the verdict `allow`, so there is nothing to review.
    let would_go_ahead = matches!(consulting.verdict, Verdict::Allow(_)) && !only_reads(&consulting.plan);
    if !advisers.second_reader || was_asked || !would_go_ahead {
        return None;
    }
    consulting.passed += 1;
    Some(Adviser::SecondReader)
}

/// Returns the latest user messages, oldest first. In a sub-agent these are the messages of the turn, not the task,
/// which the model wrote.
fn last_words(ctx: &Desk<'_>) -> Vec<String> {
    let said = |entry: &Entry| if let Entry::Said { text } = entry { Some(text.clone()) } else { None };
    let mut words: Vec<String> = ctx
        .above
        .unwrap_or(&ctx.state.session)
        .entries()
        .iter()
        .rev()
        .filter_map(said)
        .take(LAST_WORDS)
        .collect();
    words.reverse();
    words
}

/// Handles the answer of a reviewer.
pub(super) fn consulted(ctx: &mut Desk<'_>, id: &CallId, round: u64, said: Said) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let Step::Consulting(consulting) = &pending.step else { return };
    if consulting.round != round {
        return;
    }
    let mut consulting = (**consulting).clone();
    let sha256 = acting::digest(&pending.call, &consulting.plan);
    let Said { advice, why, failed, took_ms, usage } = said;
    // An answer that this reviewer may not give requires approval.
    let advice = if consulting.adviser.may_say().contains(&advice) { advice } else { Advice::Ask };
    let (by, before) = (consulting.adviser.clone(), consulting.verdict.word().to_owned());
    let asked = matches!(consulting.verdict, Verdict::Ask(_));
    (consulting.verdict, consulting.stays) =
        combined(consulting.verdict, consulting.stays, &by, advice, &why, failed);
    consulting.lifted |= asked && matches!(consulting.verdict, Verdict::Allow(_));
    ctx.keep(Entry::Consulted { call: id.clone(), by, before, advice, why, failed, took_ms, usage, sha256 });
    go_on(ctx, id, consulting);
    acting::advance(ctx);
}

/// Combines a verdict with the answer of a reviewer. Also returns whether the need for approval is now fixed.
fn combined(
    verdict: Verdict,
    stays: bool,
    by: &Adviser,
    advice: Advice,
    why: &str,
    failed: bool,
) -> (Verdict, bool) {
    let who = by.words();
    let because = if why.is_empty() { String::new() } else { format!(": {why}") };
    match (advice, verdict) {
        (_, refused @ Verdict::Refuse(_)) => (refused, true),
        (Advice::Deny, Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_) | Verdict::Withhold(_)) => {
            let words =
                format!("Refused by {who}{because}. The call was not run. Do not retry it in another form.");
            (Verdict::Refuse(words), true)
        }
        // A withheld call reads nothing, so no approval is needed.
        (Advice::Ask, withheld @ Verdict::Withhold(_)) => (withheld, true),
        (Advice::Ask, verdict) => {
            let words = match (failed, why.is_empty(), by) {
                (true, ..) => format!("{who} failed{because}"),
                (false, true, _) => format!("{who} requires approval"),
                (false, false, Adviser::Hook(_)) => format!("{who}{because}"),
                // Quoted: the text the model read may have influenced its reason.
                (false, false, Adviser::SecondReader) => format!("{who}: “{why}”"),
            };
            let reason = match verdict {
                Verdict::Ask(reason) if !reason.is_empty() => format!("{reason}; {words}"),
                Verdict::Ask(_)
                | Verdict::Allow(_)
                | Verdict::Rehearse(_)
                | Verdict::Withhold(_)
                | Verdict::Refuse(_) => words,
            };
            (Verdict::Ask(reason), true)
        }
        (Advice::Allow, Verdict::Ask(_)) if !stays && matches!(by, Adviser::Hook(_)) => {
            (Verdict::Allow(format!("{who} allows it{because}")), false)
        }
        (Advice::Allow, verdict) => (verdict, stays),
    }
}
