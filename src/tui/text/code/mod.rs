//! Syntax highlighting of code.

mod languages;
mod read;

pub use read::colours;

use super::wrap::{ON, Shape, going_on};
use super::{Page, Piece, clean, width};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Span;

/// Maximum number of lines that are highlighted.
pub const MOST_LINES: usize = 2000;
/// Code with a line longer than this, in bytes, is not highlighted.
pub const LONGEST_LINE: usize = 2000;

/// Syntactic role of a part of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Anything else.
    Plain,
    /// A keyword.
    Keyword,
    /// A string literal.
    String,
    /// A number or constant.
    Number,
    Comment,
    Function,
    Type,
    /// An operator or bracket.
    Punctuation,
    /// An added line of a diff.
    Added,
    /// A removed line of a diff.
    Removed,
}

impl Role {
    /// Returns the style of the role, without a background.
    pub fn style(self, theme: &Theme) -> Style {
        let style = match self {
            Role::Plain => Style::new(),
            Role::Keyword => theme.syntax_keyword,
            Role::String => theme.syntax_string,
            Role::Number => theme.syntax_number,
            Role::Comment => theme.syntax_comment,
            Role::Function => theme.syntax_function,
            Role::Type => theme.syntax_type,
            Role::Punctuation => theme.syntax_punctuation,
            Role::Added => theme.added,
            Role::Removed => theme.removed,
        };
        Style { bg: None, ..style }
    }
}

/// Highlighting of code: for each line, lengths in bytes with their roles. Independent of the theme.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Colours {
    /// One entry per line of the code, in order. Bytes not covered are plain.
    pub lines: Vec<Vec<(usize, Role)>>,
}

/// Returns whether this is exactly the name of a known language, which the highlighting already shows.
pub fn is_known(name: &str) -> bool {
    let plain = ["text", "txt", "plain", "plaintext", "console", "output", "log"];
    let is_word = !name.contains([' ', ',', '{', '/', '\\', '.']);
    is_word && (plain.contains(&name) || languages::language(name).is_some())
}

/// Lays out a code block with highlighting, if the language is known and the code is not too long.
pub fn coloured(language: &str, code: &str, width: usize, theme: &Theme) -> Page {
    let fits = code.lines().count() <= MOST_LINES && code.lines().all(|line| line.len() <= LONGEST_LINE);
    let colours = (fits && !language.trim().is_empty()).then(|| colours(language.trim(), code));
    block(code, colours.as_ref(), width, theme)
}

/// Lays out a code block on its background, `width` columns wide, without highlighting. Cleans the code.
pub fn plain(code: &str, width: usize, theme: &Theme) -> Page {
    block(&clean::clean(code), None, width, theme)
}

/// Lays out a block of clean code on its background, `width` columns wide, with the given highlighting.
pub fn block(code: &str, colours: Option<&Colours>, width: usize, theme: &Theme) -> Page {
    let mut page = Page::default();
    let margin = vec![Piece::new(" ", theme.code_block)];
    let shape = Shape { width, first: margin.clone(), rest: margin, verbatim: true };
    let on = Piece::new(ON, theme.code_block.patch(theme.dim));
    let code = code.strip_suffix('\n').unwrap_or(code);
    for (at, line) in code.split('\n').enumerate() {
        let roles = colours.and_then(|colours| colours.lines.get(at)).map_or(&[][..], Vec::as_slice);
        page.append(going_on(&pieces(line, roles, theme.code_block, theme), &shape, &on));
    }
    for line in &mut page.lines {
        let cells: usize = line.spans.iter().map(|span| width::width(&span.content)).sum();
        line.spans.push(Span::styled(" ".repeat(width.saturating_sub(cells)), theme.code_block));
    }
    page
}

/// Returns a line of code as pieces on the background of `style`.
pub fn pieces(line: &str, roles: &[(usize, Role)], style: Style, theme: &Theme) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (length, role) in roles {
        let Some(text) = line.get(from..from + length) else { break };
        from += length;
        pieces.push(Piece::new(text, style.patch(role.style(theme))));
    }
    if from < line.len() || pieces.is_empty() {
        pieces.push(Piece::new(&line[from..], style));
    }
    pieces
}

#[cfg(test)]
mod tests;
