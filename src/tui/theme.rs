//! Themes: styles by role. The view uses roles and never names a colour.

pub mod catalog;
mod colour_mapping;
pub mod depth;
mod no_colour;
mod output_colours;
pub mod picture_colours;
pub mod recorded_style;
mod role_colours;
pub mod terminal_background;
mod theme_source;

pub use catalog::Themes;
pub use colour_mapping::adapt_to_depth;
pub use depth::ColourDepth;
pub use theme_source::ThemeWarning;

use ratatui::style::{Modifier, Style};

macro_rules! theme {
    ($($(#[$doc:meta])* $role:ident)*) => {
        /// A theme: one style for each role. No code outside this folder names a colour.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Theme {
            /// Name as written in the settings.
            pub name: String,
            /// True if it is made for a light terminal.
            pub is_light: bool,
            /// Colour support it is adapted to.
            pub depth: ColourDepth,
            $($(#[$doc])* pub $role: Style,)*
        }

        /// Names of all roles as used in theme files, in the order of the documentation.
        pub const ROLES: &[&str] = &[$(stringify!($role)),*];

        impl Theme {
            /// Returns the style of a role by name.
            pub fn role(&self, name: &str) -> Option<Style> {
                match name {
                    $(stringify!($role) => Some(self.$role),)*
                    _ => None,
                }
            }

            /// Returns the style of a role by name, for assignment.
            fn role_mut(&mut self, name: &str) -> Option<&mut Style> {
                match name {
                    $(stringify!($role) => Some(&mut self.$role),)*
                    _ => None,
                }
            }
        }
    };
}

theme! {
    /// Background of the screen; the default colours keep the terminal's own.
    background
    /// Background used if `background` keeps the terminal's own, unless the terminal reports that its own is as light or
    /// dark as the theme needs.
    fallback_background
    /// Normal text.
    text
    /// Less important text: hints, times, counts.
    dim
    /// Highlights: cursor of a list, spinner, keys in hints.
    accent
    /// Errors and DRY RUN.
    danger
    /// Warnings.
    warning
    /// Success.
    success
    /// Bar and text of user messages.
    user
    /// Borders of prompts and popups that accept keys.
    border
    /// Borders of prompts and popups that do not accept keys yet, and separator lines.
    border_dim
    /// Title of a prompt.
    prompt
    /// Selected row of a list.
    selected
    /// Search matches.
    search_match
    link
    /// Markdown headings.
    heading
    /// Strong text in Markdown.
    strong
    /// Emphasized text in Markdown.
    emphasis
    /// Quotes and their bar.
    quote
    /// Inline code.
    code
    /// Background of code blocks.
    code_block
    /// Added lines.
    added
    /// Removed lines.
    removed
    /// Changed part of an added line.
    added_part
    /// Changed part of a removed line.
    removed_part
    /// Mark in place of a hidden character.
    mark
    /// Keywords.
    syntax_keyword
    /// String literals.
    syntax_string
    syntax_number
    syntax_comment
    syntax_function
    syntax_type
    /// Operators and brackets.
    syntax_punctuation
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
