//! The transcript: all entries of the session. Lays out only the visible part.

pub mod cache;
pub mod call;
pub mod entry;
pub mod extent;
mod how_much;
pub mod live;
pub mod picture;
pub mod pieces;
pub mod search;
pub mod sub_agent;
mod verdict;

use crate::agent;
use crate::chat::{CallId, Entry};
use crate::tui::keys::Keymap;
use crate::tui::parts::pace::Pace;
use crate::tui::theme::Theme;
use cache::{Cache, Laid};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Inputs of a layout.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The session and the running turn.
    pub agent: &'a agent::State,
    pub theme: &'a Theme,
    /// Width of a line in cells.
    pub width: usize,
    /// Time since program start.
    pub now: Duration,
    /// Start of the current activity.
    pub since: Duration,
    /// Start of each running sub-agent.
    pub begun: &'a [(CallId, Duration)],
    /// Pace of the reply stream.
    pub pace: &'a Pace,
    /// Key bindings, for hints.
    pub keys: &'a Keymap,
}

/// Position of a line: an item (the index of an entry, or one past the last for the live item) and a line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    pub item: usize,
    /// Line of the item, 0-based.
    pub line: usize,
}

/// View state of the transcript.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// First visible line; `None` while the view follows the end.
    top: Option<Place>,
    /// End of the transcript when the user scrolled back.
    left: Place,
    /// Entries whose open state differs from their default.
    toggled: HashSet<usize>,
    /// Selected entry while the transcript has the keyboard focus.
    selected: Option<usize>,
    /// Open search, if any.
    pub search: Option<search::Search>,
    /// Row of the scrollbar thumb that the mouse drags.
    pub held: Option<u16>,
}

/// One visible line.
#[derive(Debug, Clone)]
pub struct Seen {
    pub place: Place,
    /// Layout of its item.
    pub laid: Arc<Laid>,
}

impl Transcript {
    /// Returns the visible lines at this height, top first.
    pub fn seen(&self, ground: &Ground<'_>, cache: &mut Cache, height: usize) -> Vec<Seen> {
        cache.begin();
        let mut place = self.top_line(ground, cache, height);
        let last = live_item(ground);
        let mut seen = Vec::with_capacity(height);
        while place.item <= last && seen.len() < height {
            let laid = cache.item(ground, &self.toggled, place.item);
            while place.line < laid.height && seen.len() < height {
                seen.push(Seen { place, laid: laid.clone() });
                place.line += 1;
            }
            place = Place { item: place.item + 1, line: 0 };
        }
        seen
    }

    /// Returns the first visible line.
    fn top_line(&self, ground: &Ground<'_>, cache: &mut Cache, height: usize) -> Place {
        let end = self.end(ground, cache, height);
        match self.top {
            // The live item may have become an entry of a different height, so the position is adjusted.
            Some(top) => self.settle(ground, cache, top).min(end),
            None => end,
        }
    }

    /// Returns the first visible line when the end is at the bottom. Lays out backwards from the end, only as needed.
    fn end(&self, ground: &Ground<'_>, cache: &mut Cache, height: usize) -> Place {
        let mut left = height;
        for item in (0..=live_item(ground)).rev() {
            let lines = cache.height(ground, &self.toggled, item);
            if lines >= left {
                return Place { item, line: lines - left };
            }
            left -= lines;
        }
        Place::default()
    }

    fn settle(&self, ground: &Ground<'_>, cache: &mut Cache, mut place: Place) -> Place {
        let last = live_item(ground);
        while place.item < last {
            let lines = cache.height(ground, &self.toggled, place.item);
            if place.line < lines {
                break;
            }
            place = Place { item: place.item + 1, line: place.line - lines };
        }
        place
    }

    /// Scrolls by a number of lines, up if negative. Follows again at the end.
    pub fn scroll(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, by: isize) {
        if height == 0 {
            return;
        }
        let mut place = self.top_line(ground, cache, height);
        let mut left = by.unsigned_abs();
        while left > 0 {
            if by < 0 {
                let step = left.min(place.line);
                place.line -= step;
                left -= step;
                if left == 0 || place.item == 0 {
                    break;
                }
                place.item -= 1;
                place.line = cache.height(ground, &self.toggled, place.item);
            } else {
                let lines = cache.height(ground, &self.toggled, place.item);
                let step = left.min(lines.saturating_sub(place.line));
                place.line += step;
                left -= step;
                if left == 0 || place.item >= live_item(ground) {
                    break;
                }
                place = Place { item: place.item + 1, line: 0 };
            }
        }
        self.go(ground, cache, height, place);
    }

    /// Scrolls a line to the top, or as near as the end allows.
    pub fn go(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, place: Place) {
        let end = self.end(ground, cache, height);
        if self.top.is_none() {
            self.left = Place {
                item: live_item(ground),
                line: cache.height(ground, &self.toggled, live_item(ground)),
            };
        }
        self.top = (place < end).then_some(place);
    }

    /// Makes the view follow the end.
    pub fn follow(&mut self) {
        self.top = None;
    }

    /// Returns whether the view follows the end.
    pub fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// Scrolls to the first line.
    pub fn top(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize) {
        self.go(ground, cache, height, Place::default());
    }

    /// Returns the number of lines added since the user scrolled back; 0 while the view follows the end.
    pub fn new_lines(&self, ground: &Ground<'_>, cache: &mut Cache) -> usize {
        if self.follows() {
            return 0;
        }
        let last = live_item(ground);
        let mut lines = 0;
        for item in self.left.item.min(last)..=last {
            lines += cache.height(ground, &self.toggled, item);
        }
        lines.saturating_sub(self.left.line)
    }

    /// Scrolls to the previous or next user message, relative to the top of the screen.
    pub fn jump(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, back: bool) {
        let top = self.top_line(ground, cache, height);
        let entries = ground.agent.session.entries();
        let said = |index: &usize| matches!(entries.get(*index), Some(Entry::Said { .. }));
        let to = match back {
            true => (0..top.item.min(entries.len())).rev().find(said),
            false => (top.item + 1..entries.len()).find(said),
        };
        match to {
            Some(item) => self.go(ground, cache, height, Place { item, line: usize::from(item > 0) }),
            None if back => self.top(ground, cache, height),
            None => self.follow(),
        }
    }

    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// Selects the next entry above or below that can be opened, and scrolls to it. Moving below the last one clears the
    /// selection.
    pub fn select(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, up: bool) {
        let opens = |index: &usize| entry::opens(ground, *index);
        let count = ground.agent.session.entries().len();
        let to = match (self.selected, up) {
            (Some(at), true) => (0..at.min(count)).rev().find(opens).or(Some(at)),
            (Some(at), false) => (at + 1..count).find(opens),
            (None, true) => (0..count).rev().find(opens),
            (None, false) => None,
        };
        self.selected = to;
        if let Some(item) = to {
            self.show(ground, cache, height, item);
        }
    }

    /// Clears the selection.
    pub fn deselect(&mut self) {
        self.selected = None;
    }

    /// Opens or closes an entry.
    pub fn toggle(&mut self, ground: &Ground<'_>, item: usize) {
        if entry::opens(ground, item) && !self.toggled.remove(&item) {
            self.toggled.insert(item);
        }
    }

    /// Scrolls until the start of an item is visible.
    pub fn show(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, item: usize) {
        let seen = self.seen(ground, cache, height);
        if seen.iter().any(|seen| seen.place.item == item && seen.place.line <= 1) {
            return;
        }
        // One third from the top, so that earlier lines stay visible.
        self.go(ground, cache, height, Place { item, line: 0 });
        if !self.follows() {
            self.scroll(ground, cache, height, -((height / 3) as isize));
        }
    }
}

/// Returns the index of the live item, one past the last entry.
fn live_item(ground: &Ground<'_>) -> usize {
    ground.agent.session.entries().len()
}

/// Formats a duration for the screen: `12 ms`, `3 s`, `2 min 5 s`.
pub fn how_long(time: Duration) -> String {
    match (time.as_millis(), time.as_secs()) {
        (ms, 0) => format!("{ms} ms"),
        (ms, s @ 1..10) if ms % 1000 >= 100 => format!("{s}.{} s", ms % 1000 / 100),
        (_, s @ 0..60) => format!("{s} s"),
        (_, s @ 60..3600) => format!("{} min {} s", s / 60, s % 60),
        (_, s) => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}
