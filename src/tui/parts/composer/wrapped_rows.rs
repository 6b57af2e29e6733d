//! Wraps a text into screen rows and maps positions between text and cells.

use crate::text::{clean, reveal, width};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Text wrapped to a width.
pub(in crate::tui::parts) struct WrappedRows {
    /// Glyphs of each line.
    lines: Vec<Vec<Glyph>>,
    rows: Vec<Row>,
}

/// Drawn form of one grapheme.
pub(in crate::tui::parts) struct Glyph {
    /// Text without control characters; empty if it takes no cell.
    pub text: String,
    /// Byte offset in its line.
    pub offset: usize,
    pub width: usize,
    pub kind: GlyphKind,
}

/// Kind of a glyph, which determines its style.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tui::parts) enum GlyphKind {
    Text,
    Blank,
    /// Label of a folded paste.
    Paste,
    /// Replacement for an invisible character.
    Mark,
}

/// A row: a range of glyphs of a line.
struct Row {
    line: usize,
    glyphs: Range<usize>,
    /// True for the last row of a line. Only there can the cursor be after the last glyph.
    is_line_end: bool,
}

impl WrappedRows {
    /// Wraps lines to a width in cells. The caller reserves one more cell for the cursor or a trailing blank. `paste_label`
    /// returns the label of a folded paste; `None` for other characters.
    pub fn new(lines: &[String], paste_label: impl Fn(char) -> Option<String>, width: usize) -> Self {
        let width = width.max(1);
        let lines: Vec<Vec<Glyph>> = lines.iter().map(|line| split_glyphs(line, &paste_label)).collect();
        let rows = lines.iter().enumerate().flat_map(|(line, glyphs)| wrap_line(line, glyphs, width)).collect();
        Self { lines, rows }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the glyphs of a row.
    pub fn row_glyphs(&self, row: usize) -> &[Glyph] {
        let Row { line, glyphs, .. } = &self.rows[row];
        &self.lines[*line][glyphs.clone()]
    }

    /// Returns the row and cell of a line and byte offset.
    pub fn cell_at_offset(&self, (line, byte): (usize, usize)) -> (usize, usize) {
        let glyph_index = self.lines[line].partition_point(|glyph| glyph.offset < byte);
        let contains_glyph = |row: &Row| row.line == line && (glyph_index < row.glyphs.end || row.is_line_end);
        let row_index = self.rows.iter().position(contains_glyph).unwrap_or(0);
        let preceding = self.rows[row_index].glyphs.start..glyph_index.max(self.rows[row_index].glyphs.start);
        (row_index, self.lines[line][preceding].iter().map(|glyph| glyph.width).sum())
    }

    /// Returns the line and byte offset at a cell of a row, or at the end of a shorter row. The end of a line has
    /// the offset `usize::MAX`.
    pub fn offset_at_cell(&self, row: usize, cell: usize) -> (usize, usize) {
        let Row { line, glyphs, is_line_end } = &self.rows[row];
        let mut used_cells = 0;
        let index_in_row = self.row_glyphs(row).iter().position(|glyph| {
            used_cells += glyph.width;
            used_cells > cell
        });
        let row_end = if *is_line_end { glyphs.end } else { glyphs.end.saturating_sub(1).max(glyphs.start) };
        let glyph = index_in_row.map_or(row_end, |index| glyphs.start + index);
        (*line, self.lines[*line].get(glyph).map_or(usize::MAX, |glyph| glyph.offset))
    }
}

fn split_glyphs(line: &str, paste_label: &impl Fn(char) -> Option<String>) -> Vec<Glyph> {
    let mut column = 0;
    let mut glyphs = Vec::with_capacity(line.len());
    for (offset, grapheme) in line.grapheme_indices(true) {
        let (text, kind) = build_glyph(grapheme, column, paste_label);
        let cells = width::text_width(&text);
        column += cells;
        glyphs.push(Glyph { text, offset, width: cells, kind });
    }
    glyphs
}

/// Returns the text and the kind of the glyph for a grapheme that starts at this cell of its line.
fn build_glyph(grapheme: &str, column: usize, paste_label: &impl Fn(char) -> Option<String>) -> (String, GlyphKind) {
    // Fast path: most of a long text is ASCII, and it is laid out on every key.
    if grapheme.len() == 1 && grapheme.bytes().all(|byte| byte.is_ascii_graphic()) {
        return (grapheme.to_owned(), GlyphKind::Text);
    }
    if let Some(label) = grapheme.chars().next().and_then(paste_label) {
        return (label, GlyphKind::Paste);
    }
    match grapheme {
        "\t" => (" ".repeat(clean::TAB_WIDTH - column % clean::TAB_WIDTH), GlyphKind::Blank),
        " " => (" ".to_owned(), GlyphKind::Blank),
        _ if clean::clean_text(grapheme) == grapheme && width::text_width(grapheme) > 0 => {
            (grapheme.to_owned(), GlyphKind::Text)
        }
        _ => (reveal::reveal_to_string(grapheme), GlyphKind::Mark),
    }
}

/// Wraps a line between words, or inside a word that is longer than a row.
fn wrap_line(line: usize, glyphs: &[Glyph], width: usize) -> Vec<Row> {
    let (mut rows, mut start, mut used_cells) = (Vec::new(), 0, 0);
    let mut last_break = None;
    for (index, glyph) in glyphs.iter().enumerate() {
        let is_blank = glyph.kind == GlyphKind::Blank;
        // A blank after a full row uses the cell reserved for the cursor instead of starting a new row.
        if used_cells + glyph.width > width && index > start && !(is_blank && used_cells <= width && glyph.width == 1) {
            let end = last_break.filter(|end| *end > start).unwrap_or(index);
            rows.push(Row { line, glyphs: start..end, is_line_end: false });
            (start, last_break) = (end, None);
            used_cells = glyphs[start..index].iter().map(|glyph| glyph.width).sum();
        }
        used_cells += glyph.width;
        // Wide characters belong to scripts without blanks and can break anywhere.
        if is_blank || glyph.kind == GlyphKind::Paste || (glyph.width == 2 && glyph.kind == GlyphKind::Text) {
            last_break = Some(index + 1);
        }
    }
    // After a blank in the cell of the cursor, an empty row holds the cursor.
    if used_cells > width && start < glyphs.len() {
        rows.push(Row { line, glyphs: start..glyphs.len(), is_line_end: false });
        start = glyphs.len();
    }
    rows.push(Row { line, glyphs: start..glyphs.len(), is_line_end: true });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_rows(text: &str, width: usize, expected: &[&str]) {
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let rows = WrappedRows::new(&lines, |_| None, width);
        let texts = (0..rows.len()).map(|row| rows.row_glyphs(row).iter().map(|glyph| glyph.text.as_str()).collect());
        assert_eq!(texts.collect::<Vec<String>>(), expected, "{text:?} in {width}");
    }

    #[test]
    fn lines_break_between_words() {
        assert_rows("the quick brown fox", 10, &["the quick ", "brown fox"]);
        assert_rows("unbreakable", 4, &["unbr", "eaka", "ble"]);
        assert_rows("a\n\nb", 10, &["a", "", "b"]);
        assert_rows("", 10, &[""]);
    }

    #[test]
    fn a_trailing_blank_may_use_the_cursor_cell() {
        assert_rows("abcd ", 4, &["abcd ", ""]);
        assert_rows("abcd e", 4, &["abcd ", "e"]);
        assert_rows("abcd  e", 4, &["abcd ", " e"]);
    }

    #[test]
    fn r34_wide_characters_break_anywhere_and_no_cell_counts_twice() {
        assert_rows("漢字漢字", 5, &["漢字", "漢字"]);
        assert_rows("漢", 1, &["漢", ""]);
        assert_rows("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]);
        assert_rows(
            "👩\u{200d}👩\u{200d}👧👩\u{200d}👩\u{200d}👧",
            3,
            &["👩\u{200d}👩\u{200d}👧", "👩\u{200d}👩\u{200d}👧"],
        );
    }

    #[test]
    fn r32_an_invisible_character_is_shown_as_a_mark() {
        assert_rows("a\u{202e}b\tc", 40, &["a<U+202E>b  c"]);
    }
}
