//! Wraps styled text to a width.

use super::{Link, Page, width};
use crate::chat::link::Target;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// A stretch of text with one look, which may be a link. It holds clean text; `\n` breaks the line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Piece {
    /// Clean text.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// Where it leads. Neighbours that share one target (the same `Arc`) are one link.
    pub link: Option<Arc<Target>>,
}

impl Piece {
    /// A piece that is no link.
    pub fn new(text: impl Into<String>, style: Style) -> Piece {
        Piece { text: text.into(), style, link: None }
    }
}

/// The shape lines are wrapped into.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Cells a line may take, with its indent. 0 is taken as 1.
    pub width: usize,
    /// Stands before the first line: a bullet, a number, a bar. Left out where it would leave no cell for text.
    pub first: Vec<Piece>,
    /// Stands before every other line, as wide as `first` for a hanging indent.
    pub rest: Vec<Piece>,
    /// Code: breaks at the last cell rather than between words, and keeps every blank.
    pub verbatim: bool,
}

impl Shape {
    /// Lines of this width without indent.
    pub fn of_width(width: usize) -> Shape {
        Shape { width, ..Shape::default() }
    }
}

/// Lines no wider than the shape's width. At least one line, also for no text. A glyph wider than a whole line
/// is shown as `…`.
pub fn wrap(pieces: &[Piece], shape: &Shape) -> Page {
    wrap_with(pieces, shape, None)
}

/// The same for code, where a line that goes on must not be taken for a line of its own: `on` stands before what goes on, in
/// place of the end of the indent, and a line breaks behind blanks or before what joins two commands, where it can.
pub fn going_on(pieces: &[Piece], shape: &Shape, on: &Piece) -> Page {
    wrap_with(pieces, shape, Some(on))
}

/// What stands before a line that goes on.
pub const ON: &str = "↪ ";

fn wrap_with(pieces: &[Piece], shape: &Shape, on: Option<&Piece>) -> Page {
    let mut wrapping = Wrapping { pieces, shape, on, page: Page::default(), link: None };
    let mut line = Vec::new();
    for (piece, Piece { text, .. }) in pieces.iter().enumerate() {
        for (at, grapheme) in text.grapheme_indices(true) {
            if grapheme == "\n" {
                wrapping.line(&line);
                line.clear();
            } else {
                line.push(Atom::new(piece, at, grapheme));
            }
        }
    }
    wrapping.line(&line);
    wrapping.page
}

/// Text of one style: cleaned and wrapped.
pub fn plain(text: &str, style: Style, width: usize) -> Vec<Line<'static>> {
    let text = super::clean::clean(text);
    wrap(&[Piece::new(text, style)], &Shape::of_width(width)).lines
}

/// One grapheme.
#[derive(Clone, Copy)]
struct Atom {
    piece: usize,
    at: usize,
    length: usize,
    cells: usize,
    kind: Kind,
}

/// What a grapheme is to the breaking of lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Letter,
    /// A glyph of a script that breaks anywhere.
    Wide,
    /// May not begin a line: closing brackets and stops of such a script.
    Closing,
    /// May not end a line.
    Opening,
    Hyphen,
    Other,
}

impl Atom {
    fn new(piece: usize, at: usize, grapheme: &str) -> Atom {
        let cells = width::of(grapheme);
        let kind = match grapheme.chars().next().unwrap_or(' ') {
            // With a mark over it, it is a glyph.
            ' ' if grapheme.len() == 1 => Kind::Blank,
            '-' => Kind::Hyphen,
            '、'..='。'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '〉'
            | '！'
            | '，'
            | '：'
            | '；'
            | '？'
            | '．'
            | '’'
            | '”'
            | '…' => Kind::Closing,
            '（' | '「' | '『' | '【' | '《' | '〈' | '‘' | '“' => Kind::Opening,
            _ if cells > 1 => Kind::Wide,
            first if first.is_alphabetic() => Kind::Letter,
            _ => Kind::Other,
        };
        Atom { piece, at, length: grapheme.len(), cells, kind }
    }
}

/// Whether a line may be broken between two graphemes of prose.
fn breaks(before: Option<&Atom>, left: &Atom, right: &Atom) -> bool {
    match (left.kind, right.kind) {
        (_, Kind::Blank | Kind::Closing) | (Kind::Opening, _) => false,
        (Kind::Blank | Kind::Closing, _) => left.kind == Kind::Blank || left.cells > 1,
        (Kind::Wide, _) | (_, Kind::Wide) => true,
        // Between the parts of a word, not after the dashes of an option.
        (Kind::Hyphen, Kind::Letter) => before.is_some_and(|before| before.kind == Kind::Letter),
        (_, Kind::Opening) => right.cells > 1,
        (Kind::Letter | Kind::Hyphen | Kind::Other, Kind::Letter | Kind::Hyphen | Kind::Other) => false,
    }
}

struct Wrapping<'a> {
    pieces: &'a [Piece],
    shape: &'a Shape,
    /// What stands before a line that goes on; where there is any, lines break as code does.
    on: Option<&'a Piece>,
    page: Page,
    /// The last link laid out: the next piece with the same target goes on with it.
    link: Option<(u32, Arc<Target>)>,
}

impl Wrapping<'_> {
    /// Lays out one line of the text.
    fn line(&mut self, atoms: &[Atom]) {
        let mut start = 0;
        loop {
            let (indent, room) = self.indent(start > 0);
            let end = self.end(&atoms[start..], room).map_or(atoms.len(), |end| start + end);
            let shown = match self.shape.verbatim {
                true => end,
                false => trimmed(&atoms[start..end]) + start,
            };
            // Blanks that fill a whole line are left out with it, unless they are all there is.
            if shown > start || end == atoms.len() {
                self.put(indent, &atoms[start..shown], room);
            }
            start = end;
            if !self.shape.verbatim {
                start += atoms[start..].iter().take_while(|atom| atom.kind == Kind::Blank).count();
            }
            if start >= atoms.len() {
                return;
            }
        }
    }

    /// What stands before the next line, which may go on with the one before, and the cells that are left.
    fn indent(&self, goes_on: bool) -> (Vec<Piece>, usize) {
        let indent = if self.page.lines.is_empty() { &self.shape.first } else { &self.shape.rest };
        let mut indent = indent.clone();
        let wide = |indent: &[Piece]| indent.iter().map(|piece| width::width(&piece.text)).sum::<usize>();
        if let Some(on) = self.on.filter(|_| goes_on) {
            // It takes the place of blanks at the end of the indent, or else a place of its own.
            let blanks = " ".repeat(width::width(&on.text));
            if let Some(last) = indent.last_mut()
                && let Some(before) = last.text.strip_suffix(&blanks)
            {
                last.text.truncate(before.len());
            }
            indent.push(on.clone());
        }
        match self.shape.width.max(1).checked_sub(wide(&indent)) {
            Some(room) if room > 0 => (indent, room),
            _ => (Vec::new(), self.shape.width.max(1)),
        }
    }

    /// How many graphemes fit, `None` for all.
    fn end(&self, atoms: &[Atom], room: usize) -> Option<usize> {
        let (mut used, mut last) = (0, None);
        for (at, atom) in atoms.iter().enumerate() {
            let before = at.checked_sub(2).map(|before| &atoms[before]);
            let may = match (at, self.on) {
                (0, _) => false,
                (_, Some(_)) => self.joins(&atoms[at - 1], atom),
                (_, None) => !self.shape.verbatim && breaks(before, &atoms[at - 1], atom),
            };
            if may {
                last = Some(at);
            }
            used += atom.cells;
            if used > room {
                return match last {
                    _ if !self.shape.verbatim && atom.kind == Kind::Blank => Some(at),
                    Some(last) => Some(last),
                    None => Some(at.max(1)),
                };
            }
        }
        None
    }

    /// Whether a line of code may end between these two: behind blanks, and before the first sign of what joins commands.
    fn joins(&self, before: &Atom, after: &Atom) -> bool {
        let sign = |atom: &Atom| {
            let text = &self.pieces[atom.piece].text[atom.at..atom.at + atom.length];
            matches!(text, "|" | "&" | ";")
        };
        let redirects =
            |atom: &Atom| matches!(&self.pieces[atom.piece].text[atom.at..atom.at + atom.length], "<" | ">");
        match (before.kind, after.kind) {
            (_, Kind::Blank) => false,
            (Kind::Blank, _) => true,
            (_, _) => sign(after) && !sign(before) && !redirects(before),
        }
    }

    fn put(&mut self, indent: Vec<Piece>, atoms: &[Atom], room: usize) {
        let line = self.page.lines.len();
        let mut column: usize = indent.iter().map(|piece| width::width(&piece.text)).sum();
        let mut spans: Vec<Span> =
            indent.into_iter().map(|piece| Span::styled(piece.text, piece.style)).collect();
        for run in atoms.chunk_by(|left, right| left.piece == right.piece) {
            let piece = &self.pieces[run[0].piece];
            let last = &run[run.len() - 1];
            let mut text = piece.text[run[0].at..last.at + last.length].to_owned();
            let mut cells: usize = run.iter().map(|atom| atom.cells).sum();
            if cells > room {
                (text, cells) = ("…".to_owned(), 1);
            }
            spans.push(Span::styled(text, piece.style));
            if let Some(target) = piece.link.as_ref().filter(|_| cells > 0) {
                let link = Link {
                    id: self.id(target),
                    line,
                    start: cell(column),
                    end: cell(column + cells),
                    target: target.clone(),
                };
                match self.page.links.last_mut() {
                    Some(before) if (before.id, before.line, before.end) == (link.id, line, link.start) => {
                        before.end = link.end
                    }
                    _ => self.page.links.push(link),
                }
            }
            column += cells;
        }
        self.page.lines.push(Line::from(spans));
    }

    fn id(&mut self, target: &Arc<Target>) -> u32 {
        match &self.link {
            Some((id, last)) if Arc::ptr_eq(last, target) => *id,
            last => {
                let id = last.as_ref().map_or(0, |(id, _)| id + 1);
                self.link = Some((id, target.clone()));
                id
            }
        }
    }
}

fn cell(column: usize) -> u16 {
    u16::try_from(column).unwrap_or(u16::MAX)
}

/// How many graphemes are left without the blanks at the end.
fn trimmed(atoms: &[Atom]) -> usize {
    atoms.iter().rposition(|atom| atom.kind != Kind::Blank).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests;
