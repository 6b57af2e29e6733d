//! Wraps styled text to a width.

use super::page::{Link, Page};
use crate::text::link::LinkTarget;
use crate::text::width;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// A piece of cleaned text with one style and an optional link; `\n` breaks the line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Piece {
    /// Cleaned text.
    pub text: String,
    pub style: Style,
    /// Link target. Adjacent pieces that share one target (the same `Arc`) are one link.
    pub link: Option<Arc<LinkTarget>>,
}

impl Piece {
    /// Creates a piece without a link.
    pub fn new(text: impl Into<String>, style: Style) -> Piece {
        Piece { text: text.into(), style, link: None }
    }
}

/// Shape of wrapped lines.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Maximum width in columns, including the indentation. 0 is treated as 1.
    pub width: usize,
    /// Prefix of the first line: a bullet, number or bar. Omitted if it would leave no column for text.
    pub first_prefix: Vec<Piece>,
    /// Prefix of all other lines; as wide as `first_prefix` for a hanging indentation.
    pub next_prefix: Vec<Piece>,
    /// For code: keep all spaces, and break at the last column instead of between words. `wrap_code` prefers the breaks
    /// allowed in code.
    pub verbatim: bool,
    /// For output: a verbatim line breaks after spaces if it has any, unless it seems to have columns. A single space at
    /// such a break that does not fit is dropped.
    pub keeps_words: bool,
    /// For lists: further rows of a line begin below its second column, else below its indentation, if that is in the left half.
    pub hangs: bool,
}

impl Shape {
    /// Returns a shape of this width without indentation.
    pub fn with_width(width: usize) -> Shape {
        Shape { width, ..Shape::default() }
    }

    /// Returns a shape of this width for lists.
    pub fn hanging(width: usize) -> Shape {
        Shape { hangs: true, ..Shape::with_width(width) }
    }

    /// Returns a shape of this width with the same prefix before every line.
    pub fn with_prefix(width: usize, prefix: Piece) -> Shape {
        Shape { width, first_prefix: vec![prefix.clone()], next_prefix: vec![prefix], ..Shape::default() }
    }

    /// Returns a shape of this width with a prefix before the first line, and as many blanks before the others.
    pub fn with_hanging_prefix(width: usize, mut prefix: Vec<Piece>) -> Shape {
        prefix.retain(|piece| !piece.text.is_empty());
        let columns = prefix.iter().map(|piece| width::text_width(&piece.text)).sum();
        let blanks = prefix.last().map(|last| Piece::new(" ".repeat(columns), last.style));
        Shape { width, first_prefix: prefix, next_prefix: blanks.into_iter().collect(), ..Shape::default() }
    }
}

/// Wraps pieces into lines no wider than the shape. Returns at least one line, also for empty text. A glyph wider than
/// a whole line is shown as `…`.
pub fn wrap_pieces(pieces: &[Piece], shape: &Shape) -> Page {
    wrap_with(pieces, shape, None)
}

/// Wraps code so that a continuation line cannot be mistaken for a new line: `continuation_mark` replaces the last
/// columns of its indentation. Lines break after spaces or before operators that join commands, if possible.
pub fn wrap_code(pieces: &[Piece], shape: &Shape, continuation_mark: &Piece) -> Page {
    wrap_with(pieces, shape, Some(continuation_mark))
}

/// Cleans and wraps a text with commands, such as a rule. Each row that goes on with a line is marked in `mark_style`, so
/// that a break within a word cannot pass for a space.
pub fn wrap_commands(text: &str, style: Style, mark_style: Style, width: usize) -> Vec<Line<'static>> {
    wrap_command_pieces(&[Piece::new(crate::text::clean::clean_text(text), style)], mark_style, width).lines
}

/// Wraps the pieces of a clean text as [`wrap_commands`] does.
pub fn wrap_command_pieces(pieces: &[Piece], mark_style: Style, width: usize) -> Page {
    let shape = Shape { verbatim: true, ..Shape::with_width(width) };
    wrap_code(pieces, &shape, &Piece::new(CONTINUATION_MARK, mark_style))
}

/// Prefix of a continuation line.
pub const CONTINUATION_MARK: &str = "↪ ";

fn wrap_with(pieces: &[Piece], shape: &Shape, continuation: Option<&Piece>) -> Page {
    let mut wrapper = Wrapper { pieces, shape, continuation, page: Page::default() };
    let mut line = Vec::new();
    for (piece, Piece { text, .. }) in pieces.iter().enumerate() {
        for (offset, grapheme) in text.grapheme_indices(true) {
            if grapheme == "\n" {
                wrapper.lay_out_line(&line);
                line.clear();
            } else {
                line.push(Grapheme::new(piece, offset, grapheme));
            }
        }
    }
    wrapper.lay_out_line(&line);
    wrapper.page
}

/// Cleans and wraps text of one style.
pub fn wrap_plain(text: &str, style: Style, width: usize) -> Vec<Line<'static>> {
    let text = crate::text::clean::clean_text(text);
    wrap_pieces(&[Piece::new(text, style)], &Shape::with_width(width)).lines
}

/// A grapheme and its position in the pieces.
#[derive(Clone, Copy)]
struct Grapheme {
    piece: usize,
    offset: usize,
    length: usize,
    cells: usize,
    kind: BreakClass,
}

/// Line breaking class of a grapheme.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BreakClass {
    Blank,
    Letter,
    /// A glyph of a script that breaks anywhere.
    Wide,
    /// Must not start a line: closing brackets and stops of such a script.
    Closing,
    /// Must not end a line.
    Opening,
    Hyphen,
    Other,
}

impl Grapheme {
    fn new(piece: usize, offset: usize, grapheme: &str) -> Grapheme {
        let cells = width::grapheme_width(grapheme);
        let kind = match grapheme.chars().next().unwrap_or(' ') {
            // A space with a combining mark is a glyph.
            ' ' if grapheme.len() == 1 => BreakClass::Blank,
            '-' => BreakClass::Hyphen,
            '、'..='。' | '）' | '」' | '』' | '】' | '》' | '〉' => BreakClass::Closing,
            '！' | '，' | '：' | '；' | '？' | '．' | '’' | '”' | '…' => BreakClass::Closing,
            '（' | '「' | '『' | '【' | '《' | '〈' | '‘' | '“' => BreakClass::Opening,
            _ if cells > 1 => BreakClass::Wide,
            first if first.is_alphabetic() => BreakClass::Letter,
            _ => BreakClass::Other,
        };
        Grapheme { piece, offset, length: grapheme.len(), cells, kind }
    }
}

/// Returns whether a line of prose may break between two graphemes; `previous` is the one before `left`.
fn can_break(previous: Option<&Grapheme>, left: &Grapheme, right: &Grapheme) -> bool {
    match (left.kind, right.kind) {
        (_, BreakClass::Blank | BreakClass::Closing) | (BreakClass::Opening, _) => false,
        // No line breaks after a narrow mark such as `’`, which may be inside a word.
        (BreakClass::Blank | BreakClass::Closing, _) => left.kind == BreakClass::Blank || left.cells > 1,
        (BreakClass::Wide, _) | (_, BreakClass::Wide) => true,
        // Between the parts of a word, but not after the dashes of an option.
        (BreakClass::Hyphen, BreakClass::Letter) => {
            previous.is_some_and(|previous| previous.kind == BreakClass::Letter)
        }
        // Nor does a line break before a narrow mark such as `“`.
        (_, BreakClass::Opening) => right.cells > 1,
        (
            BreakClass::Letter | BreakClass::Hyphen | BreakClass::Other,
            BreakClass::Letter | BreakClass::Hyphen | BreakClass::Other,
        ) => false,
    }
}

struct Wrapper<'a> {
    pieces: &'a [Piece],
    shape: &'a Shape,
    /// Mark of continuation lines. If set, lines break at the places allowed in code, otherwise at those in prose.
    continuation: Option<&'a Piece>,
    page: Page,
}

impl Wrapper<'_> {
    /// Lays out one line of the text.
    fn lay_out_line(&mut self, graphemes: &[Grapheme]) {
        let mut start = 0;
        let keeps_words = self.shape.keeps_words && !has_columns(graphemes);
        let hanging_columns = if self.shape.hangs { self.hanging_columns(graphemes) } else { 0 };
        loop {
            let (mut indent, mut columns) = self.line_prefix(start > 0);
            if start > 0 && (1..columns).contains(&hanging_columns) {
                indent.push(Piece::new(" ".repeat(hanging_columns), Style::default()));
                columns -= hanging_columns;
            }
            let end = self
                .fitting_graphemes(&graphemes[start..], columns, keeps_words)
                .map_or(graphemes.len(), |end| start + end);
            let shown_end = match self.shape.verbatim {
                true => end,
                false => trimmed_length(&graphemes[start..end]) + start,
            };
            // Spaces that fill a whole line are dropped with it, unless the text has nothing else.
            if shown_end > start || end == graphemes.len() {
                self.push_line(indent, &graphemes[start..shown_end], columns);
            }
            start = end;
            if keeps_words && starts_with_single_blank(&graphemes[end..]) {
                // The end of the line stands for the space that did not fit.
                start += 1;
            }
            if !self.shape.verbatim {
                start += graphemes[start..].iter().take_while(|grapheme| grapheme.kind == BreakClass::Blank).count();
            }
            if start >= graphemes.len() {
                return;
            }
        }
    }

    /// Returns how many columns further rows of a line are indented.
    fn hanging_columns(&self, graphemes: &[Grapheme]) -> usize {
        let is_blank = |grapheme: &Grapheme| grapheme.kind == BreakClass::Blank;
        let (mut column, mut indentation) = (0, 0);
        for run in graphemes.chunk_by(|left, right| is_blank(left) == is_blank(right)) {
            let is_gap = column > indentation && run.len() > 1;
            let is_indentation = column == 0 && is_blank(&run[0]);
            column += run.iter().map(|grapheme| grapheme.cells).sum::<usize>();
            if is_indentation {
                indentation = column;
            } else if is_gap && is_blank(&run[0]) && column <= self.shape.width / 2 {
                return column;
            }
        }
        if indentation <= self.shape.width / 2 { indentation } else { 0 }
    }

    /// Returns the prefix of the next line, which may be a continuation, and the remaining columns.
    fn line_prefix(&self, is_continuation: bool) -> (Vec<Piece>, usize) {
        let indent = if self.page.lines.is_empty() { &self.shape.first_prefix } else { &self.shape.next_prefix };
        let mut indent = indent.clone();
        let total_width = |indent: &[Piece]| indent.iter().map(|piece| width::text_width(&piece.text)).sum::<usize>();
        if let Some(mark) = self.continuation.filter(|_| is_continuation) {
            // The mark replaces spaces at the end of the indentation; if there are not enough, it is added.
            let blanks = " ".repeat(width::text_width(&mark.text));
            if let Some(last) = indent.last_mut()
                && let Some(unpadded) = last.text.strip_suffix(&blanks)
            {
                last.text.truncate(unpadded.len());
            }
            indent.push(mark.clone());
        }
        match self.shape.width.max(1).checked_sub(total_width(&indent)) {
            Some(columns) if columns > 0 => (indent, columns),
            _ => (Vec::new(), self.shape.width.max(1)),
        }
    }

    /// Returns the number of graphemes for the next line; `None` if all of them fit. If `keeps_words`, a verbatim line
    /// ends after spaces if it has any after its indentation.
    fn fitting_graphemes(&self, graphemes: &[Grapheme], columns: usize, keeps_words: bool) -> Option<usize> {
        let (mut used_columns, mut last_break) = (0, None);
        for (index, grapheme) in graphemes.iter().enumerate() {
            let previous = index.checked_sub(2).map(|two_back| &graphemes[two_back]);
            let may_break = match (index, self.continuation) {
                (0, _) => false,
                (_, Some(_)) => self.can_break_code(&graphemes[index - 1], grapheme),
                (_, None) if keeps_words => {
                    let is_indentation = || graphemes[..index].iter().all(|blank| blank.kind == BreakClass::Blank);
                    let starts_word =
                        graphemes[index - 1].kind == BreakClass::Blank && grapheme.kind != BreakClass::Blank;
                    starts_word && !is_indentation()
                }
                (_, None) => !self.shape.verbatim && can_break(previous, &graphemes[index - 1], grapheme),
            };
            if may_break {
                last_break = Some(index);
            }
            used_columns += grapheme.cells;
            if used_columns > columns {
                return match last_break {
                    // A blank that does not fit is dropped, so the line ends before it.
                    _ if (keeps_words || !self.shape.verbatim) && grapheme.kind == BreakClass::Blank => {
                        Some(index.max(1))
                    }
                    Some(break_index) => Some(break_index),
                    None => Some(index.max(1)),
                };
            }
        }
        None
    }

    /// Returns whether a line of code may break here: after spaces, and before an operator that joins commands. It does
    /// not break inside `&&`, `||` or `>&`.
    fn can_break_code(&self, left: &Grapheme, right: &Grapheme) -> bool {
        let text_of =
            |grapheme: &Grapheme| &self.pieces[grapheme.piece].text[grapheme.offset..grapheme.offset + grapheme.length];
        let is_operator = |grapheme| matches!(text_of(grapheme), "|" | "&" | ";");
        let is_redirection = |grapheme| matches!(text_of(grapheme), "<" | ">");
        match (left.kind, right.kind) {
            (_, BreakClass::Blank) => false,
            (BreakClass::Blank, _) => true,
            (_, _) => is_operator(right) && !is_operator(left) && !is_redirection(left),
        }
    }

    fn push_line(&mut self, indent: Vec<Piece>, graphemes: &[Grapheme], columns: usize) {
        let line = self.page.lines.len();
        let mut column: usize = indent.iter().map(|piece| width::text_width(&piece.text)).sum();
        let mut spans: Vec<Span> = indent.into_iter().map(|piece| Span::styled(piece.text, piece.style)).collect();
        for run in graphemes.chunk_by(|left, right| left.piece == right.piece) {
            let piece = &self.pieces[run[0].piece];
            let last = &run[run.len() - 1];
            let mut text = piece.text[run[0].offset..last.offset + last.length].to_owned();
            let mut cells: usize = run.iter().map(|grapheme| grapheme.cells).sum();
            if cells > columns {
                (text, cells) = ("…".to_owned(), 1);
            }
            spans.push(Span::styled(text, piece.style));
            if let Some(target) = piece.link.as_ref().filter(|_| cells > 0) {
                let (start, end) = (to_cell(column), to_cell(column + cells));
                match self.page.links.last_mut() {
                    Some(last) if (last.line, last.end) == (line, start) && Arc::ptr_eq(&last.target, target) => {
                        last.end = end;
                    }
                    _ => self.page.links.push(Link { line, start, end, target: target.clone(), picture: None }),
                }
            }
            column += cells;
        }
        self.page.lines.push(Line::from(spans));
    }
}

fn to_cell(column: usize) -> u16 {
    u16::try_from(column).unwrap_or(u16::MAX)
}

fn starts_with_single_blank(graphemes: &[Grapheme]) -> bool {
    let mut blanks = graphemes.iter().map(|grapheme| grapheme.kind == BreakClass::Blank);
    blanks.next() == Some(true) && blanks.next() != Some(true)
}

/// Returns whether a line of output seems to have columns: two or more gaps of several spaces after its indentation.
fn has_columns(graphemes: &[Grapheme]) -> bool {
    let is_blank = |grapheme: &Grapheme| grapheme.kind == BreakClass::Blank;
    let line = &graphemes[..trimmed_length(graphemes)];
    let runs = line.chunk_by(|left, right| is_blank(left) == is_blank(right)).skip_while(|run| is_blank(&run[0]));
    runs.filter(|run| is_blank(&run[0]) && run.len() > 1).count() > 1
}

/// Returns the number of graphemes without trailing spaces.
fn trimmed_length(graphemes: &[Grapheme]) -> usize {
    graphemes.iter().rposition(|grapheme| grapheme.kind != BreakClass::Blank).map_or(0, |index| index + 1)
}

/// Cuts a line to this width.
pub fn cut_line(line: &mut Line<'static>, mut cells: usize) {
    for span in &mut line.spans {
        let kept = width::cut_to_width(&span.content, cells).to_owned();
        cells -= width::text_width(&kept).min(cells);
        // Nothing follows a text that was cut, also if the next one would fit.
        cells = if kept.len() < span.content.len() { 0 } else { cells };
        span.content = kept.into();
    }
    line.spans.retain(|span| !span.content.is_empty());
}

#[cfg(test)]
mod tests;
