//! Runs of reads: successful calls that only read the project, with nothing between them on the screen. A run is one row
//! until the user opens it.

use super::entry_layout::is_hidden;
use crate::chat::session::CallState;
use crate::chat::{Access, CallResult, Entry, Outcome, ResultOrigin, Session};
use crate::tui::parts::call_action::result_of;
use std::collections::HashSet;

/// Runs of a session, from its first entry on.
#[derive(Debug, Default)]
pub struct ReadRuns {
    /// The last one may have a single call so far, and is then no run yet.
    runs: Vec<ReadRun>,
    /// Number of entries scanned so far.
    scanned: usize,
    /// True if the next read belongs to the last run.
    is_last_open: bool,
}

/// A run of at least two reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRun {
    /// The entry before the first call. It has no rows of its own, so the row of the run takes its place.
    pub header: usize,
    /// Entries with the outcomes of the calls.
    pub calls: Vec<usize>,
    /// True if the calls ran in the overlay of a dry run.
    pub is_rehearsed: bool,
}

/// What an item shows, besides the content of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemForm {
    /// The entry itself. `is_toggled` is true if its open state differs from its default.
    Entry { is_toggled: bool },
    /// The row of a run.
    RunHeader { calls: usize },
    /// A call of a run that is shown below the row of the run.
    RunCall { is_toggled: bool },
    /// Nothing: a call of a run that is not open.
    Folded,
}

impl ReadRuns {
    /// Scans new entries. Fewer entries than were scanned belong to another session.
    pub fn scan_new_entries(&mut self, session: &Session) {
        let entries = session.entries();
        if self.scanned > entries.len() {
            *self = Self::default();
        }
        for index in self.scanned..entries.len() {
            self.scan_entry(session, index);
        }
        self.scanned = entries.len();
    }

    fn scan_entry(&mut self, session: &Session, index: usize) {
        let entries = session.entries();
        let read = match &entries[index] {
            Entry::Settled { call, outcome, staged, .. } => {
                session.find_call(call).filter(|call| is_project_read(call)).and(is_rehearsed_read(outcome, staged))
            }
            entry if is_hidden(session, entry) => return,
            _ => None,
        };
        match (self.runs.last_mut().filter(|_| self.is_last_open), read) {
            (Some(run), Some(is_rehearsed)) if run.is_rehearsed == is_rehearsed => return run.calls.push(index),
            (Some(run), _) if run.calls.len() < 2 => drop(self.runs.pop()),
            (Some(_) | None, _) => {}
        }
        let header = index.checked_sub(1).filter(|before| is_hidden(session, &entries[*before]));
        self.is_last_open = read.is_some() && header.is_some();
        if let (Some(header), Some(is_rehearsed)) = (header, read) {
            self.runs.push(ReadRun { header, calls: vec![index], is_rehearsed });
        }
    }

    /// Returns the run whose row or calls include this item, or lie around it.
    fn find_run(&self, item: usize) -> Option<&ReadRun> {
        let run = &self.runs[self.runs.partition_point(|run| run.header <= item).checked_sub(1)?];
        (run.calls.len() >= 2 && run.calls.last() >= Some(&item)).then_some(run)
    }

    /// Returns the run whose row this item is.
    pub fn run_at_header(&self, item: usize) -> Option<&ReadRun> {
        self.find_run(item).filter(|run| run.header == item)
    }

    /// Returns the row of the run that this call belongs to.
    pub fn header_of_call(&self, item: usize) -> Option<usize> {
        self.find_run(item).filter(|run| run.calls.binary_search(&item).is_ok()).map(|run| run.header)
    }

    /// Returns what an item shows. A call that the user opened stays visible when its run is folded.
    pub fn item_form(&self, toggled: &HashSet<usize>, item: usize) -> ItemForm {
        let is_toggled = toggled.contains(&item);
        match self.find_run(item) {
            Some(run) if run.header == item => ItemForm::RunHeader { calls: run.calls.len() },
            Some(run) if run.calls.binary_search(&item).is_err() => ItemForm::Entry { is_toggled },
            Some(run) if is_toggled || toggled.contains(&run.header) => ItemForm::RunCall { is_toggled },
            Some(_) => ItemForm::Folded,
            None => ItemForm::Entry { is_toggled },
        }
    }

    /// Returns the first item from this one on that is not within a folded run, so that a long run costs no more than
    /// one row.
    pub fn skip_folded_down(&self, toggled: &HashSet<usize>, item: usize) -> usize {
        let Some(run) = self.folded_run(toggled, item) else { return item };
        let end = run.calls.last().map_or(item, |last| last + 1);
        let shown = toggled.iter().copied().filter(|toggled| (item..end).contains(toggled));
        shown.min().unwrap_or(end)
    }

    /// Returns the last item up to this one that is not within a folded run.
    pub fn skip_folded_up(&self, toggled: &HashSet<usize>, item: usize) -> usize {
        let Some(run) = self.folded_run(toggled, item) else { return item };
        let shown = toggled.iter().copied().filter(|toggled| (run.header..=item).contains(toggled));
        shown.max().unwrap_or(run.header)
    }

    /// Returns the run that is not open and contains this item below its row.
    fn folded_run(&self, toggled: &HashSet<usize>, item: usize) -> Option<&ReadRun> {
        self.find_run(item).filter(|run| run.header < item && !toggled.contains(&run.header))
    }
}

/// Returns whether a call reads files of the project with one of the tools whose rows a run can describe.
fn is_project_read(call: &CallState) -> bool {
    let reads_project = call.plan.as_ref().is_some_and(|plan| matches!(plan.access, Access::Read(_)));
    reads_project && matches!(result_of(&call.call.name), CallResult::Reading | CallResult::Lines)
}

/// Returns whether a successful read ran in the overlay of a dry run; `None` if the call did not succeed.
fn is_rehearsed_read(outcome: &Outcome, origin: &Option<ResultOrigin>) -> Option<bool> {
    match outcome {
        Outcome::Done(_) => Some(false),
        Outcome::Rehearsed(_) => origin.as_ref().is_some_and(ResultOrigin::has_run).then_some(true),
        Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => None,
    }
}
