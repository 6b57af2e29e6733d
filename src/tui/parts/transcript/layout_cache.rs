//! Cache of layouts, kept outside the application state. Clearing it never changes what is drawn.

use super::item_layout::{ALLOCATION_OVERHEAD, ItemLayout};
use super::layout_context::LayoutContext;
use super::link_lookups::LinkLookups;
use super::reply_pieces::ReplyPieces;
use super::text_extent::TextExtent;
use super::{entry_layout, live_item};
use crate::text::link::LinkTarget;
use crate::tui::host::LinkStatus;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Budget for cached layouts far from the view, in estimated bytes.
const CACHE_BUDGET: usize = 6 * 1024 * 1024;
/// Entries within this distance of the last requested one may use twice the budget, because they are likely to be shown
/// next. Entries of the last frame are never evicted.
const NEAR_ENTRIES: usize = 12;

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
            && kept.lookup_count.is_none_or(|known| known == self.lookups.arrivals())
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
                let (page, known) =
                    self.lookups.track_pending(|| entry_layout::lay_out(ground, item, toggled, &self.lookups));
                (ItemLayout::from_page(page), known, None)
            }
        };
        if self.heights.len() <= item {
            self.heights.resize(item + 1, None);
        }
        self.heights[item] = Some((toggled, u32::try_from(laid.height).unwrap_or(u32::MAX)));
        let weight = size_of::<CachedItem>() + ALLOCATION_OVERHEAD + laid.estimate_bytes();
        let laid = Arc::new(laid);
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
        self.lookups.store_results(found);
    }

    /// Takes the pending lookups. Each is returned once.
    pub fn take_pending_lookups(&mut self) -> Vec<LinkTarget> {
        self.lookups.take_pending()
    }

    /// Returns the estimated bytes of all cached layouts.
    pub fn estimated_bytes(&self) -> usize {
        self.weight
    }

    /// Returns the lines of replies laid out since program start, for tests of the cost of a frame.
    pub fn reply_lines_laid_out(&self) -> usize {
        self.lookups.reply_lines_laid_out()
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
