//! `aye tools`: lists, shows, checks, tests and adds the tools that files define.

mod added_file;
pub(super) mod inventory;
mod test_call;

use super::output::print_lines;
use crate::assemble::tool_files::reserved_names;
use crate::cli::tools::ToolsCommand;
use crate::cli::{FolderOptions, ReportOptions, UsageError, bail_usage};
use crate::config::setting_writer::write_setting;
use crate::tools::tool_file::parse_tool;
use anyhow::Result;
use inventory::Inventory;
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub(super) async fn run(command: ToolsCommand) -> Result<ExitCode> {
    match command {
        ToolsCommand::List(ReportOptions { json, place }) => print_lines(Inventory::load(&place)?.list(json)),
        ToolsCommand::Show { name, place } => print_lines(Inventory::load(&place)?.show(&name)?),
        ToolsCommand::Check { file: Some(file), .. } => check_file(&file),
        ToolsCommand::Check { file: None, place } => report_problems(&Inventory::load(&place)?.problems()),
        ToolsCommand::Test { name, arguments, yes, place } => {
            test_call::run(&Inventory::load(&place)?, &name, &arguments, yes).await
        }
        ToolsCommand::Import { file, place } => added_file::import(&Inventory::load(&place)?, &file),
        ToolsCommand::New { name, kind, place } => added_file::create(&Inventory::load(&place)?, &name, &kind),
        ToolsCommand::Enable { name, place } => set_disabled(&place, &name, false),
        ToolsCommand::Disable { name, place } => set_disabled(&place, &name, true),
    }
}

/// Checks a file that need not be in a folder of tools.
fn check_file(file: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| UsageError(format!("Cannot check {}: {error}. Check the path.", file.display())))?;
    let parsed = parse_tool(&file.display().to_string(), &text);
    let is_usable = parsed.definition.is_some();
    let problems: Vec<(String, bool)> =
        parsed.problems.iter().map(|problem| (problem.to_string(), problem.is_warning)).collect();
    if problems.is_empty() && is_usable {
        return print_lines(["no problems".to_owned()]);
    }
    report_problems(&problems)
}

/// Prints problems, and warnings marked as such. The exit code is 2 if there are problems.
fn report_problems(problems: &[(String, bool)]) -> Result<ExitCode> {
    let format_line = |(problem, is_warning): &(String, bool)| {
        let mark = if *is_warning { "warning: " } else { "" };
        crate::text::clean::clean_line(&format!("{mark}{problem}")).into_owned()
    };
    match problems {
        [] => print_lines(["no problems".to_owned()])?,
        problems => print_lines(problems.iter().map(format_line))?,
    };
    Ok(ExitCode::from(if problems.iter().all(|(_, is_warning)| *is_warning) { 0 } else { 2 }))
}

/// Turns a tool off, or on again.
fn set_disabled(place: &FolderOptions, name: &str, is_disabled: bool) -> Result<ExitCode> {
    let inventory = Inventory::load(place)?;
    if reserved_names().iter().any(|reserved| reserved == name) {
        bail_usage!("Cannot turn off {name}: it is built in. Deny it with a rule instead: `aye help permissions`.");
    }
    let mut disabled = inventory.settings.config.tools.disabled.clone();
    let was_disabled = disabled.iter().any(|known| known == name);
    if is_disabled {
        inventory.find(name)?;
    }
    if was_disabled != is_disabled {
        disabled.retain(|known| known != name);
        disabled.extend(is_disabled.then(|| name.to_owned()));
        let list: toml_edit::Array = disabled.into_iter().collect();
        write_setting(&inventory.places.settings(), &["tools", "disabled"], list).map_err(|error| {
            UsageError(format!("Cannot change the settings: {error}. Correct the file, then run this again."))
        })?;
    }
    print_lines([format!("{name} is {} in new sessions", if is_disabled { "off" } else { "on" })])
}
