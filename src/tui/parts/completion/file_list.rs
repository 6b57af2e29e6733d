//! The files and the resources of MCP servers that `@` completes, and the rows that match.

use super::Candidate;
use crate::tui::file_index::{FileIndex, FileMatches, FilterRequest, NameMatcher};
use std::cmp::Reverse;
use std::sync::Arc;

/// Files up to which a filter takes no noticeable time. More are filtered on another thread.
const MAX_DIRECT: usize = 20_000;

/// Files, followed by resources. A row is an index into both.
#[derive(Debug, Clone, Default)]
pub(super) struct FileList {
    /// The latest files.
    latest: Arc<FileIndex>,
    /// The files that the rows are of: older ones while a filter runs.
    shown: Arc<FileIndex>,
    resources: Vec<Candidate>,
    /// Last matches in `shown`.
    matches: Option<Arc<FileMatches>>,
    /// Filter to start.
    request: Option<FilterRequest>,
    /// True until the matches of the typed text are known.
    is_waiting: bool,
}

impl FileList {
    pub fn set_files(&mut self, files: Arc<FileIndex>) {
        self.latest = files;
    }

    pub fn set_resources(&mut self, resources: Vec<Candidate>) {
        self.resources = resources;
    }

    /// Returns the number of files and resources found so far.
    pub fn count(&self) -> usize {
        self.latest.len() + self.resources.len()
    }

    /// Returns false for a resource.
    pub fn is_file(&self, row: usize) -> bool {
        row < self.shown.len()
    }

    pub fn name(&self, row: usize) -> &str {
        match row.checked_sub(self.shown.len()) {
            None => self.shown.name(row),
            Some(resource) => self.resources.get(resource).map_or("", |resource| &resource.name),
        }
    }

    pub fn description(&self, row: usize) -> String {
        match row.checked_sub(self.shown.len()) {
            None => self.shown.describe(row),
            Some(resource) => self.resources.get(resource).map(|found| found.description.clone()).unwrap_or_default(),
        }
    }

    /// Starts a filter. Returns the matching rows, the best first, or `None` if they will be set later.
    pub fn start_filter(&mut self, typed: &str) -> Option<Vec<usize>> {
        if self.latest.len() <= MAX_DIRECT {
            return Some(self.filter_now(typed));
        }
        let is_same_index = Arc::ptr_eq(&self.latest, &self.shown);
        let previous = self.matches.clone().filter(|_| is_same_index);
        self.request = Some(FilterRequest { index: self.latest.clone(), typed: typed.to_owned(), previous });
        self.is_waiting = true;
        None
    }

    /// Returns the filter to start on another thread.
    pub fn take_request(&mut self) -> Option<FilterRequest> {
        self.request.take()
    }

    /// Returns whether the rows are those of an earlier text or of earlier files.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Filters at once.
    pub fn filter_now(&mut self, typed: &str) -> Vec<usize> {
        let is_same_index = Arc::ptr_eq(&self.latest, &self.shown);
        let previous = self.matches.as_deref().filter(|_| is_same_index);
        let matches = self.latest.filter(typed, previous);
        self.set_matches(self.latest.clone(), matches, typed)
    }

    /// Takes the result of a filter. Returns the rows; `None` if the result is outdated.
    pub fn finish_filter(&mut self, request: &FilterRequest, matches: FileMatches, typed: &str) -> Option<Vec<usize>> {
        let is_current = self.is_waiting && request.typed == typed && Arc::ptr_eq(&request.index, &self.latest);
        is_current.then(|| self.set_matches(request.index.clone(), matches, typed))
    }

    /// Returns the number of matching rows, including those that are only counted.
    pub fn total(&self, listed: usize) -> usize {
        let counted = self.matches.as_ref().map_or(0, |matches| matches.total.saturating_sub(matches.best.len()));
        listed + counted
    }

    fn set_matches(&mut self, index: Arc<FileIndex>, matches: FileMatches, typed: &str) -> Vec<usize> {
        (self.is_waiting, self.request) = (false, None);
        let mut scored: Vec<(u32, usize)> = matches.best.iter().map(|(score, row)| (*score, *row as usize)).collect();
        let mut matcher = NameMatcher::new(typed);
        for (position, resource) in self.resources.iter().enumerate() {
            let score = if typed.is_empty() { Some(0) } else { matcher.score(&resource.name) };
            scored.extend(score.map(|score| (score, index.len() + position)));
        }
        // Stable, so that files with the same score keep their order and come before resources.
        scored.sort_by_key(|(score, _)| Reverse(*score));
        (self.shown, self.matches) = (index, Some(Arc::new(matches)));
        scored.into_iter().map(|(_, row)| row).collect()
    }
}
