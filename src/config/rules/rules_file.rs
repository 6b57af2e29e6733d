//! Rules files on disk: names, size, reading and locking.

use crate::config::settings_file;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Maximum size of a rules file in bytes. A longer file is not read.
const MAX_RULES_BYTES: u64 = 4 << 20;

/// Path of a project's own rules in its directory.
pub const PROJECT_RULES_FILE: &str = ".aye/rules.toml";

/// Reads a rules file. Returns `None` if it does not exist, and an error text if it cannot be read or is not a regular
/// file.
pub fn read_rules_text(path: &Path) -> Result<Option<String>, String> {
    settings_file::read_bounded_text(path, MAX_RULES_BYTES)
}

/// Locks the file until the returned guard is dropped, so that concurrent processes change it one after the other.
pub(in crate::config) fn lock_file(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = path.file_name().map(|name| format!(".{}.lock", name.to_string_lossy())).unwrap_or_default();
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(folder.join(name))?;
    file.lock()?;
    Ok(file)
}
