//! Lookups of link targets in the file system, requested by layouts and answered by the host.

use crate::chat::image::ImageSize;
use crate::text::link::LinkTarget;
use crate::tui::host::LinkStatus;
use crate::tui::text::Page;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Lookups that layouts requested, and their results.
#[derive(Default)]
pub struct LinkLookups {
    /// Result of each requested lookup; `None` until it arrives.
    results: RefCell<HashMap<LinkTarget, Option<LinkStatus>>>,
    /// Requested lookups that the host has not taken yet.
    pending: RefCell<Vec<LinkTarget>>,
    /// True if the layout that runs in `track_pending` waits for a lookup.
    has_pending: Cell<bool>,
    /// Number of times results arrived.
    arrivals: u64,
    /// Lines of replies laid out since program start, for tests of the cost of a frame.
    pub(super) reply_lines: Cell<usize>,
}

impl LinkLookups {
    /// Stores results of lookups.
    pub fn store_results(&mut self, results: Vec<(LinkTarget, LinkStatus)>) {
        self.results.get_mut().extend(results.into_iter().map(|(target, status)| (target, Some(status))));
        self.arrivals += 1;
    }

    /// Takes the pending lookups. Each is returned once.
    pub fn take_pending(&mut self) -> Vec<LinkTarget> {
        std::mem::take(self.pending.get_mut())
    }

    /// Returns the lines of replies laid out since program start.
    pub fn reply_lines_laid_out(&self) -> usize {
        self.reply_lines.get()
    }

    /// Runs a layout. Also returns [`Self::arrivals`] if the layout waits for a lookup.
    pub fn track_pending(&self, lay_out: impl FnOnce() -> Page) -> (Page, Option<u64>) {
        self.has_pending.set(false);
        let page = lay_out();
        (page, self.has_pending.get().then_some(self.arrivals))
    }

    /// Returns the number of times results arrived. A layout that waits for a lookup is outdated when it has changed.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Returns whether a link target exists; false while its lookup is pending.
    pub fn target_exists(&self, target: &LinkTarget) -> bool {
        match target {
            LinkTarget::Web(_) => true,
            LinkTarget::Workspace(_) | LinkTarget::File { .. } => self.look_up(target) != LinkStatus::Missing,
        }
    }

    /// Returns the size of the picture that a link names; `None` while its lookup is pending and for other targets.
    pub fn picture_size(&self, target: &LinkTarget) -> Option<ImageSize> {
        match target {
            LinkTarget::File { .. } | LinkTarget::Workspace(_) => match self.look_up(target) {
                LinkStatus::Picture(size) => Some(size),
                LinkStatus::Missing | LinkStatus::Exists => None,
            },
            LinkTarget::Web(_) => None,
        }
    }

    fn look_up(&self, target: &LinkTarget) -> LinkStatus {
        let mut results = self.results.borrow_mut();
        let status = results.entry(target.clone()).or_insert_with(|| {
            self.pending.borrow_mut().push(target.clone());
            None
        });
        if status.is_none() {
            self.has_pending.set(true);
        }
        status.unwrap_or(LinkStatus::Missing)
    }
}
