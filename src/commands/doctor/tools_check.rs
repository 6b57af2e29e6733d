//! Checks the tool files and the skills of the user.

use super::finding::Finding;
use crate::chat::pluralize;
use crate::chat::skill::SkillText;
use crate::config::definition_files::{DefinitionFile, SKILL_FILES, TOOL_FILES};
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

/// Checks the skills of the user. Without any there is nothing to report.
pub(super) fn check_skills(places: &Places) -> Vec<Finding> {
    let area = "skills";
    let files = SKILL_FILES.read_user(&places.skills());
    let error_of = |file: &DefinitionFile| {
        let text = file.text.as_ref().map_err(String::clone);
        text.and_then(|text| SkillText::parse(&file.name, text)).err().map(|reason| format!("{}: {reason}", file.name))
    };
    let errors: Vec<String> = files.iter().filter_map(error_of).collect();
    let usable = files.len() - errors.len();
    let message = format!("{}: {usable} of {} usable", places.skills().display(), pluralize(files.len(), "skill"));
    let summary = (!files.is_empty()).then(|| Finding::ok(area, message));
    let problems = errors.into_iter().map(|error| Finding::problem(area, error, "correct that file: aye help skills"));
    summary.into_iter().chain(problems).collect()
}
