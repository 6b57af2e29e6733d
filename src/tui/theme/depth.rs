//! Colour support of the terminal, and adapting a theme to it.

use super::{ROLES, Theme, Themes};
use ratatui::style::Color;

/// Colour support of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// 24-bit colour.
    True,
    /// The palette of 256 colours.
    Palette,
    /// The terminal's own 16 colours.
    Sixteen,
    /// No colours: `NO_COLOR` is set, or the terminal is dumb.
    None,
}

impl Depth {
    /// Reads the colour support from the environment, given as a function from name to value.
    pub fn of(variable: &dyn Fn(&str) -> Option<String>) -> Depth {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let colours = set("COLORTERM").unwrap_or_default();
        match () {
            () if set("NO_COLOR").is_some() || term == "dumb" => Depth::None,
            () if colours == "truecolor" || colours == "24bit" || term.contains("direct") => Depth::True,
            () if term.contains("256color") => Depth::Palette,
            () => Depth::Sixteen,
        }
    }
}

/// Adapts a theme to the available colours. It keeps its name.
pub fn for_depth(theme: Theme, depth: Depth) -> Theme {
    let Theme { name, light, .. } = theme.clone();
    let theme = match depth {
        Depth::True => theme,
        Depth::Palette => recoloured(theme, &nearest),
        Depth::Sixteen if in_sixteen(&theme) => theme,
        Depth::Sixteen => Theme { name, light, ..Themes::bundled().choose("terminal", None) },
        Depth::None => Theme { name, light, ..Theme::plain() },
    };
    Theme { depth, ..theme }
}

fn recoloured(mut theme: Theme, change: &dyn Fn(Color) -> Color) -> Theme {
    for role in ROLES {
        if let Some(style) = theme.role_mut(role) {
            style.fg = style.fg.map(change);
            style.bg = style.bg.map(change);
        }
    }
    theme
}

fn in_sixteen(theme: &Theme) -> bool {
    let colours = ROLES.iter().filter_map(|role| theme.role(role)).flat_map(|style| [style.fg, style.bg]);
    !colours.flatten().any(|colour| matches!(colour, Color::Rgb(..) | Color::Indexed(16..)))
}

/// Steps of the colour cube in the palette of 256.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the nearest colour of the palette's cube and greys. The first sixteen are configured by the user and
/// unknown.
pub(super) fn nearest(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let distance = |other: [u8; 3]| -> i32 {
        let weighted = [(red, other[0], 2), (green, other[1], 4), (blue, other[2], 3)];
        weighted.into_iter().map(|(a, b, weight)| weight * (i32::from(a) - i32::from(b)).pow(2)).sum()
    };
    let best = (16..=255u8).min_by_key(|index| distance(shown(*index)));
    best.map_or(colour, Color::Indexed)
}

/// Returns the RGB value of a colour in the palette's cube or greys.
pub(super) fn shown(index: u8) -> [u8; 3] {
    match index.saturating_sub(16) {
        cube @ 0..216 => [cube / 36, cube / 6 % 6, cube % 6].map(|step| STEPS[usize::from(step)]),
        grey => [8 + 10 * (grey - 216); 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Depth) {
        let found =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(Depth::of(&found), expected, "{variables:?}");
    }

    #[test]
    fn reads_the_depth_from_the_environment() {
        check(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::True);
        check(&[("TERM", "xterm-256color")], Depth::Palette);
        check(&[("TERM", "xterm-direct")], Depth::True);
        check(&[("TERM", "linux")], Depth::Sixteen);
        check(&[], Depth::Sixteen);
        check(&[("TERM", "dumb")], Depth::None);
        check(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Depth::None);
        check(&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Depth::Palette);
    }

    #[test]
    fn maps_colours_to_the_nearest_of_the_palette() {
        assert_eq!(nearest(Color::Rgb(0, 0, 0)), Color::Indexed(16));
        assert_eq!(nearest(Color::Rgb(255, 255, 255)), Color::Indexed(231));
        assert_eq!(nearest(Color::Rgb(94, 136, 176)), Color::Indexed(67));
        assert_eq!(nearest(Color::Rgb(29, 29, 29)), Color::Indexed(234));
        assert_eq!(nearest(Color::Red), Color::Red);
    }

    #[test]
    fn themes_only_use_colours_of_their_depth() {
        let dark = Themes::bundled().choose("dark", None);
        let palette = for_depth(dark.clone(), Depth::Palette);
        let colours = |theme: &Theme| -> Vec<Color> {
            let styles = ROLES.iter().filter_map(|role| theme.role(role));
            styles.flat_map(|style| [style.fg, style.bg]).flatten().collect()
        };
        assert!(!colours(&palette).is_empty());
        assert!(colours(&palette).iter().all(|colour| matches!(colour, Color::Indexed(_) | Color::Reset)));
        let sixteen = for_depth(dark.clone(), Depth::Sixteen);
        assert!(in_sixteen(&sixteen) && !colours(&sixteen).is_empty() && sixteen.name == "dark");
        assert_eq!(colours(&for_depth(dark.clone(), Depth::None)), []);
        assert_eq!(for_depth(dark.clone(), Depth::True), dark);
    }
}
