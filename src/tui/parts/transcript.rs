//! The transcript: all entries of the session. Lays out only the visible part.

mod attachment_rows;
mod background_layout;
pub mod call_layout;
mod call_row;
pub mod entry_layout;
mod inline_output;
pub mod item_layout;
pub mod layout_cache;
pub mod layout_context;
pub mod live_item;
mod outcome_label;
mod output_tail;
pub mod picture_caption;
pub mod read_run_layout;
pub mod read_runs;
pub mod reply_pieces;
mod result_size;
pub mod scrollbar;
mod selection;
mod sub_agent_figures;
pub mod sub_agent_layout;
pub mod text_extent;
pub mod transcript_search;
mod user_command_layout;

use crate::chat::{CallId, Entry};
use item_layout::ItemLayout;
use layout_cache::LayoutCache;
use layout_context::LayoutContext;
use read_runs::{ItemForm, ReadRuns};
use std::collections::HashSet;
use std::sync::Arc;

/// Position of a line: an item (the index of an entry, or one past the last for the live item) and a line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LinePosition {
    pub item: usize,
    /// Line of the item, 0-based.
    pub line: usize,
}

/// What is needed to lay out the visible part of the transcript.
pub struct Layouts<'a> {
    pub context: LayoutContext<'a>,
    pub cache: &'a mut LayoutCache,
    /// Visible rows.
    pub height: usize,
}

impl Layouts<'_> {
    /// Returns the index of the live item, one past the last entry.
    fn live_item(&self) -> usize {
        self.context.agent.session.entries().len()
    }

    /// Returns the runs of reads among all entries.
    fn read_runs(&mut self) -> &ReadRuns {
        self.cache.read_runs.scan_new_entries(&self.context.agent.session);
        &self.cache.read_runs
    }

    /// Returns whether the user can open and close an item.
    fn can_open(&mut self, toggled: &HashSet<usize>, item: usize) -> bool {
        match self.read_runs().item_form(toggled, item) {
            ItemForm::RunHeader { .. } => true,
            ItemForm::Folded => false,
            ItemForm::Entry { .. } | ItemForm::RunCall { .. } => entry_layout::can_open(&self.context, item),
        }
    }
}

/// View state of the transcript.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// First visible line; `None` while the view follows the end.
    top: Option<LinePosition>,
    /// End of the transcript when the user scrolled back.
    end_before_scroll: LinePosition,
    /// Entries whose open state differs from their default.
    toggled: HashSet<usize>,
    /// Selected entry while the transcript has the keyboard focus.
    selected: Option<usize>,
    /// Selected running command; it has no entry yet.
    selected_call: Option<CallId>,
    /// Open search, if any.
    pub search: Option<Search>,
    /// Row of the scrollbar thumb that the mouse drags.
    pub dragged_row: Option<u16>,
}

/// Query of the transcript search and last match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// Query, case-insensitive.
    pub query: String,
    /// Entry of the last match.
    pub match_entry: Option<usize>,
    /// True if no entry matches.
    pub has_no_match: bool,
}

/// Direction in which the transcript is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

/// One visible line.
#[derive(Debug, Clone)]
pub struct VisibleLine {
    pub position: LinePosition,
    /// Layout of its item.
    pub layout: Arc<ItemLayout>,
}

impl Transcript {
    /// Returns the visible lines, top first.
    pub fn visible_lines(&self, layouts: &mut Layouts<'_>) -> Vec<VisibleLine> {
        layouts.cache.start_frame();
        let mut position = self.top_line(layouts);
        let live_item = layouts.live_item();
        let mut visible = Vec::with_capacity(layouts.height);
        while position.item <= live_item && visible.len() < layouts.height {
            let layout = layouts.cache.item_layout(&layouts.context, &self.toggled, position.item);
            while position.line < layout.height && visible.len() < layouts.height {
                visible.push(VisibleLine { position, layout: layout.clone() });
                position.line += 1;
            }
            let item = layouts.read_runs().skip_folded_down(&self.toggled, position.item + 1);
            position = LinePosition { item, line: 0 };
        }
        visible
    }

    /// Returns the height of an item in lines.
    fn item_height(&self, layouts: &mut Layouts<'_>, item: usize) -> usize {
        layouts.cache.item_height(&layouts.context, &self.toggled, item)
    }

    /// Returns the first visible line.
    fn top_line(&self, layouts: &mut Layouts<'_>) -> LinePosition {
        let end = self.end_position(layouts);
        match self.top {
            // The live item may have become an entry of a different height, so the position is adjusted.
            Some(top) => self.normalize_position(layouts, top).min(end),
            None => end,
        }
    }

    /// Returns the first visible line of a view that shows the end. Lays out only the items in that view.
    fn end_position(&self, layouts: &mut Layouts<'_>) -> LinePosition {
        let mut remaining = layouts.height;
        let mut item = layouts.live_item();
        loop {
            let lines = self.item_height(layouts, item);
            if lines >= remaining {
                return LinePosition { item, line: lines - remaining };
            }
            remaining -= lines;
            let Some(previous) = item.checked_sub(1) else { return LinePosition::default() };
            item = layouts.read_runs().skip_folded_up(&self.toggled, previous);
        }
    }

    /// Counts the lines of the transcript, up to the visible rows. Lays out only these.
    pub fn count_rows(&self, layouts: &mut Layouts<'_>) -> usize {
        let mut rows = 0;
        let mut item = Some(layouts.live_item());
        while let Some(current) = item.filter(|_| rows < layouts.height) {
            rows += self.item_height(layouts, current);
            item = current.checked_sub(1).map(|previous| layouts.read_runs().skip_folded_up(&self.toggled, previous));
        }
        rows.min(layouts.height)
    }

    /// Converts a position beyond the end of its item to a line of a later item.
    fn normalize_position(&self, layouts: &mut Layouts<'_>, mut position: LinePosition) -> LinePosition {
        let live_item = layouts.live_item();
        while position.item < live_item {
            let lines = self.item_height(layouts, position.item);
            if position.line < lines {
                break;
            }
            position = LinePosition { item: position.item + 1, line: position.line - lines };
        }
        position
    }

    /// Scrolls by a number of lines, up if negative. At the end, the view follows the end again.
    pub fn scroll_by(&mut self, layouts: &mut Layouts<'_>, delta: isize) {
        if layouts.height == 0 {
            return;
        }
        let mut position = self.top_line(layouts);
        let mut remaining = delta.unsigned_abs();
        while remaining > 0 {
            if delta < 0 {
                let step = remaining.min(position.line);
                position.line -= step;
                remaining -= step;
                if remaining == 0 || position.item == 0 {
                    break;
                }
                position.item -= 1;
                position.line = self.item_height(layouts, position.item);
            } else {
                let lines = self.item_height(layouts, position.item);
                let step = remaining.min(lines.saturating_sub(position.line));
                position.line += step;
                remaining -= step;
                if remaining == 0 || position.item >= layouts.live_item() {
                    break;
                }
                position = LinePosition { item: position.item + 1, line: 0 };
            }
        }
        self.scroll_to(layouts, position);
    }

    /// Scrolls a line to the top, or as near as the end allows.
    pub fn scroll_to(&mut self, layouts: &mut Layouts<'_>, position: LinePosition) {
        let end = self.end_position(layouts);
        if self.top.is_none() {
            let item = layouts.live_item();
            self.end_before_scroll = LinePosition { item, line: self.item_height(layouts, item) };
        }
        self.top = (position < end).then_some(position);
    }

    /// Makes the view follow the end.
    pub fn follow_end(&mut self) {
        self.top = None;
    }

    /// Returns whether the view follows the end.
    pub fn is_following(&self) -> bool {
        self.top.is_none()
    }

    /// Scrolls to the first line.
    pub fn scroll_to_top(&mut self, layouts: &mut Layouts<'_>) {
        self.scroll_to(layouts, LinePosition::default());
    }

    /// Returns the number of lines added since the user scrolled back from the end; 0 while the view follows the end.
    pub fn count_new_lines(&self, layouts: &mut Layouts<'_>) -> usize {
        if self.is_following() {
            return 0;
        }
        let live_item = layouts.live_item();
        let new_items = self.end_before_scroll.item.min(live_item)..=live_item;
        let lines: usize = new_items.map(|item| self.item_height(layouts, item)).sum();
        lines.saturating_sub(self.end_before_scroll.line)
    }

    /// Scrolls to the nearest user message above or below the first visible line.
    pub fn jump_to_message(&mut self, layouts: &mut Layouts<'_>, direction: Direction) {
        let top = self.top_line(layouts);
        let entries = layouts.context.agent.session.entries();
        let is_user_message = |index: &usize| matches!(entries.get(*index), Some(Entry::UserMessage { .. }));
        let target = match direction {
            Direction::Up => (0..top.item.min(entries.len())).rev().find(is_user_message),
            Direction::Down => (top.item + 1..entries.len()).find(is_user_message),
        };
        match (target, direction) {
            // The first line of a user message is blank, except at the start of the transcript.
            (Some(item), _) => self.scroll_to(layouts, LinePosition { item, line: usize::from(item > 0) }),
            (None, Direction::Up) => self.scroll_to_top(layouts),
            (None, Direction::Down) => self.follow_end(),
        }
    }

    /// Returns the selected entry, if any. For a run of reads it is the entry before its first call.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// Returns the item that shows the selection: the row of the run if the selected call was folded since.
    pub fn selected_item(&self, layouts: &mut Layouts<'_>) -> Option<usize> {
        let selected = self.selected?;
        match layouts.read_runs().item_form(&self.toggled, selected) {
            ItemForm::Folded => layouts.read_runs().header_of_call(selected),
            ItemForm::Entry { .. } | ItemForm::RunHeader { .. } | ItemForm::RunCall { .. } => Some(selected),
        }
    }

    /// Returns whether the selected item is open, so that its key closes it.
    pub fn is_selection_open(&self, layouts: &mut Layouts<'_>) -> bool {
        let Some(item) = self.selected_item(layouts) else { return false };
        match layouts.read_runs().item_form(&self.toggled, item) {
            ItemForm::RunHeader { .. } => self.toggled.contains(&item),
            ItemForm::Entry { is_toggled } | ItemForm::RunCall { is_toggled } => {
                entry_layout::is_open(&layouts.context, item, is_toggled)
            }
            ItemForm::Folded => false,
        }
    }

    /// Selects the nearest entry that can be opened.
    fn select_openable_entry(&mut self, layouts: &mut Layouts<'_>, direction: Direction) {
        let count = layouts.context.agent.session.entries().len();
        let mut is_openable = |index: &usize| layouts.can_open(&self.toggled, *index);
        self.selected = match (self.selected, direction) {
            (Some(index), Direction::Up) => (0..index.min(count)).rev().find(&mut is_openable).or(Some(index)),
            (Some(index), Direction::Down) => (index + 1..count).find(&mut is_openable),
            (None, Direction::Up) => (0..count).rev().find(&mut is_openable),
            (None, Direction::Down) => None,
        };
        if let Some(item) = self.selected {
            self.scroll_into_view(layouts, item);
        }
    }

    /// Clears the selection.
    pub fn clear_selection(&mut self) {
        (self.selected, self.selected_call) = (None, None);
    }

    /// Opens or closes an entry, or the run of reads whose row takes its place.
    pub fn toggle_entry(&mut self, layouts: &mut Layouts<'_>, item: usize) {
        if layouts.can_open(&self.toggled, item) && !self.toggled.remove(&item) {
            self.toggled.insert(item);
        }
    }

    /// Opens or closes an item. Once it is closed, the view follows the end; then returns the first visible line before,
    /// for [`Self::show_toggled`].
    pub fn toggle_item(&mut self, layouts: &mut Layouts<'_>, item: usize) -> Option<LinePosition> {
        let old_height = self.item_height(layouts, item);
        self.toggle_entry(layouts, item);
        if self.item_height(layouts, item) < old_height { self.top.take() } else { None }
    }

    /// Returns to this first visible line if the view that follows the end does not show the start of a closed item.
    pub fn show_toggled(&mut self, layouts: &mut Layouts<'_>, item: usize, old_top: LinePosition) {
        if !self.shows_start(layouts, item) {
            self.top = Some(old_top);
        }
    }

    /// Opens the run of reads that hides this call, if any.
    fn unfold_call(&mut self, layouts: &mut Layouts<'_>, item: usize) {
        if layouts.read_runs().item_form(&self.toggled, item) == ItemForm::Folded {
            self.toggled.extend(layouts.read_runs().header_of_call(item));
        }
    }

    /// Scrolls until the start of an item is visible.
    pub fn scroll_into_view(&mut self, layouts: &mut Layouts<'_>, item: usize) {
        if !self.shows_start(layouts, item) {
            let start = self.start_position(layouts, item);
            self.scroll_to_upper_third(layouts, start);
        }
    }

    /// Returns the first line of an item that is not blank.
    fn start_position(&self, layouts: &mut Layouts<'_>, item: usize) -> LinePosition {
        let layout = layouts.cache.item_layout(&layouts.context, &self.toggled, item);
        LinePosition { item, line: layout.first_text_line() }
    }

    /// Returns whether the start of an item is visible.
    fn shows_start(&self, layouts: &mut Layouts<'_>, item: usize) -> bool {
        let start = self.start_position(layouts, item);
        self.visible_lines(layouts).iter().any(|visible_line| visible_line.position == start)
    }

    /// Scrolls a line to one third of the height from the top, so that earlier lines stay visible.
    fn scroll_to_upper_third(&mut self, layouts: &mut Layouts<'_>, position: LinePosition) {
        self.scroll_to(layouts, position);
        if !self.is_following() {
            self.scroll_by(layouts, -((layouts.height / 3) as isize));
        }
    }
}
