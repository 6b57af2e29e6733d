//! Reads the end of the journal for a bug report: only notes, no content.

use super::{CONTENT_QUOTE, list_logs};
use crate::store::private_files;
use std::io::{self, Read};
use std::path::Path;

/// Maximum number of runs shown. The newest are shown.
const MAX_RUNS: usize = 5;
/// Maximum bytes of all shown notes together.
const MAX_TOTAL_BYTES: usize = 64 << 10;
/// Maximum characters shown of a note. The program writes no longer notes.
const MAX_NOTE_CHARS: usize = 400;
/// Maximum bytes read of a file. The program writes no longer files.
const MAX_FILE_BYTES: u64 = 2 << 20;

/// The end of one journal file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEnd {
    pub name: String,
    /// Its last notes, each with its time.
    pub notes: Vec<String>,
    /// Number of earlier notes that are not shown.
    pub omitted_count: usize,
    /// Number of other lines: content, or of unknown origin. None is shown.
    pub other_count: usize,
}

/// Returns the last notes of the newest runs, oldest first; empty if there is no journal.
///
/// # Errors
/// If the folder exists but cannot be listed. Unreadable files are skipped.
pub fn read_tail(folder: &Path) -> io::Result<Vec<JournalEnd>> {
    let files = list_logs(folder)?;
    let mut remaining_bytes = MAX_TOTAL_BYTES;
    let mut ends = Vec::new();
    for file in files.iter().rev().take(MAX_RUNS) {
        let mut text = Vec::new();
        let result = private_files::open_read(file).and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text));
        if result.is_ok() {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            ends.push(collect_last_notes(name, &String::from_utf8_lossy(&text), &mut remaining_bytes));
        }
    }
    ends.reverse();
    Ok(ends)
}

/// Returns the notes at the end of a file that fit in `remaining_bytes`.
fn collect_last_notes(name: String, text: &str, remaining_bytes: &mut usize) -> JournalEnd {
    let mut end = JournalEnd { name, notes: Vec::new(), omitted_count: 0, other_count: 0 };
    for line in text.lines().rev() {
        if !is_note(line) {
            end.other_count += 1;
        } else if end.omitted_count > 0 || line.len() > *remaining_bytes {
            end.omitted_count += 1;
        } else {
            *remaining_bytes -= line.len();
            end.notes.push(line.chars().take(MAX_NOTE_CHARS).collect());
        }
    }
    end.notes.reverse();
    end
}

/// Returns whether a line is a note: a time, then text without quotes.
fn is_note(line: &str) -> bool {
    let time = line.split_once(' ').and_then(|(time, _)| time.parse::<jiff::Timestamp>().ok());
    time.is_some() && !line.contains(CONTENT_QUOTE)
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::*;
    use std::fs;

    #[test]
    fn r57_shows_neither_content_nor_foreign_lines() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("journal");
        let logs_content = true;
        let journal = Journal::new(folder.clone(), logs_content, crate::text::known_secrets::KnownSecrets::default());
        journal.note("begins");
        journal.content("said", || "plover".into());
        journal.note("to \"m\" at h");
        journal.note("ends");
        let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        // Damage by a full disk, and foreign lines.
        fs::write(&file, format!("over xyzzy\n\n2026 xyzzy\n{text}2026-01-01T00:00:00Z said: \"xyz")).unwrap();
        fs::write(folder.join("other"), "2026-01-01T00:00:00Z xyzzy").unwrap();
        fs::write(folder.join("00.log"), b"2026-01-01T00:00:00Z \xff\n").unwrap();
        let ends = read_tail(&folder).unwrap();
        // `00.log` has one note. The journal has five lines that are no notes: two with content and three foreign ones.
        assert_eq!((ends.len(), ends[0].notes.len(), ends[1].other_count), (2, 1, 5));
        let notes: Vec<&str> = ends[1].notes.iter().map(|note| note.split_once(' ').unwrap().1).collect();
        assert_eq!(notes, ["begins", "to 'm' at h", "ends"]);
    }

    #[test]
    fn limits_runs_and_bytes_of_notes() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read_tail(&home.path().join("none")).unwrap(), []);
        for run in 0..MAX_RUNS + 2 {
            let lines = (0..200).map(|n| format!("2026-01-01T00:00:00Z {n} {}\n", "x".repeat(200)));
            fs::write(home.path().join(format!("{run}.log")), lines.collect::<String>()).unwrap();
        }
        // A pipe without a writer is not waited for. It counts as the newest of the `MAX_RUNS` runs.
        let pipe = home.path().join("9.log");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let ends = read_tail(home.path()).unwrap();
        let names: Vec<&str> = ends.iter().map(|end| end.name.as_str()).collect();
        assert_eq!(names, ["3.log", "4.log", "5.log", "6.log"]);
        let byte_count: usize = ends.iter().flat_map(|end| &end.notes).map(String::len).sum();
        assert!(byte_count <= MAX_TOTAL_BYTES && byte_count > MAX_TOTAL_BYTES - 400, "{byte_count}");
        assert!(ends[3].notes[199].contains(" 199 x") && ends[3].omitted_count == 0, "the last run is complete");
        assert_eq!((ends[0].notes.len(), ends[0].omitted_count), (0, 200));
        assert_eq!(ends[2].notes.len() + ends[2].omitted_count, 200);
    }
}
