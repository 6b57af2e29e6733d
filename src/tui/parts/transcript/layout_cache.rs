//! Cache of layouts, kept outside the application state. Clearing it never changes what is drawn.

use super::reply_pieces::ReplyPieces;
use super::scrollbar::TextExtent;
use super::{LayoutContext, entry_layout, live_item, picture_caption};
use crate::chat::image::ImageSize;
use crate::text::link::LinkTarget;
use crate::tui::host::LinkStatus;
use crate::tui::text::{Page, markdown};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Budget for cached layouts far from the view, in estimated bytes.
const CACHE_BUDGET: usize = 6 * 1024 * 1024;
/// Entries within this distance of the last requested one may use twice the budget, because they are likely to be shown
/// next. Entries of the last frame are never evicted.
const NEAR_ENTRIES: usize = 12;

/// Estimated overhead of an allocation in bytes: allocator metadata and spare capacity.
const ALLOCATION_OVERHEAD: usize = 64;

/// Layout of one item: an entry or the live item.
#[derive(Debug, Clone, Default)]
pub struct ItemLayout {
    /// Pieces of the layout, top first.
    pub pages: Vec<Arc<Page>>,
    /// Total number of lines.
    pub height: usize,
}

impl ItemLayout {
    /// Appends a piece.
    pub fn push_page(&mut self, page: Arc<Page>) {
        self.height += page.lines.len();
        self.pages.push(page);
    }

    /// Estimates the memory in bytes, including allocation overhead, which dominates in sessions of many short entries.
    fn estimate_bytes(&self) -> usize {
        let spans = |line: &ratatui::text::Line<'_>| -> usize {
            line.spans.iter().map(|span| size_of_val(span) + span.content.len() + ALLOCATION_OVERHEAD).sum()
        };
        let lines = |page: &Page| -> usize {
            page.lines.iter().map(|line| size_of_val(line) + spans(line) + ALLOCATION_OVERHEAD).sum()
        };
        let pages = self.pages.iter().map(|page| size_of::<Page>() + lines(page) + 3 * ALLOCATION_OVERHEAD);
        size_of::<CachedItem>() + ALLOCATION_OVERHEAD + pages.sum::<usize>()
    }

    /// Creates a layout of one piece.
    pub fn from_page(page: Page) -> Self {
        Self { height: page.lines.len(), pages: vec![Arc::new(page)] }
    }

    /// Returns the piece that contains a line, and the index of the line in it.
    pub fn find_line(&self, mut line: usize) -> Option<(&Page, usize)> {
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
pub struct LayoutCache {
    width: usize,
    theme: String,
    items: HashMap<usize, Box<CachedItem>>,
    /// Toggled state and height in lines of every item laid out so far.
    heights: Vec<Option<(bool, u32)>>,
    /// Number of the current frame.
    frame: u64,
    live: live_item::LiveLayout,
    lookups: LinkLookups,
    /// Estimated bytes of `kept`.
    weight: usize,
    /// Estimated length of the transcript, for the scrollbar.
    pub extent: TextExtent,
    /// Entries laid out since program start, for tests of the cost of a frame.
    pub entries_laid_out: usize,
}

struct CachedItem {
    layout: Arc<ItemLayout>,
    /// Last frame that requested it.
    last_used: u64,
    weight: usize,
    /// Pieces of a reply with text.
    pieces: Option<ReplyPieces>,
    toggled: bool,
    /// Lookup counter at layout time if some lookup was pending; otherwise `None`.
    lookup_count: Option<u64>,
}

/// Lookups of link targets in the file system that layouts requested, and their results.
#[derive(Default)]
pub struct LinkLookups {
    results: RefCell<HashMap<LinkTarget, Option<LinkStatus>>>,
    pending: RefCell<Vec<LinkTarget>>,
    has_pending: Cell<bool>,
    arrivals: u64,
    /// Lines of replies laid out since program start, for tests of the cost of a frame.
    reply_lines: Cell<usize>,
}

impl LayoutCache {
    /// Returns the layout of an item: an entry, or the live item after the last entry.
    pub fn item_layout(
        &mut self,
        ground: &LayoutContext<'_>,
        toggled: &HashSet<usize>,
        item: usize,
    ) -> Arc<ItemLayout> {
        self.match_layout_inputs(ground);
        let Some(entry) = ground.agent.session.entries().get(item) else {
            return Arc::new(self.live.lay_out_live(ground, &self.lookups));
        };
        let toggled = toggled.contains(&item);
        let old = self.items.get_mut(&item).filter(|kept| kept.toggled == toggled);
        if let Some(kept) = old
            && kept.lookup_count.is_none_or(|known| known == self.lookups.arrivals)
        {
            kept.last_used = self.frame;
            return kept.layout.clone();
        }
        self.entries_laid_out += 1;
        let before = self.drop_item(item).and_then(|kept| kept.pieces);
        let (laid, known, pieces) = match entry_layout::reply_text(entry) {
            Some(words) => {
                let pieces = before.or_else(|| self.live.take_finished(words)).unwrap_or_default();
                let (laid, pieces) = self.lay_out_reply(ground, item, toggled, words, pieces);
                (laid, pieces.oldest_lookup_count(), Some(pieces))
            }
            None => {
                self.lookups.has_pending.set(false);
                let page = entry_layout::lay_out(ground, item, toggled, &self.lookups);
                let lacks = self.lookups.has_pending.get();
                (ItemLayout::from_page(page), lacks.then_some(self.lookups.arrivals), None)
            }
        };
        if self.heights.len() <= item {
            self.heights.resize(item + 1, None);
        }
        self.heights[item] = Some((toggled, u32::try_from(laid.height).unwrap_or(u32::MAX)));
        let (weight, laid) = (laid.estimate_bytes(), Arc::new(laid));
        self.weight += weight;
        let kept =
            CachedItem { layout: laid.clone(), last_used: self.frame, weight, pieces, toggled, lookup_count: known };
        self.items.insert(item, Box::new(kept));
        if self.weight > CACHE_BUDGET {
            self.evict_far_from(item);
        }
        laid
    }

    /// Lays out a reply, reusing pieces that are already laid out.
    fn lay_out_reply(
        &self,
        ground: &LayoutContext<'_>,
        item: usize,
        toggled: bool,
        words: &str,
        mut pieces: ReplyPieces,
    ) -> (ItemLayout, ReplyPieces) {
        let entry = &ground.agent.session.entries()[item];
        pieces.lay_out_closed_blocks(ground, words, &self.lookups);
        pieces.finish_reply(ground, words, &self.lookups);
        let before = entry_layout::lay_out_before_text(ground, entry, toggled);
        let follows = !before.lines.is_empty() || pieces.final_height() > 0;
        let after = entry_layout::lay_out_after_text(ground, entry, follows);
        let mut laid = ItemLayout::default();
        if !follows && after.lines.is_empty() {
            return (laid, pieces);
        }
        laid.push_page(Arc::new(entry_layout::add_spacing(ground, item, before)));
        pieces.append_to(&mut laid);
        laid.push_page(Arc::new(after));
        (laid, pieces)
    }

    /// Returns the height of an item in lines.
    pub fn item_height(&mut self, ground: &LayoutContext<'_>, toggled: &HashSet<usize>, item: usize) -> usize {
        self.match_layout_inputs(ground);
        match self.heights.get(item) {
            Some(Some((as_now, height))) if *as_now == toggled.contains(&item) => *height as usize,
            _ => self.item_layout(ground, toggled, item).height,
        }
    }

    /// Starts a frame.
    pub fn start_frame(&mut self) {
        self.frame += 1;
    }

    /// Clears everything for a different session.
    pub fn clear(&mut self) {
        self.extent = TextExtent::default();
        self.drop_layouts();
    }

    fn drop_layouts(&mut self) {
        self.items.clear();
        self.weight = 0;
        self.heights.clear();
        self.live = live_item::LiveLayout::default();
    }

    /// Stores results of lookups. Invalidates the heights of layouts that waited for one.
    pub fn store_lookups(&mut self, found: Vec<(LinkTarget, LinkStatus)>) {
        for (item, _) in self.items.iter().filter(|(_, kept)| kept.lookup_count.is_some()) {
            if let Some(height) = self.heights.get_mut(*item) {
                *height = None;
            }
        }
        let known = self.lookups.results.get_mut();
        known.extend(found.into_iter().map(|(target, is)| (target, Some(is))));
        self.lookups.arrivals += 1;
    }

    /// Takes the pending lookups. Each is returned once.
    pub fn take_pending_lookups(&mut self) -> Vec<LinkTarget> {
        std::mem::take(self.lookups.pending.get_mut())
    }

    /// Returns the estimated bytes of all cached layouts.
    pub fn estimated_bytes(&self) -> usize {
        self.weight
    }

    /// Returns the lines of replies laid out since program start, for tests of the cost of a frame.
    pub fn reply_lines_laid_out(&self) -> usize {
        self.lookups.reply_lines.get()
    }

    fn match_layout_inputs(&mut self, ground: &LayoutContext<'_>) {
        if self.width != ground.width || self.theme != ground.theme.name {
            self.drop_layouts();
            (self.width, self.theme) = (ground.width, ground.theme.name.clone());
        }
    }

    fn drop_item(&mut self, item: usize) -> Option<Box<CachedItem>> {
        let kept = self.items.remove(&item)?;
        self.weight -= kept.weight;
        Some(kept)
    }

    /// Evicts the layouts farthest from an item until the budget is met.
    fn evict_far_from(&mut self, item: usize) {
        let unseen = self.items.iter().filter(|(_, kept)| kept.last_used + 1 < self.frame);
        let mut far: Vec<usize> = unseen.map(|(at, _)| *at).collect();
        far.sort_by_key(|at| at.abs_diff(item));
        while let Some(at) = far.pop() {
            let room = if at.abs_diff(item) > NEAR_ENTRIES { CACHE_BUDGET * 3 / 4 } else { CACHE_BUDGET * 2 };
            if self.weight <= room {
                return;
            }
            self.drop_item(at);
        }
    }
}

impl LinkLookups {
    /// Returns the number of times lookup results arrived.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Lays out a part of a reply. Also returns the lookup counter if some lookup is pending.
    pub fn lay_out_part(&self, ground: &LayoutContext<'_>, text: &str) -> (Page, Option<u64>) {
        self.has_pending.set(false);
        let page = self.lay_out_markdown(ground, ground.width, text);
        self.reply_lines.set(self.reply_lines.get() + page.lines.len());
        let lacks = self.has_pending.get();
        (page, lacks.then_some(self.arrivals))
    }

    /// Lays out Markdown and records pending lookups.
    pub fn lay_out_markdown(&self, ground: &LayoutContext<'_>, width: usize, text: &str) -> Page {
        let picture = |target: &LinkTarget| picture_caption::caption(ground, self, target);
        markdown::lay_out_markdown(text, width, ground.theme, &|target| self.target_exists(target), &picture)
    }

    /// Returns whether a link target exists; false while its lookup is pending.
    pub fn target_exists(&self, target: &LinkTarget) -> bool {
        match target {
            LinkTarget::Web(_) => true,
            LinkTarget::Workspace(_) => false,
            LinkTarget::File { .. } => self.look_up(target) != LinkStatus::Missing,
        }
    }

    /// Returns the size of the picture that a link names; `None` while its lookup is pending.
    pub fn picture_size(&self, target: &LinkTarget) -> Option<ImageSize> {
        match target {
            LinkTarget::File { .. } => match self.look_up(target) {
                LinkStatus::Picture(size) => Some(size),
                LinkStatus::Missing | LinkStatus::Exists => None,
            },
            LinkTarget::Web(_) | LinkTarget::Workspace(_) => None,
        }
    }

    fn look_up(&self, target: &LinkTarget) -> LinkStatus {
        let mut exist = self.results.borrow_mut();
        let known = exist.entry(target.clone()).or_insert_with(|| {
            self.pending.borrow_mut().push(target.clone());
            None
        });
        if known.is_none() {
            self.has_pending.set(true);
        }
        known.unwrap_or(LinkStatus::Missing)
    }
}
