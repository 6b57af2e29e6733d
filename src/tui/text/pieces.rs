//! Text as pieces to wrap: with its links, or revealed, so that every character of a text to approve is visible.

use super::page::Page;
use super::wrap::{Piece, Shape, wrap_pieces};
use crate::text::clean;
use crate::text::link::{self, CheckTarget, FoundLink};
use crate::text::reveal::{RevealedPart, reveal_line_parts, reveal_text};
use crate::tui::theme::Theme;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use std::ops::Range;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// Prefix of every line that comes from a file, a server or a model, so that none can pass for one of the program.
pub const OUTSIDE_BAR: &str = "│ ";

/// Style of a link to a file that does not exist any more, on top of that of the text around it.
pub const MISSING_LINK: Style = Style::new().add_modifier(Modifier::CROSSED_OUT);

/// Splits clean text into pieces: links in `link_style`, the rest in `style`.
pub fn split_links(text: &str, style: Style, link_style: Style, check: CheckTarget<'_>) -> Vec<Piece> {
    styled_pieces(text, &[(text.len(), style)], link_style, check)
}

/// Splits clean text into pieces at the ends of its styled ranges and at its links. A missing link has no target.
pub fn styled_pieces(
    text: &str,
    style_ends: &[(usize, Style)],
    link_style: Style,
    check: CheckTarget<'_>,
) -> Vec<Piece> {
    split_at_links(text, style_ends, link_style, link::find_links(text, check))
}

/// Splits clean text into pieces at the ends of its styled ranges and at these links. A link that would divide a glyph is
/// left out, because the glyph would be drawn differently.
fn split_at_links(text: &str, style_ends: &[(usize, Style)], link_style: Style, links: Vec<FoundLink>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let is_whole = |link: &FoundLink| !divides_glyph(text, link.range.start) && !divides_glyph(text, link.range.end);
    let mut links = links.into_iter().filter(is_whole).peekable();
    let mut target = None;
    let mut start = 0;
    for (end, style) in style_ends {
        while start < *end {
            if links.peek().is_some_and(|link| link.range.end <= start) {
                links.next();
                target = None;
            }
            let (piece_end, current_link) = match links.peek() {
                Some(link) if link.range.start > start => ((*end).min(link.range.start), None),
                Some(link) => ((*end).min(link.range.end), Some(link)),
                None => (*end, None),
            };
            let mut piece = Piece::new(&text[start..piece_end], *style);
            match current_link {
                Some(link) if link.is_missing => piece.style = style.patch(MISSING_LINK),
                Some(link) => {
                    let target = target.get_or_insert_with(|| Arc::new(link.target.clone()));
                    piece = Piece { style: style.patch(link_style), link: Some(target.clone()), ..piece };
                }
                None => {}
            }
            pieces.push(piece);
            start = piece_end;
        }
    }
    pieces
}

/// Returns whether a position, which is the boundary of a character, is inside a glyph.
fn divides_glyph(text: &str, position: usize) -> bool {
    let (Some(previous), Some(next)) = (text[..position].chars().next_back(), text[position..].chars().next()) else {
        return false;
    };
    let first_glyph = || text[position - previous.len_utf8()..].graphemes(true).next().map_or(0, str::len);
    !next.is_ascii() && first_glyph() > previous.len_utf8()
}

/// Returns the revealed text as pieces to wrap, with its links. The text is the same as that of [`revealed_pieces`]: a link
/// changes only the style.
pub fn revealed_links(text: &str, style: Style, theme: &Theme, check: CheckTarget<'_>) -> Vec<Piece> {
    let (mut revealed, mut style_ends) = (String::new(), Vec::new());
    for part in reveal_text(text) {
        let (part, part_style) = match part {
            RevealedPart::Text(part) => (part, style),
            RevealedPart::Mark(part) => (part, style.patch(theme.mark)),
        };
        revealed.push_str(&part);
        style_ends.push((revealed.len(), part_style));
    }
    let links = find_unmarked_links(&revealed, check);
    split_at_links(&revealed, &style_ends, theme.link, links)
}

/// Returns a text that was revealed before as pieces to wrap, with its links.
pub fn split_revealed_links(text: &str, style: Style, link_style: Style, check: CheckTarget<'_>) -> Vec<Piece> {
    split_at_links(text, &[(text.len(), style)], link_style, find_unmarked_links(text, check))
}

/// Finds the links of a revealed text. A word with a mark such as `<U+202E>` has none, because what the mark stands for may
/// be part of the address.
fn find_unmarked_links(revealed: &str, check: CheckTarget<'_>) -> Vec<FoundLink> {
    let mut links = link::find_links(revealed, check);
    // Several links may be in one long word, which is searched only once.
    let mut word = MarkedWord::default();
    links.retain(|link| {
        if link.range.end > word.end {
            word = MarkedWord::around(revealed, &link.range);
        }
        word.first_mark.is_none_or(|mark| mark >= link.range.start)
            && word.last_mark.is_none_or(|mark| mark < link.range.end)
    });
    links
}

/// Positions in a word of a revealed text, or in words joined by a link.
#[derive(Default)]
struct MarkedWord {
    end: usize,
    /// Positions of the first and the last `<`.
    first_mark: Option<usize>,
    last_mark: Option<usize>,
}

impl MarkedWord {
    /// Finds the word around a range.
    fn around(text: &str, range: &Range<usize>) -> Self {
        let before = text[..range.start].rsplit(char::is_whitespace).next().unwrap_or_default();
        let after = text[range.end..].split(char::is_whitespace).next().unwrap_or_default();
        let (start, end) = (range.start - before.len(), range.end + after.len());
        let word = &text[start..end];
        let position = |found: Option<usize>| found.map(|offset| start + offset);
        Self { end, first_mark: position(word.find('<')), last_mark: position(word.rfind('<')) }
    }
}

/// Returns the revealed text as lines of this width.
pub fn wrap_revealed(text: &str, style: Style, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    wrap_pieces(&revealed_pieces(text, style, theme.mark), &Shape::with_width(width)).lines
}

/// Returns the revealed text with its links as lines of this shape. The lines are the same as those of [`wrap_revealed`].
pub fn wrap_revealed_links(text: &str, style: Style, shape: &Shape, theme: &Theme, check: CheckTarget<'_>) -> Page {
    wrap_pieces(&revealed_links(text, style, theme, check), shape)
}

/// Wraps a text to this width after an indentation. A line that begins with [`OUTSIDE_BAR`] has the bar in each of its rows.
/// `style` is that of the text, `bar_style` that of the bar, and `link_style` that of links.
pub fn wrap_barred(
    text: &str,
    [style, bar_style, link_style]: [Style; 3],
    indentation: &str,
    width: usize,
    check: CheckTarget<'_>,
) -> Page {
    let mut page = Page::default();
    for line in clean::clean_text(text).split('\n') {
        let (bar, line) = line.strip_prefix(OUTSIDE_BAR).map_or(("", line), |line| (OUTSIDE_BAR, line));
        let shape = Shape::with_prefix(width, Piece::new(format!("{indentation}{bar}"), bar_style));
        page.append_page(wrap_pieces(&split_links(line, style, link_style, check), &shape));
    }
    page
}

/// Returns the revealed text as pieces to wrap, with marks in the style `mark`.
pub fn revealed_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_text(text), style, mark)
}

/// Returns the revealed text for one line: line breaks become marks too.
pub fn revealed_line_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_line_parts(text), style, mark)
}

fn style_parts(parts: Vec<RevealedPart>, style: Style, mark: Style) -> Vec<Piece> {
    let to_piece = |part| match part {
        RevealedPart::Text(text) => Piece::new(text, style),
        RevealedPart::Mark(text) => Piece::new(text, style.patch(mark)),
    };
    parts.into_iter().map(to_piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::link::Existence;
    use crate::tui::theme::Themes;
    use proptest::prelude::*;

    fn dark_theme() -> Theme {
        Themes::bundled().choose_theme("dark", None)
    }

    /// Returns the text of the links of a text to approve, in which everything that looks like a link is one.
    fn linked_texts(text: &str) -> Vec<String> {
        let pieces = revealed_links(text, Style::new(), &dark_theme(), &|_| Existence::Exists);
        pieces.into_iter().filter(|piece| piece.link.is_some()).map(|piece| piece.text).collect()
    }

    #[test]
    fn a_word_with_a_mark_or_a_divided_glyph_is_no_link() {
        for (text, expected) in [
            ("cat src/a.rs | grep x", &["src/a.rs"][..]),
            ("cat src/a.rs\u{202e}b", &[]),
            ("cat src/\u{200b}a.rs", &[]),
            ("curl https://a.example\u{200b}.evil.example/", &[]),
            ("curl https://a.example\u{301}/", &[]),
            ("curl https://a.example/x", &["https://a.example/x"]),
            ("cat a/b.rs\u{202e} c/d.rs", &["c/d.rs"]),
        ] {
            assert_eq!(linked_texts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_links_of_a_long_text_without_white_space_are_found_in_one_pass() {
        let theme = dark_theme();
        let text = "https://a.example/x\u{201c}".repeat(1_000_000 / 22);
        let count = |pieces: Vec<Piece>| pieces.iter().filter(|piece| piece.link.is_some()).count();
        let links = count(revealed_links(&text, theme.text, &theme, &|_| Existence::Exists));
        assert!(links > 40_000, "{links}");
        // A mark anywhere in the word leaves no link.
        let marked = format!("{text}\u{202e}");
        assert_eq!(count(revealed_links(&marked, theme.text, &theme, &|_| Existence::Exists)), 0);
        for unit in ["https://", "https://a/)", ")", "a/(", "workspace://"] {
            let text = format!("https://a.example/{}", unit.repeat(1_000_000 / unit.len()));
            revealed_links(&text, theme.text, &theme, &|_| Existence::Exists);
        }
    }

    proptest! {
        #[test]
        fn links_never_change_the_text_that_is_shown(
            text in "([a-z/.: ]|https://|a/b\\.rs|\\PC|[\u{0}-\u{1f}]|\u{202e}|\u{200d}|\u{301}|\u{93e}|漢|👩|\n){0,40}",
            width in 1..40_usize,
        ) {
            let theme = dark_theme();
            let rows = |pieces: &[Piece]| {
                let lines = wrap_pieces(pieces, &Shape::with_width(width)).lines;
                lines.into_iter().map(|line| line.to_string()).collect::<Vec<_>>()
            };
            let plain = revealed_pieces(&text, Style::new(), theme.mark);
            for existence in [Existence::Exists, Existence::Missing] {
                let linked = revealed_links(&text, Style::new(), &theme, &|_| existence);
                prop_assert_eq!(rows(&linked), rows(&plain));
                // No piece begins inside a glyph, which would be drawn differently.
                let joined: String = linked.iter().map(|piece| piece.text.as_str()).collect();
                let mut end = 0;
                for pair in linked.windows(2) {
                    end += pair[0].text.len();
                    let is_link_end = pair.iter().any(|piece| piece.link.is_some() || piece.style == MISSING_LINK);
                    prop_assert!(!is_link_end || !divides_glyph(&joined, end), "{joined:?} at {end}");
                }
            }
        }
    }
}
