//! History of user messages in a project, across its sessions, for recall in the composer.

use super::draft::short_name;
use super::{Error, private_files, session_log};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of messages.
pub const MAX_MESSAGES: usize = 1000;
/// Maximum bytes of a message; longer ones are not kept.
pub const MAX_MESSAGE_BYTES: usize = 64 << 10;
/// Maximum bytes of all messages. The whole file is read whenever a message is added.
const MAX_TOTAL_BYTES: usize = 4 << 20;

/// User messages of one project, one line of JSON each, because a message may have several lines.
#[derive(Debug, Clone)]
pub struct History {
    folder: PathBuf,
    path: PathBuf,
}

impl History {
    /// Opens the history of a project in `folder`, which must exist.
    pub fn new(folder: &Path, project: &Path) -> Self {
        let path = folder.join(short_name(project)).with_extension("jsonl");
        Self { folder: folder.to_owned(), path }
    }

    /// Returns the messages, newest last, at most `MAX_MESSAGES`, without consecutive duplicates. Unreadable lines are
    /// skipped.
    pub fn load(&self) -> Vec<String> {
        let bytes = private_files::read_or_empty(&self.path);
        let lines = bytes.split(|&byte| byte == b'\n');
        let mut messages: Vec<String> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        messages.dedup();
        let mut remaining_bytes = MAX_TOTAL_BYTES;
        let fits = |text: &&String| {
            let remaining = remaining_bytes.checked_sub(text.len());
            remaining_bytes = remaining.unwrap_or(0);
            remaining.is_some()
        };
        let kept_count = messages.iter().rev().take(MAX_MESSAGES).take_while(fits).count();
        messages.drain(..messages.len() - kept_count);
        messages
    }

    /// Adds a message. Blank messages and those longer than [`MAX_MESSAGE_BYTES`] are ignored.
    pub fn add_message(&self, text: &str) -> Result<(), Error> {
        if text.trim().is_empty() || text.len() > MAX_MESSAGE_BYTES {
            return Ok(());
        }
        self.add_line(text).map_err(Error::with_path(&self.path))
    }

    fn add_line(&self, text: &str) -> io::Result<()> {
        // The folder may have been removed since the program started.
        if !self.folder.exists() {
            private_files::create_folder(&self.folder)?;
        }
        // The lock prevents losing a line that another session appends while this one replaces the file to shorten it.
        // If the lock is not free soon (its holder may be suspended), the line is added without it.
        let folder = File::open(&self.folder)?;
        let is_locked = session_log::lock_with_retries(&folder).is_ok();
        let mut file = match private_files::open_append(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => private_files::create_append(&self.path)?,
            result => result?,
        };
        let bytes = private_files::read_or_empty(&self.path);
        let mut line = Vec::new();
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, text)?;
        line.push(b'\n');
        file.write_all(&line)?;
        // The file is replaced only at twice the limits, so that most messages are just appended.
        let is_too_long = bytes.len() >= 2 * MAX_TOTAL_BYTES
            || bytes.iter().filter(|&&byte| byte == b'\n').count() >= 2 * MAX_MESSAGES;
        if is_too_long && is_locked {
            let mut content = Vec::new();
            for message in self.load() {
                serde_json::to_writer(&mut content, &message)?;
                content.push(b'\n');
            }
            private_files::replace(&self.path, &content)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    fn open_history(home: &tempfile::TempDir) -> History {
        History::new(home.path(), Path::new("/project"))
    }

    #[test]
    fn returns_messages_in_order_with_their_lines() {
        let home = tempfile::tempdir().unwrap();
        let history = open_history(&home);
        assert_eq!(history.load(), Vec::<String>::new());
        for text in ["one", "two\nlines", "two\nlines", "  ", "three"] {
            history.add_message(text).unwrap();
        }
        assert_eq!(history.load(), ["one", "two\nlines", "three"]);
        assert_eq!(History::new(home.path(), Path::new("/other")).load(), Vec::<String>::new());
        assert_eq!(history.path.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn limits_messages_in_the_file() {
        let home = tempfile::tempdir().unwrap();
        let history = open_history(&home);
        let old: String = (0..2 * MAX_MESSAGES).map(|n| format!("\"{n}\"\n")).collect();
        fs::write(&history.path, old).unwrap();
        history.add_message("last").unwrap();
        let messages = history.load();
        assert_eq!(
            (messages.len(), messages[0].as_str(), messages[MAX_MESSAGES - 1].as_str()),
            (MAX_MESSAGES, "1001", "last")
        );
        let lines = fs::read_to_string(&history.path).unwrap().lines().count();
        assert_eq!(lines, MAX_MESSAGES);
        history.add_message(&"x".repeat(MAX_MESSAGE_BYTES + 1)).unwrap();
        assert_eq!(history.load().len(), MAX_MESSAGES);
    }

    #[test]
    fn r65_limits_bytes_of_long_messages() {
        let home = tempfile::tempdir().unwrap();
        let history = open_history(&home);
        let long_message = |n: usize| format!("{n:03}{}", "x".repeat(MAX_MESSAGE_BYTES - 3));
        let old: Vec<u8> = (0..2 * MAX_TOTAL_BYTES / MAX_MESSAGE_BYTES)
            .flat_map(|n| format!("\"{}\"\n", long_message(n)).into_bytes())
            .collect();
        fs::write(&history.path, old).unwrap();
        history.add_message("last").unwrap();
        let messages = history.load();
        assert_eq!((messages.len(), messages.last().unwrap().as_str()), (MAX_TOTAL_BYTES / MAX_MESSAGE_BYTES, "last"));
        assert!(fs::metadata(&history.path).unwrap().len() < MAX_TOTAL_BYTES as u64 + 1000);
    }

    #[test]
    fn does_not_wait_for_a_locked_folder() {
        let home = tempfile::tempdir().unwrap();
        let folder = File::open(home.path()).unwrap();
        folder.lock().unwrap();
        open_history(&home).add_message("one").unwrap();
        assert_eq!(open_history(&home).load(), ["one"]);
    }

    #[test]
    fn incomplete_line_loses_only_itself() {
        let home = tempfile::tempdir().unwrap();
        let history = open_history(&home);
        fs::write(&history.path, "\"one\"\n\"tw").unwrap();
        history.add_message("three").unwrap();
        assert_eq!(history.load(), ["one", "three"]);
    }
}
