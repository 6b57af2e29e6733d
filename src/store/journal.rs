//! The journal: a log of what the program did and when, for finding faults. It contains no text of sessions or files
//! and no key. Content is logged only on request, with keys and likely secrets redacted.

pub mod journal_tail;

use super::{new_id, private_files};
use crate::text::known_secrets::KnownSecrets;
use crate::text::{redaction, truncation};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Size at which another file is started. The previous one is kept, so a run has at most two.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of files once a run has created its first one. The oldest are deleted.
const MAX_FILES: usize = 20;
/// Maximum bytes of content in one line.
const MAX_CONTENT_BYTES: usize = 64 << 10;
/// Quotes content; notes never contain it.
const CONTENT_QUOTE: char = '"';

/// Writes the journal. Cheap to clone; the default writes nothing. Errors are ignored.
#[derive(Clone, Default)]
pub struct Journal(Option<Arc<Inner>>);

struct Inner {
    folder: PathBuf,
    /// Name of this run's file, without extension.
    name: String,
    /// True if content is logged too.
    logs_content: bool,
    /// Secrets that are redacted in content.
    secrets: KnownSecrets,
    /// The open file and its size in bytes.
    file: Mutex<Option<(File, u64)>>,
}

impl Journal {
    /// Creates the journal of this run in `folder`. The file is created with the first line. With `logs_content`,
    /// session text is logged too, with `secrets` redacted.
    pub fn new(folder: PathBuf, logs_content: bool, secrets: KnownSecrets) -> Self {
        let name = new_id().0;
        Self(Some(Arc::new(Inner { folder, name, logs_content, secrets, file: Mutex::default() })))
    }

    /// Logs an event. The caller must not pass text of a user, model, tool or provider. `"` is replaced by `'`, because
    /// it marks content in the file.
    pub fn note(&self, note: impl fmt::Display) {
        if let Some(inner) = &self.0 {
            inner.write(&note.to_string().replace(CONTENT_QUOTE, "'"));
        }
    }

    /// Logs content, if that is enabled.
    pub fn content(&self, label: impl fmt::Display, body: impl FnOnce() -> String) {
        if let Some(inner) = self.0.as_ref().filter(|inner| inner.logs_content) {
            let body = body();
            let body = inner.secrets.mask(&body);
            let (body, _) = redaction::redact(&body);
            inner.write(&format!("{label}: {:?}", truncation::truncate_middle(&body, MAX_CONTENT_BYTES)));
        }
    }
}

impl Inner {
    /// Writes one line immediately.
    fn write(&self, text: &str) {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let now = jiff::Timestamp::now();
        let line = format!("{now:.3} {text}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.as_ref().is_none_or(|(_, size)| size + line.len() as u64 > MAX_FILE_BYTES) {
            // If the file cannot be opened, the next line tries again.
            *file = self.open(file.is_some()).map(|file| (file, 0));
        }
        if let Some((file, size)) = &mut *file
            && file.write_all(line.as_bytes()).is_ok()
        {
            *size += line.len() as u64;
        }
    }

    /// Creates this run's file. `is_continued` means that the run already has a file, which is renamed first.
    fn open(&self, is_continued: bool) -> Option<File> {
        let file = self.folder.join(format!("{}.log", self.name));
        if is_continued {
            fs::rename(&file, self.folder.join(format!("{}.before.log", self.name))).ok()?;
        } else {
            private_files::create_folder(&self.folder).ok()?;
            delete_oldest(&self.folder);
        }
        private_files::create_append(&file).ok()
    }
}

/// Returns the files of all runs, oldest first; empty if there is no journal.
fn list_logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = private_files::list_folder(folder)?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    // File names sort by the start of their runs.
    files.sort();
    Ok(files)
}

/// Deletes the oldest files to make room for another.
fn delete_oldest(folder: &Path) {
    let files = list_logs(folder).unwrap_or_default();
    let excess = files.len().saturating_sub(MAX_FILES - 1);
    for file in &files[..excess] {
        let _ = fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn list_files(folder: &Path) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    #[test]
    fn a_note_is_one_line_with_its_time() {
        let home = tempfile::tempdir().unwrap();
        let (folder, logs_content) = (home.path().join("journal"), false);
        let journal = Journal::new(folder.clone(), logs_content, KnownSecrets::default());
        assert!(!folder.exists(), "nothing was written yet");
        journal.note(format_args!("a{}b\n2026 c\x1b[2J", 1));
        journal.content("said", || panic!("content is disabled"));
        let logs = list_files(&folder);
        let text = fs::read_to_string(&logs[0]).unwrap();
        let (time, note) = text.split_once(' ').unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        assert_eq!(note, "a1b 2026 c [2J\n");
        assert_eq!((logs.len(), logs[0].metadata().unwrap().mode() & 0o777), (1, 0o600));
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn r57_logs_content_only_on_request_and_without_keys() {
        let home = tempfile::tempdir().unwrap();
        let token = format!("ghp_{}", "a1".repeat(18));
        let (logs_content, keys) = (true, ["odd-name-123", "x"].into_iter().collect());
        let journal = Journal::new(home.path().into(), logs_content, keys);
        journal.content("said", || format!("my key is odd-name-123\nand {token}, curl -u ada:hunter2 xx"));
        let text = fs::read_to_string(&list_files(home.path())[0]).unwrap();
        assert!(!text.contains("odd-name-123") && !text.contains(&token) && !text.contains("hunter2"), "{text}");
        assert!(text.contains("said: \"my key is [redacted]\\nand ") && text.contains(" xx\""), "{text}");
    }

    #[test]
    fn keeps_end_of_a_long_run_and_the_newest_runs() {
        let home = tempfile::tempdir().unwrap();
        for n in 0..MAX_FILES + 5 {
            fs::write(home.path().join(format!("00{n:03}.log")), "old").unwrap();
        }
        fs::write(home.path().join("other"), "not ours").unwrap();
        let logs_content = false;
        let journal = Journal::new(home.path().into(), logs_content, KnownSecrets::default());
        for n in 0..3000 {
            journal.note(format_args!("{n} {}", "x".repeat(1000)));
        }
        let logs = list_files(home.path());
        let sizes: Vec<u64> = logs.iter().map(|file| file.metadata().unwrap().len()).collect();
        assert_eq!(logs.len(), MAX_FILES + 2, "kept files, the previous part, and a foreign file");
        assert!(sizes.iter().all(|size| *size <= MAX_FILE_BYTES));
        let last = fs::read_to_string(home.path().join(format!("{}.log", journal.0.unwrap().name))).unwrap();
        assert!(last.contains(" 2999 x"));
    }

    #[test]
    fn write_errors_are_ignored() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("journal"), "a file").unwrap();
        let logs_content = true;
        Journal::new(home.path().join("journal"), logs_content, KnownSecrets::default()).note("x");
        Journal::default().note("x");
    }
}
