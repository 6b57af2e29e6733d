//! Styles and texts of headings.

use crate::tui::theme::Theme;
use pulldown_cmark::{BlockQuoteKind, HeadingLevel};
use ratatui::style::{Modifier, Style};

/// Returns the style of a heading. Many terminals draw no italics, so the third level also has its own colour and is not
/// bold.
pub(super) fn heading_style(level: HeadingLevel, theme: &Theme) -> Style {
    match level {
        HeadingLevel::H1 => theme.heading.add_modifier(Modifier::UNDERLINED),
        HeadingLevel::H2 => theme.heading.remove_modifier(Modifier::UNDERLINED),
        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => {
            let style = Style { fg: theme.accent.fg, ..theme.heading };
            style.remove_modifier(Modifier::BOLD | Modifier::UNDERLINED).add_modifier(Modifier::ITALIC)
        }
    }
}

/// Returns the heading of an alert quote.
pub(super) fn alert_heading(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    }
}
