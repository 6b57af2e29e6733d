//! The confirmation prompt of the program itself, for actions that cannot be undone. It accepts confirm and cancel,
//! nothing else.

use super::frame::{self, Frame, READABLE, Sight};
use super::listening::Listening;
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::text::wrap;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::time::Duration;

/// Maximum columns of the prompt.
const WIDEST: u16 = 76;

/// Confirmation prompt.
#[derive(Debug, Clone)]
pub struct Sure {
    title: &'static str,
    /// Labels of the two answers: the action, and keeping everything as it is.
    ways: (&'static str, &'static str),
    /// Facts to know before answering.
    told: Vec<String>,
    /// True if the action destroys something and needs the key for that.
    destroys: bool,
    /// Reason the last key did nothing.
    says: String,
    seen: Option<Duration>,
    end_seen: bool,
    top: Cell<usize>,
    drawn: Cell<Drawn>,
}

/// State of the last frame.
#[derive(Debug, Clone, Copy, Default)]
struct Drawn {
    readable: bool,
    end: bool,
    rows: usize,
}

/// Effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The action is confirmed.
    Yes,
    /// The action is cancelled.
    No,
    /// The key scrolled the prompt.
    Moved,
    /// The key answered nothing; the prompt shows why.
    Nothing,
}

impl Sure {
    /// Creates a prompt that was not drawn yet. `told` is sanitized when it is drawn.
    pub fn new(title: &'static str, ways: (&'static str, &'static str), told: Vec<String>) -> Self {
        Self {
            title,
            ways,
            told,
            destroys: false,
            says: String::new(),
            seen: None,
            end_seen: false,
            top: Cell::new(0),
            drawn: Cell::default(),
        }
    }

    /// Marks the action as destructive, so that it needs the key for destructive actions.
    pub fn destroying(self) -> Self {
        Self { destroys: true, ..self }
    }

    /// Returns the key that confirms.
    fn yes(&self, keys: &Keymap) -> String {
        keys.hint(
            Scope::Approval,
            if self.destroys { Action::ApproveDestroying } else { Action::ApproveOnce },
        )
    }

    /// Time at which the prompt was first drawn, for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Records that a frame is on the screen. Returns whether it was the first readable one.
    pub fn drawn(&mut self, now: Duration) -> bool {
        let (drawn, before) = (self.drawn.get(), self.seen.is_some());
        if drawn.readable {
            self.seen.get_or_insert(now);
            self.end_seen |= drawn.end;
        }
        self.seen.is_some() != before
    }

    /// Scrolls by lines of the mouse wheel.
    pub fn scroll(&mut self, by: isize) {
        self.top.set(self.top.get().saturating_add_signed(by));
    }

    /// Handles a key that [`super::listening::Presses::goes_on`] has let through.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening) -> Reply {
        self.says.clear();
        let (top, page) = (self.top.get(), self.drawn.get().rows.saturating_sub(1).max(1));
        let top = match keys.lookup(Scope::Approval, key) {
            Some(Action::Close) => return Reply::No,
            Some(way @ (Action::ApproveOnce | Action::ApproveDestroying | Action::Refuse)) => {
                return self.answered(way, key, keys, listening);
            }
            Some(Action::Up) => top.saturating_sub(1),
            Some(Action::Down) => top + 1,
            Some(Action::PageUp) => top.saturating_sub(page),
            Some(Action::PageDown) => top + page,
            Some(Action::Top) => 0,
            Some(Action::Bottom) => usize::MAX / 2,
            Some(_) | None => {
                let which = if key.code == KeyCode::Enter { "Enter" } else { "That key" };
                let (yes, no) = (self.yes(keys), keys.hint(Scope::Approval, Action::Refuse));
                self.says = format!("{which} does not answer · {yes} {}, {no} {}", self.ways.0, self.ways.1);
                return Reply::Nothing;
            }
        };
        self.top.set(top);
        Reply::Moved
    }

    fn answered(&mut self, way: Action, key: &KeyEvent, keys: &Keymap, listening: Listening) -> Reply {
        if !listening.now() {
            self.says = "Too soon, not counted · press it again".to_owned();
            return Reply::Nothing;
        }
        // A key that repeats while it is held was pressed for something else.
        if key.kind != KeyEventKind::Press {
            return Reply::Nothing;
        }
        if way == Action::Refuse {
            return Reply::No;
        }
        if self.destroys && way != Action::ApproveDestroying {
            self.says = format!("{} {}: this cannot be undone", self.yes(keys), self.ways.0);
            return Reply::Nothing;
        }
        if !self.end_seen {
            let down = keys.hint(Scope::Approval, Action::Down);
            self.says = format!("Read to the end before {} · {down} to scroll", Chord::from(key));
            return Reply::Nothing;
        }
        Reply::Yes
    }

    /// Draws the prompt over the upper middle of `area`.
    pub fn view(&self, sight: &Sight<'_>, area: Rect, buffer: &mut Buffer) {
        let width = area.width.min(WIDEST);
        let cells = usize::from(width.saturating_sub(4)).max(1);
        let style = sight.theme.text;
        let lines: Vec<_> = self.told.iter().flat_map(|told| wrap::plain(told, style, cells)).collect();
        let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let place = Rect { x, y, width, height };
        let hint = |action| sight.keys.hint(Scope::Approval, action);
        let (yes, no, back) = (self.yes(sight.keys), hint(Action::Refuse), hint(Action::Close));
        let hints = [
            format!("{yes} {} · {no} {} · {back} close", self.ways.0, self.ways.1),
            format!("{yes} {} · {no} {}", self.ways.0, self.ways.1),
            format!("{yes} confirm · {no} cancel"),
        ];
        let rows = usize::from(height.saturating_sub(frame::rows(height)));
        let top = self.top.get().min(lines.len().saturating_sub(rows));
        let below = lines.len().saturating_sub(top + rows);
        let right = if below > 0 { format!("{below} more lines") } else { String::new() };
        let frame = Frame {
            title: self.title,
            right: &right,
            hints: &hints,
            says: &self.says,
            listens: sight.listening.now(),
            danger: self.destroys,
        };
        let inside = frame.view(place, buffer, sight.theme);
        for (row, line) in inside.rows().zip(&lines[top..]) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        let readable = inside.width >= READABLE && !inside.is_empty();
        self.top.set(top);
        self.drawn.set(Drawn { readable, end: below == 0, rows });
    }
}
