//! One-line bars for the header and footer, whose segments are shortened or removed if the terminal is narrow.

use crate::text::{clean, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// A segment of the bar.
#[derive(Debug, Clone)]
struct Segment {
    text: String,
    style: Style,
    /// Priority of removal: the highest is removed first, 0 never.
    priority: u8,
    is_right: bool,
    /// True if the segment may be shortened.
    can_shrink: bool,
}

/// Minimum cells that a shortened segment keeps.
const MIN_SHORTENED_CELLS: usize = 20;

/// One line of segments at the left and right.
#[derive(Debug, Clone, Default)]
pub struct StatusBar {
    segments: Vec<Segment>,
    separator: &'static str,
    style: Style,
}

impl StatusBar {
    /// Creates a bar with a separator between its segments.
    pub fn with_separator(separator: &'static str, style: Style) -> Self {
        Self { segments: Vec::new(), separator, style }
    }

    /// Adds a segment at the left. If the bar is too narrow, segments are removed, highest `priority` first; 0 is
    /// never removed.
    pub fn push_left(&mut self, text: impl Into<String>, style: Style, priority: u8) -> &mut Self {
        self.push_segment(text.into(), style, priority, false)
    }

    /// Adds a segment at the right.
    pub fn push_right(&mut self, text: impl Into<String>, style: Style, priority: u8) -> &mut Self {
        self.push_segment(text.into(), style, priority, true)
    }

    /// Lets the segment added last be shortened before any segment is removed.
    pub fn shrink_last(&mut self) -> &mut Self {
        if let Some(last) = self.segments.last_mut() {
            last.can_shrink = true;
        }
        self
    }

    fn push_segment(&mut self, text: String, style: Style, priority: u8, is_right: bool) -> &mut Self {
        let text = clean::clean_line(&text).into_owned();
        if !text.is_empty() {
            self.segments.push(Segment { text, style, priority, is_right, can_shrink: false });
        }
        self
    }

    /// Draws the segments that fit.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        // One cell at either end of the bar stays blank.
        let available_cells = usize::from(area.width).saturating_sub(2);
        let mut segments = self.segments.clone();
        while self.total_cells(&segments) > available_cells {
            let excess = self.total_cells(&segments) - available_cells;
            let shrinkable = segments
                .iter_mut()
                .find(|segment| segment.can_shrink && width::text_width(&segment.text) >= excess + MIN_SHORTENED_CELLS);
            if let Some(segment) = shrinkable {
                segment.text = width::fit_start(&segment.text, width::text_width(&segment.text) - excess).into_owned();
                break;
            }
            let least_important = (0..segments.len()).max_by_key(|index| segments[*index].priority);
            let Some(index) = least_important.filter(|index| segments[*index].priority > 0) else { break };
            segments.remove(index);
        }
        let margin = u16::from(area.width > 2);
        let (mut x, end) = (area.x + margin, area.right().saturating_sub(margin));
        let mut draw_text = |x: &mut u16, text: &str, style: Style| {
            if *x < end && area.height > 0 {
                let text = width::fit_start(text, usize::from(end - *x));
                *x = buffer.set_stringn(*x, area.y, text, usize::from(end - *x), style).0;
            }
        };
        for is_right in [false, true] {
            if is_right {
                let right_cells = self.side_cells(&segments, true);
                x = x.max(end.saturating_sub(u16::try_from(right_cells).unwrap_or(u16::MAX)));
            }
            for (index, segment) in segments.iter().filter(|segment| segment.is_right == is_right).enumerate() {
                if index > 0 {
                    draw_text(&mut x, self.separator, self.style);
                }
                draw_text(&mut x, &segment.text, segment.style);
            }
        }
    }

    /// Returns the cells of all segments, their separators, and the gap between the sides.
    fn total_cells(&self, segments: &[Segment]) -> usize {
        let (left, right) = (self.side_cells(segments, false), self.side_cells(segments, true));
        left + right + if left > 0 && right > 0 { 2 } else { 0 }
    }

    fn side_cells(&self, segments: &[Segment], is_right: bool) -> usize {
        let side = segments.iter().filter(|segment| segment.is_right == is_right);
        let separator_cells = width::text_width(self.separator);
        let cells: usize = side.map(|segment| width::text_width(&segment.text) + separator_cells).sum();
        cells.saturating_sub(separator_cells)
    }
}

/// Formats a token count: `950`, `14.2k`, `1.3M`.
pub fn format_tokens(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        // 999,950 would be rounded to 1000.0k.
        1000..999_950 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// Formats an amount in dollars: `<$0.01`, `$0.03`.
pub fn format_dollars(cost: f64) -> String {
    match cost {
        cost if cost <= 0.0 => "$0".to_owned(),
        cost if cost < 0.01 => "<$0.01".to_owned(),
        cost => format!("${cost:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_bar(width: u16) -> String {
        let mut bar = StatusBar::with_separator(" · ", Style::new());
        bar.push_left("DRY RUN", Style::new(), 0).push_left("ask mode", Style::new(), 2).push_left(
            "14k tok",
            Style::new(),
            3,
        );
        bar.push_right("? help", Style::new(), 1);
        let area = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(area);
        bar.draw(area, &mut buffer);
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn least_important_segments_are_removed_first() {
        assert_eq!(draw_bar(42), " DRY RUN · ask mode · 14k tok      ? help ");
        assert_eq!(draw_bar(30), " DRY RUN · ask mode    ? help ");
        assert_eq!(draw_bar(20), " DRY RUN     ? help ");
        assert_eq!(draw_bar(9), " DRY RUN ");
        assert_eq!(draw_bar(1), "…");
    }

    #[test]
    fn numbers_are_formatted_briefly() {
        assert_eq!([format_tokens(950), format_tokens(14_200), format_tokens(1_300_000)], ["950", "14.2k", "1.3M"]);
        assert_eq!([format_tokens(999), format_tokens(1000)], ["999", "1.0k"]);
        assert_eq!([format_tokens(999_949), format_tokens(999_950)], ["999.9k", "1.0M"]);
        assert_eq!([format_dollars(0.0), format_dollars(0.001), format_dollars(0.031)], ["$0", "<$0.01", "$0.03"]);
    }
}
