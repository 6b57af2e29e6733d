//! Toasts: short notifications that disappear after a time.

use crate::text::{clean, width};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use std::time::Duration;

/// Maximum number of toasts on the screen.
const MAX_VISIBLE: usize = 2;
/// Maximum number of toasts, including `Error` toasts that wait for room; beyond it, the oldest is dropped.
const MAX_TOASTS: usize = 50;
/// Maximum width of a toast in cells.
const MAX_CELLS: u16 = 100;
/// Cells next to the text of a toast: the bar and a blank at its left, and a blank at its right.
const MARGIN_CELLS: u16 = 3;
/// Time for which the shortest toast stays.
const MIN_TIME: Duration = Duration::from_secs(4);
/// Additional time per character, at a slow reading speed.
const TIME_PER_CHARACTER: Duration = Duration::from_millis(60);
/// Maximum time for which a toast stays.
const MAX_TIME: Duration = Duration::from_secs(20);
/// An `Error` toast ignores keys for this time, because they were pressed before it could be read.
const MIN_READING_TIME: Duration = Duration::from_secs(2);

/// Severity of a toast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Information.
    Info,
    /// What a second press of the same key does. Without rows for toasts, a prompt shows it.
    Hint,
    /// Why the draft was not sent. Disappears once a message is sent.
    Draft,
    /// A setting was saved. Stays if the session changes, because it applies to every session.
    Setting,
    Warning,
    /// An error. Stays until a key is pressed.
    Error,
}

/// The current toasts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toasts {
    /// Newest first.
    list: Vec<Toast>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    text: String,
    kind: Kind,
    /// Time at which the toast disappears; `None` for an `Error`, which stays until a key is pressed.
    expires_at: Option<Duration>,
    /// Time at which the toast became visible; `None` while it waits for room.
    visible_since: Option<Duration>,
}

impl Toasts {
    /// Shows a toast. A repeated text moves to the front and starts its time again. If there are too many, the oldest
    /// that is not an `Error` is dropped; an `Error` without room is shown when another one is dismissed.
    pub fn push(&mut self, kind: Kind, text: &str, now: Duration) {
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX).min(1000);
        let duration = (MIN_TIME + TIME_PER_CHARACTER * characters).min(MAX_TIME);
        self.push_until(kind, text, now + duration, now);
    }

    /// Shows a toast that disappears at `end`, because its text is false from then on. An `Error` stays.
    pub fn push_until(&mut self, kind: Kind, text: &str, end: Duration, now: Duration) {
        let text = clean::clean_text(text).trim().to_owned();
        if text.is_empty() {
            return;
        }
        let expires_at = (kind != Kind::Error).then_some(end);
        self.list.retain(|toast| toast.text != text);
        self.list.insert(0, Toast { text, kind, expires_at, visible_since: None });
        while self.list.len() > MAX_VISIBLE
            && let Some(oldest) = self.list.iter().skip(1).rposition(|toast| toast.kind != Kind::Error)
        {
            self.list.remove(oldest + 1);
        }
        self.list.truncate(MAX_TOASTS);
        self.update_visibility(now);
    }

    /// Removes the hints that do not hold.
    pub fn retain_hints(&mut self, now: Duration, holds: impl Fn(&str) -> bool) {
        self.list.retain(|toast| toast.kind != Kind::Hint || holds(&toast.text));
        self.update_visibility(now);
    }

    /// Removes what was said about the draft.
    pub fn remove_draft_toasts(&mut self, now: Duration) {
        self.list.retain(|toast| toast.kind != Kind::Draft);
        self.update_visibility(now);
    }

    /// Removes the toasts about the previous session. `Error` toasts stay until they were read, and saved settings
    /// apply to every session.
    pub fn remove_session_toasts(&mut self, now: Duration) {
        self.list.retain(|toast| matches!(toast.kind, Kind::Error | Kind::Setting));
        self.update_visibility(now);
    }

    /// Removes toasts whose time is over. Returns whether there were any.
    pub fn remove_expired(&mut self, now: Duration) -> bool {
        let count = self.list.len();
        self.list.retain(|toast| toast.expires_at.is_none_or(|expires_at| now < expires_at));
        self.update_visibility(now);
        self.list.len() != count
    }

    /// Handles a key press: removes the `Error` toasts that were visible long enough to be read. `area` is the area of the
    /// toasts. Returns whether any was removed.
    pub fn dismiss_read_errors(&mut self, area: Rect, now: Duration) -> bool {
        let (drawn_count, _) = self.fit_rows(area.width, area.height);
        // A toast that had no room starts to be read now.
        self.list.iter_mut().take(MAX_VISIBLE).skip(drawn_count).for_each(|toast| toast.visible_since = Some(now));
        let count = self.list.len();
        self.list.retain(|toast| {
            let was_read = toast.visible_since.is_some_and(|since| now >= since + MIN_READING_TIME);
            toast.kind != Kind::Error || !was_read
        });
        self.update_visibility(now);
        self.list.len() != count
    }

    /// Returns the time at which the next toast disappears. Draw again at that time.
    pub fn next_expiry(&self) -> Option<Duration> {
        self.list.iter().filter_map(|toast| toast.expires_at).min()
    }

    /// Returns the text of the newest hint; empty if there is none.
    pub fn newest_hint(&self) -> &str {
        let hint = self.list.iter().find(|toast| toast.kind == Kind::Hint);
        hint.map_or("", |toast| toast.text.as_str())
    }

    /// Returns the rows that the whole text of the newest toast needs at this width.
    pub fn newest_rows(&self, width: u16) -> u16 {
        self.list.first().map_or(0, |toast| toast.count_rows(width))
    }

    /// Returns how many toasts are drawn at this width and the rows they need, at most `max_rows`. Only the newest one may
    /// be cut; an older one without room is not drawn.
    pub fn fit_rows(&self, width: u16, max_rows: u16) -> (usize, u16) {
        let (mut count, mut rows) = (0, 0);
        let max_count = if max_rows == 0 { 0 } else { MAX_VISIBLE };
        for toast in self.list.iter().take(max_count) {
            let toast_rows = toast.count_rows(width);
            if count > 0 && toast_rows > max_rows - rows {
                break;
            }
            (count, rows) = (count + 1, toast_rows.min(max_rows - rows) + rows);
        }
        (count, rows)
    }

    /// Draws the toasts from the top down at the right edge, newest first, all with the same width. Text without room
    /// is cut with `…` between two words.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        let mut free_area = area;
        let (count, _) = self.fit_rows(area.width, area.height);
        let lines = self.list.iter().take(count).flat_map(|toast| toast.wrap_text(area.width, Style::new()));
        let widest = lines.map(|line| line.width()).max().unwrap_or(0) + usize::from(MARGIN_CELLS);
        let width = u16::try_from(widest).unwrap_or(u16::MAX).min(area.width);
        for toast in self.list.iter().take(count) {
            let style = match toast.kind {
                Kind::Info | Kind::Hint | Kind::Draft | Kind::Setting => theme.accent,
                Kind::Warning => theme.warning,
                Kind::Error => theme.danger,
            };
            let mut lines = toast.wrap_text(area.width, theme.background.patch(theme.text));
            let is_cut = lines.len() > usize::from(free_area.height);
            lines.truncate(usize::from(free_area.height));
            if is_cut && let Some(last) = lines.last_mut() {
                let text = last.to_string();
                // The ellipsis and the blank before it take 2 cells.
                let text_cells = usize::from(area.width.saturating_sub(MARGIN_CELLS + 2));
                let start = cut_between_words(&text, text_cells);
                last.spans = vec![Span::styled(start.to_owned(), last.style), Span::styled(" …", theme.dim)];
            }
            for line in lines {
                // The whole row is cleared, so that an open list below does not show next to the toast.
                let screen_row = Rect { x: buffer.area.x, width: buffer.area.width, height: 1, ..free_area };
                Clear.render(screen_row, buffer);
                buffer.set_style(screen_row, theme.background.patch(theme.text));
                let row = Rect { x: area.right() - width, width, height: 1, ..free_area };
                buffer.set_stringn(row.x, row.y, "▌", usize::from(width), style);
                let inner_width = width.saturating_sub(2);
                buffer.set_line(row.x + width.min(2), row.y, &line, inner_width);
                free_area = Rect { y: free_area.y + 1, height: free_area.height - 1, ..free_area };
            }
        }
    }

    /// Sets the time since which each toast is visible; `None` for those beyond the number shown at a time.
    fn update_visibility(&mut self, now: Duration) {
        for (index, toast) in self.list.iter_mut().enumerate() {
            toast.visible_since = (index < MAX_VISIBLE).then(|| toast.visible_since.unwrap_or(now));
        }
    }
}

/// Returns the start of a text that fits into these cells and ends with a whole word, or with a part of the first one if
/// that is longer.
fn cut_between_words(text: &str, cells: usize) -> &str {
    let start = width::cut_to_width(text, cells);
    let rest = &text[start.len()..];
    let ends_with_word = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let word_end = if ends_with_word { None } else { start.rfind(char::is_whitespace) };
    start[..word_end.unwrap_or(start.len())].trim_end()
}

impl Toast {
    fn count_rows(&self, width: u16) -> u16 {
        u16::try_from(self.wrap_text(width, Style::new()).len()).unwrap_or(u16::MAX)
    }

    /// Returns the lines of the text in a toast of at most this width, margin included.
    fn wrap_text(&self, width: u16, style: Style) -> Vec<Line<'static>> {
        wrap::wrap_plain(&self.text, style, usize::from(width.min(MAX_CELLS).saturating_sub(MARGIN_CELLS).max(1)))
    }
}

#[cfg(test)]
mod tests;
