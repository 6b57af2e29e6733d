//! Syntactic roles, and the roles of a highlighted text.

use crate::tui::theme::Theme;
use ratatui::style::Style;

/// Syntactic role of a part of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxRole {
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

impl SyntaxRole {
    /// Returns the style of the role, without a background.
    pub fn role_style(self, theme: &Theme) -> Style {
        let style = match self {
            SyntaxRole::Plain => Style::new(),
            SyntaxRole::Keyword => theme.syntax_keyword,
            SyntaxRole::String => theme.syntax_string,
            SyntaxRole::Number => theme.syntax_number,
            SyntaxRole::Comment => theme.syntax_comment,
            SyntaxRole::Function => theme.syntax_function,
            SyntaxRole::Type => theme.syntax_type,
            SyntaxRole::Punctuation => theme.syntax_punctuation,
            SyntaxRole::Added => theme.added,
            SyntaxRole::Removed => theme.removed,
        };
        Style { bg: None, ..style }
    }
}

/// Highlighting of code: for each line, lengths in bytes with their roles. Independent of the theme.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Highlighting {
    /// One entry per line of the code, in order. Bytes not covered are plain.
    pub lines: Vec<Vec<(usize, SyntaxRole)>>,
}
