//! `aye tools new` and `aye tools import`: write tool files, and never replace one.

use super::inventory::Inventory;
use crate::cli::{UsageError, bail_usage};
use crate::commands::output::print_lines;
use crate::config::settings_file::replace_file;
use crate::text::clean::clean_line;
use crate::tools::tool_file::definition_parser::to_function_name;
use crate::tools::tool_file::exported_tool::import_tools;
use crate::tools::tool_file::{FileKind, parse_tool, starter_file};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// Maximum size of an export in bytes.
const MAX_EXPORT_BYTES: u64 = 4 << 20;

/// Writes a commented file to start from.
pub(super) fn create(inventory: &Inventory, name: &str, kind: &str) -> Result<ExitCode> {
    let kind = FileKind::parse_name(kind).map_err(|expected| {
        UsageError(format!("Cannot write a tool of kind {kind:?}: there is no such kind. Use {expected}."))
    })?;
    let function_name = to_function_name(name);
    if !function_name.starts_with(|c: char| c.is_ascii_lowercase()) || function_name.len() > 64 {
        bail_usage!(
            "Cannot name a tool {name:?}: it begins with no letter, or is too long. Use at most 64 letters, digits and \
             spaces, beginning with a letter."
        );
    }
    let path = inventory.new_file(&function_name)?;
    write_file(&path, &starter_file(kind).replacen("NAME", &function_name, 1))?;
    print_lines([
        format!("wrote {}", path.display()),
        format!("edit it, then: aye tools check, aye tools test {function_name}"),
    ])
}

/// Writes the tools of an export.
pub(super) fn import(inventory: &Inventory, file: &Path) -> Result<ExitCode> {
    let failed = |reason: String| {
        UsageError(format!("Cannot import {}: {reason}. Name a JSON export of Dograh.", file.display()))
    };
    let text = crate::config::settings_file::read_bounded_text(file, MAX_EXPORT_BYTES).map_err(failed)?;
    let text = text.ok_or_else(|| failed("the file does not exist".to_owned()))?;
    let tools = import_tools(&text).map_err(failed)?;
    // Before the first is written, so that an import happens as a whole.
    let paths = tools.iter().map(|tool| inventory.new_file(&tool.file_stem)).collect::<Result<Vec<_>>>()?;
    let mut lines = Vec::new();
    for (tool, path) in tools.iter().zip(&paths) {
        write_file(path, &tool.text)?;
        lines.push(format!("wrote {}", path.display()));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let parsed = parse_tool(&name, &tool.text);
        lines.extend(parsed.problems.iter().map(|problem| match problem.is_warning {
            true => format!("note: {problem}"),
            false => format!("problem: {problem}"),
        }));
        lines.extend(tool.notes.iter().map(|note| format!("note: {note}")));
    }
    print_lines(lines.iter().map(|line| clean_line(line).into_owned()))
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    replace_file(path, text).map_err(|error| {
        UsageError(format!("Cannot write {}: {error}. Make its folder writable, then run this again.", path.display()))
            .into()
    })
}
