//! Verdicts of a dry run: the call is rehearsed, asks, or is withheld because of the data it reads. A change can be
//! rehearsed; data sent to a model cannot be taken back.

use super::rule::{About, Rule, Rules, Says};
use super::{Policy, Subject, Verdict, asked_by, cover, covers};
use crate::chat::altered::ASKED;
use crate::chat::{Access, Plan, Standing};

/// Reason why a dry run does not run a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// Description of what it reads: `read of .env (may hold secrets)`.
    pub reads: String,
    /// True if the call would ask live; otherwise it would run without asking.
    pub asks: bool,
    /// Reason of the verdict, for the log.
    pub why: String,
}

impl Withheld {
    /// Returns the outcome for the model and the user.
    pub fn told(&self) -> String {
        let live = match self.asks {
            true => "the user would be asked first",
            false => "it would run without asking",
        };
        format!("Withheld in this dry run: {}. Live, {live}.", self.reads)
    }
}

/// Converts a live verdict into that of a dry run. A refusal stays one.
pub(super) fn verdict(
    policy: &Policy,
    granted: &[Standing],
    rules: &Rules,
    of: &Subject<'_>,
    plan: &Plan,
    live: Verdict,
) -> Verdict {
    if !policy.dry_run {
        return live;
    }
    let discloses = is_disclosure(rules, of) && !is_covered(policy, granted, rules, of, plan);
    match live {
        Verdict::Ask(why) if policy.as_live => Verdict::Ask(why),
        Verdict::Allow(_) if discloses && policy.as_live => {
            Verdict::Ask(format!("{UNNAMED}; a dry run needs approval of exactly this call"))
        }
        Verdict::Ask(why) if discloses => Verdict::Withhold(Withheld {
            reads: with_secrets(&why, of),
            asks: true,
            why: format!("dry run; {ASKED}{why}"),
        }),
        Verdict::Allow(why) if discloses => Verdict::Withhold(Withheld {
            reads: UNNAMED.to_owned(),
            asks: false,
            why: format!("dry run, {UNNAMED}; live it would run: {why}"),
        }),
        Verdict::Ask(why) => Verdict::Rehearse(format!("dry run; {ASKED}{why}")),
        Verdict::Allow(why) => Verdict::Rehearse(format!("dry run; live it would run: {why}")),
        Verdict::Rehearse(_) | Verdict::Withhold(_) | Verdict::Refuse(_) => live,
    }
}

/// Describes a command that may read secrets although it names none.
const UNNAMED: &str = "possible read of secrets";

/// Returns whether approving this call also approves the data it reads: sensitive reads, and reads that a rule asks
/// about.
fn is_disclosure(rules: &Rules, of: &Subject<'_>) -> bool {
    let asked_for_path = || {
        let asking = rules.speaking(Says::Ask, of);
        // An unreadable rules file may have a rule for this very path.
        rules.broken.is_some() || asking.iter().any(|rule| matches!(rule.about, About::Path(_)))
    };
    match of.access {
        Access::ReadSensitive(_) => true,
        // A tool that only reads asks for no other reason.
        Access::Read(_) if of.line.is_none() => asked_by(rules, of).is_some(),
        Access::Read(_) => asked_for_path(),
        Access::Run(run) => run.discloses || asked_for_path(),
        Access::Nothing | Access::Write(_) | Access::WriteOutside(_) | Access::Own(_) => false,
    }
}

/// Returns whether the data this call reads may go to the model without a prompt: a grant covers it, a rule allows
/// exactly it, or it is a system file without secrets in a mode that allows reading those. Prefix rules and modes never
/// let a dry run read secrets.
pub fn may_disclose(policy: &Policy, granted: &[Standing], rules: &Rules, tool: &str, plan: &Plan) -> bool {
    is_covered(policy, granted, rules, &Subject::of(tool, plan), plan)
}

fn is_covered(policy: &Policy, granted: &[Standing], rules: &Rules, of: &Subject<'_>, plan: &Plan) -> bool {
    if !rules.lets_grants(of) || plan.basis.hard_links.is_some() {
        return false;
    }
    let is_exact = |rule: &Rule| match of.access {
        // Rules allow sensitive reads only by exact path.
        Access::ReadSensitive(_) => true,
        Access::Run(line) => rule.is_for(line, of.tool),
        Access::Nothing | Access::Read(_) | Access::Write(_) | Access::WriteOutside(_) | Access::Own(_) => {
            false
        }
    };
    granted.iter().any(|standing| covers(&standing.grant, of))
        || rules.speaking(Says::Allow, of).into_iter().any(is_exact)
        || cover::reads_named(rules, of).is_some()
        || matches!(of.access, Access::ReadSensitive(_)) && policy.mode.lets_through(plan, of)
}

/// Returns the reason of an ask verdict, with a note about secrets if it does not mention them.
fn with_secrets(why: &str, of: &Subject<'_>) -> String {
    let is_said = ["secrets", "outside the project", "your rule"].iter().any(|part| why.contains(part));
    match of.access {
        Access::Run(run) if run.discloses && !is_said => {
            format!("{why}; possible read of secrets or files outside the project")
        }
        _ => why.to_owned(),
    }
}

#[cfg(test)]
mod tests;
