//! Lookups of link targets in the file system, requested by layouts and answered by the host.

use super::pictures::{PictureData, PictureStatus, Pictures};
use crate::chat::image::ImageSize;
use crate::text::link::{Existence, LinkTarget};
use crate::text::workspace_address::WorkspaceAddress;
use crate::tui::host::LinkStatus;
use crate::tui::text::PictureKey;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of targets that are looked up again: those requested last.
const MAX_REPEATED: u64 = 2000;

/// Lookups that layouts requested, and their results.
#[derive(Debug, Default)]
pub struct LinkLookups {
    /// All requested lookups.
    lookups: RefCell<HashMap<LinkTarget, Lookup>>,
    /// Requested lookups that the host has not taken yet.
    pending: RefCell<Vec<LinkTarget>>,
    /// Lookups that the layout running in `track_lookups` used so far.
    used: Cell<UsedLookups>,
    /// Number of times results arrived.
    arrivals: u64,
    /// Number of arrivals in which a result differed from the previous one of its target.
    changes: u64,
    /// State of looking up all targets again.
    repeat: Repeat,
    /// Pictures that layouts requested.
    pub pictures: Pictures,
    /// Lines of replies laid out since program start, for tests of the cost of a frame.
    pub(in crate::tui::parts) reply_lines: Cell<usize>,
}

/// A requested lookup.
#[derive(Debug)]
struct Lookup {
    /// Position among all requested lookups, from 0.
    number: u64,
    /// True once the host took the lookup, also if it could not do it.
    was_taken: bool,
    /// Last result; `None` until the first one arrives.
    status: Option<LinkStatus>,
    /// True if the target existed at some time.
    was_found: bool,
}

/// State of looking up all targets again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Repeat {
    #[default]
    NotNeeded,
    /// Files may have changed.
    Needed,
    /// The host looks them up.
    Running,
    /// The host looks them up, and files may have changed since.
    NeededAgain,
}

/// Lookups that a layout used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UsedLookups {
    /// No result was needed.
    #[default]
    None,
    /// All results were known; with the number of changes until then.
    Known(u64),
    /// Some result was not known; with the number of arrivals until then.
    Pending(u64),
}

impl UsedLookups {
    /// Returns the lookups that two layouts used together.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, used) | (used, Self::None) => used,
            (Self::Pending(first), Self::Pending(second)) => Self::Pending(first.min(second)),
            (Self::Pending(arrivals), Self::Known(_)) | (Self::Known(_), Self::Pending(arrivals)) => {
                Self::Pending(arrivals)
            }
            (Self::Known(first), Self::Known(second)) => Self::Known(first.min(second)),
        }
    }

    /// Returns whether a result was not known.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Pending(_))
    }
}

impl Lookup {
    /// Returns what is known about the target of this lookup.
    fn existence(&self, target: &LinkTarget) -> Existence {
        match self.status {
            Some(LinkStatus::Exists | LinkStatus::Picture(_)) => Existence::Exists,
            Some(LinkStatus::Missing) if self.was_found || names_workspace_file(target) => Existence::Missing,
            Some(LinkStatus::Missing) | None => Existence::Unknown,
        }
    }
}

/// Returns whether the target can only mean a file of a workspace.
fn names_workspace_file(target: &LinkTarget) -> bool {
    matches!(target, LinkTarget::Workspace(address) if address.parse::<WorkspaceAddress>().is_ok())
}

impl LinkLookups {
    /// Stores results of lookups. A result for a target that was not requested is dropped: it is late, and its session is
    /// not shown any more.
    pub fn store_results(&mut self, results: Vec<(LinkTarget, LinkStatus)>) {
        let lookups = self.lookups.get_mut();
        let mut is_changed = false;
        for (target, status) in results {
            let Some(lookup) = lookups.get_mut(&target) else { continue };
            is_changed |= lookup.status.is_some_and(|previous| previous != status);
            lookup.was_found |= status != LinkStatus::Missing;
            lookup.status = Some(status);
        }
        self.arrivals += 1;
        self.changes += u64::from(is_changed);
        self.repeat = match self.repeat {
            Repeat::NeededAgain | Repeat::Needed => Repeat::Needed,
            Repeat::Running | Repeat::NotNeeded => Repeat::NotNeeded,
        };
    }

    /// Requests that all targets are looked up again, because files may have changed.
    pub fn request_repeat(&mut self) {
        self.repeat = match self.repeat {
            Repeat::NotNeeded | Repeat::Needed => Repeat::Needed,
            Repeat::Running | Repeat::NeededAgain => Repeat::NeededAgain,
        };
    }

    /// Takes the lookups for the host to do: the new ones, and all of the last ones again, including those that failed, if that
    /// was requested and the host is not doing it already.
    pub fn take_pending(&mut self) -> Vec<LinkTarget> {
        let mut targets = std::mem::take(self.pending.get_mut());
        let lookups = self.lookups.get_mut();
        let new_count = targets.len();
        if self.repeat == Repeat::Needed {
            let first_number = (lookups.len() as u64).saturating_sub(MAX_REPEATED);
            let is_repeated = |lookup: &Lookup| lookup.number >= first_number && lookup.was_taken;
            let repeated = lookups.iter().filter(|(_, lookup)| is_repeated(lookup));
            targets.extend(repeated.map(|(target, _)| target.clone()));
            self.repeat = if targets.is_empty() { Repeat::NotNeeded } else { Repeat::Running };
        }
        for target in &targets[..new_count] {
            if let Some(lookup) = lookups.get_mut(target) {
                lookup.was_taken = true;
            }
        }
        targets
    }

    /// Forgets all targets, because another session is shown.
    pub fn clear(&mut self) {
        self.lookups.get_mut().clear();
        self.pending.get_mut().clear();
        self.pictures.clear();
        self.repeat = Repeat::NotNeeded;
        (self.arrivals, self.changes) = (self.arrivals + 1, self.changes + 1);
    }

    /// Returns the lines of replies laid out since program start.
    pub fn reply_lines_laid_out(&self) -> usize {
        self.reply_lines.get()
    }

    /// Runs a layout, and also returns the lookups that it used.
    pub fn track_lookups<T>(&self, lay_out: impl FnOnce() -> T) -> (T, UsedLookups) {
        self.used.set(UsedLookups::None);
        let layout = lay_out();
        (layout, self.used.get())
    }

    /// Returns whether a layout that used these lookups would be different now, or may be.
    pub fn is_outdated(&self, used: UsedLookups) -> bool {
        match used {
            UsedLookups::None => false,
            UsedLookups::Known(changes) => changes != self.changes,
            UsedLookups::Pending(arrivals) => arrivals != self.arrivals,
        }
    }

    /// Returns the number of times results arrived.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Returns the number of arrivals in which a result differed from the previous one of its target.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns what is known about a link target: it exists, or it was found before or is a file of a workspace, and does
    /// not exist now.
    pub fn check_target(&self, target: &LinkTarget) -> Existence {
        match target {
            LinkTarget::Web(_) => Existence::Exists,
            LinkTarget::Workspace(_) | LinkTarget::File { .. } => {
                self.look_up(target, |lookup| lookup.existence(target))
            }
        }
    }

    /// Returns the size of the picture that a link names; `None` while its lookup is pending and for other targets.
    pub fn picture_size(&self, target: &LinkTarget) -> Option<ImageSize> {
        match target {
            LinkTarget::File { .. } | LinkTarget::Workspace(_) => match self.look_up(target, |lookup| lookup.status) {
                Some(LinkStatus::Picture(size)) => Some(size),
                Some(LinkStatus::Missing | LinkStatus::Exists) | None => None,
            },
            LinkTarget::Web(_) => None,
        }
    }

    /// Returns the picture that a link names, to be drawn in these columns and rows; `None` while it is read, and if it is
    /// not drawn.
    pub fn find_picture(&self, target: &LinkTarget, cells: (u16, u16)) -> Option<Arc<PictureKey>> {
        self.pictures.protocol?;
        let (key, status) = self.pictures.find(target, self.picture_size(target)?, cells)?;
        match status {
            PictureStatus::Pending => {
                self.used.set(self.used.get().merge(UsedLookups::Pending(self.arrivals)));
                None
            }
            PictureStatus::Failed => None,
            PictureStatus::Ready => Some(key),
        }
    }

    /// Stores a picture that the host has read.
    pub fn store_picture(&mut self, data: Result<PictureData, String>) {
        self.pictures.store(data);
        self.arrivals += 1;
    }

    /// Returns what `read` finds in the lookup of a target, which is requested if it was not.
    fn look_up<T>(&self, target: &LinkTarget, read: impl FnOnce(&Lookup) -> T) -> T {
        let mut lookups = self.lookups.borrow_mut();
        let number = lookups.len() as u64;
        let lookup = lookups.entry(target.clone()).or_insert_with(|| {
            self.pending.borrow_mut().push(target.clone());
            Lookup { number, was_taken: false, status: None, was_found: false }
        });
        let used = match lookup.status {
            Some(_) => UsedLookups::Known(self.changes),
            None => UsedLookups::Pending(self.arrivals),
        };
        self.used.set(self.used.get().merge(used));
        read(lookup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> LinkTarget {
        LinkTarget::File { path: path.into(), line: None, end: None, column: None }
    }

    /// Answers all lookups that the host is to do: these paths exist. Returns the number of lookups.
    fn answer(lookups: &mut LinkLookups, existing: &[&str]) -> usize {
        let status = |target: &LinkTarget| match existing.contains(&target.to_string().as_str()) {
            true => LinkStatus::Exists,
            false => LinkStatus::Missing,
        };
        let results: Vec<_> =
            lookups.take_pending().into_iter().map(|target| (target.clone(), status(&target))).collect();
        let count = results.len();
        lookups.store_results(results);
        count
    }

    #[test]
    fn only_what_was_found_before_or_names_a_workspace_file_is_missing() {
        let mut lookups = LinkLookups::default();
        let workspace = |address: &str| LinkTarget::Workspace(address.into());
        let targets =
            [file("a.rs"), file("and/or"), workspace("workspace:///q1.md"), workspace("workspace://not-an-id")];
        let check = |lookups: &LinkLookups| targets.each_ref().map(|target| lookups.check_target(target));
        use Existence::{Exists, Missing, Unknown};
        assert_eq!(check(&lookups), [Unknown; 4], "nothing is known yet");
        assert_eq!(answer(&mut lookups, &["a.rs"]), 4);
        assert_eq!(check(&lookups), [Exists, Unknown, Missing, Unknown]);
        assert_eq!(answer(&mut lookups, &[]), 0, "nothing is looked up again by itself");
        lookups.request_repeat();
        assert_eq!(answer(&mut lookups, &["and/or"]), 4);
        assert_eq!(check(&lookups), [Missing, Exists, Missing, Unknown]);
        lookups.clear();
        assert_eq!(check(&lookups), [Unknown; 4], "another session has other files");
    }

    #[test]
    fn a_lookup_that_failed_is_repeated_with_the_others() {
        let mut lookups = LinkLookups::default();
        lookups.check_target(&file("a.rs"));
        lookups.request_repeat();
        assert_eq!(lookups.take_pending(), [file("a.rs")], "once");
        // The host could not look.
        lookups.store_results(Vec::new());
        assert_eq!(lookups.take_pending(), []);
        lookups.request_repeat();
        assert_eq!(answer(&mut lookups, &["a.rs"]), 1);
        assert_eq!(lookups.check_target(&file("a.rs")), Existence::Exists);
    }

    #[test]
    fn a_layout_is_outdated_by_results_it_waits_for_and_by_changed_ones() {
        let mut lookups = LinkLookups::default();
        let (_, none) = lookups.track_lookups(|| lookups.check_target(&LinkTarget::Web("https://a.example".into())));
        let (_, pending) = lookups.track_lookups(|| lookups.check_target(&file("a.rs")));
        assert!(pending.is_pending() && !lookups.is_outdated(pending));
        answer(&mut lookups, &["a.rs"]);
        assert!(lookups.is_outdated(pending));
        let (_, known) = lookups.track_lookups(|| lookups.check_target(&file("a.rs")));
        lookups.request_repeat();
        answer(&mut lookups, &["a.rs"]);
        assert!(!lookups.is_outdated(known), "the result is the same");
        lookups.request_repeat();
        answer(&mut lookups, &[]);
        assert!(lookups.is_outdated(known) && !lookups.is_outdated(none));
    }

    #[test]
    fn targets_are_looked_up_again_once_at_a_time_and_only_the_last_ones() {
        let mut lookups = LinkLookups::default();
        for number in 0..MAX_REPEATED + 5 {
            lookups.check_target(&file(&format!("a/{number}")));
        }
        answer(&mut lookups, &[]);
        lookups.request_repeat();
        let repeated = lookups.take_pending();
        assert_eq!(repeated.len() as u64, MAX_REPEATED);
        assert!(!repeated.contains(&file("a/4")) && repeated.contains(&file("a/5")));
        lookups.request_repeat();
        assert_eq!(lookups.take_pending(), [], "the host is still doing it");
        lookups.store_results(Vec::new());
        assert_eq!(lookups.take_pending().len() as u64, MAX_REPEATED);
        lookups.store_results(Vec::new());
        assert_eq!(lookups.take_pending(), []);
    }
}
