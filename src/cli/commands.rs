//! The commands and their options.

use super::completions::Completions;
use super::credentials::Credentials;
use super::demo::Demo;
use super::export::Export;
use super::files::{Files, SessionPlace};
use super::man::Man;
use super::mcp::Mcp;
use super::options::{ConnectionOptions, FolderOptions, ReportOptions};
use super::sessions::Sessions;
use super::skills::Skills;
use super::tokens::Tokens;
use super::tools::Tools;
use crate::chat::ApplyOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// A command of the program.
#[derive(Debug, Clone, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum Command {
    /// List, search and manage sessions [default: list]
    Sessions(Sessions),
    /// Show, apply or discard the changes of a dry run [default: show]
    Rehearsal(Rehearsal),
    /// Undo the changes of the last turn of a session
    Undo(Undo),
    /// List, show and restore what calls changed [default: list]
    Checkpoints(Checkpoints),
    /// List, read, copy and restore the files of a session's workspace [default: ls]
    Files(Files),
    /// Open a file, a file of a session's workspace, or a web address
    Open(Open),
    /// List, check and explain the rules that allow, ask and deny [default: list]
    Rules(Rules),
    /// List the calls of a session with their approvals and outcomes [default: the last one]
    Audit(Audit),
    /// List, check, test and add the tools that files define [default: list]
    Tools(Tools),
    /// List and show skills: instructions that the model loads when needed [default: list]
    Skills(Skills),
    /// Show the tokens that each request takes, and compare sets of tools [default: show]
    Tokens(Tokens),
    /// Review the instructions, rules, tools and skills of the project in this folder, and trust them
    Trust(Trust),
    /// Revoke trust in the project in this folder
    Untrust(FolderOptions),
    /// List, add and check MCP servers [default: list]
    Mcp(Mcp),
    /// Add, list and remove the credentials that tools send [default: list]
    Credentials(Credentials),
    /// Serve an editor as its agent, or tools to another program
    Serve(Serve),
    /// Play, check and write demo scripts
    Demo(Demo),
    /// Draw a recording of the screen as a picture or a page, or convert it
    Export(Export),
    /// Play a recording or a session in the terminal
    Replay(ReplayRecording),
    /// List the provider's models
    Models(Models),
    /// Check settings, keys, model, terminal and sandbox, and suggest fixes
    Doctor(Doctor),
    /// Print a script that completes commands, options and names in a shell
    Completions(Completions),
    /// Print the man page, or write one page per command
    Man(Man),
    /// Show the help of a command, or a page of the manual
    Help(Help),
}

/// `aye help`.
#[derive(Debug, Clone, Args)]
pub struct Help {
    /// Command or topic [default: list both]
    #[arg(value_name = "TOPIC")]
    pub words: Vec<String>,
}

/// `aye open`.
#[derive(Debug, Clone, Args)]
pub struct Open {
    /// PATH, PATH:LINE, workspace:// address, or web address
    #[arg(value_name = "LINK")]
    pub target: String,
    /// Session and folder.
    #[command(flatten)]
    pub place: SessionPlace,
}

/// `aye rehearsal`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Rehearsal {
    /// What to do; `show` if none.
    #[command(subcommand)]
    pub command: Option<RehearsalCommand>,
    /// Options of `show`.
    #[command(flatten)]
    pub show: ReportOptions,
}

/// Subcommand of `aye rehearsal`.
#[derive(Debug, Clone, Subcommand)]
pub enum RehearsalCommand {
    /// Show the changes and commands of a dry run [default: the last of this folder]
    Show {
        /// Session ID or its beginning
        id: Option<String>,
        /// Output and folder.
        #[command(flatten)]
        options: ReportOptions,
    },
    /// Print the changes of a dry run, or of one path, as a patch
    Diff {
        /// Session ID or its beginning [default: the last dry run of this folder]
        id: Option<String>,
        /// File or folder of the project
        path: Option<String>,
        /// Output and folder.
        #[command(flatten)]
        options: ReportOptions,
    },
    /// Apply the changes of a dry run, with an approval prompt for each group
    Apply(Box<ApplyRehearsal>),
    /// Discard the changes of a dry run and keep the session
    Drop {
        /// Session ID or its beginning [default: the last dry run of this folder]
        id: Option<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
}

/// `aye rehearsal apply`.
#[derive(Debug, Clone, Args)]
pub struct ApplyRehearsal {
    /// Session ID or its beginning [default: the last dry run of this folder]
    pub id: Option<String>,
    /// Ask for each hunk of each file instead of each group
    #[arg(long)]
    pub hunks: bool,
    /// Include files ignored by git
    #[arg(long)]
    pub ignored: bool,
    /// Run the commands of the overlay sandbox again
    #[arg(long)]
    pub commands: bool,
    /// Model and provider.
    #[command(flatten)]
    pub connection: ConnectionOptions,
    /// Approval mode: plan, ask, auto or full
    #[arg(long)]
    pub mode: Option<String>,
    /// Theme to use
    #[arg(long, value_name = "NAME", hide = true)]
    pub theme: Option<String>,
    /// Write message content to the journal too, with secrets redacted
    #[arg(long, hide = true)]
    pub debug_content: bool,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

impl ApplyRehearsal {
    /// Returns what to apply.
    pub fn apply_options(&self) -> ApplyOptions {
        ApplyOptions { hunks: self.hunks, ignored: self.ignored, commands: self.commands }
    }
}

/// `aye undo`.
#[derive(Debug, Clone, Args)]
pub struct Undo {
    /// Session ID or its beginning [default: the last live one of this folder]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// `aye checkpoints`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Checkpoints {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<CheckpointsCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: CheckpointOptions,
}

/// Subcommand of `aye checkpoints`.
#[derive(Debug, Clone, Subcommand)]
pub enum CheckpointsCommand {
    /// List what calls changed in this folder, newest first
    List(CheckpointOptions),
    /// Show what restoring one checkpoint would change
    Show {
        /// Checkpoint ID or its beginning
        id: String,
        /// Session, output and folder.
        #[command(flatten)]
        options: CheckpointOptions,
    },
    /// Restore files to before a checkpoint, which undoes it and all later ones
    Restore {
        /// Checkpoint ID or its beginning
        id: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Only changes of this session: its ID or its beginning
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Folder.
        #[command(flatten)]
        place: FolderOptions,
    },
}

/// Session, output and folder of checkpoints.
#[derive(Debug, Clone, Default, Args)]
pub struct CheckpointOptions {
    /// Only changes of this session: its ID or its beginning
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Output and folder.
    #[command(flatten)]
    pub report: ReportOptions,
}

/// `aye rules`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Rules {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<RulesCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: ReportOptions,
}

/// Subcommand of `aye rules`.
#[derive(Debug, Clone, Subcommand)]
pub enum RulesCommand {
    /// List the rules in effect here and the expired ones
    List(ReportOptions),
    /// Report errors in the rules. The exit code is 2 if there are any
    Check(ReportOptions),
    /// Explain step by step how a command is judged
    Explain(ExplainCommand),
    /// Same as aye trust
    Trust(FolderOptions),
    /// Same as aye untrust
    Untrust(FolderOptions),
}

/// `aye rules explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainCommand {
    /// The command, in quotes
    pub command: String,
    /// Include the grants of the last session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub continue_last: bool,
    /// Include the grants of this session
    #[arg(short, long, value_name = "ID")]
    pub resume: Option<String>,
    /// Judge as in this mode
    #[arg(long)]
    pub mode: Option<String>,
    /// Judge as in a dry run
    #[arg(long)]
    pub dry_run: bool,
    /// Output and folder.
    #[command(flatten)]
    pub report: ReportOptions,
}

/// `aye audit`.
#[derive(Debug, Clone, Args)]
pub struct Audit {
    /// Session ID or its beginning
    pub id: Option<String>,
    /// Same as ID
    #[arg(short, long, value_name = "ID", conflicts_with_all = ["id", "continue_last"])]
    pub resume: Option<String>,
    /// The last session of this folder, which is the default
    #[arg(short = 'c', long = "continue", conflicts_with = "id")]
    pub continue_last: bool,
    /// Output and folder.
    #[command(flatten)]
    pub report: ReportOptions,
}

/// `aye trust`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Trust {
    /// What to do; shows the files and asks if none.
    #[command(subcommand)]
    pub command: Option<TrustCommand>,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// Subcommand of `aye trust`.
#[derive(Debug, Clone, Subcommand)]
pub enum TrustCommand {
    /// List the trusted files of all projects
    List(ReportOptions),
}

/// `aye serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    /// Offer tools that read the project and ask the user (Model Context Protocol)
    #[arg(long)]
    pub mcp: bool,
    /// Be the agent of an editor (Agent Client Protocol)
    #[arg(long, conflicts_with = "mcp")]
    pub acp: bool,
    /// Rehearse every session of the editor: nothing real is changed
    #[arg(long, conflicts_with = "mcp")]
    pub dry_run: bool,
    /// Permission mode of the editor's sessions: plan, ask, auto or full
    #[arg(long, value_name = "MODE", conflicts_with = "mcp")]
    pub mode: Option<String>,
    /// Model and provider of the editor's sessions.
    #[command(flatten)]
    pub connection: ConnectionOptions,
    /// Use this folder instead of the current one; an editor names its own
    #[arg(short = 'C', long, value_name = "FOLDER", conflicts_with = "acp")]
    pub folder: Option<PathBuf>,
}

/// `aye replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayRecording {
    /// Recording (asciicast of version 2 or 3), or a session ID or its beginning
    #[arg(value_name = "RECORDING")]
    pub file: PathBuf,
}

/// `aye models`.
#[derive(Debug, Clone, Args)]
pub struct Models {
    /// Print one JSON object per model
    #[arg(long)]
    pub json: bool,
    /// Model and provider.
    #[command(flatten)]
    pub connection: ConnectionOptions,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// `aye doctor`.
#[derive(Debug, Clone, Args)]
pub struct Doctor {
    /// Print one JSON object per finding
    #[arg(long)]
    pub json: bool,
    /// Write a bug report to this file, without keys and message content. Without FILE, to a new file in this folder
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = ".", conflicts_with = "json")]
    pub bundle: Option<PathBuf>,
    /// With --bundle: outline this session [default: the last of this folder]
    #[arg(short, long, value_name = "ID")]
    pub resume: Option<String>,
    /// Model and provider.
    #[command(flatten)]
    pub connection: ConnectionOptions,
    /// Check with this approval mode
    #[arg(long)]
    pub mode: Option<String>,
    /// Check with this theme
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}
