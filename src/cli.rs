//! Command-line arguments.

pub mod commands;
pub mod completions;
pub mod credentials;
pub mod demo;
mod examples;
pub mod export;
pub mod files;
pub mod help;
pub mod line_completion;
pub mod man;
pub mod mcp;
mod mistyped_command;
mod options;
mod parser;
pub mod sessions;
pub mod skills;
pub mod tokens;
pub mod tools;
mod usage_error;

pub use commands::Command;
pub(crate) use examples::EXAMPLES_HEADING;
pub(crate) use options::resolve_folder;
pub use options::{ChatOptions, ConnectionOptions, FolderOptions, ReportOptions};
pub use parser::{ParseError, Request, parse_arguments};
pub use usage_error::UsageError;
pub(crate) use usage_error::bail_usage;

use clap::Parser;

/// A terminal copilot that asks before tool calls run
///
/// Without any configuration the tour starts: a scripted model that plays a short session with real tools, to try every
/// prompt and key.
#[derive(Debug, Parser)]
#[command(
    name = "aye",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    override_usage = "aye [OPTIONS] [PROMPT]...\n       aye [OPTIONS] COMMAND",
    subcommand_value_name = "COMMAND",
    after_help = help::overview_footer()
)]
pub struct Cli {
    /// Options of the chat.
    #[command(flatten)]
    pub chat: ChatOptions,
    /// The command, if any.
    #[command(subcommand)]
    pub command: Option<Command>,
}
