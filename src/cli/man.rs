//! The option of `aye man`.

use clap::Args;
use std::path::PathBuf;

/// `aye man`.
#[derive(Debug, Clone, Args)]
pub struct Man {
    /// Write aye.1, and a page for each command, to this folder, which is created if it is missing
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}
