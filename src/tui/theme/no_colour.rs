//! The theme without colours, for `NO_COLOR`.

use super::{ColourDepth, ROLES, Theme};
use ratatui::style::{Modifier, Style};

impl Theme {
    /// Returns a theme that uses only bold, italic, underline, dim and reverse.
    pub fn without_colours() -> Theme {
        let none = Style::new();
        let bold = none.add_modifier(Modifier::BOLD);
        let dim = none.add_modifier(Modifier::DIM);
        let italic = none.add_modifier(Modifier::ITALIC);
        let underlined = none.add_modifier(Modifier::UNDERLINED);
        let reversed = none.add_modifier(Modifier::REVERSED);
        Theme {
            name: "plain".into(),
            is_light: false,
            depth: ColourDepth::None,
            ground: none,
            spare_ground: none,
            text: none,
            dim,
            accent: bold,
            danger: bold.add_modifier(Modifier::REVERSED),
            warning: bold,
            success: none,
            person: bold,
            border: none,
            border_dim: dim,
            prompt: bold,
            selected: reversed,
            found: reversed,
            link: underlined,
            heading: bold,
            strong: bold,
            emphasis: italic,
            quote: italic,
            code: bold,
            code_block: none,
            added: none,
            removed: dim,
            added_part: underlined,
            removed_part: underlined,
            mark: reversed,
            syntax_keyword: bold,
            syntax_string: none,
            syntax_number: none,
            syntax_comment: dim,
            syntax_function: none,
            syntax_type: none,
            syntax_punctuation: none,
        }
    }

    /// Returns a theme without any style, as the base of theme files.
    pub(super) fn without_styles() -> Theme {
        let mut theme = Theme::without_colours();
        for role in ROLES {
            if let Some(style) = theme.role_mut(role) {
                *style = Style::new();
            }
        }
        theme
    }
}
