//! Explanation of a verdict: every check and its result, in words.

use super::command_line::{Connector, ParsedLine, Redirect, SimpleCommand, Word};
use super::{Policy, Rule, RuleEffect, Rules, Subject, Verdict, coverage_gaps, grant_covers, judge_plan};
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
    granted: &[SessionGrant],
    rules: &Rules,
    tool: &str,
    plan: &Plan,
) -> (Vec<ExplainedCheck>, Verdict) {
    let of = Subject::from_plan(tool, plan);
    let mut steps = Vec::new();
    let mut step = |name, found: Vec<String>| steps.push(ExplainedCheck { name, results: found });
    if let Some(reading) = of.parsed_line() {
        step("parsed command", explain_command(reading));
    }
    step("effects", explain_effects(&of, plan));
    step("mode", vec![format!("{}: {}", policy.mode.as_str(), policy.mode.description())]);
    if policy.dry_run {
        let asks = if policy.asks_as_live { "required approvals are requested" } else { "nothing is asked" };
        step("dry run", vec![format!("calls are rehearsed, nothing changes live; {asks}")]);
    }
    for (says, name) in [(RuleEffect::Deny, "rules that deny"), (RuleEffect::Ask, "rules that ask")] {
        step(name, explain_rules(rules, says, &of));
    }
    if let Some(why) = &rules.read_error {
        step("unreadable rules", vec![format!("{why}; every call asks until this is fixed")]);
    }
    if !granted.is_empty() {
        let found =
            granted.iter().filter(|standing| grant_covers(&standing.grant, &of)).map(SessionGrant::describe_origin);
        let mut found: Vec<String> = found.collect();
        if found.is_empty() {
            found.extend(
                coverage_gaps::explain_stale_grant(granted, &Rules::default(), &of)
                    .map(|why| format!("outdated: {why}")),
            );
        }
        step("grants of this session", none_if_empty(found, "none matches"));
    }
    step("rules that allow", explain_rules(rules, RuleEffect::Allow, &of));
    (steps, judge_plan(policy, granted, rules, tool, plan))
}

fn none_if_empty(mut found: Vec<String>, none: &str) -> Vec<String> {
    if found.is_empty() {
        found.push(none.to_owned());
    }
    found
}

/// Lists the rules that match, and explains why the closest ones do not.
fn explain_rules(rules: &Rules, says: RuleEffect, of: &Subject<'_>) -> Vec<String> {
    let all: Vec<&Rule> = rules.list.iter().filter(|rule| rule.effect == says).collect();
    let speaking = rules.all_matching(says, of);
    let mut found: Vec<String> =
        speaking.iter().map(|rule| format!("matches: {}", rule.describe_with_location())).collect();
    if says == RuleEffect::Allow {
        let named = coverage_gaps::rules_for_named_secrets(rules, of).unwrap_or_default();
        found.extend(
            named.iter().map(|rule| format!("matches a file that it reads: {}", rule.describe_with_location())),
        );
    }
    if says == RuleEffect::Allow && found.is_empty() {
        let near = all.iter().filter_map(|rule| {
            let why = coverage_gaps::explain_rule_mismatch(rule, of)?;
            Some(format!("does not match: {}: {why}", rule.describe_with_location()))
        });
        found.extend(near);
    }
    none_if_empty(
        found,
        &match all.len() {
            0 => "none".to_owned(),
            1 => "the only one does not match".to_owned(),
            many => format!("none of {many} matches"),
        },
    )
}

fn explain_effects(of: &Subject<'_>, plan: &Plan) -> Vec<String> {
    let mut found = vec![format!("{} {}", of.tool, plan.summary).trim_end().to_owned()];
    match of.preconditions.scripts_to_bind() {
        Ok(scripts) if of.command_line.is_some() && !scripts.is_empty() => {
            found.push("a rule for exactly this command is bound to these files:".to_owned());
            found.push(format!("scripts = {{ {} }}", format_scripts(&scripts)));
        }
        Err(why) => found.push(format!("no rule can cover it: {why}")),
        Ok(_) => {}
    }
    if let Some(destroys) = &plan.destroys {
        found.push(format!("destructive: {destroys}; no rule can cover it"));
    }
    if let Some(beyond) = &of.preconditions.restricted_path {
        let path = beyond.path.display();
        found.push(match beyond.is_sensitive {
            true => format!("secrets or configuration of other programs: {path}; no rule can cover it"),
            false => {
                format!("outside the project: {path}; only a rule for exactly this command can cover it")
            }
        });
    }
    found
}

/// Formats scripts as in a rules file.
fn format_scripts(scripts: &[Script]) -> String {
    let one = |script: &Script| {
        let held = script.sha256.as_ref().map_or("missing", |sha256| sha256.as_str());
        format!("{:?} = {held:?}", script.path.to_string_lossy())
    };
    scripts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Describes the commands of a line, one line each, and why the rest is not followed.
fn explain_command(reading: &ParsedLine) -> Vec<String> {
    let mut found: Vec<String> = reading.commands.iter().map(format_simple_command).collect();
    if let Some(unclear) = &reading.unclear {
        found.push(format!("not fully analyzed: {}", unclear.0));
    }
    none_if_empty(found, "no command")
}

fn format_simple_command(simple: &SimpleCommand) -> String {
    let joint = match simple.connector {
        Connector::First => "",
        Connector::Semicolon => "; ",
        Connector::Ampersand => "& ",
        Connector::And => "&& ",
        Connector::Or => "|| ",
        Connector::Pipe | Connector::PipeWithStderr => "| ",
    };
    let words =
        |words: &[Word]| words.iter().map(|word| format!("[{}]", word.display_text())).collect::<Vec<_>>().join(" ");
    let mut told = format!("{joint}{}", words(&simple.words));
    let mut add = |what: &str, with: &str| told.push_str(&format!(" · {what} {with}"));
    for (name, value) in &simple.assignments {
        add("variable", &format!("{name}={}", value.display_text()));
    }
    for wrapper in &simple.wrappers {
        add("run by", &words(wrapper));
    }
    for redirect in &simple.redirects {
        match redirect {
            Redirect::Read(word) => add("reads", word.display_text()),
            Redirect::Write(word) => add("writes", word.display_text()),
            Redirect::Append(word) => add("appends to", word.display_text()),
            Redirect::Descriptor => {}
            Redirect::Text(_) => add("reads", "a here-document"),
        }
    }
    if let Some(script) = &simple.script {
        add("runs the script", script.display_text());
    }
    if simple.inline_code.is_some() {
        add("runs", "inline code");
    }
    if simple.is_background {
        add("runs", "in the background");
    }
    if !simple.nesting.is_empty() {
        add("inside", "another command");
    }
    told
}
