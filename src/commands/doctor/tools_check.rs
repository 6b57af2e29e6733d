//! Checks the tool files of the user.

use super::finding::Finding;
use crate::chat::pluralize;
use crate::config::definition_files::TOOL_FILES;
use crate::store::Places;
use crate::tools::tool_file::parse_tool;

/// Checks the tool files of the user. Without any there is nothing to report.
pub(super) fn check_tools(places: &Places) -> Vec<Finding> {
    let area = "tools";
    let files = TOOL_FILES.read_user(&places.tools());
    let (mut findings, mut usable) = (Vec::new(), 0);
    for file in &files {
        let errors: Vec<String> = match &file.text {
            Ok(text) => parse_tool(&file.name, text).errors().map(ToString::to_string).collect(),
            Err(reason) => vec![format!("{}: {reason}", file.name)],
        };
        usable += usize::from(errors.is_empty());
        findings.extend(
            errors.into_iter().map(|error| Finding::problem(area, error, "correct that line, then aye tools check")),
        );
    }
    if !files.is_empty() {
        let message = format!("{}: {} of {} usable", places.tools().display(), usable, pluralize(files.len(), "file"));
        findings.insert(0, Finding::ok(area, message));
    }
    findings
}
