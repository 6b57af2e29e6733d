//! Explanation of a verdict: every check and its result, in words.

use super::shell::{Joint, Reading, Redirect, Simple, Word};
use super::{Policy, Rule, Rules, Says, Subject, Verdict, cover, covers, judge};
use crate::chat::{Plan, Script, Standing};

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Name of the check: `parsed command`, `rules that deny`.
    pub name: &'static str,
    /// Results, one line each.
    pub found: Vec<String>,
}

/// Returns every check and the verdict.
pub fn explain(
    policy: &Policy,
    granted: &[Standing],
    rules: &Rules,
    tool: &str,
    plan: &Plan,
) -> (Vec<Step>, Verdict) {
    let of = Subject::of(tool, plan);
    let mut steps = Vec::new();
    let mut step = |name, found: Vec<String>| steps.push(Step { name, found });
    if let Some(reading) = of.reading() {
        step("parsed command", read(reading));
    }
    step("effects", reaches(&of, plan));
    step("mode", vec![format!("{}: {}", policy.mode.word(), policy.mode.meaning())]);
    if policy.dry_run {
        let asks = if policy.as_live { "required approvals are requested" } else { "nothing is asked" };
        step("dry run", vec![format!("calls are rehearsed, nothing changes live; {asks}")]);
    }
    for (says, name) in [(Says::Deny, "rules that deny"), (Says::Ask, "rules that ask")] {
        step(name, rules_of(rules, says, &of));
    }
    if let Some(why) = &rules.broken {
        step("unreadable rules", vec![format!("{why}; every call asks until this is fixed")]);
    }
    if !granted.is_empty() {
        let found = granted.iter().filter(|standing| covers(&standing.grant, &of)).map(Standing::words);
        let mut found: Vec<String> = found.collect();
        if found.is_empty() {
            found.extend(
                cover::outdated(granted, &Rules::default(), &of).map(|why| format!("outdated: {why}")),
            );
        }
        step("grants of this session", none_if_empty(found, "none matches"));
    }
    step("rules that allow", rules_of(rules, Says::Allow, &of));
    (steps, judge(policy, granted, rules, tool, plan))
}

fn none_if_empty(mut found: Vec<String>, none: &str) -> Vec<String> {
    if found.is_empty() {
        found.push(none.to_owned());
    }
    found
}

/// Lists the rules that match, and explains why the closest ones do not.
fn rules_of(rules: &Rules, says: Says, of: &Subject<'_>) -> Vec<String> {
    let all: Vec<&Rule> = rules.list.iter().filter(|rule| rule.says == says).collect();
    let speaking = rules.speaking(says, of);
    let mut found: Vec<String> = speaking.iter().map(|rule| format!("matches: {}", rule.told())).collect();
    if says == Says::Allow {
        let named = cover::reads_named(rules, of).unwrap_or_default();
        found.extend(named.iter().map(|rule| format!("matches a file that it reads: {}", rule.told())));
    }
    if says == Says::Allow && found.is_empty() {
        let near = all.iter().filter_map(|rule| {
            let why = cover::why_not(rule, of)?;
            Some(format!("does not match: {}: {why}", rule.told()))
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

fn reaches(of: &Subject<'_>, plan: &Plan) -> Vec<String> {
    let mut found = vec![format!("{} {}", of.tool, plan.summary).trim_end().to_owned()];
    match of.basis.bound() {
        Ok(scripts) if of.line.is_some() && !scripts.is_empty() => {
            found.push("a rule for exactly this command is bound to these files:".to_owned());
            found.push(format!("scripts = {{ {} }}", listed(&scripts)));
        }
        Err(why) => found.push(format!("no rule can cover it: {why}")),
        Ok(_) => {}
    }
    if let Some(destroys) = &plan.destroys {
        found.push(format!("destructive: {destroys}; no rule can cover it"));
    }
    if let Some(beyond) = &of.basis.beyond {
        let path = beyond.path.display();
        found.push(match beyond.sensitive {
            true => format!("secrets or configuration of other programs: {path}; no rule can cover it"),
            false => {
                format!("outside the project: {path}; only a rule for exactly this command can cover it")
            }
        });
    }
    found
}

/// Formats scripts as in a rules file.
fn listed(scripts: &[Script]) -> String {
    let one = |script: &Script| {
        let held = script.sha256.as_ref().map_or("missing", |sha256| sha256.as_str());
        format!("{:?} = {held:?}", script.path.to_string_lossy())
    };
    scripts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Describes the commands of a line, one line each, and why the rest is not followed.
fn read(reading: &Reading) -> Vec<String> {
    let mut found: Vec<String> = reading.commands.iter().map(part).collect();
    if let Some(unclear) = &reading.unclear {
        found.push(format!("not fully analyzed: {}", unclear.0));
    }
    none_if_empty(found, "no command")
}

fn part(simple: &Simple) -> String {
    let joint = match simple.joint {
        Joint::First => "",
        Joint::Then => "; ",
        Joint::Beside => "& ",
        Joint::And => "&& ",
        Joint::Or => "|| ",
        Joint::Pipe | Joint::PipeBoth => "| ",
    };
    let words =
        |words: &[Word]| words.iter().map(|word| format!("[{}]", word.shown())).collect::<Vec<_>>().join(" ");
    let mut told = format!("{joint}{}", words(&simple.words));
    let mut add = |what: &str, with: &str| told.push_str(&format!(" · {what} {with}"));
    for (name, value) in &simple.prefix {
        add("variable", &format!("{name}={}", value.shown()));
    }
    for wrapper in &simple.wrappers {
        add("run by", &words(wrapper));
    }
    for redirect in &simple.redirects {
        match redirect {
            Redirect::Read(word) => add("reads", word.shown()),
            Redirect::Write(word) => add("writes", word.shown()),
            Redirect::Append(word) => add("appends to", word.shown()),
            Redirect::Onto => {}
            Redirect::Text(_) => add("reads", "a here-document"),
        }
    }
    if let Some(script) = &simple.script {
        add("runs the script", script.shown());
    }
    if simple.inline.is_some() {
        add("runs", "inline code");
    }
    if simple.background {
        add("runs", "in the background");
    }
    if !simple.within.is_empty() {
        add("inside", "another command");
    }
    told
}
