//! `aye sessions` and its options.

use super::options::FolderOptions;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `aye sessions`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Sessions {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: ListSessions,
}

/// Subcommand of `aye sessions`.
#[derive(Debug, Clone, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions of this folder
    List(ListSessions),
    /// Print a session as plain text [default: the last of this folder]
    Show {
        /// Session ID or its beginning
        id: Option<String>,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Search the messages of all sessions
    Search(SearchSessions),
    /// Rename a session
    Rename {
        /// Session ID or its beginning
        id: String,
        /// New title
        #[arg(required = true)]
        name: Vec<String>,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Delete sessions and all their files
    Rm {
        /// Session IDs or their beginnings
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Copy a session; the original is unchanged
    Fork {
        /// Session ID or its beginning
        id: String,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
    /// Export a session as Markdown, HTML or JSON, with secrets of known forms redacted
    Export(ExportSession),
}

/// `aye sessions list`.
#[derive(Debug, Clone, Default, Args)]
pub struct ListSessions {
    /// List the sessions of all folders
    #[arg(long, conflicts_with = "here")]
    pub all: bool,
    /// List only the sessions of this folder, which is the default
    #[arg(long, hide = true)]
    pub here: bool,
    /// Print one JSON object per session
    #[arg(long)]
    pub json: bool,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// `aye sessions search`.
#[derive(Debug, Clone, Args)]
pub struct SearchSessions {
    /// Words that a session must contain
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Search only the sessions of this folder
    #[arg(long)]
    pub here: bool,
    /// Search the sessions of all folders, which is the default
    #[arg(long, hide = true, conflicts_with = "here")]
    pub all: bool,
    /// Print one JSON object per match
    #[arg(long)]
    pub json: bool,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// `aye sessions export`.
#[derive(Debug, Clone, Args)]
pub struct ExportSession {
    /// Session ID or its beginning [default: the last of this folder]
    pub id: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,
    /// Write to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Include the files of the session's workspace, unredacted: in the HTML page, or in a new folder named by --output
    #[arg(long)]
    pub with_files: bool,
    /// With --output: overwrite an existing file, but never a folder
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// Output format of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Markdown text
    #[default]
    Markdown,
    /// One self-contained HTML page
    Html,
    /// JSON, for other programs
    Json,
}
