//! Themes: styles by role. The view uses roles and never names a colour.

pub mod catalog;
mod colour_mapping;
pub mod depth;
mod no_colour;
pub mod output_colours;
mod roles;
pub mod terminal_background;
mod theme_source;

pub use catalog::Themes;
pub use colour_mapping::adapt_to_depth;
pub use depth::ColourDepth;
pub use roles::ROLES;
pub use theme_source::ThemeWarning;

use ratatui::style::{Modifier, Style};

/// A theme: one style for each role. No code outside this folder names a colour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Theme {
    /// Name as written in the settings.
    pub name: String,
    /// True if it is made for a light terminal.
    pub is_light: bool,
    /// Colour support it is adapted to.
    pub depth: ColourDepth,
    /// Background of the screen; the default colours keep the terminal's own.
    pub background: Style,
    /// Background used if `background` keeps the terminal's own, unless the terminal reports that its own is as light or
    /// dark as the theme needs.
    pub fallback_background: Style,
    /// Normal text.
    pub text: Style,
    /// Less important text: hints, times, counts.
    pub dim: Style,
    /// Highlights: cursor of a list, spinner, keys in hints.
    pub accent: Style,
    /// Errors and DRY RUN.
    pub danger: Style,
    /// Warnings.
    pub warning: Style,
    /// Success.
    pub success: Style,
    /// Bar and text of user messages.
    pub user: Style,
    /// Borders of prompts and popups that accept keys.
    pub border: Style,
    /// Borders that do not accept keys yet, and lines.
    pub border_dim: Style,
    /// Title of a prompt.
    pub prompt: Style,
    /// Selected row of a list.
    pub selected: Style,
    /// Search matches.
    pub search_match: Style,
    pub link: Style,
    /// Markdown headings.
    pub heading: Style,
    /// Strong text in Markdown.
    pub strong: Style,
    /// Emphasized text in Markdown.
    pub emphasis: Style,
    /// Quotes and their bar.
    pub quote: Style,
    /// Inline code.
    pub code: Style,
    /// Background of code blocks.
    pub code_block: Style,
    /// Added lines.
    pub added: Style,
    /// Removed lines.
    pub removed: Style,
    /// Changed part of an added line.
    pub added_part: Style,
    /// Changed part of a removed line.
    pub removed_part: Style,
    /// Mark in place of a hidden character.
    pub mark: Style,
    /// Keywords.
    pub syntax_keyword: Style,
    /// String literals.
    pub syntax_string: Style,
    pub syntax_number: Style,
    pub syntax_comment: Style,
    pub syntax_function: Style,
    pub syntax_type: Style,
    /// Operators and brackets.
    pub syntax_punctuation: Style,
}

impl Theme {
    /// Returns the style of a scroll bar's thumb: a background in the colour of the borders, highlighted while dragged.
    pub fn scroll_bar_style(&self, is_dragged: bool) -> Style {
        let border_style = if is_dragged { self.border } else { self.border_dim };
        match border_style.fg {
            Some(colour) => Style::new().bg(colour),
            None => Style::new().add_modifier(Modifier::REVERSED),
        }
    }
}

#[cfg(test)]
mod tests;
