//! Between the verdict and the act: whom the person wants asked about a call, and what their word changes.
//!
//! A hook can stop a call, make it ask, and spare the person an ask that a rule could have spared them; the strictest of
//! the hooks counts, in whatever order they speak. The second reader is asked last, about what would go ahead, and can
//! only make it ask. Nobody lifts a refusal, and an answer that does not count asks.

use super::state::{State, Step};
use super::{Desk, Effect, acting};
use crate::chat::{Access, Advice, Adviser, CallId, Entry, Plan, Reach, Said};
use crate::policy::{Subject, Verdict, judge};

/// Of what the person said, so many of the last words go with a question to the second reader.
const LAST_WORDS: usize = 3;

/// Whom the person's settings name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advisers {
    /// The programs, in the order in which they are asked.
    pub hooks: Vec<Hook>,
    /// Whether a model looks at what would go ahead.
    pub second_reader: bool,
}

/// A program that is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hook {
    /// Its name in the settings.
    pub name: String,
    /// The tools whose calls it is asked about, whatever they do. `None`: every call that does more than read inside
    /// the project.
    pub tools: Option<Vec<String>>,
    /// Whether it is asked in a dry run too.
    pub in_dry_run: bool,
}

/// A call that somebody is being asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Consulting {
    /// What it would do.
    pub plan: Box<Plan>,
    /// Who is asked now.
    pub adviser: Adviser,
    /// The verdict so far.
    verdict: Verdict,
    /// Hooks that were passed or asked.
    passed: usize,
    /// Whether an ask stays one, whatever a hook says.
    stays: bool,
    /// Whether a hook has made it go ahead: then it was to be asked about, and need not be any more.
    lifted: bool,
    /// Which question this is, of all that were ever asked: an answer to another one says nothing.
    round: u64,
}

/// What an adviser is told beside the call and its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// Who is asked.
    pub adviser: Adviser,
    /// The verdict so far, in one word.
    pub verdict: String,
    /// What said so.
    pub why: String,
    /// The mode, in one word.
    pub mode: &'static str,
    /// Whether nothing real is touched.
    pub dry_run: bool,
    /// The person's last words, oldest first; for the second reader alone.
    pub said: Vec<String>,
}

impl Hook {
    /// Whether it is asked about such a call, live.
    fn wants(&self, tool: &str, plan: &Plan) -> bool {
        match &self.tools {
            Some(tools) => tools.iter().any(|name| name == tool),
            None => !only_reads(plan),
        }
    }
}

/// The hooks that would be asked about this call live, and are not run in this dry run. None is asked about what is refused.
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

/// Whether a word of somebody else than the person may let a call go ahead: at most where a standing yes may. What
/// destroys, what is sensitive, what cannot be taken back, and what was not understood is the person's.
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

/// A call was judged: whoever is to be asked about it is asked, one after the other. Where nobody is, the verdict stands
/// at once. With `stays`, an ask stays one.
pub(super) fn begin(desk: &mut Desk<'_>, id: &CallId, plan: Box<Plan>, verdict: Verdict, stays: bool) {
    // Nor does it go over a rule of the person that asks.
    let call = desk.state.pending().iter().find(|pending| pending.call.id == *id);
    let asks = call.is_some_and(|pending| {
        let of = Subject::of(&pending.call.name, &plan);
        !desk.state.rules.lets_grants(&of)
    });
    let stays = stays || asks || !may_be_lifted(&plan);
    // Who is asked first is found below.
    let adviser = Adviser::SecondReader;
    go_on(desk, id, Consulting { plan, adviser, verdict, passed: 0, stays, lifted: false, round: 0 });
}

fn go_on(desk: &mut Desk<'_>, id: &CallId, mut consulting: Consulting) {
    let (Some(turn), Some(call)) = (desk.state.turn(), desk.state.pending_mut(id)) else { return };
    let call = call.call.clone();
    let Some(adviser) = next(desk, &call.name, &mut consulting) else {
        let Consulting { plan, verdict, lifted, .. } = consulting;
        // Meanwhile the person may have gone on to a narrower mode, or taken back what let it go ahead.
        let now = judge(&desk.state.policy, desk.granted(), &desk.state.rules, &call.name, &plan);
        let lifted = lifted && desk.state.rules.lets_grants(&Subject::of(&call.name, &plan));
        let verdict = match (now, verdict) {
            (refused @ Verdict::Refuse(_), _) | (Verdict::Withhold(_), refused @ Verdict::Refuse(_)) => {
                refused
            }
            (withheld @ Verdict::Withhold(_), _) => withheld,
            (asks @ Verdict::Ask(_), Verdict::Allow(_)) if !lifted => asks,
            (Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_), verdict) => verdict,
        };
        return acting::concluded(desk, id, plan, verdict);
    };
    desk.state.asked += 1;
    (consulting.adviser, consulting.round) = (adviser, desk.state.asked);
    let brief = Brief {
        said: if consulting.adviser == Adviser::SecondReader { last_words(desk) } else { Vec::new() },
        adviser: consulting.adviser.clone(),
        verdict: consulting.verdict.word().to_owned(),
        why: consulting.verdict.why().to_owned(),
        mode: desk.state.policy.mode.word(),
        dry_run: desk.state.is_dry_run(),
    };
    let (round, plan) = (consulting.round, consulting.plan.clone());
    if let Some(pending) = desk.state.pending_mut(id) {
        pending.step = Step::Consulting(Box::new(consulting));
    }
    desk.effects.push(Effect::Consult { turn, call, plan, round, brief: Box::new(brief) });
}

/// Who is asked next; nobody where nothing that they say would change anything.
fn next(desk: &Desk<'_>, tool: &str, consulting: &mut Consulting) -> Option<Adviser> {
    if matches!(consulting.verdict, Verdict::Refuse(_)) {
        return None;
    }
    let (advisers, dry_run) = (&desk.state.advisers, desk.state.is_dry_run());
    while let Some(hook) = advisers.hooks.get(consulting.passed) {
        consulting.passed += 1;
        if (hook.in_dry_run || !dry_run) && hook.wants(tool, &consulting.plan) {
            return Some(Adviser::Hook(hook.name.clone()));
        }
    }
    let was_asked = consulting.passed > advisers.hooks.len();
    // In a dry run nothing is allowed that it could look at.
    let would_go_ahead = matches!(consulting.verdict, Verdict::Allow(_)) && !only_reads(&consulting.plan);
    if !advisers.second_reader || was_asked || !would_go_ahead {
        return None;
    }
    consulting.passed += 1;
    Some(Adviser::SecondReader)
}

/// What the person said last, oldest first. What a model made of it has no say here: beneath a turn the task is the
/// model's, and the person's words are the turn's.
fn last_words(desk: &Desk<'_>) -> Vec<String> {
    let said = |entry: &Entry| if let Entry::Said { text } = entry { Some(text.clone()) } else { None };
    let mut words: Vec<String> = desk
        .above
        .unwrap_or(&desk.state.session)
        .entries()
        .iter()
        .rev()
        .filter_map(said)
        .take(LAST_WORDS)
        .collect();
    words.reverse();
    words
}

/// An adviser has answered, or could not.
pub(super) fn consulted(desk: &mut Desk<'_>, id: &CallId, round: u64, said: Said) {
    let Some(pending) = desk.state.pending_mut(id) else { return };
    let Step::Consulting(consulting) = &pending.step else { return };
    if consulting.round != round {
        return;
    }
    let mut consulting = (**consulting).clone();
    let sha256 = acting::digest(&pending.call, &consulting.plan);
    let Said { advice, why, failed, took_ms, usage } = said;
    // Whatever was said, what may not be said asks.
    let advice = if consulting.adviser.may_say().contains(&advice) { advice } else { Advice::Ask };
    let (by, before) = (consulting.adviser.clone(), consulting.verdict.word().to_owned());
    let asked = matches!(consulting.verdict, Verdict::Ask(_));
    (consulting.verdict, consulting.stays) =
        combined(consulting.verdict, consulting.stays, &by, advice, &why, failed);
    consulting.lifted |= asked && matches!(consulting.verdict, Verdict::Allow(_));
    desk.keep(Entry::Consulted { call: id.clone(), by, before, advice, why, failed, took_ms, usage, sha256 });
    go_on(desk, id, consulting);
    acting::advance(desk);
}

/// The verdict with this word in it, and whether an ask stays one from now on.
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
            let words = format!(
                "Refused: {who} of the person does not allow this{because}. Nothing was done. Do not try the same thing another way."
            );
            (Verdict::Refuse(words), true)
        }
        // Nothing is read that somebody could be asked about.
        (Advice::Ask, withheld @ Verdict::Withhold(_)) => (withheld, true),
        (Advice::Ask, verdict) => {
            let words = match (failed, why.is_empty(), by) {
                (true, ..) => format!("{who} could not be asked{because}"),
                (false, true, _) => format!("{who} wants you to be asked"),
                (false, false, Adviser::Hook(_)) => format!("{who} says{because}"),
                // Whoever wrote what it read may have had a hand in its words.
                (false, false, Adviser::SecondReader) => format!("{who} says “{why}”"),
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
