//! The theme without colours, for `NO_COLOR`.

use super::{ColourDepth, Theme};
use ratatui::style::{Modifier, Style};

impl Theme {
    /// Returns a theme that uses only bold, italic, underline, dim and reverse.
    pub fn without_colours() -> Theme {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = Style::new().add_modifier(Modifier::DIM);
        let italic = Style::new().add_modifier(Modifier::ITALIC);
        let underlined = Style::new().add_modifier(Modifier::UNDERLINED);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        Theme {
            name: "plain".into(),
            depth: ColourDepth::None,
            dim,
            accent: bold,
            danger: bold.add_modifier(Modifier::REVERSED),
            warning: bold,
            user: bold,
            border_dim: dim,
            prompt: bold,
            selected: reversed,
            search_match: reversed,
            link: underlined,
            heading: bold,
            strong: bold,
            emphasis: italic,
            quote: italic,
            code: bold,
            removed: dim,
            added_part: underlined,
            removed_part: underlined,
            mark: reversed,
            syntax_keyword: bold,
            syntax_comment: dim,
            ..Theme::default()
        }
    }
}
