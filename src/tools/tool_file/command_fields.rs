//! Checks the keys of a tool that runs a command.

use super::definition::CommandDefinition;
use super::definition_fields::{KeyLines, ToolFields};
use super::file_problems::{Problems, check_path, check_timeout};
use super::template::Template;
use std::path::{Component, Path, PathBuf};

/// Words of the shell that run their arguments as commands or change the shell.
const SHELL_WORDS: &[&str] =
    &[".", "alias", "builtin", "command", "eval", "exec", "export", "set", "source", "trap", "unset"];

/// Builds the command from its keys.
pub(super) fn build_command(
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
) -> Option<CommandDefinition> {
    let line = lines.line_of_key("argv");
    let mut argv = Vec::new();
    for (index, word) in fields.argv.iter().enumerate() {
        match Template::parse_word(word) {
            Ok(template) => {
                for path in template.paths() {
                    check_path(path, fields, lines.line_of_item("argv", index), problems);
                }
                argv.push(template);
            }
            Err(error) => problems.report(lines.line_of_item("argv", index), format!("argv: {error}")),
        }
    }
    match fields.argv.first().map(String::as_str) {
        None => problems.report(line, "argv is missing. Use a program and its arguments"),
        Some(program) if program.trim().is_empty() => problems.report(line, "the program in argv is empty"),
        Some(program) if program.contains("{{") => problems.report(line, "the program in argv has a placeholder"),
        Some(program) if SHELL_WORDS.contains(&program) => {
            problems.report(line, format!("{program} is a command of the shell; argv runs a program"));
        }
        Some(_) => {}
    }
    if fields.argv.iter().any(|word| word.contains('\0')) {
        problems.report(line, "argv contains a NUL character");
    }
    let folder = fields.folder.as_ref().map(PathBuf::from);
    let is_inside = |folder: &PathBuf| folder.components().all(|part| matches!(part, Component::Normal(_)));
    if folder.as_ref().is_some_and(|folder| folder == Path::new("") || !is_inside(folder)) {
        problems.report(lines.line_of_key("folder"), "folder must be a folder of the project, without . and ..");
    }
    let seconds = check_timeout(fields, lines, problems).map(|timeout_ms| timeout_ms.div_ceil(1_000));
    if fields.network.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        problems.report(lines.line_of_key("network"), "network must be the reason why the network is needed");
    }
    Some(CommandDefinition { argv, folder, seconds, network: fields.network.clone() })
}
