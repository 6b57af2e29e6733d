//! Problems of a tool file, with file and line, and the checks that every kind of tool shares.

use super::definition_fields::{KeyLines, ToolFields};
use std::fmt;

/// Longest time limit of a tool in milliseconds.
const MAX_TIMEOUT_MS: i64 = 120_000;

/// Something that is wrong in a tool file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub message: String,
    /// True if the tool works nevertheless.
    pub is_warning: bool,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Collects the problems of a file.
pub(super) struct Problems<'a> {
    file: &'a str,
    list: Vec<FileProblem>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Self { file, list: Vec::new() }
    }

    /// Returns the problems in the order of their lines.
    pub(super) fn into_sorted(mut self) -> Vec<FileProblem> {
        self.list.sort_by_key(|problem| problem.line);
        self.list
    }

    pub(super) fn report(&mut self, line: usize, message: impl Into<String>) {
        self.push(line, message.into(), false);
    }

    pub(super) fn warn(&mut self, line: usize, message: impl Into<String>) {
        self.push(line, message.into(), true);
    }

    fn push(&mut self, line: usize, message: String, is_warning: bool) {
        self.list.push(FileProblem { file: self.file.to_owned(), line, message, is_warning });
    }
}

/// Returns whether a placeholder names something other than an argument.
pub(super) fn is_context_path(path: &str) -> bool {
    let contexts = ["current_time", "current_weekday", "project.", "initial_context.", "gathered_context."];
    contexts.iter().any(|context| path.starts_with(context))
}

/// Warns about a placeholder that names neither a parameter nor a preset.
pub(super) fn check_path(path: &str, fields: &ToolFields, line: usize, problems: &mut Problems<'_>) {
    let first = path.split('.').next().unwrap_or(path);
    let is_parameter = |name: &str| name == path || name == first;
    let is_known = fields.parameters.iter().any(|parameter| is_parameter(&parameter.name))
        || fields.preset_parameters.iter().any(|preset| is_parameter(&preset.name))
        || is_context_path(path);
    if !is_known {
        problems.warn(line, format!("{path} is neither a parameter nor a preset"));
    }
}

/// Returns the time limit in milliseconds, if there is one.
pub(super) fn check_timeout(fields: &ToolFields, lines: &KeyLines<'_>, problems: &mut Problems<'_>) -> Option<u64> {
    let timeout_ms = fields.timeout_ms?;
    if !(1..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
        let message = format!("timeout_ms is {timeout_ms}. Use 1 to {MAX_TIMEOUT_MS} ms");
        problems.report(lines.line_of_key("timeout_ms"), message);
    }
    u64::try_from(timeout_ms).ok()
}
