//! Confirmation prompt for an action of the user that cannot be undone, such as discarding a dry run. Its only answers
//! are confirm and cancel.

use super::frame::{self, Frame, PromptContext};
use super::line_cache::LineCache;
use super::listening::{Listening, TOO_SOON};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::text::wrap;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::time::Duration;

/// Maximum columns of the prompt.
const MAX_COLUMNS: u16 = 76;

/// Confirmation prompt.
#[derive(Debug, Clone)]
pub struct Confirmation {
    title: &'static str,
    labels: AnswerLabels,
    /// Facts to know before answering.
    facts: Vec<String>,
    /// True if the facts are a difference.
    has_difference: bool,
    /// True if the action destroys something and needs the key for that.
    is_destructive: bool,
    /// Reason the last key did nothing.
    message: String,
    /// Time of the first readable frame.
    first_drawn: Option<Duration>,
    has_reached_end: bool,
    /// Number of lines of the difference that were on the screen, counted from the first without a gap, and of all lines.
    seen_lines: (usize, usize),
    /// Layout of the facts.
    layout: LineCache<()>,
    /// First visible line.
    top: Cell<usize>,
    last_frame: Cell<DrawnFrame>,
}

/// Labels of the two answers.
#[derive(Debug, Clone, Copy)]
pub struct AnswerLabels {
    /// Label of the action, such as `discard`.
    pub confirm: &'static str,
    /// Label of the answer that changes nothing, such as `keep`.
    pub cancel: &'static str,
}

/// State of the last frame.
#[derive(Debug, Clone, Copy, Default)]
struct DrawnFrame {
    is_readable: bool,
    is_at_end: bool,
    top: usize,
    line_count: usize,
    visible_rows: usize,
}

/// Result of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyResult {
    /// The action is confirmed.
    Confirmed,
    /// The action is cancelled.
    Cancelled,
    /// The key scrolled the prompt.
    Scrolled,
    /// The key answered nothing; the prompt shows why.
    Explained,
}

impl Confirmation {
    /// Creates a prompt that was not drawn yet. `facts` are sanitized when they are drawn.
    pub fn new(title: &'static str, labels: AnswerLabels, facts: Vec<String>) -> Self {
        Self {
            title,
            labels,
            facts,
            has_difference: false,
            is_destructive: false,
            message: String::new(),
            first_drawn: None,
            has_reached_end: false,
            seen_lines: (0, 0),
            layout: LineCache::default(),
            top: Cell::new(0),
            last_frame: Cell::default(),
        }
    }

    /// Marks the action as destructive, so that it needs the key for destructive actions.
    pub fn destructive(self) -> Self {
        Self { is_destructive: true, ..self }
    }

    /// Marks the facts as a difference, of which every line must have been on the screen. Those that begin with `  +` or
    /// `  -` are coloured.
    pub fn with_difference(self) -> Self {
        Self { has_difference: true, ..self }
    }

    /// Returns the key that confirms.
    fn confirm_key(&self, keys: &Keymap) -> String {
        let action = if self.is_destructive { Action::ApproveDestructive } else { Action::ApproveOnce };
        keys.first_chord(Scope::Approval, action)
    }

    /// Returns the time of the first readable frame, for [`super::listening`].
    pub fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    /// Records that a frame is on the screen. Returns whether it was the first readable one.
    pub fn record_frame(&mut self, now: Duration) -> bool {
        let last_frame = self.last_frame.get();
        let is_first = last_frame.is_readable && self.first_drawn.is_none();
        if last_frame.is_readable {
            self.first_drawn.get_or_insert(now);
            self.has_reached_end = self.is_read_after(last_frame);
            self.seen_lines = (self.count_seen_lines(last_frame), last_frame.line_count);
        }
        is_first
    }

    /// Returns how many lines were on the screen after this frame, counted from the first without a gap.
    fn count_seen_lines(&self, DrawnFrame { top, visible_rows, line_count, .. }: DrawnFrame) -> usize {
        // Another width has other lines.
        let seen = if self.seen_lines.1 == line_count { self.seen_lines.0 } else { 0 };
        if top <= seen { seen.max(top + visible_rows) } else { seen }
    }

    /// Returns whether the facts were read far enough for an answer after this frame.
    fn is_read_after(&self, frame: DrawnFrame) -> bool {
        let is_read = match self.has_difference {
            true => self.count_seen_lines(frame) >= frame.line_count,
            false => frame.is_at_end,
        };
        self.has_reached_end || is_read
    }

    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, is_read: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let (yes, no) = (self.confirm_key(keys), key(Action::Deny));
        let AnswerLabels { confirm, cancel } = self.labels;
        let answers = format!("{yes} {confirm} · {no} {cancel}");
        if is_read {
            return vec![answers, format!("{yes} confirm · {no} cancel")];
        }
        let (read_key, read) = match self.has_difference {
            true => (key(Action::PageDown), "read every line"),
            false => (key(Action::Bottom), "jump to the end"),
        };
        vec![format!("{read_key} {read}, then {answers}"), format!("{read_key} first, then {yes} · {no} cancel")]
    }

    /// Scrolls by lines of the mouse wheel.
    pub fn scroll(&mut self, lines: isize) {
        self.top.set(self.top.get().saturating_add_signed(lines));
    }

    /// Handles a key that is not a repeat of the last answer (see [`super::listening::Presses`]).
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening) -> KeyResult {
        self.message.clear();
        let (top, page) = (self.top.get(), self.last_frame.get().visible_rows.saturating_sub(1).max(1));
        let action = keys.lookup(Scope::Approval, key);
        match action {
            Some(Action::Close) => return KeyResult::Cancelled,
            Some(answer @ (Action::ApproveOnce | Action::ApproveDestructive | Action::Deny)) => {
                return self.handle_answer(answer, key, keys, listening);
            }
            Some(_) | None => {}
        }
        let Some(top) = action.and_then(|action| frame::scroll_position(action, top, page)) else {
            let key_name = if key.code == KeyCode::Enter { "Enter" } else { "That key" };
            let (confirm_key, deny_key) = (self.confirm_key(keys), keys.first_chord(Scope::Approval, Action::Deny));
            let AnswerLabels { confirm, cancel } = self.labels;
            self.message = format!("{key_name} does not answer · {confirm_key} {confirm}, {deny_key} {cancel}");
            return KeyResult::Explained;
        };
        self.top.set(top);
        KeyResult::Scrolled
    }

    fn handle_answer(&mut self, answer: Action, key: &KeyEvent, keys: &Keymap, listening: Listening) -> KeyResult {
        if !listening.is_listening() {
            self.message = TOO_SOON.to_owned();
            return KeyResult::Explained;
        }
        // A repeat belongs to an earlier press of a held key.
        if key.kind != KeyEventKind::Press {
            return KeyResult::Explained;
        }
        if answer == Action::Deny {
            return KeyResult::Cancelled;
        }
        if self.is_destructive && answer != Action::ApproveDestructive {
            self.message = format!("{} {}: this cannot be undone", self.confirm_key(keys), self.labels.confirm);
            return KeyResult::Explained;
        }
        if !self.has_reached_end {
            let down = keys.first_chord(Scope::Approval, Action::Down);
            let part = if self.has_difference { "Read every line" } else { "Read to the end" };
            self.message = format!("{part} before {} · {down} to scroll", Chord::from(key));
            return KeyResult::Explained;
        }
        KeyResult::Confirmed
    }

    /// Draws the prompt over the upper middle of `area`.
    pub fn draw(&self, context: &PromptContext<'_>, area: Rect, buffer: &mut Buffer) {
        let width = area.width.min(MAX_COLUMNS);
        // The frame takes two columns at each side, and one row above and below.
        let cells = usize::from(width.saturating_sub(4)).max(1);
        let style = |fact: &str| match fact.get(..3) {
            Some("  +") if self.has_difference => context.theme.added,
            Some("  -") if self.has_difference => context.theme.removed,
            Some(_) | None => context.theme.text,
        };
        let lay_out = || self.facts.iter().flat_map(|fact| wrap::wrap_plain(fact, style(fact), cells)).collect();
        let lines = self.layout.lines_for(cells, (), context.theme, lay_out);
        let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let prompt_area = Rect { x, y, width, height };
        let rows = usize::from(frame::inner_area(prompt_area).height);
        let top = self.top.get().min(lines.len().saturating_sub(rows));
        let lines_below = lines.len().saturating_sub(top + rows);
        let right_title = if lines_below > 0 { format!("{lines_below} more lines") } else { String::new() };
        let mut drawn = DrawnFrame {
            is_readable: false,
            is_at_end: lines_below == 0,
            top,
            line_count: lines.len(),
            visible_rows: rows,
        };
        let frame = Frame {
            title: self.title,
            right_title: &right_title,
            // No frame is guaranteed after the one that shows the last line.
            hints: &self.hints(context.keys, self.is_read_after(drawn)),
            message: &self.message,
            is_listening: context.listening.is_listening(),
            is_destructive: self.is_destructive,
        };
        let inner = frame.draw(prompt_area, buffer, context.theme);
        frame::set_lines(&lines[top..], inner, buffer);
        drawn.is_readable = frame::is_readable(inner, prompt_area, buffer);
        self.top.set(top);
        self.last_frame.set(drawn);
    }
}
