//! `aye demo`: scripts that play a session.

use crate::demo::script_checks::parse_size;
use crate::recording::cast::CastVersion;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `aye demo`.
#[derive(Debug, Clone, Args)]
#[command(subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Demo {
    /// What to do.
    #[command(subcommand)]
    pub command: DemoCommand,
}

/// Subcommand of `aye demo`.
#[derive(Debug, Clone, Subcommand)]
pub enum DemoCommand {
    /// Play a script with real tools in a new project; --record records it
    Play(PlayDemo),
    /// Play scripts without a terminal, and report mismatches
    Check(CheckDemos),
    /// Write an example script, or that of a session
    New(NewDemo),
}

/// `aye demo play`.
#[derive(Debug, Clone, Args)]
pub struct PlayDemo {
    /// Script (.toml or .md), or tour
    ///
    /// A script is a program: it makes calls and approves them. Play only scripts that you trust.
    #[arg(value_name = "SCRIPT")]
    pub script: PathBuf,
    /// Record to this file; needs no terminal
    ///
    /// The file must not exist unless --force is given.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Asciicast version, 2 or 3
    #[arg(long, value_name = "VERSION", default_value = "3", hide_default_value = true, hide_possible_values = true)]
    pub record_version: CastVersion,
    /// Overwrite an existing recording
    #[arg(long, requires = "record")]
    pub force: bool,
    /// Playback speed, from 0.1 to 1000
    ///
    /// A recording is the same at every speed.
    #[arg(long, value_name = "FACTOR", default_value = "1", hide_default_value = true, value_parser = parse_speed)]
    pub speed: f64,
    /// Columns and rows, such as 100x30
    ///
    /// By default the script's size, otherwise the terminal's.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub size: Option<(u16, u16)>,
    /// Show pressed keys, also in the recording
    #[arg(long)]
    pub show_keys: bool,
    /// Wait for a key before typing or pressing
    #[arg(long)]
    pub step: bool,
    /// Play again and again
    #[arg(long = "loop", conflicts_with = "record")]
    pub repeat: bool,
    /// Record without showing the demo
    #[arg(long, requires = "record", conflicts_with = "step")]
    pub hidden: bool,
    /// Use this folder as the project
    ///
    /// Calls change it. By default the demo runs in a new project with the script's files; with --folder, those files
    /// are not written.
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// `aye demo check`.
#[derive(Debug, Clone, Args)]
pub struct CheckDemos {
    /// Scripts (.toml or .md), or tour
    #[arg(value_name = "SCRIPT", required = true)]
    pub scripts: Vec<PathBuf>,
}

/// `aye demo new`.
#[derive(Debug, Clone, Args)]
pub struct NewDemo {
    /// File to write (.toml)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the script of this session: its ID or its beginning. Its results are kept, secrets are redacted
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.1..=1000.0).contains(speed));
    speed.ok_or_else(|| "expected a factor from 0.1 to 1000".to_owned())
}
