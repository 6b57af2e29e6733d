//! `aye tools` and its options.

use super::options::{FolderOptions, ReportOptions};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `aye tools`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Tools {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: ReportOptions,
}

/// Subcommand of `aye tools`.
#[derive(Debug, Clone, Subcommand)]
pub enum ToolsCommand {
    /// List the tools of files and the built-in ones
    List(ReportOptions),
    /// Show what a tool does and what the model sees of it
    Show {
        /// Name of the tool for the model
        name: String,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Make one real call after confirmation
    Test {
        /// Name of the tool for the model
        name: String,
        /// Arguments of the call
        #[arg(value_name = "ARGUMENT=VALUE")]
        arguments: Vec<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Report errors in tool files. The exit code is 2 if there are any
    Check {
        /// File to check [default: all tool files]
        file: Option<PathBuf>,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Write tool files from a JSON export of Dograh
    Import {
        /// The export
        file: PathBuf,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Write a commented tool file to start from
    New {
        /// Name of the tool
        name: String,
        /// What it does: http_api, command, end_conversation, transfer or prompt
        #[arg(long, default_value = "http_api")]
        kind: String,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Offer a tool to the model again
    Enable {
        /// Name of the tool for the model
        name: String,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Stop offering a tool to the model
    Disable {
        /// Name of the tool for the model
        name: String,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
}
