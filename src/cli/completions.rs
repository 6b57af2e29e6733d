//! The argument of `aye completions`.

use clap::{Args, ValueEnum};

/// `aye completions`.
#[derive(Debug, Clone, Args)]
pub struct Completions {
    /// Shell that reads the script
    pub shell: CompletionShell,
}

/// A shell that completes command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum CompletionShell {
    Bash,
    Zsh,
    Fish,
    PowerShell,
    Elvish,
    Nushell,
}
