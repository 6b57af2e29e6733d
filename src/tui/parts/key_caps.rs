//! Key caps: the keys that the user pressed last, for the viewers of a recording or a talk.

use crate::text::width::text_width;
use crate::tui::keys::Chord;
use crate::tui::parts::frame::is_horizontal_line;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use std::ops::Range;
use std::time::Duration;

/// Time for which the last key press is shown.
const SHOWN_TIME: Duration = Duration::from_millis(1_500);
/// The caps are dimmed for the end of that time.
const FADING_TIME: Duration = Duration::from_millis(400);
/// A key press within this time of the one before is shown next to it.
const JOIN_TIME: Duration = Duration::from_millis(800);
/// Maximum number of different keys that are shown together.
const MAX_CAPS: usize = 8;
/// From this number on, presses of one key are one cap with a count.
const MIN_COUNTED: usize = 3;
/// Cells at the right of a line that may be something else: a corner and a scroll bar.
const MAX_CORNER: u16 = 2;

/// Key presses that are shown, if they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyCaps {
    /// True if key presses are shown in this session.
    pub is_shown: bool,
    /// True if key presses are shown while the screen is recorded, and it is.
    pub is_shown_in_recording: bool,
    /// Keys in the order in which they were pressed, and how often each was pressed in a row.
    presses: Vec<(Chord, usize)>,
    last_press: Duration,
}

impl KeyCaps {
    /// Adds a key press at this time. The caller leaves out keys that type text.
    pub fn push(&mut self, chord: Chord, now: Duration) {
        if !self.is_shown && !self.is_shown_in_recording {
            return;
        }
        if now.saturating_sub(self.last_press) > JOIN_TIME {
            self.presses.clear();
        }
        self.last_press = now;
        match self.presses.last_mut() {
            Some((last, count)) if *last == chord => *count += 1,
            _ => self.presses.push((chord, 1)),
        }
        if self.presses.len() > MAX_CAPS {
            self.presses.remove(0);
        }
    }

    /// Returns when the caps change by themselves next; `None` if none are shown.
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        let end = self.last_press + SHOWN_TIME;
        [end - FADING_TIME, end].into_iter().find(|time| *time > now && !self.presses.is_empty())
    }

    /// Draws the caps at the right of a horizontal line or a blank row, so that they cover nothing; if there is neither, at the right
    /// of the row above the last one.
    pub fn draw(&self, now: Duration, theme: &Theme, is_ascii: bool, buffer: &mut Buffer) {
        let end = self.last_press + SHOWN_TIME;
        if self.presses.is_empty() || now >= end || buffer.area.is_empty() {
            return;
        }
        let labels = self.labels(is_ascii, usize::from(buffer.area.width / 2));
        // A blank before, between and after the caps, each of which has a blank on either side.
        let width = labels.iter().map(|label| text_width(label) + 3).sum::<usize>() + 1;
        let Some(width) = u16::try_from(width).ok().filter(|width| *width <= buffer.area.width) else { return };
        let place = find_place(buffer, width).unwrap_or_else(|| {
            let area = buffer.area;
            let x = area.right().saturating_sub(width + MAX_CORNER).max(area.left());
            Position::new(x, area.bottom().saturating_sub(2).max(area.top()))
        });
        let base = theme.background.patch(theme.text);
        let style = if now + FADING_TIME < end { theme.text } else { theme.dim };
        let style = base.patch(style).add_modifier(Modifier::REVERSED | Modifier::BOLD);
        let mut x = place.x;
        let mut put = |text: &str, style: Style| {
            buffer.set_string(x, place.y, text, Style::reset().patch(style));
            x += text_width(text) as u16;
        };
        put(" ", base);
        for label in labels {
            put(&format!(" {label} "), style);
            put(" ", base);
        }
    }

    /// Returns the texts of the last caps that fit into this number of cells, but at least the last one.
    fn labels(&self, is_ascii: bool, cells: usize) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for (chord, count) in &self.presses {
            let label = label_of(*chord, is_ascii);
            match *count {
                1..MIN_COUNTED => labels.extend(std::iter::repeat_n(label, *count)),
                count => labels.push(format!("{label} {}{count}", if is_ascii { 'x' } else { '×' })),
            }
        }
        while labels.len() > 1 && labels.iter().map(|label| text_width(label) + 3).sum::<usize>() + 1 > cells {
            labels.remove(0);
        }
        labels
    }
}

/// Returns the text of a cap: the notation of the settings, with symbols for the keys that have one.
fn label_of(chord: Chord, is_ascii: bool) -> String {
    let text = chord.to_string();
    let (modifiers, key) = text.rfind('-').map_or(("", &*text), |dash| text.split_at(dash + 1));
    let symbol = match key {
        _ if is_ascii => key,
        "enter" => "↵",
        "up" => "↑",
        "down" => "↓",
        "left" => "←",
        "right" => "→",
        key => key,
    };
    // `page-up` is one key.
    if modifiers.ends_with("page-") { text.clone() } else { format!("{modifiers}{symbol}") }
}

/// Returns where this many cells at the right edge have nothing but a horizontal line, or nothing: at the top of the frame only if
/// there is no other place. The last row is never taken for blank, because its text changes.
fn find_place(frame: &Buffer, cells: u16) -> Option<Position> {
    let area = frame.area;
    let top = area.top() + area.height / 4;
    let find = |rows: Range<u16>, is_free: fn(&Buffer, Rect) -> bool| {
        rows.rev().find_map(|y| {
            let ends = (area.right().saturating_sub(MAX_CORNER)..=area.right()).rev();
            let starts = ends.filter_map(|end| end.checked_sub(cells).filter(|start| *start >= area.left()));
            let x = starts.into_iter().find(|x| is_free(frame, Rect::new(*x, y, cells, 1)))?;
            Some(Position::new(x, y))
        })
    };
    let last = area.bottom().saturating_sub(1);
    find(top..area.bottom(), is_horizontal_line)
        .or_else(|| find(top..last, is_blank))
        .or_else(|| find(area.top()..top, is_horizontal_line))
        .or_else(|| find(area.top()..top.min(last), is_blank))
}

fn is_blank(frame: &Buffer, cells: Rect) -> bool {
    cells.positions().all(|position| frame[position].symbol() == " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::canvas::buffer_text;
    use crate::tui::theme::Themes;

    fn press(caps: &mut KeyCaps, keys: &[(&str, u64)]) {
        for (key, millis) in keys {
            caps.push(key.parse().unwrap(), Duration::from_millis(*millis));
        }
    }

    fn shown(caps: &KeyCaps, millis: u64, is_ascii: bool, rows: &[&str]) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, rows.len() as u16));
        for (y, row) in rows.iter().enumerate() {
            buffer.set_string(0, y as u16, row, Style::new());
        }
        let theme = Themes::bundled().choose_theme("dark", None);
        caps.draw(Duration::from_millis(millis), &theme, is_ascii, &mut buffer);
        buffer_text(&buffer).lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    fn enabled() -> KeyCaps {
        KeyCaps { is_shown: true, ..KeyCaps::default() }
    }

    #[test]
    fn quick_presses_are_joined_and_repeated_ones_are_counted() {
        let mut caps = enabled();
        let labels = |caps: &KeyCaps, is_ascii| caps.labels(is_ascii, 100).join("|");
        press(&mut caps, &[("ctrl-x", 0), ("y", 800)]);
        assert_eq!(labels(&caps, false), "ctrl-x|y");
        press(&mut caps, &[("down", 1_601), ("down", 1_700), ("enter", 1_800)]);
        assert_eq!(labels(&caps, false), "↓|↓|↵");
        press(&mut caps, &[("ctrl-down", 5_000), ("ctrl-down", 5_100), ("ctrl-down", 5_200), ("page-up", 5_300)]);
        assert_eq!(labels(&caps, false), "ctrl-↓ ×3|page-up");
        assert_eq!(labels(&caps, true), "ctrl-down x3|page-up");
        assert_eq!(caps.labels(false, 5), ["page-up"], "the last one is shown in any width");
        press(&mut caps, &[("alt-minus", 9_000), ("shift-page-up", 9_000), ("alt-enter", 9_000)]);
        assert_eq!(labels(&caps, false), "alt-minus|shift-page-up|alt-↵");
    }

    #[test]
    fn caps_disappear_after_a_time_and_change_once_before() {
        let mut caps = enabled();
        assert_eq!(caps.next_change(Duration::ZERO), None);
        press(&mut caps, &[("esc", 1_000)]);
        let next = |millis| caps.next_change(Duration::from_millis(millis)).map(|time| time.as_millis());
        assert_eq!([next(1_000), next(2_100), next(2_500)], [Some(2_100), Some(2_500), None]);
        assert!(shown(&caps, 2_499, false, &["", ""]).contains(" esc"));
        assert_eq!(shown(&caps, 2_500, false, &["a", "b"]), "a\nb");
        let mut off = KeyCaps::default();
        press(&mut off, &[("esc", 0)]);
        assert_eq!((off.next_change(Duration::ZERO), shown(&off, 0, false, &["a"])), (None, "a".into()));
    }

    #[test]
    fn caps_are_drawn_where_they_cover_nothing_if_there_is_such_a_place() {
        let mut caps = enabled();
        press(&mut caps, &[("y", 0)]);
        let line = "─".repeat(40);
        let table = "─".repeat(30);
        let with_caps = format!("{}  y  ", "─".repeat(35));
        assert_eq!(
            shown(&caps, 0, false, &["text", &line, "text", &table, "last"]),
            format!("text\n{}\ntext\n{table}\nlast", with_caps.trim_end())
        );
        let frame = format!("╰ hints {}╯", "─".repeat(31));
        assert_eq!(shown(&caps, 0, false, &[&line, &frame, ""]), format!("{line}\n╰ hints {}  y  ╯", "─".repeat(26)));
        let free = shown(&caps, 0, false, &[&line, "some text", "more text", "footer"]);
        assert_eq!(free, format!("{line}\nsome text\nmore text{}  y\nfooter", " ".repeat(26)));
        let text = "text ".repeat(8);
        let text = text.trim_end();
        let above = shown(&caps, 0, false, &["", text, text, text]);
        assert_eq!(above, format!("{}  y\n{text}\n{text}\n{text}", " ".repeat(35)));
        let covered = shown(&caps, 0, false, &[text, text, text]);
        assert_eq!(covered.lines().filter(|row| row.contains(" y ")).count(), 1, "{covered}");
        for (columns, rows) in [(1, 1), (4, 3), (5, 1)] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
            caps.draw(Duration::ZERO, &Themes::bundled().choose_theme("dark", None), false, &mut buffer);
        }
    }
}
