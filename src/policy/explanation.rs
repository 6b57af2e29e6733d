//! Explanation of a verdict: every check with its result as text.

use super::command_line::{Connector, ParsedLine, Redirect, SimpleCommand, Word};
use super::trial_effects::may_be_tried_first;
use super::{
    Policy, Rule, RuleEffect, Rules, Subject, Verdict, chain_coverage, coverage_gaps, grant_covers, judge_plan,
    rule_allows_some_part,
};
use crate::chat::{Plan, Script, SessionGrant};

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedCheck {
    /// Name of the check: `parsed command`, `rules that deny`.
    pub name: &'static str,
    /// Results, one line each.
    pub results: Vec<String>,
}

/// Returns every check and the verdict.
pub fn explain_verdict(
    policy: &Policy,
    grants: &[SessionGrant],
    rules: &Rules,
    tool: &str,
    plan: &Plan,
) -> (Vec<ExplainedCheck>, Verdict) {
    let subject = Subject::from_plan(tool, plan);
    let mut checks = Vec::new();
    let mut add_check = |name, results: Vec<String>| checks.push(ExplainedCheck { name, results });
    if let Some(parsed_line) = subject.parsed_line() {
        add_check("parsed command", explain_command(parsed_line));
    }
    add_check("effects", explain_effects(&subject, plan));
    add_check("mode", vec![format!("{}: {}", policy.mode.as_str(), policy.mode.description())]);
    if policy.dry_run {
        let asks_note = if policy.asks_as_live { "required approvals are requested" } else { "nothing is asked" };
        add_check("dry run", vec![format!("calls are rehearsed, nothing changes live; {asks_note}")]);
    }
    for (effect, name) in [(RuleEffect::Deny, "rules that deny"), (RuleEffect::Ask, "rules that ask")] {
        add_check(name, explain_rules(rules, effect, &subject));
    }
    if let Some(why) = &rules.read_error {
        add_check("unreadable rules", vec![format!("{why}; every call asks until this is fixed")]);
    }
    if !grants.is_empty() {
        let matching = grants
            .iter()
            .filter(|session_grant| grant_covers(&session_grant.grant, &subject))
            .map(SessionGrant::describe_origin);
        let mut matching: Vec<String> = matching.collect();
        if matching.is_empty() {
            // Only grants are searched here, so no rules are passed.
            matching.extend(
                coverage_gaps::explain_stale_grant(grants, &Rules::default(), &subject)
                    .map(|why| format!("outdated: {why}")),
            );
        }
        add_check("grants of this session", placeholder_if_empty(matching, "none matches"));
    }
    let parts = chain_coverage::describe_parts(chain_coverage::Approvals { grants, rules }, &subject);
    if !parts.is_empty() {
        add_check("parts of the line", parts);
    }
    add_check("rules that allow", explain_rules(rules, RuleEffect::Allow, &subject));
    let verdict = judge_plan(policy, grants, rules, tool, plan);
    if matches!(verdict, Verdict::Ask(_)) && rules.permits_grants(&subject) && may_be_tried_first(policy, plan) {
        let result = "runs first in an overlay sandbox, if there is one; asks only if its effects are not harmless";
        add_check("trial", vec![result.to_owned()]);
    }
    (checks, verdict)
}

fn placeholder_if_empty(mut lines: Vec<String>, placeholder: &str) -> Vec<String> {
    if lines.is_empty() {
        lines.push(placeholder.to_owned());
    }
    lines
}

/// Lists the rules that match, and explains why the closest ones do not.
fn explain_rules(rules: &Rules, effect: RuleEffect, subject: &Subject<'_>) -> Vec<String> {
    let rules_with_effect: Vec<&Rule> = rules.list.iter().filter(|rule| rule.effect == effect).collect();
    let matching = rules.all_matching(effect, subject);
    let mut lines: Vec<String> =
        matching.iter().map(|rule| format!("matches: {}", rule.describe_with_location())).collect();
    if effect == RuleEffect::Allow {
        let allows_part = |rule: &&&Rule| !matching.contains(*rule) && rule_allows_some_part(rule, subject);
        let of_parts = rules_with_effect.iter().filter(allows_part);
        lines.extend(of_parts.map(|rule| format!("matches a part of the line: {}", rule.describe_with_location())));
        let secret_rules = coverage_gaps::rules_for_named_secrets(rules, subject).unwrap_or_default();
        lines.extend(
            secret_rules.iter().map(|rule| format!("matches a file that it reads: {}", rule.describe_with_location())),
        );
    }
    if effect == RuleEffect::Allow && lines.is_empty() {
        let mismatches = rules_with_effect.iter().filter_map(|rule| {
            let why = coverage_gaps::explain_rule_mismatch(rule, subject)?;
            Some(format!("does not match: {}: {why}", rule.describe_with_location()))
        });
        lines.extend(mismatches);
    }
    placeholder_if_empty(
        lines,
        &match rules_with_effect.len() {
            0 => "none".to_owned(),
            1 => "the only one does not match".to_owned(),
            count => format!("none of {count} matches"),
        },
    )
}

fn explain_effects(subject: &Subject<'_>, plan: &Plan) -> Vec<String> {
    let mut lines = vec![format!("{} {}", subject.tool, plan.summary).trim_end().to_owned()];
    match subject.preconditions.scripts_to_bind() {
        Ok(scripts) if subject.command_line.is_some() && !scripts.is_empty() => {
            lines.push("a rule for exactly this command is bound to these files:".to_owned());
            lines.push(format!("scripts = {{ {} }}", format_scripts(&scripts)));
        }
        Err(why) => lines.push(format!("no rule can cover it: {why}")),
        Ok(_) => {}
    }
    if let Some(destroys) = &plan.destroys {
        lines.push(format!("destructive: {destroys}; no rule can cover it"));
    }
    if let Some(restricted) = &subject.preconditions.restricted_path {
        let path = restricted.path.display();
        lines.push(match restricted.is_sensitive {
            true => format!("secrets or configuration of other programs: {path}; no rule can cover it"),
            false => {
                let what = match restricted.is_project_program {
                    true => format!("{path} may be a program of the project"),
                    false => format!("outside the project: {path}"),
                };
                format!("{what}; only a rule for exactly this command can cover it")
            }
        });
    }
    lines
}

/// Formats scripts as in a rules file.
fn format_scripts(scripts: &[Script]) -> String {
    let format_script = |script: &Script| {
        let digest = script.sha256.as_ref().map_or("missing", |sha256| sha256.as_str());
        format!("{:?} = {digest:?}", script.path.to_string_lossy())
    };
    scripts.iter().map(format_script).collect::<Vec<_>>().join(", ")
}

/// Describes the commands of a line, one line each, and why the line is unclear, if it is.
fn explain_command(parsed_line: &ParsedLine) -> Vec<String> {
    let mut lines: Vec<String> = parsed_line.commands.iter().map(format_simple_command).collect();
    if let Some(unclear) = &parsed_line.unclear {
        lines.push(format!("not fully analyzed: {unclear}"));
    }
    placeholder_if_empty(lines, "no command")
}

fn format_simple_command(simple: &SimpleCommand) -> String {
    let connector = match simple.connector {
        Connector::First => "",
        Connector::Semicolon => "; ",
        Connector::Ampersand => "& ",
        Connector::And => "&& ",
        Connector::Or => "|| ",
        Connector::Pipe | Connector::PipeWithStderr => "| ",
    };
    let bracket_words =
        |words: &[Word]| words.iter().map(|word| format!("[{}]", word.display_text())).collect::<Vec<_>>().join(" ");
    let mut description = format!("{connector}{}", bracket_words(&simple.words));
    let mut add_detail = |label: &str, value: &str| description.push_str(&format!(" · {label} {value}"));
    for (name, value) in &simple.assignments {
        add_detail("variable", &format!("{name}={}", value.display_text()));
    }
    for wrapper in &simple.wrappers {
        add_detail("run by", &bracket_words(wrapper));
    }
    for redirect in &simple.redirects {
        match redirect {
            Redirect::Read(word) => add_detail("reads", word.display_text()),
            Redirect::Write(word) => add_detail("writes", word.display_text()),
            Redirect::Append(word) => add_detail("appends to", word.display_text()),
            Redirect::Descriptor => {}
            Redirect::Text(_) => add_detail("reads", "a here-document"),
        }
    }
    if let Some(script) = &simple.script {
        add_detail("runs the script", script.display_text());
    }
    if simple.inline_code.is_some() {
        add_detail("runs", "inline code");
    }
    if simple.is_background {
        add_detail("runs", "in the background");
    }
    if !simple.nesting.is_empty() {
        add_detail("inside", "another command");
    }
    description
}
