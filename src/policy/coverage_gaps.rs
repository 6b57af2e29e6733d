//! Reasons why a grant or rule does not cover a call, for its prompt and for `explain`.

use super::command_line::Word;
use super::coverage::{contains_words, describe_hard_links, single_plain_command};
use super::rule::{Rule, RuleTarget, Rules};
use super::subject::Subject;
use super::{exec_options, targets};
use crate::chat::{Access, CommandSandbox, GrantScope, Reach, Script, SessionGrant, script};
use std::path::PathBuf;

/// Returns why a grant bound to these files does not cover the call now; `None` if the files are unchanged.
pub(super) fn explain_changed_scripts(scripts: &[Script], of: &Subject<'_>) -> Option<String> {
    match of.preconditions.scripts_to_bind() {
        Ok(now) if now == scripts => None,
        Ok(now) => Some(script::describe_changes(scripts, &now).join(", ")),
        Err(why) => Some(why),
    }
}

/// Explains why a grant or rule for exactly this command no longer applies because one of its files changed.
pub(super) fn explain_stale_grant(granted: &[SessionGrant], rules: &Rules, of: &Subject<'_>) -> Option<String> {
    let line = of.command_line?;
    let here = granted.iter().filter(|standing| match &standing.grant.scope {
        GrantScope::Command { command, folder, network } => {
            standing.grant.tool == of.tool
                && *command == line.command
                && *folder == line.folder
                && *network == line.network.is_some()
        }
        GrantScope::Prefix { .. } | GrantScope::File(_) | GrantScope::Folder(_) => false,
    });
    let here = here.filter_map(|standing| {
        let why = explain_changed_scripts(&standing.grant.scripts, of)?;
        Some(format!("{why} since you allowed it on call {} of this session", standing.call_number))
    });
    let kept = rules.list.iter().filter(|rule| rule.allows_exact_command(line, of.tool));
    let kept = kept.filter_map(|rule| {
        let why = explain_changed_scripts(&rule.scripts, of)?;
        Some(format!("{why} since you allowed it by a rule ({})", rule.describe_location()))
    });
    here.chain(kept).next()
}

/// Returns the rules that allow reading each of the secret files a command names, if these files are all that keeps the
/// command from running without approval in the read-only sandbox.
pub(super) fn rules_for_named_secrets<'a>(rules: &'a Rules, of: &Subject<'_>) -> Option<Vec<&'a Rule>> {
    let Access::Run(run) = of.access else { return None };
    let is_confined = matches!(run.sandbox, CommandSandbox::Enforced(_)) && run.network.is_none();
    if run.named_secrets.is_empty() || run.reach != Reach::Runs || !is_confined {
        return None;
    }
    if of.destroys || of.preconditions.hard_links.is_some() {
        return None;
    }
    let rule_for = |path: &PathBuf| rules.list.iter().find(|rule| rule.allows_exact_read(path, of.tool));
    run.named_secrets.iter().map(rule_for).collect()
}

/// Explains why a rule that allows commands does not cover a call that begins with its first word, or equals it.
pub(super) fn explain_rule_mismatch(rule: &Rule, of: &Subject<'_>) -> Option<String> {
    if of.command_line.is_some_and(|line| rule.allows_exact_command(line, of.tool)) {
        return explain_changed_scripts(&rule.scripts, of).or_else(|| explain_not_grantable(of));
    }
    let RuleTarget::Prefix(words) = &rule.target else { return None };
    if rule.tool.as_ref().is_some_and(|tool| tool != of.tool) || !contains_words(&words[..1], of) {
        return None;
    }
    let reading = of.parsed_line()?;
    let owned = |words: &str| Some(words.to_owned());
    if let Some(unclear) = &reading.unclear {
        return Some(unclear.0.clone());
    }
    let [simple] = reading.commands.as_slice() else {
        return Some(format!("{} commands in the line; the rule covers a single one", reading.commands.len()));
    };
    if !simple.assignments.is_empty() {
        return owned("variable set before the command");
    }
    if !simple.redirects.is_empty() {
        return owned("redirection");
    }
    let Some(simple) = single_plain_command(reading) else {
        return owned("not a plain command: unknown word, or part of another command");
    };
    if let Some((wanted, found)) = words.iter().enumerate().find_map(|(at, word)| {
        let found = simple.words.get(at).map_or("", Word::display_text);
        (found != word).then_some((word, found))
    }) {
        return Some(format!("{found:?} instead of {wanted:?}"));
    }
    if of.destroys {
        return explain_not_grantable(of);
    }
    if let Some(beyond) = &of.preconditions.restricted_path {
        return Some(format!("path outside the project: {}", beyond.path.display()));
    }
    if let Some(target) = targets::find_added_target(words, &simple.words) {
        return Some(format!("other target {target:?}; the rule covers more options, not more targets"));
    }
    exec_options::find_widening_argument(&simple.words, words)
        .map(|word| format!("{word} can run or write something else"))
}

/// Returns why no grant or rule can cover a command.
fn explain_not_grantable(of: &Subject<'_>) -> Option<String> {
    if of.destroys {
        return Some("destructive command".to_owned());
    }
    if let Some(links) = &of.preconditions.hard_links {
        return Some(describe_hard_links(links));
    }
    let beyond = of.preconditions.restricted_path.as_ref().filter(|beyond| beyond.is_sensitive)?;
    Some(format!("secrets or configuration of other programs: {}", beyond.path.display()))
}
