//! `aye tokens` and its options.

use super::options::ReportOptions;
use clap::{Args, Subcommand};

/// `aye tokens`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Tokens {
    /// What to do; `show` if none.
    #[command(subcommand)]
    pub command: Option<TokensCommand>,
    /// Options of `show`.
    #[command(flatten)]
    pub show: ReportOptions,
}

/// Subcommand of `aye tokens`.
#[derive(Debug, Clone, Subcommand)]
pub enum TokensCommand {
    /// Show the tokens of system prompt, instructions and tools, before any message
    Show(ReportOptions),
    /// Compare two sets of tools: tokens, changed words, and what is no longer stated
    Compare {
        /// File of aye tokens --json or of schemas, tool set such as core, or commit
        #[arg(value_name = "A")]
        old: String,
        /// The newer one, of the same kinds
        #[arg(value_name = "B")]
        new: String,
        /// Output and folder.
        #[command(flatten)]
        options: ReportOptions,
    },
}
