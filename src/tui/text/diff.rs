//! Lays out a diff as lines, without hiding or truncating anything: side by side if the width allows it, otherwise one
//! below the other.

use super::wrap::{Shape, wrap_pieces};
use super::{Page, Piece, pad_line};
use crate::chat::{Diff, Hunk, edit};
use crate::text::reveal::{RevealedPart, reveal_text};
use crate::text::width::text_width as cells;
use crate::tui::text::pieces::{revealed_pieces, wrap_revealed};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{DiffTag, TextDiff};
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Lines longer than this, in bytes, are shown without highlighted words.
const MAX_WORD_DIFF_LINE: usize = 2000;
/// Time limit for finding changed words in one pair of lines.
const WORD_DIFF_TIMEOUT: Duration = Duration::from_millis(5);
/// Minimum text columns next to line numbers; if there are fewer, line numbers are omitted.
const MIN_TEXT_COLUMNS: usize = 8;
/// Minimum columns of one side in a side-by-side diff; with fewer, most lines of code would wrap.
const MIN_SIDE_COLUMNS: usize = 68;
/// Separator between the sides.
const SIDE_SEPARATOR: &str = " │ ";

/// Lays out the header `path · new file · +3 −1`, the changes with line numbers, and the note. Invisible characters are
/// marked, long lines wrap.
pub fn lay_out_diff(diff: &Diff, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut page = wrap_pieces(&header_pieces(diff, theme), &Shape::with_width(width));
    page.lines.extend(lay_out_changes(diff, width, theme));
    page.lines
}

/// Lays out the changes and the note without the header.
pub fn lay_out_changes(diff: &Diff, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut page = Page::default();
    // At least the last line number of either file: the lines of a hunk include those of both files.
    let last_line_number =
        diff.hunks.iter().map(|hunk| hunk.before.max(hunk.after) + hunk.lines.len()).max().unwrap_or(0);
    // A diff with only additions or only removals has one side.
    let is_side_by_side = width >= 2 * MIN_SIDE_COLUMNS + cells(SIDE_SEPARATOR) && diff.added > 0 && diff.removed > 0;
    let side_width = if is_side_by_side { (width - cells(SIDE_SEPARATOR)) / 2 } else { width };
    let layout = HunkLayout { digits: last_line_number.to_string().len(), is_side_by_side, width: side_width, theme };
    for (index, hunk) in diff.hunks.iter().enumerate() {
        if index > 0 {
            page.lines.push(Line::styled("⋯", theme.dim));
        }
        layout.lay_out_hunk(hunk, &mut page);
    }
    if let Some(note) = &diff.note {
        page.lines.extend(wrap_revealed(note, theme.warning, width, theme));
    }
    page.lines
}

fn header_pieces(diff: &Diff, theme: &Theme) -> Vec<Piece> {
    let path = diff.path.to_string_lossy().replace('\n', "<U+000A>");
    let mut pieces = revealed_pieces(&path, theme.strong, theme.mark);
    let mut push = |text: String, style| pieces.push(Piece::new(text, style));
    if diff.created {
        push(" · new file".into(), theme.dim);
    }
    push(" · ".into(), theme.dim);
    push(format!("+{}", diff.added), Style { bg: None, ..theme.added });
    push(" ".into(), theme.dim);
    push(format!("−{}", diff.removed), Style { bg: None, ..theme.removed });
    pieces
}

/// Lays out hunks with line numbers.
struct HunkLayout<'a> {
    /// Columns for a line number.
    digits: usize,
    /// True for a side-by-side diff.
    is_side_by_side: bool,
    /// Width of one side.
    width: usize,
    theme: &'a Theme,
}

/// Kind of a line in a diff.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineChange {
    Unchanged,
    Added,
    Removed,
}

impl HunkLayout<'_> {
    fn lay_out_hunk(&self, hunk: &Hunk, page: &mut Page) {
        let (mut old_line, mut new_line) = (hunk.before, hunk.after);
        let mut remaining_lines = hunk.lines.as_slice();
        while let Some((first, tail)) = remaining_lines.split_first() {
            if let edit::DiffLine::Same(text) = first {
                let right = self.lay_out_line(LineChange::Unchanged, new_line, &[(text, false)]);
                if self.is_side_by_side {
                    let left = self.lay_out_line(LineChange::Unchanged, old_line, &[(text, false)]);
                    self.merge_sides(left, right, page);
                } else {
                    page.lines.extend(right);
                }
                (old_line, new_line, remaining_lines) = (old_line + 1, new_line + 1, tail);
                continue;
            }
            let removed_texts = remaining_lines.iter().map_while(|line| match line {
                edit::DiffLine::Removed(text) => Some(text.as_str()),
                edit::DiffLine::Added(_) | edit::DiffLine::Same(_) => None,
            });
            let removed: Vec<&str> = removed_texts.collect();
            let added_texts = remaining_lines[removed.len()..].iter().map_while(|line| match line {
                edit::DiffLine::Added(text) => Some(text.as_str()),
                edit::DiffLine::Removed(_) | edit::DiffLine::Same(_) => None,
            });
            let added: Vec<&str> = added_texts.collect();
            remaining_lines = &remaining_lines[removed.len() + added.len()..];
            let (removed_parts, added_parts): (Vec<Parts<'_>>, Vec<Parts<'_>>) = match removed.len() == added.len() {
                true => removed.iter().zip(&added).map(|(old, new)| split_words(old, new)).unzip(),
                false => (unsplit_lines(&removed), unsplit_lines(&added)),
            };
            let lay_out_lines = |change, first_line: usize, parts: &[Parts<'_>]| -> Vec<Vec<Line<'static>>> {
                (first_line..).zip(parts).map(|(line, parts)| self.lay_out_line(change, line, parts)).collect()
            };
            let removed_rows = lay_out_lines(LineChange::Removed, old_line, &removed_parts);
            let added_rows = lay_out_lines(LineChange::Added, new_line, &added_parts);
            if self.is_side_by_side {
                let (mut removed_rows, mut added_rows) = (removed_rows.into_iter(), added_rows.into_iter());
                for _ in 0..removed.len().max(added.len()) {
                    self.merge_sides(
                        removed_rows.next().unwrap_or_default(),
                        added_rows.next().unwrap_or_default(),
                        page,
                    );
                }
            } else {
                page.lines.extend(removed_rows.into_iter().chain(added_rows).flatten());
            }
            (old_line, new_line) = (old_line + removed.len(), new_line + added.len());
        }
    }

    /// Puts the old and new lines into the same rows.
    fn merge_sides(&self, left: Vec<Line<'static>>, right: Vec<Line<'static>>, page: &mut Page) {
        let rows = left.len().max(right.len());
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        for _ in 0..rows {
            let mut line = left.next().unwrap_or_default();
            pad_line(&mut line, self.width, Style::new());
            line.spans.push(Span::styled(SIDE_SEPARATOR, self.theme.border_dim));
            line.spans.extend(right.next().unwrap_or_default().spans);
            page.lines.push(line);
        }
    }

    /// Lays out one line of the file. `parts` are the parts of its text, each with whether it was changed; changed
    /// parts are highlighted.
    fn lay_out_line(&self, change: LineChange, number: usize, parts: &[(&str, bool)]) -> Vec<Line<'static>> {
        let (sign, style, changed_style) = match change {
            LineChange::Unchanged => (" ", self.theme.text, self.theme.text),
            LineChange::Added => ("+", self.theme.added, self.theme.added_part),
            LineChange::Removed => ("−", self.theme.removed, self.theme.removed_part),
        };
        let pieces = self.reveal_parts(parts, style, changed_style);
        // The number is followed by a blank, the sign and another blank.
        let has_number = self.width >= self.digits + 3 + MIN_TEXT_COLUMNS;
        let (first_gutter, next_gutter) = match has_number {
            true => (format!("{number:>0$} ", self.digits), " ".repeat(self.digits + 1)),
            false => (String::new(), String::new()),
        };
        let prefix_pieces = |gutter: String, sign: &str| {
            vec![Piece::new(gutter, self.theme.dim), Piece::new(format!("{sign} "), style)]
        };
        let shape = Shape {
            width: self.width,
            first_prefix: prefix_pieces(first_gutter, sign),
            next_prefix: prefix_pieces(next_gutter, " "),
            verbatim: true,
        };
        let mut lines = wrap_pieces(&pieces, &shape).lines;
        // Extend the background to the end of the line, so that a block of changes is one area.
        if style.bg.is_some() {
            lines.iter_mut().for_each(|line| pad_line(line, self.width, style));
        }
        lines
    }

    /// Returns the revealed parts of a line. A tab is only a dimmed arrow, because code contains many tabs.
    fn reveal_parts(&self, parts: &[(&str, bool)], style: Style, changed_style: Style) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (text, is_changed) in parts {
            let style = if *is_changed { style.patch(changed_style) } else { style };
            for part in reveal_text(text) {
                pieces.push(match part {
                    RevealedPart::Text(text) => Piece::new(text.replace('\n', " "), style),
                    RevealedPart::Mark(text) if text.starts_with('→') => {
                        Piece::new(text, style.patch(Style { bg: style.bg, ..self.theme.dim }))
                    }
                    RevealedPart::Mark(text) => Piece::new(text, style.patch(self.theme.mark)),
                });
            }
        }
        pieces
    }
}

/// Parts of a line, and whether each was changed.
type Parts<'l> = Vec<(&'l str, bool)>;

/// Returns each line as one unchanged part.
fn unsplit_lines<'l>(lines: &[&'l str]) -> Vec<Parts<'l>> {
    lines.iter().map(|line| vec![(*line, false)]).collect()
}

/// Splits two versions of a line into unchanged and changed parts. If almost everything changed, nothing is
/// highlighted, as it would not help.
fn split_words<'l>(old_line: &'l str, new_line: &'l str) -> (Parts<'l>, Parts<'l>) {
    let unsplit = || (vec![(old_line, false)], vec![(new_line, false)]);
    if old_line.len().max(new_line.len()) > MAX_WORD_DIFF_LINE {
        return unsplit();
    }
    let (old_words, new_words): (Vec<&str>, Vec<&str>) =
        (old_line.split_word_bounds().collect(), new_line.split_word_bounds().collect());
    let changes = TextDiff::configure().timeout(WORD_DIFF_TIMEOUT).diff_slices(&old_words, &new_words);
    if changes.ratio() < 0.4 {
        return unsplit();
    }
    let (mut old_parts, mut new_parts): (Parts<'l>, Parts<'l>) = (Vec::new(), Vec::new());
    let (mut old_rest, mut new_rest) = (old_line, new_line);
    let take_part = |parts: &mut Parts<'l>, rest: &mut &'l str, words: &[&str], is_changed: bool| {
        let (part, after) = rest.split_at(words.iter().map(|word| word.len()).sum());
        *rest = after;
        if !part.is_empty() {
            parts.push((part, is_changed));
        }
    };
    for change in changes.ops() {
        let is_changed = change.tag() != DiffTag::Equal;
        take_part(&mut old_parts, &mut old_rest, &old_words[change.old_range()], is_changed);
        take_part(&mut new_parts, &mut new_rest, &new_words[change.new_range()], is_changed);
    }
    (old_parts, new_parts)
}

#[cfg(test)]
mod tests;
