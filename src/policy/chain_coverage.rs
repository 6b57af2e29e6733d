//! Command lines of which each part is allowed: by a grant, by a rule, or because it only reads.

use super::chain_limits::{
    creates_empty_files, explain_excluded_part, is_git, is_independent_of_changes, runs_project_code,
};
use super::command_line::{ParsedLine, SimpleCommand, parse_command_line};
use super::coverage::{self, can_be_granted, grant_covers_whole};
use super::rule::{Rule, RuleEffect, RuleTarget, Rules};
use super::subject::Subject;
use crate::chat::{Access, CommandLine, CommandPart, Grant, PartEffect, Preview, SessionGrant};
use crate::text::truncation::escape_beginning;
use std::path::PathBuf;

/// Maximum characters shown of a part.
const MAX_PART_CHARS: usize = 60;

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
    let covers = |part: &Subject<'_>| grant_covers_whole(grant, part);
    covers(subject) || is_chain_allowed(&judge_covered_parts(subject, &covers))
}

/// Returns whether the grants and rules together cover every part of a command line.
pub fn chain_is_covered(grants: &[SessionGrant], rules: &Rules, subject: &Subject<'_>) -> bool {
    explain_allowed_chain(Approvals { grants, rules }, subject).is_some()
}

/// Returns whether a grant covers the call, or a part of its command line that needs approval.
pub fn grant_allows_some_part(grant: &Grant, subject: &Subject<'_>) -> bool {
    grant_covers_whole(grant, subject) || covers_some_part(subject, &|part| grant_covers_whole(grant, part))
}

/// Returns whether a rule matches the call, or a part of its command line that needs approval.
pub fn rule_allows_some_part(rule: &Rule, subject: &Subject<'_>) -> bool {
    rule.matches(subject) || covers_some_part(subject, &|part| rule.matches(part))
}

fn covers_some_part(subject: &Subject<'_>, covers: &dyn Fn(&Subject<'_>) -> bool) -> bool {
    judge_covered_parts(subject, covers).iter().any(|verdict| matches!(verdict, PartVerdict::Allowed(_)))
}

/// Judges the parts of a command line as if only this allowed any.
fn judge_covered_parts(subject: &Subject<'_>, covers: &dyn Fn(&Subject<'_>) -> bool) -> Vec<PartVerdict> {
    let approve = |part: &Subject<'_>| covers(part).then(String::new);
    judge_parts(subject, &PartJudge { approve: &approve, permits: &|_| true })
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

/// Judges each part of a command line; empty if the line has no parts that could be judged alone.
pub(super) fn judge_chain(approvals: Approvals<'_>, subject: &Subject<'_>) -> Vec<PartVerdict> {
    let approve = |part: &Subject<'_>| find_approval(approvals, subject, part);
    let permits = |part: &Subject<'_>| approvals.rules.permits_grants(part);
    judge_parts(subject, &PartJudge { approve: &approve, permits: &permits })
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
        && verdicts.iter().any(|verdict| matches!(verdict, PartVerdict::Allowed(_)))
}

/// Judge of single parts.
struct PartJudge<'a> {
    /// Returns the description of the grant or rule that allows a part; `None` if none does.
    approve: &'a dyn Fn(&Subject<'_>) -> Option<String>,
    /// Returns whether no rule asks for or denies a part.
    permits: &'a dyn Fn(&Subject<'_>) -> bool,
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
    let obeys_git_settings = |part: &CommandPart| {
        let parsed_line = parse_command_line(&part.command);
        part.effect == PartEffect::Runs && (is_git(&parsed_line) || runs_project_code(&parsed_line))
    };
    let git_may_read = preconditions.parts.iter().any(obeys_git_settings);
    let mut earlier = EarlierParts::default();
    let judge_part = |part: &CommandPart| {
        let asks = |why: &str| PartVerdict::Asks(why.to_owned());
        let before = earlier;
        with_subject(subject, line, part, |alone| {
            let is_written_as = |test: fn(&ParsedLine) -> bool| alone.parsed_line().is_some_and(test);
            let is_run = part.effect == PartEffect::Runs;
            if is_run && !is_written_as(creates_empty_files) {
                earlier.may_change = true;
                earlier.may_replace |= !is_written_as(is_independent_of_changes);
            }
            if !(judge.permits)(alone) {
                return asks("a rule asks for it or denies it");
            }
            let is_independent = match part.effect {
                PartEffect::ReadsInput => true,
                PartEffect::ChangesFolder | PartEffect::ReadsFiles => !before.may_replace,
                PartEffect::Runs => !before.may_change || is_written_as(is_independent_of_changes),
            };
            let reads = !is_run && (git_may_read || !is_written_as(is_git));
            match (is_independent, reads) {
                (false, _) => asks("an earlier part may change what it uses"),
                (true, true) => PartVerdict::Reads,
                (true, false) => judge.judge_run(line, part, alone),
            }
        })
    };
    preconditions.parts.iter().map(judge_part).collect()
}

/// Possible effects of the parts before the one that is judged.
#[derive(Clone, Copy, Default)]
struct EarlierParts {
    may_change: bool,
    /// True if a part may have put a link in place of a file or folder, so that reading it would read something else. False
    /// for code of the project: it could read the same without a link.
    may_replace: bool,
}

/// Judges one part as if it were given alone.
fn with_subject<T>(
    whole: &Subject<'_>,
    line: &CommandLine,
    part: &CommandPart,
    judge: impl FnOnce(&Subject<'_>) -> T,
) -> T {
    let alone =
        CommandLine { command: part.command.clone(), folder: part.folder.clone(), network: None, ..line.clone() };
    let preview = Preview::Command(alone.clone());
    let access = Access::Run(alone.into());
    let destroys = false;
    judge(&Subject::new(whole.tool, &access, &preview, destroys, &part.preconditions))
}

impl PartJudge<'_> {
    /// Judges a part that does more than reading, as if it were the first one.
    fn judge_run(&self, line: &CommandLine, part: &CommandPart, alone: &Subject<'_>) -> PartVerdict {
        let asks = |why: &str| PartVerdict::Asks(why.to_owned());
        if part.has_input {
            return asks("it reads the output of another part, which may decide what it does");
        }
        let is_elsewhere = part.folder != line.folder;
        match alone.parsed_line().map(|parsed_line| explain_excluded_part(parsed_line, is_elsewhere)) {
            None => asks("it is not known"),
            Some(Some(why)) => PartVerdict::Asks(why),
            Some(None) => {
                (self.approve)(alone).map_or_else(|| asks("no rule or grant allows it"), PartVerdict::Allowed)
            }
        }
    }
}

/// Returns the description of the grant or rule that allows a part. A rule for exactly one command is meant for the
/// folder of the project only.
fn find_approval(approvals: Approvals<'_>, whole: &Subject<'_>, part: &Subject<'_>) -> Option<String> {
    let Approvals { grants, rules } = approvals;
    if let Some(session_grant) = grants.iter().find(|session_grant| grant_covers_whole(&session_grant.grant, part)) {
        return Some(format!("allowed {}", session_grant.describe_origin()));
    }
    let folder = |subject: &Subject<'_>| subject.command_line.map(|line| line.folder.clone());
    let is_elsewhere = folder(part) != folder(whole);
    let mut matching = rules.all_matching(RuleEffect::Allow, part).into_iter();
    let rule = matching.find(|rule| !is_elsewhere || matches!(rule.target, RuleTarget::Prefix(_)))?;
    Some(rule.reason(&rules.today))
}

/// Returns whether a further grant covers the call, alone or together with the grants and rules that cover other parts
/// of its command line.
pub(super) fn completes_coverage(approvals: Approvals<'_>, grant: &Grant, subject: &Subject<'_>) -> bool {
    let approve = |part: &Subject<'_>| {
        let is_covered = grant_covers_whole(grant, part);
        is_covered.then(String::new).or_else(|| find_approval(approvals, subject, part))
    };
    let permits = |part: &Subject<'_>| approvals.rules.permits_grants(part);
    grant_covers(grant, subject)
        || is_chain_allowed(&judge_parts(subject, &PartJudge { approve: &approve, permits: &permits }))
}

/// Returns the words and the folder of the first part that no grant or rule allows yet. A single plain command is its
/// own part.
pub(super) fn grantable_words(approvals: Approvals<'_>, subject: &Subject<'_>) -> Option<(Vec<String>, PathBuf)> {
    let line = subject.command_line?;
    let known_words = |simple: &SimpleCommand| {
        simple.words.iter().filter_map(|word| word.known_text().map(str::to_owned)).collect::<Vec<_>>()
    };
    if let Some(simple) = subject.parsed_line().and_then(coverage::single_plain_command) {
        return Some((known_words(simple), line.folder.clone()));
    }
    let verdicts = judge_chain(approvals, subject);
    let index = verdicts.iter().position(|verdict| matches!(verdict, PartVerdict::Asks(_)))?;
    let part = subject.preconditions.parts.get(index)?;
    let parsed_line = parse_command_line(&part.command);
    coverage::single_plain_command(&parsed_line).map(|simple| (known_words(simple), part.folder.clone()))
}
