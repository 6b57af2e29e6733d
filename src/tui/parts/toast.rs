//! Short notices that leave by themselves.

use crate::tui::text::{clean, width, wrap};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use std::time::Duration;

/// How many are shown at once.
const SHOWN: usize = 2;
/// How many dangers wait for room before the oldest goes unread.
const KEPT: usize = 50;
/// The widest a notice gets, in cells.
const WIDEST: u16 = 100;
/// How long the shortest notice stays.
const LEAST: Duration = Duration::from_secs(4);
/// What each character adds, at the pace of slow reading.
const PER_CHARACTER: Duration = Duration::from_millis(60);
/// The longest a notice stays by itself.
const LONGEST: Duration = Duration::from_secs(20);
/// A key that comes sooner was not meant for the notice.
const SEEN: Duration = Duration::from_secs(2);

/// How a notice is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Worth knowing.
    Info,
    /// A setting was saved: also true of the next session.
    Setting,
    /// Wants care.
    Warning,
    /// Went wrong: stays until a key.
    Danger,
}

/// The notices there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toasts {
    /// Newest first.
    list: Vec<Toast>,
}

/// One notice.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    words: String,
    kind: Kind,
    /// When it leaves by itself; nothing for those that stay until a key.
    until: Option<Duration>,
    /// When it came onto the screen, for those that wait for room.
    since: Option<Duration>,
}

impl Toasts {
    /// Shows a notice. The same words again come to the front and stay anew; where there are too many the oldest
    /// that is no danger leaves, and a danger without room comes back when another has left.
    pub fn push(&mut self, kind: Kind, words: &str, now: Duration) {
        let words = clean::clean(words).trim().to_owned();
        if words.is_empty() {
            return;
        }
        let stays = (LEAST
            + PER_CHARACTER * u32::try_from(words.chars().count()).unwrap_or(u32::MAX).min(1000))
        .min(LONGEST);
        let until = (kind != Kind::Danger).then(|| now + stays);
        self.list.retain(|toast| toast.words != words);
        self.list.insert(0, Toast { words, kind, until, since: None });
        while self.list.len() > SHOWN
            && let Some(oldest) = self.list.iter().skip(1).rposition(|toast| toast.kind != Kind::Danger)
        {
            self.list.remove(oldest + 1);
        }
        self.list.truncate(KEPT);
        self.show(now);
    }

    /// Takes back a notice that is no longer true.
    pub fn withdraw(&mut self, words: &str, now: Duration) {
        self.list.retain(|toast| toast.words != words);
        self.show(now);
    }

    /// Removes the notices about the previous session. Dangers stay until they were read, and what was saved in the
    /// settings is true of every session.
    pub fn session_changes(&mut self, now: Duration) {
        self.list.retain(|toast| matches!(toast.kind, Kind::Danger | Kind::Setting));
        self.show(now);
    }

    /// Lets go those whose time is over. Whether anything changed on the screen.
    pub fn tick(&mut self, now: Duration) -> bool {
        let before = self.list.len();
        self.list.retain(|toast| toast.until.is_none_or(|until| now < until));
        self.show(now);
        self.list.len() != before
    }

    /// A key was pressed somewhere: the dangers that could have been read by now leave. Whether any did.
    pub fn key(&mut self, now: Duration) -> bool {
        let before = self.list.len();
        self.list.retain(|toast| {
            let read = toast.since.is_some_and(|since| now >= since + SEEN);
            toast.kind != Kind::Danger || !read
        });
        self.show(now);
        self.list.len() != before
    }

    /// When the next one leaves by itself: draw again then.
    pub fn next(&self) -> Option<Duration> {
        self.list.iter().filter_map(|toast| toast.until).min()
    }

    /// Whether there is nothing to be shown.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The rows they would take in an area of this width.
    pub fn height(&self, width: u16) -> u16 {
        let rows: usize =
            self.list.iter().take(SHOWN).map(|toast| toast.lines(width, Style::new()).len()).sum();
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Draws them from the top down at the right edge, newest first, all as wide as the widest; what has no room is cut,
    /// with `…`.
    pub fn view(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        let mut left = area;
        let lines = self.list.iter().take(SHOWN).flat_map(|toast| toast.lines(area.width, Style::new()));
        let widest = lines.map(|line| line.width()).max().unwrap_or(0) + 3;
        let width = u16::try_from(widest).unwrap_or(u16::MAX).min(area.width);
        for toast in self.list.iter().take(SHOWN) {
            let style = match toast.kind {
                Kind::Info | Kind::Setting => theme.accent,
                Kind::Warning => theme.warning,
                Kind::Danger => theme.danger,
            };
            let mut lines = toast.lines(area.width, theme.ground.patch(theme.text));
            let cut = lines.len() > usize::from(left.height);
            lines.truncate(usize::from(left.height));
            if cut && let Some(last) = lines.last_mut() {
                let words: String = last.spans.iter().map(|span| span.content.as_ref()).collect();
                let words =
                    width::cut(&words, usize::from(area.width.saturating_sub(5))).trim_end().to_owned();
                last.spans = vec![Span::styled(words, last.style), Span::styled(" …", theme.dim)];
            }
            for line in lines {
                // The whole row is theirs, whatever lies below a list that is open.
                let whole = Rect { x: buffer.area.x, width: buffer.area.width, height: 1, ..left };
                Clear.render(whole, buffer);
                buffer.set_style(whole, theme.ground.patch(theme.text));
                let row = Rect { x: area.right() - width, width, height: 1, ..left };
                buffer.set_stringn(row.x, row.y, "▌", usize::from(width), style);
                let inside = width.saturating_sub(2);
                buffer.set_line(row.x + width.min(2), row.y, &line, inside);
                left = Rect { y: left.y + 1, height: left.height - 1, ..left };
            }
        }
    }

    /// Starts the time of those that came into sight; those out of sight have to be seen anew.
    fn show(&mut self, now: Duration) {
        for (place, toast) in self.list.iter_mut().enumerate() {
            toast.since = (place < SHOWN).then(|| toast.since.unwrap_or(now));
        }
    }
}

impl Toast {
    /// Its words, with room left for the bar before and a blank behind.
    fn lines(&self, width: u16, style: Style) -> Vec<Line<'static>> {
        wrap::plain(&self.words, style, usize::from(width.min(WIDEST).saturating_sub(3).max(1)))
    }
}

#[cfg(test)]
mod tests;
