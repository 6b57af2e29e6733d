//! Confirmation prompt for an action of the user that cannot be undone, such as discarding a dry run. Its only answers
//! are confirm and cancel.

use super::frame::{self, Frame, MIN_READABLE_CELLS, PromptContext};
use super::listening::Listening;
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
    /// Labels of the two answers: the action, and keeping everything as it is.
    answers: (&'static str, &'static str),
    /// Facts to know before answering.
    facts: Vec<String>,
    /// True if the action destroys something and needs the key for that.
    is_destructive: bool,
    /// Reason the last key did nothing.
    message: String,
    first_drawn: Option<Duration>,
    has_reached_end: bool,
    top: Cell<usize>,
    last_frame: Cell<DrawnFrame>,
}

/// State of the last frame.
#[derive(Debug, Clone, Copy, Default)]
struct DrawnFrame {
    is_readable: bool,
    is_at_end: bool,
    visible_rows: usize,
}

/// Effect of a key.
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
    pub fn new(title: &'static str, answers: (&'static str, &'static str), facts: Vec<String>) -> Self {
        Self {
            title,
            answers,
            facts,
            is_destructive: false,
            message: String::new(),
            first_drawn: None,
            has_reached_end: false,
            top: Cell::new(0),
            last_frame: Cell::default(),
        }
    }

    /// Marks the action as destructive, so that it needs the key for destructive actions.
    pub fn destructive(self) -> Self {
        Self { is_destructive: true, ..self }
    }

    /// Returns the key that confirms.
    fn confirm_key(&self, keys: &Keymap) -> String {
        keys.first_chord(
            Scope::Approval,
            if self.is_destructive { Action::ApproveDestructive } else { Action::ApproveOnce },
        )
    }

    /// Time at which the prompt was first drawn, for [`super::listening`].
    pub fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    /// Records that a frame is on the screen. Returns whether it was the first readable one.
    pub fn record_frame(&mut self, now: Duration) -> bool {
        let (last_frame, was_drawn) = (self.last_frame.get(), self.first_drawn.is_some());
        if last_frame.is_readable {
            self.first_drawn.get_or_insert(now);
            self.has_reached_end |= last_frame.is_at_end;
        }
        self.first_drawn.is_some() != was_drawn
    }

    /// Scrolls by lines of the mouse wheel.
    pub fn scroll(&mut self, lines: isize) {
        self.top.set(self.top.get().saturating_add_signed(lines));
    }

    /// Handles a key that is not a repeat of the last answer (see [`super::listening::Presses`]).
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening) -> KeyResult {
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
            let (confirm_chord, deny_chord) = (self.confirm_key(keys), keys.first_chord(Scope::Approval, Action::Deny));
            self.message = format!(
                "{key_name} does not answer · {confirm_chord} {}, {deny_chord} {}",
                self.answers.0, self.answers.1
            );
            return KeyResult::Explained;
        };
        self.top.set(top);
        KeyResult::Scrolled
    }

    fn handle_answer(&mut self, answer: Action, key: &KeyEvent, keys: &Keymap, listening: Listening) -> KeyResult {
        if !listening.is_listening() {
            self.message = "Too soon, not counted · press it again".to_owned();
            return KeyResult::Explained;
        }
        // A key that repeats while it is held was pressed for something else.
        if key.kind != KeyEventKind::Press {
            return KeyResult::Explained;
        }
        if answer == Action::Deny {
            return KeyResult::Cancelled;
        }
        if self.is_destructive && answer != Action::ApproveDestructive {
            self.message = format!("{} {}: this cannot be undone", self.confirm_key(keys), self.answers.0);
            return KeyResult::Explained;
        }
        if !self.has_reached_end {
            let down = keys.first_chord(Scope::Approval, Action::Down);
            self.message = format!("Read to the end before {} · {down} to scroll", Chord::from(key));
            return KeyResult::Explained;
        }
        KeyResult::Confirmed
    }

    /// Draws the prompt over the upper middle of `area`.
    pub fn draw(&self, context: &PromptContext<'_>, area: Rect, buffer: &mut Buffer) {
        let width = area.width.min(MAX_COLUMNS);
        let cells = usize::from(width.saturating_sub(4)).max(1);
        let style = context.theme.text;
        let lines: Vec<_> = self.facts.iter().flat_map(|fact| wrap::wrap_plain(fact, style, cells)).collect();
        let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let prompt_area = Rect { x, y, width, height };
        let hint = |action| context.keys.first_chord(Scope::Approval, action);
        let (confirm_chord, deny_chord, close_chord) =
            (self.confirm_key(context.keys), hint(Action::Deny), hint(Action::Close));
        let hints = [
            format!("{confirm_chord} {} · {deny_chord} {} · {close_chord} close", self.answers.0, self.answers.1),
            format!("{confirm_chord} {} · {deny_chord} {}", self.answers.0, self.answers.1),
            format!("{confirm_chord} confirm · {deny_chord} cancel"),
        ];
        let rows = usize::from(height.saturating_sub(frame::border_rows(height)));
        let top = self.top.get().min(lines.len().saturating_sub(rows));
        let lines_below = lines.len().saturating_sub(top + rows);
        let right_title = if lines_below > 0 { format!("{lines_below} more lines") } else { String::new() };
        let frame = Frame {
            title: self.title,
            right_title: &right_title,
            hints: &hints,
            message: &self.message,
            is_listening: context.listening.is_listening(),
            is_destructive: self.is_destructive,
        };
        let inner = frame.draw(prompt_area, buffer, context.theme);
        frame::set_lines(&lines[top..], inner, buffer);
        let is_readable = inner.width >= MIN_READABLE_CELLS && !inner.is_empty();
        self.top.set(top);
        self.last_frame.set(DrawnFrame { is_readable, is_at_end: lines_below == 0, visible_rows: rows });
    }
}
