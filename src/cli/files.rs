//! Options of `aye files`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `aye files`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Files {
    /// What to do; `ls` if none.
    #[command(subcommand)]
    pub command: Option<FilesCommand>,
    /// Options of `ls`.
    #[command(flatten)]
    pub list: ListOptions,
}

/// Subcommand of `aye files`.
#[derive(Debug, Clone, Subcommand)]
pub enum FilesCommand {
    /// List the files of a session's workspace, most recently changed first
    Ls(ListOptions),
    /// Print the content of a file
    Cat {
        /// File ID, ID@VERSION, path, or workspace:// address
        file: String,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
    /// Copy a file of the workspace to a file of yours
    Get {
        /// File ID, ID@VERSION, path, or workspace:// address
        file: String,
        /// File to create [default: its name, in the current folder]
        target: Option<PathBuf>,
        /// Replace the target if it exists
        #[arg(long)]
        force: bool,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
    /// Copy a file of yours to the workspace
    Put {
        /// File to read; - for standard input
        source: PathBuf,
        /// Path in the workspace [default: the name of the file]
        path: Option<String>,
        /// Replace a file of the workspace, whose earlier versions are kept
        #[arg(long)]
        overwrite: bool,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
    /// Delete files; their versions are kept
    Rm {
        /// File IDs, paths, or workspace:// addresses
        #[arg(required = true)]
        files: Vec<String>,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
    /// List the versions of a file, oldest first
    History {
        /// File ID, path, or workspace:// address
        file: String,
        /// Print JSON objects, one per line
        #[arg(long)]
        json: bool,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
    /// Make an earlier version the latest one, or restore a deleted file [default: the last version with a content]
    Restore {
        /// File ID, ID@VERSION, path, or workspace:// address
        file: String,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
    /// Remove earlier versions and deleted files permanently
    Prune {
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Session and folder.
        #[command(flatten)]
        place: SessionPlace,
    },
}

/// Options of `aye files ls`.
#[derive(Debug, Clone, Default, Args)]
pub struct ListOptions {
    /// Only files in this folder of the workspace
    #[arg(value_name = "FOLDER")]
    pub prefix: Option<String>,
    /// Print JSON objects, one per line
    #[arg(long)]
    pub json: bool,
    /// Session and folder.
    #[command(flatten)]
    pub place: SessionPlace,
}

/// Session whose workspace is used.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionPlace {
    /// Session ID or its beginning [default: the last one of this folder]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Folder.
    #[command(flatten)]
    pub place: super::FolderOptions,
}
