//! The running program, which starts commands.

use std::path::{Path, PathBuf};

/// Returns the program that commands are started through: this one, even if its file was replaced meanwhile.
pub(crate) fn own_program() -> PathBuf {
    let running = Path::new("/proc/self/exe");
    if running.exists() { running.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "aye".into()) }
}
