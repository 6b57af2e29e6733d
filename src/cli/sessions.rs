//! Options of `aye sessions`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `aye sessions`, accepted by clap for every command and checked afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct SessionsOptions {
    /// With sessions list: list those of all folders
    #[arg(long, hide = true, conflicts_with = "here")]
    pub all: bool,

    /// With sessions search: search only this folder
    #[arg(long, hide = true)]
    pub here: bool,

    /// With sessions export: output format
    #[arg(long, hide = true, value_name = "FORMAT", value_enum)]
    pub format: Option<ExportFormat>,

    /// With sessions export: write to this file, which must not exist
    #[arg(long, hide = true, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// With --output: overwrite an existing file
    #[arg(long, hide = true, requires = "output")]
    pub force: bool,

    /// With sessions rm and rehearsal drop: do not ask for confirmation
    #[arg(long, hide = true)]
    pub yes: bool,
}

/// Output format of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Markdown text.
    #[default]
    Markdown,
    /// One self-contained HTML page.
    Html,
    /// JSON, for other programs.
    Json,
}

impl SessionsOptions {
    /// Returns the options that are set, each with the subcommands it is valid for.
    pub fn set_options(&self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        let flags: [(bool, &'static str, &'static [&'static str]); 6] = [
            (self.all, "--all", &["list", "search"]),
            (self.here, "--here", &["list", "search"]),
            (self.format.is_some(), "--format", &["export"]),
            (self.output.is_some(), "--output", &["export"]),
            (self.force, "--force", &["export"]),
            (self.yes, "--yes", &["rm"]),
        ];
        flags.into_iter().filter(|(set, ..)| *set).map(|(_, name, with)| (name, with))
    }
}
