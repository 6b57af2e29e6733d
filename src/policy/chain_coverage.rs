//! Command lines of which each part is allowed: by a grant, by a rule, or because it only reads.

use super::chain_limits::{creates_empty_files, explain_excluded_part, has_pattern, is_independent_of_changes};
use super::command_line::parse_command_line;
use super::coverage::{can_be_granted, grant_covers_whole};
use super::effects::{AskReasons, analyze_effects};
use super::rule::{Rule, RuleEffect, RuleTarget, Rules};
use super::subject::Subject;
use crate::chat::{
    Access, CommandLine, CommandPart, CommandSandbox, Grant, GrantScope, PartEffect, Preview, SessionGrant,
};
use crate::text::truncation::escape_beginning;

/// Maximum characters shown of a part.
const MAX_PART_CHARS: usize = 60;
/// Why a part asks about which there is nothing more to say than what it does.
const NOT_ALLOWED: &str = "no rule or grant allows it";
/// Why a part asks that would be allowed without its input.
const HAS_INPUT: &str = "it reads the output of another part, which may decide what it does";

/// Grants and rules that may allow a part.
#[derive(Clone, Copy)]
pub(super) struct Approvals<'a> {
    pub(super) grants: &'a [SessionGrant],
    pub(super) rules: &'a Rules,
}

/// Judgement of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartVerdict {
    /// Needs no approval.
    Reads,
    /// Allowed by this grant or rule.
    Allowed(String),
    /// Not allowed, with the reason.
    Asks(String),
}

/// Returns whether a grant covers the call, as a whole or because every other part of the command line only reads.
/// Calls that are sensitive or destroy something are never covered.
pub fn grant_covers(grant: &Grant, subject: &Subject<'_>) -> bool {
    grant_covers_whole(grant, subject) || is_chain_allowed(&judge_granted_parts(subject, grant))
}

/// Returns whether the grants and rules together cover every part of a command line.
pub fn chain_is_covered(grants: &[SessionGrant], rules: &Rules, subject: &Subject<'_>) -> bool {
    explain_allowed_chain(Approvals { grants, rules }, subject).is_some()
}

/// Returns whether a call may run only because each part of its command line may: no grant or rule is for the line itself.
pub fn is_allowed_in_parts(grants: &[SessionGrant], rules: &Rules, subject: &Subject<'_>) -> bool {
    !grants.iter().any(|session_grant| grant_covers_whole(&session_grant.grant, subject))
        && rules.first_matching(RuleEffect::Allow, subject).is_none()
        && chain_is_covered(grants, rules, subject)
}

/// Returns whether a grant covers the call, or a part of its command line that needs approval.
pub fn grant_allows_some_part(grant: &Grant, subject: &Subject<'_>) -> bool {
    grant_covers_whole(grant, subject) || judge_granted_parts(subject, grant).iter().any(PartVerdict::is_allowed)
}

/// Returns whether a rule matches the call, or a part of its command line that needs approval.
pub fn rule_allows_some_part(rule: &Rule, subject: &Subject<'_>) -> bool {
    let covers = |part: &Subject<'_>, has_input| rule.covers_input(has_input) && rule.matches(part);
    let verdicts = judge_covered_parts(subject, is_exact_rule(rule), &covers);
    rule.matches(subject) || verdicts.iter().any(PartVerdict::is_allowed)
}

/// Judges the parts of a command line as if only this grant allowed any.
fn judge_granted_parts(subject: &Subject<'_>, grant: &Grant) -> Vec<PartVerdict> {
    let covers = |part: &Subject<'_>, has_input| grant.covers_input(has_input) && grant_covers_whole(grant, part);
    judge_covered_parts(subject, is_exact_grant(grant), &covers)
}

/// Judges the parts of a command line as if only one grant or rule allowed any. `covers` is asked with a part, and with
/// whether it reads the output of another one.
fn judge_covered_parts(
    subject: &Subject<'_>,
    is_exact: bool,
    covers: &dyn Fn(&Subject<'_>, bool) -> bool,
) -> Vec<PartVerdict> {
    let approve =
        |part: &Subject<'_>, has_input| covers(part, has_input).then(|| Approval { reason: String::new(), is_exact });
    let has_path_rules = true;
    judge_parts(subject, &PartJudge { approve: &approve, permits: &|_| true, has_path_rules })
}

/// Returns why every part of a command line may run without approval; `None` if one needs it.
pub(super) fn explain_allowed_chain(approvals: Approvals<'_>, subject: &Subject<'_>) -> Option<String> {
    let verdicts = judge_chain(approvals, subject);
    if !is_chain_allowed(&verdicts) {
        return None;
    }
    let mut reasons: Vec<&str> = Vec::new();
    for verdict in &verdicts {
        if let PartVerdict::Allowed(reason) = verdict
            && !reasons.contains(&reason.as_str())
        {
            reasons.push(reason);
        }
    }
    let rest = if verdicts.contains(&PartVerdict::Reads) { "; the other parts only read" } else { "" };
    Some(format!("{}{rest}", reasons.join("; ")))
}

/// Returns the reason for asking about the parts that nothing allows, if other parts are allowed, or would be without their
/// input. `None` otherwise, and if the `reason` of the whole line says more than its words do.
pub(super) fn explain_asking_parts(approvals: Approvals<'_>, subject: &Subject<'_>, reason: &str) -> Option<String> {
    if analyze_effects(subject.parsed_line()?).reason != reason {
        return None;
    }
    let verdicts = judge_chain(approvals, subject);
    let has_input = |verdict: &PartVerdict| matches!(verdict, PartVerdict::Asks(why) if why == HAS_INPUT);
    if !verdicts.iter().any(|verdict| verdict.is_allowed() || has_input(verdict)) {
        return None;
    }
    let mut reasons = AskReasons::default();
    for (part, verdict) in subject.preconditions.parts.iter().zip(&verdicts) {
        let PartVerdict::Asks(why) = verdict else { continue };
        let effects = analyze_effects(&parse_command_line(&part.command));
        let reason = match why.as_str() {
            NOT_ALLOWED => effects.reason,
            _ => format!("“{}”: {why}", escape_beginning(&part.command, MAX_PART_CHARS)),
        };
        reasons.push_reason(effects.reach, reason);
    }
    reasons.widest().map(|(_, asking_reason)| asking_reason).filter(|asking_reason| !asking_reason.is_empty())
}

/// Judges each part of a command line; empty if the line has no parts that could be judged alone.
pub(super) fn judge_chain(approvals: Approvals<'_>, subject: &Subject<'_>) -> Vec<PartVerdict> {
    let approve = |part: &Subject<'_>, has_input| find_approval(approvals, subject, part, has_input);
    let permits = |part: &Subject<'_>| approvals.rules.permits_grants(part);
    let has_path_rules = approvals.rules.restrict_paths(subject.tool);
    judge_parts(subject, &PartJudge { approve: &approve, permits: &permits, has_path_rules })
}

/// Describes the judgement of each part, one line each.
pub(super) fn describe_parts(approvals: Approvals<'_>, subject: &Subject<'_>) -> Vec<String> {
    let verdicts = judge_chain(approvals, subject);
    let describe = |(part, verdict): (&CommandPart, PartVerdict)| {
        let command = escape_beginning(&part.command, MAX_PART_CHARS);
        match verdict {
            PartVerdict::Reads if part.effect == PartEffect::ChangesFolder => {
                format!("{command}: stays inside the project")
            }
            PartVerdict::Reads => format!("{command}: only reads"),
            PartVerdict::Allowed(reason) => format!("{command}: {reason}"),
            PartVerdict::Asks(reason) => format!("{command}: asks: {reason}"),
        }
    };
    subject.preconditions.parts.iter().zip(verdicts).map(describe).collect()
}

/// Returns whether all parts may run, and at least one needs a grant or a rule: a line that only reads is judged as a
/// whole, and runs in the read-only sandbox.
fn is_chain_allowed(verdicts: &[PartVerdict]) -> bool {
    verdicts.iter().all(|verdict| !matches!(verdict, PartVerdict::Asks(_)))
        && verdicts.iter().any(PartVerdict::is_allowed)
}

impl PartVerdict {
    fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

/// Judge of single parts.
struct PartJudge<'a> {
    /// Returns the grant or rule that allows a part; `None` if none does. Also given is whether the part reads the output of
    /// another one.
    approve: &'a dyn Fn(&Subject<'_>, bool) -> Option<Approval>,
    /// Returns whether no rule asks for or denies a part.
    permits: &'a dyn Fn(&Subject<'_>) -> bool,
    /// True if a rule may ask for or deny a path that a pattern hides.
    has_path_rules: bool,
}

/// A grant or rule that allows a part.
struct Approval {
    reason: String,
    /// True if it is for exactly one command and the scripts that this runs.
    is_exact: bool,
}

/// Possible effects of the parts before the one that is judged.
#[derive(Clone, Copy, Default)]
struct EarlierParts {
    may_change: bool,
    /// True if a part may have put a link in place of a file or folder, so that reading it would read something else. False
    /// for code of the project: it could read the same without a link.
    may_replace: bool,
}

/// Circumstances in which a part runs.
#[derive(Clone, Copy)]
struct PartContext {
    /// What may have changed since its files were checked: parts of its pipeline, and without a sandbox all earlier ones.
    unchecked: EarlierParts,
    /// True if any earlier part may have changed files.
    follows_change: bool,
    /// True if any earlier part may have created files, also empty ones.
    follows_run: bool,
    /// True if no part of its pipeline does more than reading.
    is_in_reading_pipeline: bool,
}

/// Judges the parts of a command line.
fn judge_parts(subject: &Subject<'_>, judge: &PartJudge<'_>) -> Vec<PartVerdict> {
    let Some(line) = subject.command_line else { return Vec::new() };
    let preconditions = subject.preconditions;
    // What is known of the whole line, such as a path with secrets, holds for each of its parts.
    let is_excluded = !can_be_granted(subject)
        || preconditions.is_partial
        || preconditions.scripts_to_bind().is_err()
        || line.network.is_some();
    if is_excluded {
        return Vec::new();
    }
    let is_checked_again = !matches!(line.sandbox, CommandSandbox::Unavailable(_));
    let mut verdicts = Vec::new();
    let (mut unchecked, mut follows_change, mut follows_run) = (EarlierParts::default(), false, false);
    for pipeline in preconditions.parts.chunk_by(|_, next| next.has_input) {
        if is_checked_again {
            unchecked = EarlierParts::default();
        }
        let is_in_reading_pipeline = pipeline.iter().all(|part| part.effect != PartEffect::Runs);
        for part in pipeline {
            let context = PartContext { unchecked, follows_change, follows_run, is_in_reading_pipeline };
            let verdict_in = |part: &CommandPart| {
                let judge_alone = |alone: &Subject<'_>| judge.judge_part(part, alone, context);
                with_subject(subject, line, part, context.runs(part), judge_alone)
            };
            let mut in_each_folder: Vec<PartVerdict> = part.in_each_folder().map(verdict_in).collect();
            let asking = in_each_folder.iter().position(|verdict| matches!(verdict, PartVerdict::Asks(_)));
            verdicts.push(in_each_folder.swap_remove(asking.unwrap_or_default()));
            let parsed_part = parse_command_line(&part.command);
            follows_run |= context.runs(part);
            if context.runs(part) && !creates_empty_files(&parsed_part) {
                (unchecked.may_change, follows_change) = (true, true);
                unchecked.may_replace |= !is_independent_of_changes(&parsed_part);
            }
        }
    }
    verdicts
}

impl PartContext {
    /// Returns whether a part does more than reading.
    fn runs(self, part: &CommandPart) -> bool {
        match part.effect {
            PartEffect::Runs => true,
            PartEffect::ReadsAlone => !self.is_in_reading_pipeline,
            PartEffect::ChangesFolder | PartEffect::ReadsInput | PartEffect::ReadsFiles => false,
        }
    }
}

/// Judges one part as if it were given alone. `runs` is whether it does more than reading.
fn with_subject<T>(
    whole: &Subject<'_>,
    line: &CommandLine,
    part: &CommandPart,
    runs: bool,
    judge: impl FnOnce(&Subject<'_>) -> T,
) -> T {
    let alone =
        CommandLine { command: part.command.clone(), folder: part.folder.clone(), network: None, ..line.clone() };
    let preview = Preview::Command(alone.clone());
    let access = if runs { Access::Run(alone.into()) } else { Access::Read(part.paths.clone()) };
    let destroys = false;
    judge(&Subject::new(whole.tool, &access, &preview, destroys, &part.preconditions))
}

impl PartJudge<'_> {
    fn judge_part(&self, part: &CommandPart, alone: &Subject<'_>, context: PartContext) -> PartVerdict {
        let asks = |why: &str| PartVerdict::Asks(why.to_owned());
        if !(self.permits)(alone) {
            return asks("a rule asks for it or denies it");
        }
        let is_independent = alone.parsed_line().is_some_and(is_independent_of_changes);
        let (runs, unchecked) = (context.runs(part), context.unchecked);
        let may_use_changed = match part.effect {
            PartEffect::ReadsInput => false,
            _ if runs => unchecked.may_change && !is_independent,
            _ => unchecked.may_replace,
        };
        if !runs && alone.parsed_line().is_none_or(has_pattern) {
            if context.follows_run {
                return asks("an earlier part may change which files its pattern matches");
            }
            if self.has_path_rules {
                return asks("its pattern may match a path that a rule asks for or denies");
            }
        }
        match (may_use_changed, runs) {
            (true, _) => asks("an earlier part may change what it uses"),
            (false, false) => PartVerdict::Reads,
            (false, true) => self.judge_run(part, alone, context.follows_change),
        }
    }

    /// Judges a part that does more than reading. `may_run_changed` is whether an earlier part may have changed the scripts
    /// that it runs.
    fn judge_run(&self, part: &CommandPart, alone: &Subject<'_>, may_run_changed: bool) -> PartVerdict {
        let asks = |why: &str| PartVerdict::Asks(why.to_owned());
        match alone.parsed_line().map(|parsed_line| explain_excluded_part(parsed_line, part.is_in_other_repository)) {
            None => return asks("it is not known"),
            Some(Some(why)) => return PartVerdict::Asks(why),
            Some(None) => {}
        }
        let runs_scripts = part.preconditions.scripts_to_bind().map_or(true, |scripts| !scripts.is_empty());
        match (self.approve)(alone, part.has_input) {
            None if part.has_input && (self.approve)(alone, false).is_some() => asks(HAS_INPUT),
            None if part.effect == PartEffect::ReadsAlone => {
                asks("it only reads, but needs a rule next to a command that does more")
            }
            None => asks(NOT_ALLOWED),
            Some(approval) if approval.is_exact && runs_scripts && may_run_changed => {
                asks("an earlier part may change what it uses")
            }
            Some(approval) => PartVerdict::Allowed(approval.reason),
        }
    }
}

/// Returns the grant or rule that allows a part. A rule for exactly one command is meant for the folder of the project
/// only. If the part reads the output of another one, the grant or rule must include that.
fn find_approval(
    approvals: Approvals<'_>,
    whole: &Subject<'_>,
    part: &Subject<'_>,
    has_input: bool,
) -> Option<Approval> {
    let Approvals { grants, rules } = approvals;
    let covers = |grant: &Grant| grant.covers_input(has_input) && grant_covers_whole(grant, part);
    if let Some(session_grant) = grants.iter().find(|session_grant| covers(&session_grant.grant)) {
        let is_exact = is_exact_grant(&session_grant.grant);
        // A prefix names its words; “exactly this command” would mean the whole line.
        let command =
            part.command_line.filter(|_| is_exact).map(|line| escape_beginning(&line.command, MAX_PART_CHARS));
        let name = command.map(|command| format!("“{command}” ")).unwrap_or_default();
        let reason = format!("allowed {name}{}", session_grant.describe_origin());
        return Some(Approval { reason, is_exact });
    }
    let folder = |subject: &Subject<'_>| subject.command_line.map(|line| line.folder.clone());
    let is_elsewhere = folder(part) != folder(whole);
    let mut matching = rules.all_matching(RuleEffect::Allow, part).into_iter();
    let rule = matching.find(|rule| rule.covers_input(has_input) && (!is_elsewhere || !is_exact_rule(rule)))?;
    Some(Approval { reason: rule.reason(&rules.today), is_exact: is_exact_rule(rule) })
}

fn is_exact_grant(grant: &Grant) -> bool {
    !matches!(grant.scope, GrantScope::Prefix { .. })
}

fn is_exact_rule(rule: &Rule) -> bool {
    !matches!(rule.target, RuleTarget::Prefix(_))
}

/// Returns whether a further grant covers the call, alone or together with the grants and rules that cover other parts
/// of its command line.
pub(super) fn completes_coverage(approvals: Approvals<'_>, grant: &Grant, subject: &Subject<'_>) -> bool {
    let approve = |part: &Subject<'_>, has_input| {
        let approval = Approval { reason: String::new(), is_exact: is_exact_grant(grant) };
        let is_covered = grant.covers_input(has_input) && grant_covers_whole(grant, part);
        is_covered.then_some(approval).or_else(|| find_approval(approvals, subject, part, has_input))
    };
    let permits = |part: &Subject<'_>| approvals.rules.permits_grants(part);
    let has_path_rules = approvals.rules.restrict_paths(subject.tool);
    grant_covers(grant, subject)
        || is_chain_allowed(&judge_parts(subject, &PartJudge { approve: &approve, permits: &permits, has_path_rules }))
}
