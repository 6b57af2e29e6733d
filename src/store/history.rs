//! What was said before in a project, across its sessions: for going back to it in the composer.

use super::draft::short_name;
use super::{Error, lines, private};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many are kept.
pub const KEPT: usize = 1000;
/// Longer ones are not: whoever pasted a book does not want it back with a key.
pub const LONGEST: usize = 64 << 10;
/// Bytes of all of them that are kept: the file is read whole whenever something is said.
const MOST: usize = 4 << 20;

/// What was said in one project: one line of JSON each, since what is said may have many lines.
#[derive(Debug, Clone)]
pub struct History {
    folder: PathBuf,
    path: PathBuf,
}

impl History {
    /// The history of a project, in the folder of histories, which must exist.
    pub fn new(folder: &Path, project: &Path) -> Self {
        let path = folder.join(short_name(project)).with_extension("jsonl");
        Self { folder: folder.to_owned(), path }
    }

    /// What was said, newest last, [`KEPT`] at most, never the same twice in a row. What cannot be read is left out.
    pub fn load(&self) -> Vec<String> {
        let bytes = private::held(&self.path);
        let lines = bytes.split(|&byte| byte == b'\n');
        let mut said: Vec<String> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        said.dedup();
        let mut room = MOST;
        let fits = |text: &&String| {
            let fits = room.checked_sub(text.len());
            room = fits.unwrap_or(0);
            fits.is_some()
        };
        let kept = said.iter().rev().take(KEPT).take_while(fits).count();
        said.drain(..said.len() - kept);
        said
    }

    /// Adds what was said. Blank words and very long ones are not kept.
    pub fn add(&self, text: &str) -> Result<(), Error> {
        if text.trim().is_empty() || text.len() > LONGEST {
            return Ok(());
        }
        self.add_line(text).map_err(Error::at(&self.path))
    }

    fn add_line(&self, text: &str) -> io::Result<()> {
        // Another session of the project may be adding too, and what is shortened is replaced. One that holds on to the
        // folder, being stopped, is not waited for.
        let folder = File::open(&self.folder)?;
        let alone = lines::lock(&folder).is_ok();
        let mut file = match private::open_append(&self.path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => private::open_append(&self.path, true)?,
            opened => opened?,
        };
        let bytes = private::held(&self.path);
        let mut line = Vec::new();
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, text)?;
        line.push(b'\n');
        file.write_all(&line)?;
        let long = bytes.len() >= 2 * MOST || bytes.iter().filter(|&&byte| byte == b'\n').count() >= 2 * KEPT;
        if long && alone {
            let mut kept = Vec::new();
            for said in self.load() {
                serde_json::to_writer(&mut kept, &said)?;
                kept.push(b'\n');
            }
            private::replace(&self.path, &kept)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    fn history(home: &tempfile::TempDir) -> History {
        History::new(home.path(), Path::new("/project"))
    }

    #[test]
    fn what_was_said_comes_back_in_order_with_its_lines() {
        let home = tempfile::tempdir().unwrap();
        let history = history(&home);
        assert_eq!(history.load(), Vec::<String>::new());
        for text in ["one", "two\nlines", "two\nlines", "  ", "three"] {
            history.add(text).unwrap();
        }
        assert_eq!(history.load(), ["one", "two\nlines", "three"]);
        assert_eq!(History::new(home.path(), Path::new("/other")).load(), Vec::<String>::new());
        assert_eq!(history.path.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn it_is_bounded_in_the_file_too() {
        let home = tempfile::tempdir().unwrap();
        let history = history(&home);
        let old: String = (0..2 * KEPT).map(|n| format!("\"{n}\"\n")).collect();
        fs::write(&history.path, old).unwrap();
        history.add("last").unwrap();
        let said = history.load();
        assert_eq!((said.len(), said[0].as_str(), said[KEPT - 1].as_str()), (KEPT, "1001", "last"));
        let lines = fs::read_to_string(&history.path).unwrap().lines().count();
        assert_eq!(lines, KEPT);
        history.add(&"x".repeat(LONGEST + 1)).unwrap();
        assert_eq!(history.load().len(), KEPT);
    }

    #[test]
    fn r65_what_is_kept_of_long_words_is_bounded_too() {
        let home = tempfile::tempdir().unwrap();
        let history = history(&home);
        let long = |n: usize| format!("{n:03}{}", "x".repeat(LONGEST - 3));
        let old: Vec<u8> =
            (0..2 * MOST / LONGEST).flat_map(|n| format!("\"{}\"\n", long(n)).into_bytes()).collect();
        fs::write(&history.path, old).unwrap();
        history.add("last").unwrap();
        let said = history.load();
        assert_eq!((said.len(), said.last().unwrap().as_str()), (MOST / LONGEST, "last"));
        assert!(fs::metadata(&history.path).unwrap().len() < MOST as u64 + 1000);
    }

    #[test]
    fn whoever_holds_on_to_the_folder_holds_up_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = File::open(home.path()).unwrap();
        folder.lock().unwrap();
        history(&home).add("one").unwrap();
        assert_eq!(history(&home).load(), ["one"]);
    }

    #[test]
    fn a_torn_line_costs_itself_alone() {
        let home = tempfile::tempdir().unwrap();
        let history = history(&home);
        fs::write(&history.path, "\"one\"\n\"tw").unwrap();
        history.add("three").unwrap();
        assert_eq!(history.load(), ["one", "three"]);
    }
}
