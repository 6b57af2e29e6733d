//! Collects the entries of an index while the files are found.

use super::matcher::character_mask;
use super::{FOLDER, FileIndex};
use crate::text::clean::clean_line;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, SystemTime};

/// Number of files listed as recently modified.
const MAX_MODIFIED: usize = 10;
/// Time within which a file counts as recently modified.
const RECENT_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// A file is not recent if this many others were modified in the [`BULK_TIME`] before it, as by `git clone`.
const BULK_FILES: usize = 20;
const BULK_TIME: Duration = Duration::from_secs(10);

/// Collects files and folders.
pub struct IndexBuilder {
    index: FileIndex,
    /// Files that follow the others: names and sizes.
    last: Vec<(String, u64)>,
    /// Position of each file that the session used, the last used one first.
    used: HashMap<String, usize>,
    /// Position and row of those that were found.
    found_used: Vec<(usize, u32)>,
    /// The most recently modified files.
    modified: BinaryHeap<Reverse<(SystemTime, u32)>>,
    now: SystemTime,
}

impl IndexBuilder {
    /// Starts an index. `used` are the files that the session used, the last used one first.
    pub fn new(used: Vec<String>, now: SystemTime) -> Self {
        let used = used.into_iter().enumerate().map(|(position, name)| (name, position)).rev().collect();
        Self {
            index: FileIndex::default(),
            last: Vec::new(),
            used,
            found_used: Vec::new(),
            modified: BinaryHeap::new(),
            now,
        }
    }

    /// Adds a file with its size, or a folder, whose name ends in a slash. Control characters are removed from the name.
    pub fn add(&mut self, name: &str, size: Option<u64>, modified: Option<SystemTime>) {
        let row = u32::try_from(self.index.len()).unwrap_or(u32::MAX);
        if let Some(position) = self.used.get(name) {
            self.found_used.push((*position, row));
        }
        let is_recent = |time: &SystemTime| self.now.duration_since(*time).is_ok_and(|age| age < RECENT_TIME);
        if let Some(time) = modified.filter(is_recent).filter(|_| size.is_some()) {
            self.modified.push(Reverse((time, row)));
            if self.modified.len() > MAX_MODIFIED + BULK_FILES {
                self.modified.pop();
            }
        }
        push_entry(&mut self.index, name, size.unwrap_or(FOLDER));
    }

    /// Adds a file that is listed after all others.
    pub fn add_last(&mut self, name: &str, size: u64) {
        self.last.push((name.to_owned(), size));
    }

    /// Returns the number of files and folders so far.
    pub fn len(&self) -> usize {
        self.index.len() + self.last.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the index of what was added so far.
    pub fn index(&self) -> FileIndex {
        let mut index = self.index.clone();
        let mut used = self.found_used.clone();
        for (name, size) in &self.last {
            if let Some(position) = self.used.get(name) {
                used.push((*position, u32::try_from(index.len()).unwrap_or(u32::MAX)));
            }
            push_entry(&mut index, name, *size);
        }
        used.sort_unstable();
        index.recent = used.into_iter().map(|(_, row)| row).collect();
        for row in self.recently_modified() {
            if !index.recent.contains(&row) {
                index.recent.push(row);
            }
        }
        index
    }

    /// Returns the rows of the most recently modified files.
    fn recently_modified(&self) -> Vec<u32> {
        let mut modified: Vec<(SystemTime, u32)> = self.modified.iter().map(|Reverse(file)| *file).collect();
        modified.sort_unstable_by_key(|file| Reverse(*file));
        let is_bulk = |position: usize, time: SystemTime| {
            let earlier = modified.get(position + BULK_FILES);
            earlier.is_some_and(|(earlier, _)| time.duration_since(*earlier).is_ok_and(|gap| gap < BULK_TIME))
        };
        let recent = modified.iter().enumerate().take_while(|(position, (time, _))| !is_bulk(*position, *time));
        recent.take(MAX_MODIFIED).map(|(_, (_, row))| *row).collect()
    }
}

/// Appends an entry. Nothing is added beyond 4 GB of names.
fn push_entry(index: &mut FileIndex, name: &str, size: u64) {
    let name = clean_line(name);
    let Ok(end) = u32::try_from(index.names.len() + name.len()) else { return };
    index.names.push_str(&name);
    index.ends.push(end);
    index.masks.push(character_mask(&name));
    let file_name = name.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
    index.file_name_starts.push(u16::try_from(file_name).unwrap_or_default());
    index.sizes.push(size);
}
