//! The files that `@` completes, and their filter. Both are fast enough for 200,000 files; the screen
//! filters more than 20,000 on another thread.

mod builder;
mod matcher;

pub use builder::IndexBuilder;
pub use matcher::NameMatcher;

use crate::chat::image::is_image_path;
use crate::text::byte_size::format_bytes;
use matcher::NameMatch;
use std::cmp::Reverse;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a list that are ordered by how well they match; further ones are only counted.
const MAX_ROWS: usize = 1_000;
/// Maximum number of rows without adjacent typed characters that are scored: those in which the characters are nearest.
const MAX_SCORED: usize = 10_000;
/// Minimum number of rows that a filter searches on several threads.
const MIN_PARALLEL: usize = 20_000;
const MAX_THREADS: usize = 4;
/// Added to the score of a recently used file: about the score of one matched character.
const RECENT_BONUS: u32 = 16;
/// Size of an entry that is a folder.
const FOLDER: u64 = u64::MAX;
/// Bytes of text per token, as in most source files.
const BYTES_PER_TOKEN: u64 = 4;
/// Endings of files that are attached as something else than their bytes, or not at all: the size says nothing about tokens.
const NOT_TEXT: [&str; 24] = [
    ".7z", ".a", ".bin", ".bz2", ".class", ".db", ".dll", ".exe", ".gz", ".ico", ".jar", ".mp3", ".mp4", ".o", ".otf",
    ".pdf", ".pyc", ".so", ".tar", ".ttf", ".wasm", ".woff2", ".xz", ".zip",
];

/// Files and folders, relative to the project; the names of folders end in a slash. The names are one text, so that the
/// index of a large project is cheap to copy and drop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileIndex {
    names: String,
    /// End of each name in `names`.
    ends: Vec<u32>,
    /// Characters of each name: see [`matcher::character_mask`].
    masks: Vec<u64>,
    /// Byte offset of the last part of each path.
    file_name_starts: Vec<u16>,
    /// Bytes of each file, or [`FOLDER`].
    sizes: Vec<u64>,
    /// Files that the session used, the last used one first, and then recently modified ones.
    recent: Vec<u32>,
}

/// The rows that match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMatches {
    /// Typed text.
    typed: String,
    /// Scores and rows, best first, at most 1,000.
    pub best: Vec<(u32, u32)>,
    /// Number of all matching rows.
    pub total: usize,
    /// All matching rows in ascending order, among which a longer text is looked for; `None` if it may match others too.
    all: Option<Vec<u32>>,
}

/// A filter to run on another thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterRequest {
    pub index: Arc<FileIndex>,
    pub typed: String,
    /// Matches of an earlier text in the same index.
    pub previous: Option<Arc<FileMatches>>,
}

impl FilterRequest {
    /// Returns the matching rows; `None` once they are no longer wanted.
    pub fn run(&self, is_wanted: &(dyn Fn() -> bool + Sync)) -> Option<FileMatches> {
        self.index.filter_while(&self.typed, self.previous.as_deref(), is_wanted)
    }
}

impl FileIndex {
    /// Returns the number of files and folders.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn name(&self, row: usize) -> &str {
        self.names.get(self.name_range(row)).unwrap_or_default()
    }

    /// Returns the size and an estimate of the tokens of a file, if it is text by its name; otherwise only the size.
    pub fn describe(&self, row: usize) -> String {
        let name = self.name(row);
        match self.sizes.get(row) {
            None | Some(&FOLDER) => String::new(),
            Some(size) => {
                let lower = name.to_ascii_lowercase();
                let is_text = !is_image_path(name) && !NOT_TEXT.iter().any(|ending| lower.ends_with(ending));
                let tokens = if is_text { format!(" · ~{}", describe_tokens(*size)) } else { String::new() };
                format!("{}{tokens}", format_bytes(*size))
            }
        }
    }

    /// Returns the rows that match, the best first. `previous` is what an earlier text matched in the same index.
    pub fn filter(&self, typed: &str, previous: Option<&FileMatches>) -> FileMatches {
        self.filter_while(typed, previous, &|| true).unwrap_or_default()
    }

    fn filter_while(
        &self,
        typed: &str,
        previous: Option<&FileMatches>,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Option<FileMatches> {
        if typed.is_empty() {
            return Some(self.list_all());
        }
        if let Some(matches) = self.list_folder(typed) {
            return Some(matches);
        }
        let among =
            previous.filter(|earlier| typed.starts_with(&earlier.typed)).and_then(|earlier| earlier.all.as_deref());
        let count = among.map_or(self.len(), <[u32]>::len);
        let find = |positions: Range<usize>| self.find_rows(typed, among, positions, is_wanted);
        let (mut all, mut together, mut in_order) = (Vec::new(), Vec::new(), Vec::new());
        for (row, found) in run_in_parts(count, &find) {
            all.push(row);
            match found {
                NameMatch::Together(rank) => together.push((rank, row)),
                NameMatch::InOrder(span) => in_order.push((span, row)),
            }
        }
        let by_score = |(score, row): &(u32, u32)| (Reverse(*score), *row);
        // Names in which the characters are apart are better only by chance, so that most of them need no score.
        let mut best = keep_best(together, MAX_ROWS, by_score);
        if best.len() < MAX_ROWS {
            let in_order = keep_best(in_order, MAX_SCORED, |(span, row)| (*span, *row));
            let estimate = |positions: Range<usize>| {
                let mut matcher = NameMatcher::new(typed);
                let score = |(_, row): &(u32, u32)| Some((matcher.estimate_score(self.name(*row as usize))?, *row));
                in_order[positions].iter().filter_map(score).collect()
            };
            best.extend(keep_best(run_in_parts(in_order.len(), &estimate), MAX_ROWS, by_score));
        }
        if !is_wanted() {
            return None;
        }
        let is_left_out = |row: &u32| all.binary_search(row).is_ok() && !best.iter().any(|(_, listed)| listed == row);
        let left_out: Vec<_> = self.recent.iter().copied().filter(is_left_out).map(|row| (0, row)).collect();
        best.extend(left_out);
        let mut matcher = NameMatcher::new(typed);
        for (score, row) in &mut best {
            let bonus = if self.recent.contains(row) { RECENT_BONUS } else { 0 };
            *score = matcher.score(self.name(*row as usize)).unwrap_or_default().saturating_add(bonus);
        }
        best.sort_unstable_by_key(by_score);
        best.truncate(MAX_ROWS);
        Some(FileMatches { typed: typed.to_owned(), best, total: all.len(), all: Some(all) })
    }

    /// Returns the matching rows at these positions of `among`, or of the index.
    fn find_rows(
        &self,
        typed: &str,
        among: Option<&[u32]>,
        positions: Range<usize>,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Vec<(u32, NameMatch)> {
        let mut matcher = NameMatcher::new(typed);
        let mut rows = Vec::new();
        // Once the list is full, only better rows are of interest: those whose file begins with what is typed.
        let mut missing_rows = MAX_ROWS;
        for position in positions {
            if position % 4096 == 0 && !is_wanted() {
                break;
            }
            let row = among.map_or(position, |rows| rows[position] as usize);
            if let Some(found) =
                matcher.find(self.name(row), self.masks[row], self.file_name_starts[row].into(), missing_rows > 0)
            {
                missing_rows = missing_rows.saturating_sub(usize::from(matches!(found, NameMatch::Together(_))));
                rows.push((u32::try_from(row).unwrap_or(u32::MAX), found));
            }
        }
        rows
    }

    /// Returns all rows, the recently used ones first.
    fn list_all(&self) -> FileMatches {
        let rows = (0..self.len()).filter_map(|row| u32::try_from(row).ok()).filter(|row| !self.recent.contains(row));
        let best = self.recent.iter().copied().chain(rows).take(MAX_ROWS).map(|row| (0, row)).collect();
        FileMatches { typed: String::new(), best, total: self.len(), all: None }
    }

    /// Returns a folder that is typed in full, and what is directly in it.
    fn list_folder(&self, typed: &str) -> Option<FileMatches> {
        if !typed.ends_with('/') {
            return None;
        }
        let folder = (0..self.len()).find(|row| self.sizes[*row] == FOLDER && self.name(*row) == typed)?;
        let is_child = |row: &usize| {
            let child = self.name(*row).strip_prefix(typed).unwrap_or_default();
            !child.is_empty() && !child.trim_end_matches('/').contains('/')
        };
        let rows = std::iter::once(folder).chain((0..self.len()).filter(is_child));
        let rows: Vec<_> = rows.filter_map(|row| u32::try_from(row).ok()).map(|row| (0, row)).collect();
        let total = rows.len();
        let best = rows.into_iter().take(MAX_ROWS).collect();
        Some(FileMatches { typed: typed.to_owned(), best, total, all: None })
    }

    fn name_range(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        start..self.ends.get(row).map_or(start, |end| *end as usize)
    }
}

/// Splits `0..count` into ranges, runs a function on each, and joins the results. Uses several threads if `count` is large.
fn run_in_parts<T: Send>(count: usize, run: &(dyn Fn(Range<usize>) -> Vec<T> + Sync)) -> Vec<T> {
    let threads = match count < MIN_PARALLEL {
        true => 1,
        false => std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS),
    };
    let size = count.div_ceil(threads);
    std::thread::scope(|scope| {
        let part = |number: usize| (number * size).min(count)..((number + 1) * size).min(count);
        let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || run(part(number)))).collect();
        let mut results = run(part(0));
        for other in others {
            results.extend(other.join().unwrap_or_default());
        }
        results
    })
}

/// Keeps the first `count` rows of this order, in any order.
fn keep_best<K: Ord>(mut rows: Vec<(u32, u32)>, count: usize, order: impl Fn(&(u32, u32)) -> K) -> Vec<(u32, u32)> {
    if rows.len() > count {
        rows.select_nth_unstable_by_key(count, order);
        rows.truncate(count);
    }
    rows
}

/// Describes the estimated tokens of a text of this many bytes: `300 tokens`, `12k tokens`.
fn describe_tokens(bytes: u64) -> String {
    match bytes.div_ceil(BYTES_PER_TOKEN) {
        1 => "1 token".to_owned(),
        tokens @ 0..1_000 => format!("{tokens} tokens"),
        tokens => format!("{}k tokens", tokens.div_ceil(1_000)),
    }
}

#[cfg(test)]
mod tests;
