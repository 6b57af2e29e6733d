//! Options of the chat, and options that commands share with it.

use super::usage_error::UsageError;
use crate::chat::ForkMode;
use crate::config::Overrides;
use crate::config::settings::parse_mode;
use crate::recording::cast::CastVersion;
use clap::{ArgAction, Args};
use std::path::{Path, PathBuf};

/// Options of the chat, on the screen or with `-p`.
#[derive(Debug, Clone, Default, Args)]
pub struct ChatOptions {
    /// Message to send at once. With -p, a pipe on standard input is appended to it
    #[arg(value_name = "PROMPT")]
    pub prompt_words: Vec<String>,

    /// Words after --: always sent to the model, never taken for a command
    #[arg(value_name = "PROMPT", last = true, hide = true)]
    pub literal_prompt: Vec<String>,

    /// Print the reply and exit, without a screen
    ///
    /// Calls that need approval are denied. Exit codes: 0 done, 1 the provider failed, 2 usage error, 3 waiting for the
    /// user, 130 stopped with ctrl-c.
    #[arg(short, long)]
    pub print: bool,

    /// With -p: print one JSON entry per line instead of text
    ///
    /// Some commands also accept it.
    #[arg(long)]
    pub json: bool,

    /// With -p: print the reply byte for byte
    ///
    /// By default, control characters except line feed and tab are removed, and other invisible characters are shown as
    /// marks such as <U+202E>, whether the output is a terminal, a pipe or a file.
    #[arg(long, requires = "print", conflicts_with = "json")]
    pub raw: bool,

    /// Continue the last session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub continue_last: bool,

    /// Continue a session by id or id prefix; without ID, choose from a list
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// With --resume or --continue: continue in a copy
    #[arg(long)]
    pub fork: bool,

    /// With --fork: continue the copy of a dry run live
    ///
    /// Rehearsed changes stay in the dry run.
    #[arg(long, requires = "fork", conflicts_with = "dry_run")]
    pub live: bool,

    /// Read answers to the model's questions from this JSON file
    ///
    /// If FILE is -, they are read from standard input.
    /// With -p they answer any question of the run; with --resume, the question that is waiting.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,

    /// Rehearse: change nothing outside an overlay
    ///
    /// This holds for the whole session; with --fork, for the copy.
    #[arg(long)]
    pub dry_run: bool,

    /// Model and provider.
    #[command(flatten)]
    pub connection: ConnectionOptions,

    /// Approval mode: plan, ask, auto or full
    ///
    /// plan: read only, everything else is denied. ask: read inside the project. auto: also change files inside the
    /// project. full: everything except calls that may read secrets, can reach the network, change the system or files
    /// outside the project, or cannot be read.
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,

    /// Theme to use
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,

    /// Folder to work in [default: the current one]
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Record the screen to this file, for asciinema
    ///
    /// Secrets are masked. The file must not exist.
    #[arg(long, value_name = "FILE", conflicts_with = "print")]
    pub record: Option<PathBuf>,

    /// Version of the recording's format, for players before asciinema 3 [default: 3]
    #[arg(long, value_name = "VERSION", conflicts_with = "print")]
    pub record_version: Option<CastVersion>,

    /// Show the keys you press, also in recordings
    ///
    /// Only keys that act are shown, such as shortcuts and answers in prompts; typed text is not.
    #[arg(long, conflicts_with = "print")]
    pub show_keys: bool,

    /// Write message content to the journal too, with secrets redacted
    #[arg(long)]
    pub debug_content: bool,

    /// Start the tour, whatever is configured
    #[arg(long, action = ArgAction::SetTrue)]
    pub tour: bool,

    /// With --version: also print commit, target, build profile and features
    #[arg(long)]
    pub verbose: bool,
}

/// Model and provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ConnectionOptions {
    /// Model to use
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,

    /// Provider address, such as http://127.0.0.1:8080/v1
    ///
    /// The key of the profile in use is sent to it. If --profile, AYE_PROFILE and the settings name none, that is the
    /// key in OPENAI_API_KEY.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Profile of the settings to use
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// Output and folder of a report.
#[derive(Debug, Clone, Default, Args)]
pub struct ReportOptions {
    /// Print JSON objects, one per line
    #[arg(long)]
    pub json: bool,
    /// Folder.
    #[command(flatten)]
    pub place: FolderOptions,
}

/// Folder of a command.
#[derive(Debug, Clone, Default, Args)]
pub struct FolderOptions {
    /// Use this folder instead of the current one
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Use the folder of the tour
    #[arg(long)]
    pub tour: bool,
}

impl ChatOptions {
    /// Returns whether a fork runs live, as a dry run, or like the original.
    pub fn fork_mode(&self) -> ForkMode {
        match (self.live, self.dry_run) {
            (true, _) => ForkMode::Live,
            (false, true) => ForkMode::DryRun,
            (false, false) => ForkMode::Unchanged,
        }
    }

    /// Returns the first message; empty if there is none.
    pub fn prompt(&self) -> String {
        let words: Vec<&str> = self.prompt_words.iter().chain(&self.literal_prompt).map(String::as_str).collect();
        words.join(" ")
    }
}

impl ConnectionOptions {
    /// Returns the settings given on the command line.
    pub(crate) fn overrides(&self, mode: Option<&str>, theme: Option<&str>) -> Result<Overrides, UsageError> {
        let Self { model, base_url, profile } = self.clone();
        let mode = mode.map(parse_mode).transpose().map_err(UsageError)?;
        Ok(Overrides { profile, base_url, model, mode, theme: theme.map(str::to_owned) })
    }
}

/// Returns the named folder, or the current one, with its links resolved.
pub(crate) fn resolve_folder(named: Option<&Path>) -> Result<PathBuf, UsageError> {
    let folder = match named {
        Some(folder) => folder.to_owned(),
        None => std::env::current_dir().map_err(|_| {
            let advice = "Change to another folder, or name one with --folder.";
            UsageError(format!("Cannot use the current folder: it no longer exists. {advice}"))
        })?,
    };
    let refuse = |reason: &str| {
        UsageError(format!("Cannot use the folder {}: {reason}. Name another with --folder.", folder.display()))
    };
    let real = folder.canonicalize().map_err(|error| refuse(&error.to_string()))?;
    if !real.is_dir() {
        return Err(refuse("it is not a folder"));
    }
    Ok(real)
}
