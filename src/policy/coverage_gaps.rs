//! Reasons why a grant or rule does not cover a call, for its prompt and for `explain`.

use super::command_line::Word;
use super::coverage::{contains_words, describe_hard_links, is_confined, is_exact_command, single_plain_command};
use super::neutral_wrappers::has_neutral_wrapping;
use super::rule::{Rule, RuleTarget, Rules};
use super::subject::Subject;
use super::{exec_options, targets, wide_prefixes};
use crate::chat::{Access, CommandSandbox, Reach, Script, SessionGrant, script};
use std::path::PathBuf;

/// Returns why a grant bound to these files does not cover the call now; `None` if the files are unchanged.
pub(super) fn explain_changed_scripts(scripts: &[Script], subject: &Subject<'_>) -> Option<String> {
    match subject.preconditions.scripts_to_bind() {
        Ok(current) if current == scripts => None,
        Ok(current) => Some(script::describe_changes(scripts, &current).join(", ")),
        Err(why) => Some(why),
    }
}

/// Explains why a grant or rule for exactly this command no longer applies because one of its files changed.
pub(super) fn explain_stale_grant(grants: &[SessionGrant], rules: &Rules, subject: &Subject<'_>) -> Option<String> {
    let line = subject.command_line?;
    let exact_grants = grants.iter().filter(|session_grant| {
        session_grant.grant.tool == subject.tool && is_exact_command(&session_grant.grant.scope, line)
    });
    let from_grants = exact_grants.filter_map(|session_grant| {
        let why = explain_changed_scripts(&session_grant.grant.scripts, subject)?;
        Some(format!("{why} since you allowed it on call {} of this session", session_grant.call_number))
    });
    let exact_rules = rules.list.iter().filter(|rule| rule.allows_exact_command(line, subject.tool));
    let from_rules = exact_rules.filter_map(|rule| {
        let why = explain_changed_scripts(&rule.scripts, subject)?;
        Some(format!("{why} since you allowed it by a rule ({})", rule.describe_location()))
    });
    from_grants.chain(from_rules).next()
}

/// Returns one rule for each secret file that a command names, if each has a rule that allows reading it. `None` if a
/// rule is missing, or if the command also has another reason to ask: then these rules do not let it run.
pub(super) fn rules_for_named_secrets<'a>(rules: &'a Rules, subject: &Subject<'_>) -> Option<Vec<&'a Rule>> {
    let Access::Run(run) = subject.access else { return None };
    let is_confined = matches!(run.sandbox, CommandSandbox::Enforced(_)) && run.network.is_none();
    if run.named_secrets.is_empty() || run.reach != Reach::Runs || !is_confined {
        return None;
    }
    if subject.destroys || subject.preconditions.hard_links.is_some() {
        return None;
    }
    let rule_for = |path: &PathBuf| rules.list.iter().find(|rule| rule.allows_exact_read(path, subject.tool));
    run.named_secrets.iter().map(rule_for).collect()
}

/// Explains why a rule does not cover a call of the program that it allows, or of exactly the command that it allows.
/// `None` if the rule is about other calls.
pub(super) fn explain_rule_mismatch(rule: &Rule, subject: &Subject<'_>) -> Option<String> {
    if subject.command_line.is_some_and(|line| rule.allows_exact_command(line, subject.tool)) {
        return explain_changed_scripts(&rule.scripts, subject).or_else(|| explain_not_grantable(subject));
    }
    let RuleTarget::Prefix(words) = &rule.target else { return None };
    if !rule.is_for_tool(subject.tool) || !contains_words(&words[..1], subject) {
        return None;
    }
    let parsed_line = subject.parsed_line()?;
    let explanation = |text: &str| Some(text.to_owned());
    if parsed_line.unclear.is_some() {
        return parsed_line.unclear.clone();
    }
    let [simple] = parsed_line.commands.as_slice() else {
        return Some(format!("{} commands in the line; the rule covers a single one", parsed_line.commands.len()));
    };
    if !has_neutral_wrapping(simple) {
        return explanation(match simple.wrappers.is_empty() {
            true => "a variable is set before the command",
            false => "another program runs the command",
        });
    }
    if !simple.redirects.is_empty() {
        return explanation("the command has a redirection");
    }
    let Some(simple) = single_plain_command(parsed_line) else {
        return explanation("a word is not known before it runs, or the command is part of another one");
    };
    if let Some((expected, actual)) = words.iter().enumerate().find_map(|(index, word)| {
        let actual = simple.words.get(index).map_or("", Word::display_text);
        (actual != word).then_some((word, actual))
    }) {
        return Some(format!("{actual:?} instead of {expected:?}"));
    }
    let mut words = words;
    let longer_prefix: Vec<String>;
    if wide_prefixes::is_build_tool(words) {
        if !is_confined(subject) {
            return explanation("no sandbox that keeps it off the network");
        }
        longer_prefix = simple.words.iter().take(2).map(|word| word.display_text().to_owned()).collect();
        if let Some(reason) = wide_prefixes::explain_other_subcommand(&longer_prefix) {
            return Some(reason);
        }
        words = &longer_prefix;
    }
    if subject.destroys {
        return explain_not_grantable(subject);
    }
    if let Some(restricted) = &subject.preconditions.restricted_path {
        if restricted.is_project_program {
            return Some(format!("{} may be a program of the project", restricted.path.display()));
        }
        return Some(format!("path outside the project: {}", restricted.path.display()));
    }
    if let Some(target) = targets::find_added_target(words, &simple.words) {
        return Some(format!("other target {target:?}; the rule covers more options, not more targets"));
    }
    exec_options::find_widening_argument(&simple.words, words)
        .map(|word| format!("{word} can run or write something else"))
}

/// Returns why no grant or rule can cover a command; `None` if nothing prevents one.
fn explain_not_grantable(subject: &Subject<'_>) -> Option<String> {
    if subject.destroys {
        return Some("destructive command".to_owned());
    }
    if let Some(links) = &subject.preconditions.hard_links {
        return Some(describe_hard_links(links));
    }
    let path = subject.preconditions.sensitive_path()?;
    Some(format!("secrets or configuration of other programs: {}", path.display()))
}
