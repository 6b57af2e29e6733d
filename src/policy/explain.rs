//! Why a call goes ahead, is asked about or is refused: every step to the verdict, in words.

use super::shell::{Joint, Reading, Redirect, Simple, Word};
use super::{Policy, Rule, Rules, Says, Subject, Verdict, cover, covers, judge};
use crate::chat::{Plan, Script, Standing};

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What is looked at: `how it is read`, `rules that deny`.
    pub name: &'static str,
    /// What was found; one line each.
    pub found: Vec<String>,
}

/// Every step to the verdict, and the verdict.
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
        step("how it is read", read(reading));
    }
    step("what it reaches", reaches(&of, plan));
    step("the mode", vec![format!("{}: {}", policy.mode.word(), policy.mode.meaning())]);
    if policy.dry_run {
        let asks = if policy.as_live { "what would be asked is asked" } else { "nothing is asked" };
        step(
            "the dry run",
            vec![format!("nothing real is touched; what would be done is rehearsed; {asks}")],
        );
    }
    for (says, name) in [(Says::Deny, "rules that deny"), (Says::Ask, "rules that ask")] {
        step(name, rules_of(rules, says, &of));
    }
    if let Some(why) = &rules.broken {
        step("rules that cannot be read", vec![format!("{why}; until they can, everything asks")]);
    }
    if !granted.is_empty() {
        let found = granted.iter().filter(|standing| covers(&standing.grant, &of)).map(Standing::words);
        let mut found: Vec<String> = found.collect();
        if found.is_empty() {
            found.extend(
                cover::outdated(granted, &Rules::default(), &of).map(|why| format!("not any more: {why}")),
            );
        }
        step("what you allowed in this session", none_if_empty(found, "nothing of it covers this"));
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

/// The rules that speak, and why the nearest ones do not.
fn rules_of(rules: &Rules, says: Says, of: &Subject<'_>) -> Vec<String> {
    let all: Vec<&Rule> = rules.list.iter().filter(|rule| rule.says == says).collect();
    let speaking = rules.speaking(says, of);
    let mut found: Vec<String> = speaking.iter().map(|rule| format!("speaks: {}", rule.told())).collect();
    if says == Says::Allow {
        let named = cover::reads_named(rules, of).unwrap_or_default();
        found.extend(named.iter().map(|rule| format!("speaks of a file that it reads: {}", rule.told())));
    }
    if says == Says::Allow && found.is_empty() {
        let near = all.iter().filter_map(|rule| {
            let why = cover::why_not(rule, of)?;
            Some(format!("does not speak: {}, because {why}", rule.told()))
        });
        found.extend(near);
    }
    none_if_empty(
        found,
        &match all.len() {
            0 => "there are none".to_owned(),
            1 => "the one there is does not speak of this".to_owned(),
            many => format!("none of the {many} speaks of this"),
        },
    )
}

fn reaches(of: &Subject<'_>, plan: &Plan) -> Vec<String> {
    let mut found = vec![format!("{} {}", of.tool, plan.summary).trim_end().to_owned()];
    match of.basis.bound() {
        Ok(scripts) if of.line.is_some() && !scripts.is_empty() => {
            found.push("a rule for exactly this is bound to what it runs and names:".to_owned());
            found.push(format!("scripts = {{ {} }}", listed(&scripts)));
        }
        Err(why) => found.push(format!("no rule covers it, because {why}")),
        Ok(_) => {}
    }
    if let Some(destroys) = &plan.destroys {
        found.push(format!("it {destroys}; no rule covers that"));
    }
    if let Some(beyond) = &of.basis.beyond {
        let path = beyond.path.display();
        found.push(match beyond.sensitive {
            true => format!(
                "it names {path}, which holds secrets or is obeyed by other programs; no rule covers that"
            ),
            false => {
                format!("it names {path}, outside of the project; only a rule for exactly this covers that")
            }
        });
    }
    found
}

/// As it is written in a rule.
fn listed(scripts: &[Script]) -> String {
    let one = |script: &Script| {
        let held = script.sha256.as_ref().map_or("missing", |sha256| sha256.as_str());
        format!("{:?} = {held:?}", script.path.to_string_lossy())
    };
    scripts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The parts of a command line, one line each, and what is not followed.
fn read(reading: &Reading) -> Vec<String> {
    let mut found: Vec<String> = reading.commands.iter().map(part).collect();
    if let Some(unclear) = &reading.unclear {
        found.push(format!("not followed to its end, because {}", unclear.0));
    }
    none_if_empty(found, "nothing that runs")
}

fn part(simple: &Simple) -> String {
    let joint = match simple.joint {
        Joint::First => "",
        Joint::Then => "then ",
        Joint::Beside => "beside it ",
        Joint::And => "and then ",
        Joint::Or => "or else ",
        Joint::Pipe | Joint::PipeBoth => "into ",
    };
    let words =
        |words: &[Word]| words.iter().map(|word| format!("[{}]", word.shown())).collect::<Vec<_>>().join(" ");
    let mut told = format!("{joint}{}", words(&simple.words));
    let mut add = |what: &str, with: &str| told.push_str(&format!(" · {what} {with}"));
    for (name, value) in &simple.prefix {
        add("with", &format!("{name}={}", value.shown()));
    }
    for wrapper in &simple.wrappers {
        add("by", &words(wrapper));
    }
    for redirect in &simple.redirects {
        match redirect {
            Redirect::Read(word) => add("reads", word.shown()),
            Redirect::Write(word) => add("writes", word.shown()),
            Redirect::Append(word) => add("adds to", word.shown()),
            Redirect::Onto => {}
            Redirect::Text(_) => add("is given", "a text"),
        }
    }
    if let Some(script) = &simple.script {
        add("runs the script", script.shown());
    }
    if simple.inline.is_some() {
        add("runs code that", "stands in the line");
    }
    if simple.background {
        add("goes on", "in the background");
    }
    if !simple.within.is_empty() {
        add("within", "another command");
    }
    told
}
