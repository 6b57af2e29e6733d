//! `aye skills` and its options.

use super::options::{FolderOptions, ReportOptions};
use clap::{Args, Subcommand};

/// `aye skills`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Skills {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<SkillsCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: ReportOptions,
}

/// Subcommand of `aye skills`.
#[derive(Debug, Clone, Subcommand)]
pub enum SkillsCommand {
    /// List skills with their states and tokens
    List(ReportOptions),
    /// Show the instructions of a skill
    Show {
        /// Name of the skill
        name: String,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
}
