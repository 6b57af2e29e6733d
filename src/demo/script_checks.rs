//! Checks of a script: sizes, paths, names, and what refers to other steps.

use super::script::{Action, Condition, Reply, Script, ScriptError};
use super::text_template;

/// Fewest and most columns and rows of a screen.
const COLUMNS: std::ops::RangeInclusive<u16> = 20..=500;
const ROWS: std::ops::RangeInclusive<u16> = 6..=200;
/// Most bytes of the name of a project's folder.
const MAX_NAME: usize = 60;

/// Reads columns and rows such as `100x30`.
///
/// # Errors
/// What was expected, if they are no numbers, too small or too large.
pub fn parse_size(text: &str) -> Result<(u16, u16), String> {
    let numbers = text.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    numbers.filter(|(columns, rows)| COLUMNS.contains(columns) && ROWS.contains(rows)).ok_or_else(|| {
        let (least, most) = ((COLUMNS.start(), ROWS.start()), (COLUMNS.end(), ROWS.end()));
        format!("expected columns and rows such as 100x30, from {}x{} to {}x{}", least.0, least.1, most.0, most.1)
    })
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

/// Returns whether a name can be that of a project's folder.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && plain_name(name) == name
}

/// Returns a name for a project's folder: this one, without the characters that it cannot have, or `project`.
pub(super) fn plain_name(name: &str) -> String {
    let is_allowed = |c: &char| c.is_alphanumeric() || " -_.".contains(*c);
    let allowed: String = name.chars().filter(is_allowed).collect();
    let name = truncate_to_boundary(allowed.trim_start_matches(['.', ' ', '-']), MAX_NAME);
    if name.is_empty() { "project".to_owned() } else { name.to_owned() }
}

/// Returns the beginning of a text with at most this many bytes.
fn truncate_to_boundary(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
