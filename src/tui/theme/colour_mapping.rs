//! Adapts a theme to the colours of the terminal.

use super::catalog::Themes;
use super::depth::{ColourDepth, nearest_palette_colour};
use super::{ROLES, Theme};
use ratatui::style::Color;

/// Adapts a theme to the available colours. It keeps its name.
pub fn adapt_to_depth(theme: Theme, depth: ColourDepth) -> Theme {
    let Theme { name, is_light, .. } = theme.clone();
    let theme = match depth {
        ColourDepth::True => theme,
        ColourDepth::Palette => map_colours(theme, &nearest_palette_colour),
        ColourDepth::Sixteen if uses_only_sixteen(&theme) => theme,
        ColourDepth::Sixteen => Theme { name, is_light, ..Themes::bundled().choose_theme("terminal", None) },
        ColourDepth::None => Theme { name, is_light, ..Theme::without_colours() },
    };
    Theme { depth, ..theme }
}

fn map_colours(mut theme: Theme, map_colour: &dyn Fn(Color) -> Color) -> Theme {
    for role in ROLES {
        if let Some(style) = theme.role_mut(role) {
            style.fg = style.fg.map(map_colour);
            style.bg = style.bg.map(map_colour);
        }
    }
    theme
}

fn uses_only_sixteen(theme: &Theme) -> bool {
    let colours = ROLES.iter().filter_map(|role| theme.role(role)).flat_map(|style| [style.fg, style.bg]);
    !colours.flatten().any(|colour| matches!(colour, Color::Rgb(..) | Color::Indexed(16..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn themes_only_use_colours_of_their_depth() {
        let dark = Themes::bundled().choose_theme("dark", None);
        let palette = adapt_to_depth(dark.clone(), ColourDepth::Palette);
        let colours = |theme: &Theme| -> Vec<Color> {
            let styles = ROLES.iter().filter_map(|role| theme.role(role));
            styles.flat_map(|style| [style.fg, style.bg]).flatten().collect()
        };
        assert!(!colours(&palette).is_empty());
        assert!(colours(&palette).iter().all(|colour| matches!(colour, Color::Indexed(_) | Color::Reset)));
        let sixteen = adapt_to_depth(dark.clone(), ColourDepth::Sixteen);
        assert!(uses_only_sixteen(&sixteen) && !colours(&sixteen).is_empty() && sixteen.name == "dark");
        assert_eq!(colours(&adapt_to_depth(dark.clone(), ColourDepth::None)), []);
        assert_eq!(adapt_to_depth(dark.clone(), ColourDepth::True), dark);
    }
}
