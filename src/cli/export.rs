//! `aye export`: pictures of recordings.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `aye export`.
#[derive(Debug, Clone, Args)]
#[command(subcommand_value_name = "FORMAT", disable_help_subcommand = true)]
pub struct Export {
    /// Format.
    #[command(subcommand)]
    pub format: ExportedFormat,
}

/// Format of `aye export`.
#[derive(Debug, Clone, Subcommand)]
pub enum ExportedFormat {
    /// Draw a recording as an animated SVG picture, whose text can be selected
    Svg(ExportSvg),
}

/// `aye export svg`.
#[derive(Debug, Clone, Args)]
pub struct ExportSvg {
    /// Recording: an asciicast of version 2 or 3
    #[arg(value_name = "RECORDING")]
    pub input: PathBuf,
    /// Write to this file, which must not exist unless --force is given
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
    /// Draw no window around the terminal
    #[arg(long)]
    pub no_window: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}
