//! Lays out a diff as lines, without hiding or truncating anything: side by side if the width allows it, otherwise one
//! below the other.

mod changed_words;

use super::wrap::{Shape, wrap_pieces};
use super::{Page, Piece, pad_line};
use crate::chat::{Diff, Hunk, edit};
use crate::text::hidden_chars::{CharClass, classify_char};
use crate::text::link::{CheckTarget, Existence, LinkTarget};
use crate::text::reveal::{RevealedPart, reveal_text};
use crate::text::width::text_width as cells;
use crate::tui::text::code::{self, Highlighting, SyntaxRole};
use crate::tui::text::pieces::{revealed_pieces, wrap_revealed};
use crate::tui::theme::Theme;
use changed_words::{Parts, split_changed_words};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::Arc;

/// Minimum text columns next to line numbers; if there are fewer, line numbers are omitted.
const MIN_TEXT_COLUMNS: usize = 8;
/// Minimum columns of one side in a side-by-side diff; with fewer, most lines of code would wrap.
const MIN_SIDE_COLUMNS: usize = 68;
/// Separator between the sides.
const SIDE_SEPARATOR: &str = " │ ";

/// Lays out the header `path · new file · +3 −1`, the changes with line numbers, and the note. Invisible characters are
/// marked, long lines wrap.
pub fn lay_out_diff(diff: &Diff, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    lay_out_linked_diff(diff, width, theme, &|_| Existence::Unknown).lines
}

/// Lays out a diff as [`lay_out_diff`] does, with the links of its header.
pub fn lay_out_linked_diff(diff: &Diff, width: usize, theme: &Theme, check: CheckTarget<'_>) -> Page {
    let mut page = lay_out_header(diff, width, theme, check);
    page.lines.extend(lay_out_changes(diff, width, theme));
    page
}

/// Lays out the header, in which the path is a link if the file exists.
pub fn lay_out_header(diff: &Diff, width: usize, theme: &Theme, check: CheckTarget<'_>) -> Page {
    wrap_pieces(&header_pieces(diff, theme, check), &Shape::with_width(width))
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
    let layout = HunkLayout {
        path: &diff.path.to_string_lossy(),
        digits: last_line_number.to_string().len(),
        is_side_by_side,
        width: side_width,
        theme,
    };
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

/// Returns the diff with at most this many unchanged lines before and after each change, for a prompt with few rows.
pub fn trim_context(diff: &Diff, context: usize) -> Diff {
    let hunks = diff.hunks.iter().flat_map(|hunk| trim_hunk(hunk, context)).collect();
    Diff { hunks, ..diff.clone() }
}

/// Returns whether [`trim_context`] leaves out a line.
pub fn has_context_beyond(diff: &Diff, context: usize) -> bool {
    diff.hunks.iter().map(|hunk| &hunk.lines).any(|lines| {
        let near = |index: usize| index.saturating_sub(context)..(index + context + 1).min(lines.len());
        (0..lines.len()).any(|index| lines[near(index)].iter().all(edit::DiffLine::is_same))
    })
}

fn trim_hunk(hunk: &Hunk, context: usize) -> Vec<Hunk> {
    let changed: Vec<usize> = (0..hunk.lines.len()).filter(|index| !hunk.lines[*index].is_same()).collect();
    let mut trimmed: Vec<Hunk> = Vec::new();
    let (mut old_line, mut new_line, mut is_in_hunk) = (hunk.before, hunk.after, false);
    for (index, line) in hunk.lines.iter().enumerate() {
        let next_changed = changed.partition_point(|change| *change < index);
        let is_near = |change: &usize| change.abs_diff(index) <= context;
        let is_kept = changed[next_changed.saturating_sub(1)..].iter().take(2).any(is_near);
        match trimmed.last_mut().filter(|_| is_in_hunk) {
            _ if !is_kept => {}
            Some(last) => last.lines.push(line.clone()),
            None => trimmed.push(Hunk { before: old_line, after: new_line, lines: vec![line.clone()] }),
        }
        is_in_hunk = is_kept;
        old_line += usize::from(!matches!(line, edit::DiffLine::Added(_)));
        new_line += usize::from(!matches!(line, edit::DiffLine::Removed(_)));
    }
    trimmed
}

fn header_pieces(diff: &Diff, theme: &Theme, check: CheckTarget<'_>) -> Vec<Piece> {
    let path = diff.path.to_string_lossy().replace('\n', "<U+000A>");
    let mut pieces = revealed_pieces(&path, theme.strong, theme.mark);
    // A path with a mark has several pieces, or another text.
    if let ([piece], Some(path)) = (&mut pieces[..], diff.path.to_str().filter(|name| *name == path)) {
        let target = LinkTarget::File { path: path.to_owned(), line: None, end: None, column: None };
        if piece.text == path && check(&target) == Existence::Exists {
            (piece.style, piece.link) = (piece.style.patch(theme.link), Some(Arc::new(target)));
        }
    }
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
    /// Path of the file, which determines the language of its code.
    path: &'a str,
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
        let [old_code, new_code] = self.highlight_hunk(hunk);
        let old_roles = |line: usize| old_code.lines.get(line - hunk.before).map_or(&[][..], Vec::as_slice);
        let new_roles = |line: usize| new_code.lines.get(line - hunk.after).map_or(&[][..], Vec::as_slice);
        let (mut old_line, mut new_line) = (hunk.before, hunk.after);
        let mut remaining_lines = hunk.lines.as_slice();
        while let Some((first, tail)) = remaining_lines.split_first() {
            if let edit::DiffLine::Same(text) = first {
                let right = self.lay_out_line(LineChange::Unchanged, new_line, &[(text, false)], new_roles(new_line));
                if self.is_side_by_side {
                    let left =
                        self.lay_out_line(LineChange::Unchanged, old_line, &[(text, false)], old_roles(old_line));
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
            let (removed_parts, added_parts) = split_changed_words(&removed, &added);
            let lay_out_removed = |(line, parts): (usize, &Parts<'_>)| {
                self.lay_out_line(LineChange::Removed, line, parts, old_roles(line))
            };
            let lay_out_added =
                |(line, parts): (usize, &Parts<'_>)| self.lay_out_line(LineChange::Added, line, parts, new_roles(line));
            let removed_rows: Vec<Vec<Line<'static>>> = (old_line..).zip(&removed_parts).map(lay_out_removed).collect();
            let added_rows: Vec<Vec<Line<'static>>> = (new_line..).zip(&added_parts).map(lay_out_added).collect();
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

    /// Highlights the old and the new version of a hunk. Code is not highlighted if it is long or its language unknown.
    fn highlight_hunk(&self, hunk: &Hunk) -> [Highlighting; 2] {
        let is_long = |line: &edit::DiffLine| line.text().len() > code::MAX_LINE_LENGTH;
        if hunk.lines.len() > code::MAX_LINES || hunk.lines.iter().any(is_long) {
            return Default::default();
        }
        let highlight_version = |is_in_version: fn(&edit::DiffLine) -> bool| {
            // A line has no line breaks, but a session file may hold anything.
            let lines = hunk.lines.iter().filter(|line| is_in_version(line)).map(|line| line.text().replace('\n', " "));
            code::highlight(self.path, &lines.collect::<Vec<_>>().join("\n"))
        };
        [
            highlight_version(|line| !matches!(line, edit::DiffLine::Added(_))),
            highlight_version(|line| !matches!(line, edit::DiffLine::Removed(_))),
        ]
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
    /// parts are highlighted, the others have the colours of their `roles`. A line with marks has neither.
    fn lay_out_line(
        &self,
        change: LineChange,
        number: usize,
        parts: &[(&str, bool)],
        roles: &[(usize, SyntaxRole)],
    ) -> Vec<Line<'static>> {
        let (sign, style, changed_style) = match change {
            LineChange::Unchanged => (" ", self.theme.text, self.theme.text),
            LineChange::Added => ("+", self.theme.added, self.theme.added_part),
            LineChange::Removed => ("−", self.theme.removed, self.theme.removed_part),
        };
        // Without a background, only the colour of the text says that a line was changed.
        let has_syntax = change == LineChange::Unchanged || style.bg.is_some();
        let pieces = if is_plain_code(parts) {
            self.reveal_parts(parts, if has_syntax { roles } else { &[] }, style, changed_style)
        } else {
            let line: String = parts.iter().map(|(text, _)| *text).collect();
            self.reveal_parts(&[(&line, false)], &[], style, changed_style)
        };
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
            ..Shape::default()
        };
        let mut lines = wrap_pieces(&pieces, &shape).lines;
        // Extend the background to the end of the line, so that a block of changes is one area.
        if style.bg.is_some() {
            lines.iter_mut().for_each(|line| pad_line(line, self.width, style));
        }
        lines
    }

    /// Returns the revealed parts of a line. A tab is only a dimmed arrow, because code contains many tabs.
    fn reveal_parts(
        &self,
        parts: &[(&str, bool)],
        roles: &[(usize, SyntaxRole)],
        style: Style,
        changed_style: Style,
    ) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut start = 0;
        for (text, is_changed) in parts {
            if *is_changed {
                self.push_revealed(text, style.patch(changed_style), &mut pieces);
            } else {
                for (role, part) in split_roles(text, start, roles) {
                    self.push_revealed(part, style.patch(role.role_style(self.theme)), &mut pieces);
                }
            }
            start += text.len();
        }
        pieces
    }

    fn push_revealed(&self, text: &str, style: Style, pieces: &mut Vec<Piece>) {
        pieces.extend(reveal_text(text).into_iter().map(|part| match part {
            RevealedPart::Text(text) => Piece::new(text.replace('\n', " "), style),
            RevealedPart::Mark(text) if text.starts_with('→') => {
                Piece::new(text, style.patch(Style { bg: style.bg, ..self.theme.dim }))
            }
            RevealedPart::Mark(text) => Piece::new(text, style.patch(self.theme.mark)),
        }));
    }
}

/// Returns whether a line has nothing to mark apart from tabs before its text, so that it can be split anywhere between
/// two characters: marks depend on the characters around them.
fn is_plain_code(parts: &[(&str, bool)]) -> bool {
    let line: String = parts.iter().map(|(text, _)| *text).collect();
    let code = line.trim_start_matches('\t');
    let is_revealed_unchanged = || matches!(&reveal_text(code)[..], [RevealedPart::Text(text)] if text == code);
    code.chars().all(|c| classify_char(c) == CharClass::Plain) && is_revealed_unchanged()
}

/// Splits a part of a line at the ends of its roles. `start` is the byte of the line at which the part starts. Text
/// without a role is plain.
fn split_roles<'l>(
    text: &'l str,
    start: usize,
    roles: &[(usize, SyntaxRole)],
) -> impl Iterator<Item = (SyntaxRole, &'l str)> {
    let mut role_end = 0;
    let ends = roles.iter().map(move |(length, role)| {
        role_end += length;
        (*role, role_end)
    });
    let mut rest_start = 0;
    let split_at_end = move |(role, end): (SyntaxRole, usize)| {
        let end = end.saturating_sub(start).min(text.len());
        let part = text.get(rest_start..end).filter(|part| !part.is_empty())?;
        rest_start = end;
        Some((role, part))
    };
    let all_ends = ends.chain([(SyntaxRole::Plain, usize::MAX)]);
    all_ends.filter_map(split_at_end)
}

#[cfg(test)]
mod tests;
