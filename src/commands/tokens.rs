//! `aye tokens`: the tokens that each request takes before any message.

mod report;

use super::output::print_lines;
use super::tools::inventory::Inventory;
use crate::cli::commands::ReportOptions;
use crate::cli::tokens::TokensCommand;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the command. No provider is contacted and no MCP server is started.
pub(super) fn run(command: &TokensCommand) -> Result<ExitCode> {
    match command {
        TokensCommand::Show(ReportOptions { json, place }) => {
            let report = report::Report::new(&Inventory::load(place)?)?;
            print_lines(if *json { report.json_lines() } else { report.lines() })
        }
    }
}
