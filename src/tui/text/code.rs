//! Syntax highlighting of code.

mod languages;
mod syntax_role;
mod tokenizer;
mod word_roles;

pub use syntax_role::{Highlighting, SyntaxRole};
pub use tokenizer::highlight;

use super::wrap::{CONTINUATION_MARK, Shape, wrap_code};
use super::{Page, Piece, pad_line};
use crate::tui::theme::Theme;
use ratatui::style::Style;

/// Maximum number of lines that are highlighted.
pub const MAX_LINES: usize = 2000;
/// Code with a line longer than this, in bytes, is not highlighted.
pub const MAX_LINE_LENGTH: usize = 2000;

/// Returns whether an info string is only the name of a known language or of plain text, so that it need not be shown.
pub fn is_known_language(name: &str) -> bool {
    let plain_names = ["text", "txt", "plain", "plaintext", "console", "output", "log"];
    let is_word = !name.contains([' ', ',', '{', '/', '\\', '.']);
    is_word && (plain_names.contains(&name) || languages::find_language(name).is_some())
}

/// Lays out a block of clean code, highlighted if the language is known and the code is not too long.
pub fn lay_out_highlighted(language: &str, code: &str, width: usize, theme: &Theme) -> Page {
    let fits = code.lines().count() <= MAX_LINES && code.lines().all(|line| line.len() <= MAX_LINE_LENGTH);
    let highlighting = (fits && !language.trim().is_empty()).then(|| highlight(language.trim(), code));
    lay_out_block(code, highlighting.as_ref(), width, theme)
}

/// Returns whether this language, or the one of the file with this name, is highlighted.
pub fn knows_language(name: &str) -> bool {
    languages::find_language(name).is_some()
}

/// Lays out a block of clean code of any length, of which the first [`MAX_LINES`] lines are highlighted.
pub fn lay_out_beginning_highlighted(language: &str, code: &str, width: usize, theme: &Theme) -> Page {
    let end = code.match_indices('\n').nth(MAX_LINES - 1).map_or(code.len(), |(position, _)| position + 1);
    let (beginning, rest) = code.split_at(end);
    let mut page = lay_out_highlighted(language, beginning, width, theme);
    if !rest.is_empty() {
        page.append_page(lay_out_block(rest, None, width, theme));
    }
    page
}

/// Lays out a block of clean code on its background, `width` columns wide, with the given highlighting.
pub fn lay_out_block(code: &str, highlighting: Option<&Highlighting>, width: usize, theme: &Theme) -> Page {
    let mut page = Page::default();
    let shape = Shape { verbatim: true, ..Shape::with_prefix(width, Piece::new(" ", theme.code_block)) };
    let continuation_mark = Piece::new(CONTINUATION_MARK, theme.code_block.patch(theme.dim));
    let code = code.strip_suffix('\n').unwrap_or(code);
    for (index, line) in code.split('\n').enumerate() {
        let roles = highlighting.and_then(|found| found.lines.get(index)).map_or(&[][..], Vec::as_slice);
        page.append_page(wrap_code(&code_pieces(line, roles, theme.code_block, theme), &shape, &continuation_mark));
    }
    page.lines.iter_mut().for_each(|line| pad_line(line, width, theme.code_block));
    page
}

/// Splits a line of code into styled pieces on the background of `style`. `roles` gives the length in bytes and the
/// role of each piece, from the start of the line; the rest of the line is one piece without a role.
pub fn code_pieces(line: &str, roles: &[(usize, SyntaxRole)], style: Style, theme: &Theme) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (length, role) in roles {
        let Some(text) = line.get(start..start + length) else { break };
        start += length;
        pieces.push(Piece::new(text, style.patch(role.role_style(theme))));
    }
    if start < line.len() || pieces.is_empty() {
        pieces.push(Piece::new(&line[start..], style));
    }
    pieces
}

#[cfg(test)]
mod tests;
