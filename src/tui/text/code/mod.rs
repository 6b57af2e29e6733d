//! Code in the colours of its language.

mod languages;
mod read;

pub use read::colours;

use super::wrap::{ON, Shape, going_on};
use super::{Page, Piece, clean, width};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Span;

/// Code of more lines is shown plain.
pub const MOST_LINES: usize = 2000;
/// Code with a line longer than this is shown plain, in bytes.
pub const LONGEST_LINE: usize = 2000;

/// What a stretch of code is to its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing special.
    Plain,
    /// A word of the language.
    Keyword,
    /// A string.
    String,
    /// A number or constant.
    Number,
    /// A comment.
    Comment,
    /// A function.
    Function,
    /// A type.
    Type,
    /// An operator or bracket.
    Punctuation,
    /// A line that comes, in a diff.
    Added,
    /// A line that goes, in a diff.
    Removed,
}

impl Role {
    /// Its style, without a ground of its own.
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

/// The colours of some code: for each line stretches of so many bytes. They hold for every theme.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Colours {
    /// One per line of the code, in order. What is not covered is plain.
    pub lines: Vec<Vec<(usize, Role)>>,
}

/// Whether this is the name of a language and nothing else: it says nothing that the code does not show.
pub fn is_known(name: &str) -> bool {
    let plain = ["text", "txt", "plain", "plaintext", "console", "output", "log"];
    let is_word = !name.contains([' ', ',', '{', '/', '\\', '.']);
    is_word && (plain.contains(&name) || languages::language(name).is_some())
}

/// A block of code in the colours of its language, where that is known and there is not too much of it.
pub fn coloured(language: &str, code: &str, width: usize, theme: &Theme) -> Page {
    let fits = code.lines().count() <= MOST_LINES && code.lines().all(|line| line.len() <= LONGEST_LINE);
    let colours = (fits && !language.trim().is_empty()).then(|| colours(language.trim(), code));
    block(code, colours.as_ref(), width, theme)
}

/// A block of code on its ground, as wide as `width`, without colours. Cleans the code.
pub fn plain(code: &str, width: usize, theme: &Theme) -> Page {
    block(&clean::clean(code), None, width, theme)
}

/// A block of clean code on its ground, as wide as `width`, in the colours that are there.
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

/// A line of code as pieces, every one on the ground of `style`.
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
