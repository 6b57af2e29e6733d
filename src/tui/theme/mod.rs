//! The colours of the screen, one field per role. The view takes roles, never colours.

pub mod depth;
pub mod ink;
pub mod load;
mod plain;
mod roles;
mod source;
pub mod told;

pub use depth::{Depth, for_depth};
pub use load::{Themes, Warning};
pub use roles::ROLES;

use ratatui::style::{Modifier, Style};

/// One style for every role. Nothing outside this folder names a colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// As it is written in the settings.
    pub name: String,
    /// Whether it is meant for a light terminal.
    pub light: bool,
    /// The colours there are.
    pub depth: Depth,
    /// The ground everything is drawn on; default colours leave the terminal's own.
    pub ground: Style,
    /// The ground that stands in where `ground` leaves the terminal's own and that one does not suit.
    pub spare_ground: Style,
    /// What is read.
    pub text: Style,
    /// What matters less: hints, times, counts.
    pub dim: Style,
    /// What stands out without alarm: the cursor of a list, the spinner, keys in hints.
    pub accent: Style,
    /// What went wrong, and DRY RUN.
    pub danger: Style,
    /// What wants care.
    pub warning: Style,
    /// What went well.
    pub success: Style,
    /// The bar and words of the person.
    pub person: Style,
    /// Frames of cards and overlays that listen.
    pub border: Style,
    /// Frames that do not listen yet, and rules.
    pub border_dim: Style,
    /// The heading of a card.
    pub prompt: Style,
    /// The picked row of a list.
    pub selected: Style,
    /// What a search found.
    pub found: Style,
    /// Links.
    pub link: Style,
    /// Headings of markdown.
    pub heading: Style,
    /// Strong words.
    pub strong: Style,
    /// Stressed words.
    pub emphasis: Style,
    /// Quoted text and its bar.
    pub quote: Style,
    /// Code within a line.
    pub code: Style,
    /// The ground of code blocks.
    pub code_block: Style,
    /// Lines that come.
    pub added: Style,
    /// Lines that go.
    pub removed: Style,
    /// The changed part of a line that comes.
    pub added_part: Style,
    /// The changed part of a line that goes.
    pub removed_part: Style,
    /// A mark for a character that would not show.
    pub mark: Style,
    /// Words of the language.
    pub syntax_keyword: Style,
    /// Strings.
    pub syntax_string: Style,
    /// Numbers and constants.
    pub syntax_number: Style,
    /// Comments.
    pub syntax_comment: Style,
    /// Functions.
    pub syntax_function: Style,
    /// Types.
    pub syntax_type: Style,
    /// Operators and brackets.
    pub syntax_punctuation: Style,
}

impl Theme {
    /// The thumb of a bar: a ground in the colour of the frames, of those that listen while it is held.
    pub fn bar(&self, held: bool) -> Style {
        let frame = if held { self.border } else { self.border_dim };
        match frame.fg {
            Some(colour) => Style::new().bg(colour),
            None => Style::new().add_modifier(Modifier::REVERSED),
        }
    }
}

#[cfg(test)]
mod tests;
