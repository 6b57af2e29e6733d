//! Cache of layouts, kept outside the application state. Clearing it never changes what is drawn.

use super::extent::Extent;
use super::pieces::Pieces;
use super::{Ground, entry, live, picture};
use crate::chat::link::Target;
use crate::chat::picture::Size;
use crate::tui::host::There;
use crate::tui::text::{Page, markdown};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Budget for cached layouts far from the view, in estimated bytes.
const KEPT: usize = 6 * 1024 * 1024;
/// Entries within this distance of the last requested one may use twice the budget, because they are likely to be shown
/// next. Entries of the last frame are never evicted.
const NEAR: usize = 12;

/// Estimated overhead of an allocation in bytes: allocator metadata and spare capacity.
const ALLOCATED: usize = 64;

/// Layout of one item: an entry or the live item.
#[derive(Debug, Clone, Default)]
pub struct Laid {
    /// Pieces of the layout, top first.
    pub pages: Vec<Arc<Page>>,
    /// Total number of lines.
    pub height: usize,
}

impl Laid {
    /// Appends a piece.
    pub fn add(&mut self, page: Arc<Page>) {
        self.height += page.lines.len();
        self.pages.push(page);
    }

    /// Estimates the memory in bytes, including allocation overhead, which dominates in sessions of many short entries.
    fn weight(&self) -> usize {
        let spans = |line: &ratatui::text::Line<'_>| -> usize {
            line.spans.iter().map(|span| size_of_val(span) + span.content.len() + ALLOCATED).sum()
        };
        let lines = |page: &Page| -> usize {
            page.lines.iter().map(|line| size_of_val(line) + spans(line) + ALLOCATED).sum()
        };
        let pages = self.pages.iter().map(|page| size_of::<Page>() + lines(page) + 3 * ALLOCATED);
        size_of::<Kept>() + ALLOCATED + pages.sum::<usize>()
    }

    /// Creates a layout of one piece.
    pub fn of(page: Page) -> Self {
        Self { height: page.lines.len(), pages: vec![Arc::new(page)] }
    }

    /// Returns the piece that contains a line, and the index of the line in it.
    pub fn line(&self, mut line: usize) -> Option<(&Page, usize)> {
        // Most requests are for the end.
        if let Some(last) = self.pages.last() {
            let before = self.height - last.lines.len();
            if line >= before {
                return (line < self.height).then(|| (last.as_ref(), line - before));
            }
        }
        for page in &self.pages {
            if line < page.lines.len() {
                return Some((page, line));
            }
            line -= page.lines.len();
        }
        None
    }
}

/// Cached layouts, and link lookups that they depend on.
#[derive(Default)]
pub struct Cache {
    width: usize,
    theme: String,
    kept: HashMap<usize, Box<Kept>>,
    /// Toggled state and height in lines of every item laid out so far.
    heights: Vec<Option<(bool, u32)>>,
    /// Number of the current frame.
    frame: u64,
    live: live::Live,
    outside: Outsides,
    /// Estimated bytes of `kept`.
    weight: usize,
    /// Estimated length of the transcript, for the scrollbar.
    pub extent: Extent,
    /// Entries laid out since program start, for tests of the cost of a frame.
    pub laid_out: usize,
}

struct Kept {
    laid: Arc<Laid>,
    /// Last frame that requested it.
    used: u64,
    weight: usize,
    /// Pieces of a reply with text.
    pieces: Option<Pieces>,
    toggled: bool,
    /// Lookup counter at layout time if some lookup was pending; otherwise `None`.
    known: Option<u64>,
}

/// Lookups of link targets in the file system that layouts requested, and their results.
#[derive(Default)]
pub struct Outsides {
    exist: RefCell<HashMap<Target, Option<There>>>,
    wanted: RefCell<Vec<Target>>,
    missed: Cell<bool>,
    known: u64,
    /// Lines of replies laid out since program start, for tests of the cost of a frame.
    lines: Cell<usize>,
}

impl Cache {
    /// Returns the layout of an item: an entry, or the live item after the last entry.
    pub fn item(&mut self, ground: &Ground<'_>, toggled: &HashSet<usize>, item: usize) -> Arc<Laid> {
        self.fit(ground);
        let Some(entry) = ground.agent.session.entries().get(item) else {
            return Arc::new(self.live.lay_out(ground, &self.outside));
        };
        let toggled = toggled.contains(&item);
        let old = self.kept.get_mut(&item).filter(|kept| kept.toggled == toggled);
        if let Some(kept) = old
            && kept.known.is_none_or(|known| known == self.outside.known)
        {
            kept.used = self.frame;
            return kept.laid.clone();
        }
        self.laid_out += 1;
        let before = self.drop_kept(item).and_then(|kept| kept.pieces);
        let (laid, known, pieces) = match entry::words(entry) {
            Some(words) => {
                let pieces = before.or_else(|| self.live.take(words)).unwrap_or_default();
                let (laid, pieces) = self.reply(ground, item, toggled, words, pieces);
                (laid, pieces.lacks(), Some(pieces))
            }
            None => {
                self.outside.missed.set(false);
                let page = entry::lay_out(ground, item, toggled, &self.outside);
                let lacks = self.outside.missed.get();
                (Laid::of(page), lacks.then_some(self.outside.known), None)
            }
        };
        if self.heights.len() <= item {
            self.heights.resize(item + 1, None);
        }
        self.heights[item] = Some((toggled, u32::try_from(laid.height).unwrap_or(u32::MAX)));
        let (weight, laid) = (laid.weight(), Arc::new(laid));
        self.weight += weight;
        let kept = Kept { laid: laid.clone(), used: self.frame, weight, pieces, toggled, known };
        self.kept.insert(item, Box::new(kept));
        if self.weight > KEPT {
            self.forget_far_from(item);
        }
        laid
    }

    /// Lays out a reply, reusing pieces that are already laid out.
    fn reply(
        &self,
        ground: &Ground<'_>,
        item: usize,
        toggled: bool,
        words: &str,
        mut pieces: Pieces,
    ) -> (Laid, Pieces) {
        let entry = &ground.agent.session.entries()[item];
        pieces.close(ground, words, &self.outside);
        pieces.end(ground, words, &self.outside);
        let before = entry::before(ground, entry, toggled);
        let follows = !before.lines.is_empty() || pieces.height() > 0;
        let after = entry::after(ground, entry, follows);
        let mut laid = Laid::default();
        if !follows && after.lines.is_empty() {
            return (laid, pieces);
        }
        laid.add(Arc::new(entry::spaced(ground, item, before)));
        pieces.add_to(&mut laid);
        laid.add(Arc::new(after));
        (laid, pieces)
    }

    /// Returns the height of an item in lines.
    pub fn height(&mut self, ground: &Ground<'_>, toggled: &HashSet<usize>, item: usize) -> usize {
        self.fit(ground);
        match self.heights.get(item) {
            Some(Some((as_now, height))) if *as_now == toggled.contains(&item) => *height as usize,
            _ => self.item(ground, toggled, item).height,
        }
    }

    /// Starts a frame.
    pub fn begin(&mut self) {
        self.frame += 1;
    }

    /// Clears everything for a different session.
    pub fn clear(&mut self) {
        self.extent = Extent::default();
        self.forget();
    }

    fn forget(&mut self) {
        self.kept.clear();
        self.weight = 0;
        self.heights.clear();
        self.live = live::Live::default();
    }

    /// Stores results of lookups. Invalidates the heights of layouts that waited for one.
    pub fn exist(&mut self, found: Vec<(Target, There)>) {
        for (item, _) in self.kept.iter().filter(|(_, kept)| kept.known.is_some()) {
            if let Some(height) = self.heights.get_mut(*item) {
                *height = None;
            }
        }
        let known = self.outside.exist.get_mut();
        known.extend(found.into_iter().map(|(target, is)| (target, Some(is))));
        self.outside.known += 1;
    }

    /// Takes the pending lookups. Each is returned once.
    pub fn take_wanted(&mut self) -> Vec<Target> {
        std::mem::take(self.outside.wanted.get_mut())
    }

    /// Returns the estimated bytes of all cached layouts.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the lines of replies laid out since program start, for tests of the cost of a frame.
    pub fn lines_laid_out(&self) -> usize {
        self.outside.lines.get()
    }

    fn fit(&mut self, ground: &Ground<'_>) {
        if self.width != ground.width || self.theme != ground.theme.name {
            self.forget();
            (self.width, self.theme) = (ground.width, ground.theme.name.clone());
        }
    }

    fn drop_kept(&mut self, item: usize) -> Option<Box<Kept>> {
        let kept = self.kept.remove(&item)?;
        self.weight -= kept.weight;
        Some(kept)
    }

    /// Evicts the layouts farthest from an item until the budget is met.
    fn forget_far_from(&mut self, item: usize) {
        let unseen = self.kept.iter().filter(|(_, kept)| kept.used + 1 < self.frame);
        let mut far: Vec<usize> = unseen.map(|(at, _)| *at).collect();
        far.sort_by_key(|at| at.abs_diff(item));
        while let Some(at) = far.pop() {
            let room = if at.abs_diff(item) > NEAR { KEPT * 3 / 4 } else { KEPT * 2 };
            if self.weight <= room {
                return;
            }
            self.drop_kept(at);
        }
    }
}

impl Outsides {
    /// Returns the number of times lookup results arrived.
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Lays out a part of a reply. Also returns the lookup counter if some lookup is pending.
    pub fn lay_out(&self, ground: &Ground<'_>, text: &str) -> (Page, Option<u64>) {
        self.missed.set(false);
        let page = self.markdown(ground, ground.width, text);
        self.lines.set(self.lines.get() + page.lines.len());
        let lacks = self.missed.get();
        (page, lacks.then_some(self.known))
    }

    /// Lays out Markdown and records pending lookups.
    pub fn markdown(&self, ground: &Ground<'_>, width: usize, text: &str) -> Page {
        let picture = |target: &Target| picture::words(ground, self, target);
        markdown::layout(text, width, ground.theme, &|target| self.exists(target), &picture)
    }

    /// Returns whether a link target exists; false while its lookup is pending.
    pub fn exists(&self, target: &Target) -> bool {
        match target {
            Target::Web(_) => true,
            Target::Workspace(_) => false,
            Target::File { .. } => self.known_of(target) != There::No,
        }
    }

    /// Returns the size of the picture that a link names; `None` while its lookup is pending.
    pub fn picture(&self, target: &Target) -> Option<Size> {
        match target {
            Target::File { .. } => match self.known_of(target) {
                There::Picture(size) => Some(size),
                There::No | There::Yes => None,
            },
            Target::Web(_) | Target::Workspace(_) => None,
        }
    }

    fn known_of(&self, target: &Target) -> There {
        let mut exist = self.exist.borrow_mut();
        let known = exist.entry(target.clone()).or_insert_with(|| {
            self.wanted.borrow_mut().push(target.clone());
            None
        });
        if known.is_none() {
            self.missed.set(true);
        }
        known.unwrap_or(There::No)
    }
}
