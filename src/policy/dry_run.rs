//! What a dry run makes of a verdict: the call is rehearsed, asks, or is withheld because of what it reads. Changing something
//! can be rehearsed; sending what was read to a model cannot.

use super::rule::{About, Rule, Rules, Says};
use super::{Policy, Subject, Verdict, asked_by, cover, covers};
use crate::chat::altered::ASKED;
use crate::chat::{Access, Plan, Standing};

/// Why a dry run does not run a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// What it reads, as a clause: `it reads .env, which may hold secrets`.
    pub reads: String,
    /// Whether the user would be asked first, live. Otherwise it would run without asking.
    pub asks: bool,
    /// The verdict's reason, for the log.
    pub why: String,
}

impl Withheld {
    /// The outcome, for the model and the user.
    pub fn told(&self) -> String {
        let live = match self.asks {
            true => "the user would be asked first",
            false => "it would run without asking",
        };
        format!("Withheld in this dry run: {}. Live, {live}.", self.reads)
    }
}

/// The verdict of a dry run over a call, from the live one. A live refusal stays one.
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
        Verdict::Allow(_) if discloses && policy.as_live => Verdict::Ask(format!(
            "{UNNAMED}, which a dry run reads only with an approval of exactly this call"
        )),
        Verdict::Ask(why) if discloses => Verdict::Withhold(Withheld {
            reads: with_secrets(&why, of),
            asks: true,
            why: format!("this is a dry run; {ASKED}{why}"),
        }),
        Verdict::Allow(why) if discloses => Verdict::Withhold(Withheld {
            reads: UNNAMED.to_owned(),
            asks: false,
            why: format!("this is a dry run, and {UNNAMED}; for real it would have run, because {why}"),
        }),
        Verdict::Ask(why) => Verdict::Rehearse(format!("this is a dry run; {ASKED}{why}")),
        Verdict::Allow(why) => {
            Verdict::Rehearse(format!("this is a dry run; for real it would have run, because {why}"))
        }
        Verdict::Rehearse(_) | Verdict::Withhold(_) | Verdict::Refuse(_) => live,
    }
}

/// What is said of a command that reads secrets nobody named.
const UNNAMED: &str = "it may read secrets";

/// Whether an approval of this call is one of what it reads: it is asked about for that, or is what the policy calls sensitive.
fn is_disclosure(rules: &Rules, of: &Subject<'_>) -> bool {
    let asked_for_path = || {
        let asking = rules.speaking(Says::Ask, of);
        // What a file says that cannot be read is not known: it may be about this very path.
        rules.broken.is_some() || asking.iter().any(|rule| matches!(rule.about, About::Path(_)))
    };
    match of.access {
        Access::ReadSensitive(_) => true,
        // A tool that only reads is asked about for nothing else.
        Access::Read(_) if of.line.is_none() => asked_by(rules, of).is_some(),
        Access::Read(_) => asked_for_path(),
        Access::Run(run) => run.discloses || asked_for_path(),
        Access::Nothing | Access::Write(_) | Access::WriteOutside(_) | Access::Own(_) => false,
    }
}

/// Whether what this call reads may go to the model without a prompt: a grant covers it, a rule allows exactly it, or it is a
/// file of the system, which holds no secrets, in the mode that reads those. No prefix rule and no mode lets a dry run read
/// secrets.
pub fn may_disclose(policy: &Policy, granted: &[Standing], rules: &Rules, tool: &str, plan: &Plan) -> bool {
    is_covered(policy, granted, rules, &Subject::of(tool, plan), plan)
}

fn is_covered(policy: &Policy, granted: &[Standing], rules: &Rules, of: &Subject<'_>, plan: &Plan) -> bool {
    if !rules.lets_grants(of) || plan.basis.hard_links.is_some() {
        return false;
    }
    let is_exact = |rule: &Rule| match of.access {
        // A rule allows those by their exact names alone.
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

/// The reason of an ask, with the secrets in it if it is about something else too.
fn with_secrets(why: &str, of: &Subject<'_>) -> String {
    let is_said = ["secrets", "outside the project", "a rule of yours"].iter().any(|part| why.contains(part));
    match of.access {
        Access::Run(run) if run.discloses && !is_said => {
            format!("{why}; it may read secrets or files outside the project")
        }
        _ => why.to_owned(),
    }
}

#[cfg(test)]
mod tests;
