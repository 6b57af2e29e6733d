//! Cache of layouts, kept outside the application state. Clearing it never changes what is drawn.

use super::item_layout::{ALLOCATION_OVERHEAD, ItemLayout};
use super::layout_context::LayoutContext;
use super::read_runs::{ItemForm, ReadRuns};
use super::reply_pieces::ReplyPieces;
use super::text_extent::TextExtent;
use super::{entry_layout, live_item, read_run_layout};
use crate::tui::parts::link_lookups::UsedLookups;
use crate::tui::text::Page;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Budget for cached layouts far from the view, in estimated bytes.
const CACHE_BUDGET: usize = 6 * 1024 * 1024;
/// Entries within this distance of the last requested one may use twice the budget, because they are likely to be shown
/// next. Entries of the last frame are never evicted.
const NEAR_ENTRIES: usize = 12;

/// Cached layouts.
#[derive(Default)]
pub struct LayoutCache {
    width: usize,
    max_picture_rows: u16,
    theme: String,
    items: HashMap<usize, Box<CachedItem>>,
    /// Height of each item laid out so far.
    heights: Vec<Option<CachedHeight>>,
    /// Number of the current frame.
    frame: u64,
    live: live_item::LiveLayout,
    /// Arrivals and changes of `LinkLookups` when a layout was last requested.
    lookup_counts: (u64, u64),
    /// Estimated bytes of `items`.
    weight: usize,
    /// Runs of reads among the entries.
    pub read_runs: ReadRuns,
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
    form: ItemForm,
    used_lookups: UsedLookups,
}

/// Height of an item, also of one whose layout is not kept.
#[derive(Debug, Clone, Copy)]
struct CachedHeight {
    /// Form in which the item was laid out.
    form: ItemForm,
    lines: u32,
    used_lookups: UsedLookups,
}

impl LayoutCache {
    /// Returns the layout of an item: an entry, or the live item after the last entry.
    pub fn item_layout(
        &mut self,
        context: &LayoutContext<'_>,
        toggled: &HashSet<usize>,
        item: usize,
    ) -> Arc<ItemLayout> {
        self.drop_outdated_layouts(context);
        let Some(entry) = context.agent.session.entries().get(item) else {
            return Arc::new(self.live.lay_out_live(context));
        };
        let form = self.read_runs.item_form(toggled, item);
        if form == ItemForm::Folded {
            return Arc::default();
        }
        let cached_item = self.items.get_mut(&item).filter(|cached| cached.form == form);
        if let Some(cached) = cached_item
            && !context.lookups.is_outdated(cached.used_lookups)
        {
            cached.last_used = self.frame;
            return cached.layout.clone();
        }
        self.entries_laid_out += 1;
        let old_pieces = self.drop_item(item).and_then(|cached| cached.pieces);
        let (layout, used_lookups, pieces) = match (entry_layout::reply_text(entry), form) {
            (Some(text), ItemForm::Entry { is_toggled }) => {
                let pieces = old_pieces.or_else(|| self.live.take_finished(text)).unwrap_or_default();
                let (layout, pieces) = lay_out_reply(context, item, is_toggled, text, pieces);
                (layout, pieces.used_lookups(), Some(pieces))
            }
            (Some(_) | None, _) => {
                let lay_out = || match (form, self.read_runs.run_at_header(item)) {
                    (ItemForm::Folded, _) => Page::default(),
                    (ItemForm::RunHeader { .. }, Some(run)) => read_run_layout::lay_out_header(context, run),
                    (ItemForm::RunCall { is_toggled }, _) => {
                        read_run_layout::lay_out_run_call(context, item, is_toggled)
                    }
                    (ItemForm::Entry { is_toggled }, _) => entry_layout::lay_out(context, item, is_toggled),
                    (ItemForm::RunHeader { .. }, None) => Page::default(),
                };
                let (page, used_lookups) = context.lookups.track_lookups(lay_out);
                (ItemLayout::from_page(page), used_lookups, None)
            }
        };
        if self.heights.len() <= item {
            self.heights.resize(item + 1, None);
        }
        let lines = u32::try_from(layout.height).unwrap_or(u32::MAX);
        self.heights[item] = Some(CachedHeight { form, lines, used_lookups });
        let weight = size_of::<CachedItem>() + ALLOCATION_OVERHEAD + layout.estimate_bytes();
        let layout = Arc::new(layout);
        self.weight += weight;
        let cached = CachedItem { layout: layout.clone(), last_used: self.frame, weight, pieces, form, used_lookups };
        self.items.insert(item, Box::new(cached));
        if self.weight > CACHE_BUDGET {
            self.evict_far_from(item);
        }
        layout
    }

    /// Returns the height of an item in lines.
    pub fn item_height(&mut self, context: &LayoutContext<'_>, toggled: &HashSet<usize>, item: usize) -> usize {
        self.drop_outdated_layouts(context);
        let form = self.read_runs.item_form(toggled, item);
        match self.heights.get(item) {
            _ if form == ItemForm::Folded => 0,
            Some(Some(height)) if height.form == form => height.lines as usize,
            _ => self.item_layout(context, toggled, item).height,
        }
    }

    /// Starts a frame.
    pub fn start_frame(&mut self) {
        self.frame += 1;
    }

    /// Clears everything for a different session.
    pub fn clear(&mut self) {
        self.extent = TextExtent::default();
        self.read_runs = ReadRuns::default();
        self.drop_layouts();
    }

    fn drop_layouts(&mut self) {
        self.items.clear();
        self.weight = 0;
        self.heights.clear();
        self.live = live_item::LiveLayout::default();
    }

    /// Returns the estimated bytes of all cached layouts.
    pub fn estimated_bytes(&self) -> usize {
        self.weight
    }

    fn drop_outdated_layouts(&mut self, context: &LayoutContext<'_>) {
        self.read_runs.scan_new_entries(&context.agent.session);
        let size = (context.width, context.max_picture_rows);
        if (self.width, self.max_picture_rows) != size || self.theme != context.theme.name {
            self.drop_layouts();
            (self.width, self.max_picture_rows) = size;
            self.theme.clone_from(&context.theme.name);
        }
        let lookup_counts = (context.lookups.arrivals(), context.lookups.changes());
        if self.lookup_counts != lookup_counts {
            // The results may change the heights of layouts that used them.
            for height in &mut self.heights {
                height.take_if(|height| context.lookups.is_outdated(height.used_lookups));
            }
            self.lookup_counts = lookup_counts;
        }
    }

    fn drop_item(&mut self, item: usize) -> Option<Box<CachedItem>> {
        let cached = self.items.remove(&item)?;
        self.weight -= cached.weight;
        Some(cached)
    }

    /// Evicts layouts, the farthest from an item first. Far ones are evicted until the cache uses three quarters of its
    /// budget, so that not every new layout evicts again; near ones only while it uses more than twice its budget.
    fn evict_far_from(&mut self, item: usize) {
        let evictable = self.items.iter().filter(|(_, cached)| cached.last_used + 1 < self.frame);
        let mut by_distance: Vec<usize> = evictable.map(|(index, _)| *index).collect();
        by_distance.sort_by_key(|index| index.abs_diff(item));
        while let Some(index) = by_distance.pop() {
            let budget = if index.abs_diff(item) > NEAR_ENTRIES { CACHE_BUDGET * 3 / 4 } else { CACHE_BUDGET * 2 };
            if self.weight <= budget {
                return;
            }
            self.drop_item(index);
        }
    }
}

/// Lays out a reply, reusing pieces that are already laid out.
fn lay_out_reply(
    context: &LayoutContext<'_>,
    item: usize,
    is_toggled: bool,
    text: &str,
    mut pieces: ReplyPieces,
) -> (ItemLayout, ReplyPieces) {
    let entry = &context.agent.session.entries()[item];
    pieces.lay_out_closed_blocks(context, text);
    pieces.finish_reply(context, text);
    let page_before = entry_layout::lay_out_before_text(context, entry, is_toggled);
    let has_lines_before = !page_before.lines.is_empty() || pieces.final_height() > 0;
    let page_after = entry_layout::lay_out_after_text(context, entry, has_lines_before);
    let mut layout = ItemLayout::default();
    if !has_lines_before && page_after.lines.is_empty() {
        return (layout, pieces);
    }
    layout.push_page(Arc::new(entry_layout::add_spacing(context, item, page_before)));
    pieces.append_to(&mut layout);
    layout.push_page(Arc::new(page_after));
    (layout, pieces)
}
