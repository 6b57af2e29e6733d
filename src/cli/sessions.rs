//! What may follow `aye sessions`, and the flags that belong to it.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The flags of `aye sessions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Flags {
    /// With sessions list: those of every folder
    #[arg(long, hide = true, conflicts_with = "here")]
    pub all: bool,

    /// With sessions search: those of this folder alone
    #[arg(long, hide = true)]
    pub here: bool,

    /// With sessions export: what it is written as
    #[arg(long, hide = true, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,

    /// With sessions export: write this file, which must not be there yet
    #[arg(long, hide = true, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// With --output: write over a file that is there
    #[arg(long, hide = true, requires = "output")]
    pub force: bool,

    /// With sessions rm and with rehearsal drop: do not ask
    #[arg(long, hide = true)]
    pub yes: bool,
}

/// What a session is written as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text with marks.
    #[default]
    Markdown,
    /// One page for a browser, with nothing loaded from elsewhere.
    Html,
    /// Everything, for programs.
    Json,
}

impl Flags {
    /// The flags that are set, each with the only words it goes with.
    pub fn set(&self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
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
