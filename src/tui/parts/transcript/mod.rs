//! The transcript: everything that was said and done, of which only what can be seen is laid out.

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

/// What a layout depends on.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The session, and what goes on.
    pub agent: &'a agent::State,
    /// The roles' looks.
    pub theme: &'a Theme,
    /// Cells of a line.
    pub width: usize,
    /// Since the start of the program.
    pub now: Duration,
    /// When what goes on now began.
    pub since: Duration,
    /// When each sub-agent that works began.
    pub begun: &'a [(CallId, Duration)],
    /// How the reply comes.
    pub pace: &'a Pace,
    /// The keys that are named.
    pub keys: &'a Keymap,
}

/// A line of the transcript: an item (an entry by index, or one past the last for what is live) and a line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Which item.
    pub item: usize,
    /// Which of its lines; 0 is the first.
    pub line: usize,
}

/// What the person sees of the transcript.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// The first line on the screen; `None` while the end is followed.
    top: Option<Place>,
    /// Where the transcript ended when the person began to read back.
    left: Place,
    /// What was opened, or closed where it stands open by itself.
    toggled: HashSet<usize>,
    /// The selected entry, while the keyboard is in the transcript.
    selected: Option<usize>,
    /// What is searched for.
    pub search: Option<search::Search>,
    /// While the bar is dragged: the row of its thumb that the mouse holds.
    pub held: Option<u16>,
}

/// One line on the screen.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Where it is.
    pub place: Place,
    /// Its item, laid out.
    pub laid: Arc<Laid>,
}

impl Transcript {
    /// The lines on a screen of this height, top first.
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

    /// The first line on the screen.
    fn top_line(&self, ground: &Ground<'_>, cache: &mut Cache, height: usize) -> Place {
        let end = self.end(ground, cache, height);
        match self.top {
            // What was live may have become an entry of another height: the place moves on within what there is.
            Some(top) => self.settle(ground, cache, top).min(end),
            None => end,
        }
    }

    /// The first line when the end is at the bottom. Lays out from the end backwards, and no more than that.
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

    /// Scrolls by so many lines, up where negative. At the end it follows again.
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

    /// Puts this line at the top, or as near as the end allows.
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

    /// Follows the end.
    pub fn follow(&mut self) {
        self.top = None;
    }

    /// Whether the end is followed.
    pub fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// To the first line.
    pub fn top(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize) {
        self.go(ground, cache, height, Place::default());
    }

    /// How many lines came since the person began to read back; 0 while the end is followed.
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

    /// Back to what the person said before the top of the screen, or on to the next.
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

    /// The selected entry.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// Selects the entry above or below that can be opened, and shows it; below the last one the keyboard leaves
    /// the transcript.
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

    /// Takes the keyboard out of the transcript.
    pub fn deselect(&mut self) {
        self.selected = None;
    }

    /// Opens or closes an entry.
    pub fn toggle(&mut self, ground: &Ground<'_>, item: usize) {
        if entry::opens(ground, item) && !self.toggled.remove(&item) {
            self.toggled.insert(item);
        }
    }

    /// Scrolls until the beginning of an item is on the screen.
    pub fn show(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, item: usize) {
        let seen = self.seen(ground, cache, height);
        if seen.iter().any(|seen| seen.place.item == item && seen.place.line <= 1) {
            return;
        }
        // A third from the top, so that what came before can be read too.
        self.go(ground, cache, height, Place { item, line: 0 });
        if !self.follows() {
            self.scroll(ground, cache, height, -((height / 3) as isize));
        }
    }
}

/// The item behind the last entry.
fn live_item(ground: &Ground<'_>) -> usize {
    ground.agent.session.entries().len()
}

/// A time as it is said on the screen: `12 ms`, `3 s`, `2 min 5 s`.
pub fn how_long(time: Duration) -> String {
    match (time.as_millis(), time.as_secs()) {
        (ms, 0) => format!("{ms} ms"),
        (ms, s @ 1..10) if ms % 1000 >= 100 => format!("{s}.{} s", ms % 1000 / 100),
        (_, s @ 0..60) => format!("{s} s"),
        (_, s @ 60..3600) => format!("{} min {} s", s / 60, s % 60),
        (_, s) => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}
