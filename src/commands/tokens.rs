//! `aye tokens`: the tokens that each request takes before any message, and comparisons of sets of tools.

mod comparison;
mod report;
mod schema_source;

use super::output::print_lines;
use super::tools::inventory::Inventory;
use crate::cli::ReportOptions;
use crate::cli::resolve_folder;
use crate::cli::tokens::TokensCommand;
use anyhow::Result;
use comparison::Comparison;
use std::process::ExitCode;

/// Runs the command. No provider is contacted and no MCP server is started.
pub(super) fn run(command: &TokensCommand) -> Result<ExitCode> {
    match command {
        TokensCommand::Show(ReportOptions { json, place }) => {
            let report = report::Report::new(&Inventory::load(place)?)?;
            print_lines(if *json { report.json_lines() } else { report.lines() })
        }
        TokensCommand::Compare { old, new, options } => {
            let folder = resolve_folder(options.place.folder.as_deref())?;
            let comparison = Comparison::new(schema_source::load(old, &folder)?, schema_source::load(new, &folder)?);
            print_lines(if options.json { comparison.json_lines() } else { comparison.lines() })
        }
    }
}
