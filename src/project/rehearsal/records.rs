//! Files of the overlay with one JSON record per line. Records are appended; only the last
//! ones can be removed.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Reads all records of a file. A missing file has none; truncated lines are skipped.
pub fn read_records<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    let bytes = fs::read(file).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Appends records to a file, which is created if needed.
pub fn append_records<T: Serialize>(file: &Path, records: &[T]) -> io::Result<()> {
    let mut lines = Vec::new();
    for record in records {
        // If an interruption or a full disk truncated the last line, this ends it.
        lines.push(b'\n');
        serde_json::to_writer(&mut lines, record)?;
    }
    lines.push(b'\n');
    File::options().create(true).append(true).open(file)?.write_all(&lines)
}

/// Removes the records after this length of the file, as far as possible.
pub fn truncate_records(file: &Path, length: u64) {
    let _ = File::options().write(true).open(file).and_then(|file| file.set_len(length));
}

/// Serializes a path as bytes, because it may not be Unicode.
pub mod path_bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_bytes().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(OsString::from_vec(Vec::deserialize(deserializer)?).into())
    }
}
