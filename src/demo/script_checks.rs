//! Checks of a script: sizes, paths, names, and what refers to other steps.

use super::script::{Action, Condition, Reply, Script, ScriptError};
use super::text_template;

/// Reads columns and rows such as `100x30`; `None` if that is too small or too large for a screen.
pub fn parse_size(text: &str) -> Option<(u16, u16)> {
    let (columns, rows) = text.split_once('x')?;
    let (columns, rows) = (columns.trim().parse().ok()?, rows.trim().parse().ok()?);
    ((20..=500).contains(&columns) && (6..=200).contains(&rows)).then_some((columns, rows))
}

/// Checks that ids are given once, and that conditions and placeholders name calls before them.
pub(super) fn check_references(script: &Script) -> Result<(), ScriptError> {
    let mut ids: Vec<&str> = Vec::new();
    for step in &script.steps {
        let Action::Reply(reply) = &step.action else { continue };
        let error = |message: String| Err(ScriptError { line: step.line, message });
        let parts = reply.text.iter().flat_map(|part| &part.conditions);
        for condition in reply.conditions.iter().chain(parts) {
            let named = match condition {
                Condition::DryRun(_) => continue,
                Condition::Result(call, _)
                | Condition::Answer(call, _)
                | Condition::OwnWords(call, _)
                | Condition::HasNote(call) => call,
            };
            if !ids.contains(&named.as_str()) {
                return error(format!("no call before this step has the id {named}"));
            }
        }
        for part in &reply.text {
            if let Err(problem) = text_template::check(&part.text, &ids) {
                return error(problem);
            }
        }
        for call in &reply.calls {
            if ids.contains(&call.id.as_str()) {
                return error(format!("two calls have the id {}", call.id));
            }
            ids.push(&call.id);
        }
    }
    let is_late = |(index, reply): (usize, &Reply)| {
        !reply.repeats && script.replies().any(|(other, earlier)| other < index && earlier.repeats)
    };
    match script.replies().find(|reply| is_late(*reply)) {
        Some((index, _)) => Err(ScriptError {
            line: script.steps[index].line,
            message: "this reply is never used: a reply with `repeat` comes before it".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks that a path stays in the project.
pub(super) fn check_path(path: &str) -> Result<(), String> {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    match path.split('/').all(is_plain) && !path.contains(['\\', '\0']) {
        true => Ok(()),
        false => Err(format!("the path {path:?} does not stay in the project: use a relative path without `..`")),
    }
}

pub(super) fn is_plain_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || " -_.".contains(c);
    !name.is_empty() && name.len() <= 60 && !name.starts_with(['.', ' ', '-']) && name.chars().all(is_allowed)
}

pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
