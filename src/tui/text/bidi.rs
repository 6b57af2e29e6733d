//! Reorders right-to-left text for display, each run within its own columns.
//!
//! The terminal is set to keep the order of cells, so that no text can move a border or its neighbours. Text to approve
//! and text being edited keep their logical order.

use crate::text::width;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::ops::Range;
use unicode_bidi::{BidiClass, ParagraphBidiInfo, bidi_class};
use unicode_segmentation::UnicodeSegmentation;

/// Characters before and after text that is ordered independently of its surroundings.
const ISOLATE: &str = "\u{2066}";
const ISOLATE_END: &str = "\u{2069}";

/// Visual order of the cells of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisualOrder {
    /// For each drawn cell, the cell of the text it shows.
    source_cells: Vec<u16>,
    /// Mirrored brackets, by the cell they are drawn in.
    mirrored: Vec<(u16, char)>,
}

/// A grapheme of a line and its position.
struct Grapheme<'a> {
    text: &'a str,
    /// Its first cell.
    cell: usize,
    width: usize,
}

impl Grapheme<'_> {
    fn bidi_class(&self) -> BidiClass {
        self.text.chars().next().map_or(BidiClass::ON, bidi_class)
    }

    fn is_right_to_left(&self) -> bool {
        matches!(self.bidi_class(), BidiClass::R | BidiClass::AL)
    }

    /// Returns whether the grapheme is a border, which separates two runs of text.
    fn is_separator(&self) -> bool {
        matches!(self.text, "│" | "┃" | "┼" | "─" | "▌")
    }
}

impl VisualOrder {
    /// Returns the visual order of a line; `None` if it is the logical order.
    pub fn from_line(line: &Line<'_>) -> Option<VisualOrder> {
        // Fast path for nearly every line.
        if !line.spans.iter().any(|span| !span.content.is_ascii() && span.content.chars().any(may_be_right_to_left)) {
            return None;
        }
        let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        let (mut graphemes, mut cell) = (Vec::new(), 0);
        for text in text.graphemes(true) {
            let width = width::text_width(text);
            graphemes.push(Grapheme { text, cell, width });
            cell += width;
        }
        if !graphemes.iter().any(Grapheme::is_right_to_left) {
            return None;
        }
        let mut order = VisualOrder {
            source_cells: (0..cell).filter_map(|cell| u16::try_from(cell).ok()).collect(),
            mirrored: Vec::new(),
        };
        for run in split_runs(&graphemes) {
            order.order_run(&graphemes[run]);
        }
        Some(order)
    }

    /// Sets the visual order of one run.
    fn order_run(&mut self, graphemes: &[Grapheme<'_>]) {
        let Some(first) = graphemes.first().filter(|_| graphemes.iter().any(Grapheme::is_right_to_left)) else {
            return;
        };
        let (mut text, mut byte_offsets) = (String::new(), Vec::new());
        for word in graphemes.split_inclusive(|grapheme| grapheme.text == " ") {
            let is_isolated = is_name(word);
            text.push_str(if is_isolated { ISOLATE } else { "" });
            // The last character of a word may be the blank after it, which stays outside the isolated text.
            for grapheme in word {
                if is_isolated && grapheme.text == " " {
                    text.push_str(ISOLATE_END);
                }
                byte_offsets.push(text.len());
                text.push_str(grapheme.text);
            }
            if is_isolated && word.last().is_some_and(|grapheme| grapheme.text != " ") {
                text.push_str(ISOLATE_END);
            }
        }
        let levels = ParagraphBidiInfo::new(&text, None).reordered_levels(0..text.len());
        let levels: Vec<_> = byte_offsets.into_iter().map(|offset| levels[offset]).collect();
        let mut cell = first.cell;
        for index in ParagraphBidiInfo::reorder_visual(&levels) {
            let grapheme = &graphemes[index];
            for column in 0..grapheme.width {
                if let (Some(slot), Ok(source_cell)) =
                    (self.source_cells.get_mut(cell + column), u16::try_from(grapheme.cell + column))
                {
                    *slot = source_cell;
                }
            }
            if levels[index].is_rtl()
                && let (Some(bracket), Ok(cell)) = (mirrored_bracket(grapheme.text), u16::try_from(cell))
            {
                self.mirrored.push((cell, bracket));
            }
            cell += grapheme.width;
        }
    }

    /// Returns the cell of the text that is drawn in this cell.
    pub fn source_cell(&self, cell: u16) -> u16 {
        self.source_cells.get(usize::from(cell)).copied().unwrap_or(cell)
    }

    /// Returns the ranges in which these cells of the text are drawn, sorted.
    pub fn drawn_ranges(&self, cells: Range<u16>) -> Vec<Range<u16>> {
        let mut drawn: Vec<Range<u16>> = Vec::new();
        for (drawn_cell, _) in (0u16..).zip(&self.source_cells).filter(|(_, source_cell)| cells.contains(source_cell)) {
            match drawn.last_mut() {
                Some(last) if last.end == drawn_cell => last.end += 1,
                _ => drawn.push(drawn_cell..drawn_cell + 1),
            }
        }
        drawn
    }

    /// Reorders a row that was drawn in logical order.
    pub fn reorder_row(&self, row: Rect, buffer: &mut Buffer) {
        let row = row.intersection(buffer.area);
        if row.is_empty() {
            return;
        }
        let cells: Vec<Cell> = (row.left()..row.right()).map(|x| buffer[(x, row.y)].clone()).collect();
        for (column, source_cell) in (0u16..row.width).zip(&self.source_cells) {
            if let Some(cell) = cells.get(usize::from(*source_cell)) {
                buffer[(row.x + column, row.y)] = cell.clone();
            }
        }
        for (column, bracket) in self.mirrored.iter().filter(|(column, _)| *column < row.width) {
            buffer[(row.x + column, row.y)].set_char(*bracket);
        }
    }
}

/// Returns whether a word is a path, an option or similar. Such a word keeps its own order within right-to-left text, so
/// that its first symbol stays at its start.
fn is_name(word: &[Grapheme<'_>]) -> bool {
    word.first().is_some_and(|first| matches!(first.text, "@" | "/" | "." | "~" | "-" | "$" | "#"))
        && word.iter().any(|grapheme| grapheme.bidi_class() == BidiClass::L)
        && !word.iter().any(Grapheme::is_right_to_left)
}

/// Returns whether a character may be right-to-left, by the blocks of all such scripts.
fn may_be_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

/// Splits a line into runs that are ordered on their own: text between borders and wide gaps, without a prefix such as
/// a list bullet and without trailing spaces.
fn split_runs(graphemes: &[Grapheme<'_>]) -> Vec<Range<usize>> {
    let is_blank = |index: usize| graphemes.get(index).is_some_and(|grapheme| grapheme.text == " ");
    let is_boundary = |index: &usize| {
        graphemes[*index].is_separator()
            || (is_blank(*index) && (is_blank(index + 1) || *index > 0 && is_blank(index - 1)))
    };
    let mut runs = Vec::new();
    let mut start = 0;
    while start < graphemes.len() {
        let end = (start..graphemes.len()).find(is_boundary).unwrap_or(graphemes.len());
        let is_directional =
            |index: &usize| matches!(graphemes[*index].bidi_class(), BidiClass::L | BidiClass::R | BidiClass::AL);
        if let Some(first) = (start..end).find(is_directional) {
            let last = (first..end).rev().find(|index| !is_blank(*index)).unwrap_or(first);
            runs.push(first..last + 1);
        }
        start = end + 1;
    }
    runs
}

fn mirrored_bracket(bracket: &str) -> Option<char> {
    let pairs = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("«", "»")];
    let mirrored = pairs.into_iter().find_map(|(open, close)| match bracket {
        _ if bracket == open => Some(close),
        _ if bracket == close => Some(open),
        _ => None,
    });
    mirrored?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hidden_chars::find_hidden;
    use proptest::prelude::*;

    fn draw_text(text: &str) -> String {
        let line = Line::from(text.to_owned());
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
        buffer.set_line(0, 0, &line, 40);
        if let Some(order) = VisualOrder::from_line(&line) {
            order.reorder_row(buffer.area, &mut buffer);
        }
        let row: String = buffer.content.iter().map(Cell::symbol).collect();
        row.trim_end().to_owned()
    }

    #[test]
    fn draws_words_in_reading_order() {
        for (text, expected) in [
            ("שלום עולם", "םלוע םולש"),
            ("he said שלום עולם.", "he said םלוע םולש."),
            ("שלום (a) 12!", "!12 (a) םולש"),
            ("שלום (עולם)", "(םלוע) םולש"),
            ("• שלום", "• םולש"),
            ("12. שלום", "12. םולש"),
            ("ש\u{5b8}לו", "ולש\u{5b8}"),
            ("مرحبا src/a.rs", "src/a.rs ابحرم"),
            ("שלום @docs/a.png", "@docs/a.png םולש"),
            ("ראה --all /tmp/x עכשיו", "וישכע /tmp/x --all האר"),
            ("plain", "plain"),
            // The second cell of a wide character holds a blank.
            ("漢字", "漢 字 "),
        ] {
            assert_eq!(draw_text(text), expected.trim_end(), "{text}");
        }
    }

    #[test]
    fn every_right_to_left_character_is_in_a_checked_block() {
        let is_right_to_left = |c: &char| matches!(bidi_class(*c), BidiClass::R | BidiClass::AL);
        for c in ('\0'..=char::MAX).filter(is_right_to_left) {
            let is_visible = find_hidden(&c.to_string()).is_none();
            assert!(may_be_right_to_left(c) || !is_visible, "{:04x}", u32::from(c));
        }
    }

    #[test]
    fn every_run_keeps_its_columns() {
        assert_eq!(draw_text("│ שלום │ עולם │ 12 │"), "│ םולש │ םלוע │ 12 │");
        assert_eq!(draw_text("▌ שלום"), "▌ םולש");
        assert_eq!(draw_text("✓ read_file  שלום   12 ms"), "✓ read_file  םולש   12 ms");
    }

    #[test]
    fn finds_a_link_where_it_is_drawn() {
        let order = VisualOrder::from_line(&Line::from("ראה src/a.rs")).unwrap();
        assert_eq!(order.drawn_ranges(4..12).first(), Some(&(0..8)));
        assert_eq!(order.source_cell(0), 4);
    }

    proptest! {
        #[test]
        fn r34_draws_every_cell_once(text in "[a-z0-9 ()│שלוםאב\u{5b8}مرحبا漢🇩🇪.,:/-]{0,40}") {
            if let Some(VisualOrder { source_cells, .. }) = VisualOrder::from_line(&Line::from(text)) {
                let mut cells = source_cells.clone();
                cells.sort_unstable();
                prop_assert!(cells.iter().enumerate().all(|(at, cell)| at == usize::from(*cell)), "{:?}", source_cells);
            }
        }
    }
}
