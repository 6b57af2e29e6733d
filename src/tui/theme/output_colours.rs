//! Maps the colours of command output to colours that are readable in the theme.

use super::depth::nearest_palette_colour;
use super::{ColourDepth, Theme};
use crate::text::terminal_palette::palette_rgb;
use ratatui::style::{Color, Modifier, Style};

/// Minimum contrast, the same as for every role of a bundled theme.
const MIN_CONTRAST: f64 = 4.5;
/// Number of steps in which a colour is mixed with white or black until it is readable.
const CONTRAST_STEPS: u16 = 10;
/// Backgrounds assumed for themes that do not set one.
const DARK: [u8; 3] = [0x16, 0x18, 0x1c];
const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];

impl Theme {
    /// Returns a readable style for text of a command, which requests a style with escape sequences. `base` is the style
    /// of text for which nothing is requested. If the text is not readable on the requested background, it is shown
    /// reversed, with a readable variant of that background as its text colour.
    pub fn readable_style(&self, base: Style, requested: Style) -> Style {
        let has = |modifier| requested.add_modifier.contains(modifier);
        let mut shown = Modifier::BOLD | Modifier::ITALIC | Modifier::UNDERLINED;
        shown.set(Modifier::DIM, self.depth == ColourDepth::None);
        let style = base.add_modifier(requested.add_modifier & shown);
        let (foreground, background) = match has(Modifier::REVERSED) {
            true => (requested.bg, requested.fg),
            false => (requested.fg, requested.bg),
        };
        let can_show_rgb = matches!(self.depth, ColourDepth::True | ColourDepth::Palette);
        if let (Some(foreground_rgb), Some(background_rgb)) =
            (foreground.and_then(exact_rgb), background.and_then(exact_rgb))
            && can_show_rgb
            && contrast_ratio(foreground_rgb, background_rgb) >= MIN_CONTRAST
        {
            return style.fg(self.nearest_colour(foreground_rgb)).bg(self.nearest_colour(background_rgb));
        }
        if has(Modifier::REVERSED) || background.is_some() {
            let style = style.add_modifier(Modifier::REVERSED);
            return self.readable_colour(background).map_or(style, |colour| style.fg(colour));
        }
        match self.readable_colour(foreground) {
            Some(colour) => style.fg(colour),
            None if has(Modifier::DIM) => style.patch(self.dim),
            None => style,
        }
    }

    /// Returns a colour that is readable on the theme's background; `None` to use the default text colour.
    fn readable_colour(&self, requested: Option<Color>) -> Option<Color> {
        if let Some(Color::Indexed(number @ 0..16)) = requested {
            return self.role_colour(number);
        }
        let rgb = requested.and_then(exact_rgb)?;
        // On an unknown background only the theme's own colours are known to be readable.
        let Some(background) = self.known_background().filter(|_| self.depth != ColourDepth::None) else {
            return self.role_colour(nearest_of_eight(rgb));
        };
        match self.depth {
            ColourDepth::True | ColourDepth::Palette => Some(self.make_readable(rgb, background)),
            ColourDepth::Sixteen | ColourDepth::None => self.role_colour(nearest_of_eight(rgb)),
        }
    }

    /// Returns a colour for each of the terminal's sixteen colours; `None` if the theme leaves it to the terminal. Black and white are
    /// as dark and as light in a light theme as in a dark one.
    pub fn terminal_palette(&self) -> [Option<[u8; 3]>; 16] {
        let (code, dim, text, shade) = (self.code_block.bg, self.dim.fg, self.text.fg, self.border_dim.fg);
        let (black, white, bright_white) =
            if self.is_light { (text, shade, code) } else { (code, text, self.strong.fg.or(text)) };
        std::array::from_fn(|number| {
            let colour = match number {
                0 => black,
                7 => white,
                8 => dim,
                15 => bright_white,
                number => self.role_colour(u8::try_from(number).unwrap_or_default()),
            };
            colour.and_then(exact_rgb)
        })
    }

    /// Returns the colour of the role that corresponds to one of the terminal's sixteen colours.
    fn role_colour(&self, number: u8) -> Option<Color> {
        let role = match number % 8 {
            0 => self.dim,
            1 => self.danger,
            2 => self.success,
            3 => self.warning,
            4 => self.accent,
            5 => self.syntax_keyword,
            6 => self.syntax_type,
            _ => self.text,
        };
        role.fg
    }

    fn nearest_colour(&self, [red, green, blue]: [u8; 3]) -> Color {
        let colour = Color::Rgb(red, green, blue);
        if self.depth == ColourDepth::True { colour } else { nearest_palette_colour(colour) }
    }

    /// Returns the colour, made lighter or darker until it is readable on this background.
    fn make_readable(&self, colour: [u8; 3], background: [u8; 3]) -> Color {
        // Black and white have the same contrast to a background of luminance 0.18.
        let target: u16 = if luminance(background) < 0.18 { 255 } else { 0 };
        let mix_step = |step: u16| {
            let mixed = colour.map(|part| (u16::from(part) * (CONTRAST_STEPS - step) + target * step) / CONTRAST_STEPS);
            self.nearest_colour(mixed.map(|part| u8::try_from(part).unwrap_or(u8::MAX)))
        };
        let is_readable =
            |colour: &Color| exact_rgb(*colour).is_some_and(|rgb| contrast_ratio(rgb, background) >= MIN_CONTRAST);
        (0..CONTRAST_STEPS).map(mix_step).find(is_readable).unwrap_or_else(|| mix_step(CONTRAST_STEPS))
    }

    /// Returns the RGB value of the background; `None` if only the terminal knows it.
    fn known_background(&self) -> Option<[u8; 3]> {
        match self.background.bg {
            Some(Color::Rgb(red, green, blue)) => Some([red, green, blue]),
            Some(Color::Indexed(index @ 16..)) => Some(palette_rgb(index)),
            Some(_) => None,
            None => self.fallback_background.bg.map(|_| if self.is_light { LIGHT } else { DARK }),
        }
    }
}

/// Returns the nearest of the terminal's first eight colours.
fn nearest_of_eight(colour: [u8; 3]) -> u8 {
    let (max, min) = (colour.into_iter().max().unwrap_or(0), colour.into_iter().min().unwrap_or(0));
    // A colour close to grey becomes black or white.
    if max - min < 40 {
        return if max < 128 { 0 } else { 7 };
    }
    let middle = min + (max - min) / 2;
    let channel_bit = |channel: usize| u8::from(colour[channel] > middle) << channel;
    channel_bit(0) | channel_bit(1) | channel_bit(2)
}

/// Returns the relative luminance, from 0 to 1.
pub(super) fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Returns the contrast ratio as defined by WCAG: 1 for equal colours, 21 for black on white.
pub(super) fn contrast_ratio(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns the RGB value of a colour that does not depend on the terminal's settings.
pub(super) fn exact_rgb(colour: Color) -> Option<[u8; 3]> {
    match colour {
        Color::Rgb(red, green, blue) => Some([red, green, blue]),
        Color::Indexed(index @ 16..) => Some(palette_rgb(index)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Themes, adapt_to_depth};
    use super::*;

    fn load_theme(name: &str, depth: ColourDepth) -> Theme {
        adapt_to_depth(Themes::bundled().choose_theme(name, None), depth)
    }

    fn with_foreground(requested: Color) -> Style {
        Style::new().fg(requested)
    }

    #[test]
    fn maps_the_sixteen_colours_to_those_of_the_theme() {
        for name in ["dark", "light", "colour-blind", "high-contrast", "terminal"] {
            let theme = load_theme(name, ColourDepth::True);
            let foreground = |number| theme.readable_style(theme.text, with_foreground(Color::Indexed(number))).fg;
            assert_eq!(
                (foreground(1), foreground(9), foreground(2)),
                (theme.danger.fg, theme.danger.fg, theme.success.fg)
            );
        }
    }

    #[test]
    fn every_colour_is_readable_in_every_theme() {
        let levels = [0u8, 60, 128, 200, 255];
        let rgb_values = levels.into_iter().flat_map(|red| {
            levels.into_iter().flat_map(move |green| levels.into_iter().map(move |blue| Color::Rgb(red, green, blue)))
        });
        let colours: Vec<Color> = rgb_values.chain((16..=255).map(Color::Indexed)).collect();
        for (name, depth) in
            [("dark", ColourDepth::True), ("light", ColourDepth::True), ("light", ColourDepth::Palette)]
        {
            let theme = load_theme(name, depth);
            let background = theme.known_background().expect("the background is known");
            for requested in &colours {
                let style = theme.readable_style(theme.text, with_foreground(*requested));
                let colour = match style.fg {
                    Some(Color::Rgb(red, green, blue)) => [red, green, blue],
                    Some(Color::Indexed(index)) => palette_rgb(index),
                    other => panic!("{other:?}"),
                };
                let contrast = contrast_ratio(colour, background);
                assert!(contrast >= MIN_CONTRAST, "{requested:?} is {contrast:.2}:1 in {name}");
            }
        }
    }

    #[test]
    fn readable_styles_only_use_colours_of_their_depth() {
        let requested = with_foreground(Color::Rgb(9, 9, 9)).bg(Color::Rgb(200, 30, 30)).add_modifier(Modifier::BOLD);
        let style_at = |depth| load_theme("dark", depth).readable_style(Style::new(), requested);
        assert!(matches!(style_at(ColourDepth::Palette).fg, Some(Color::Indexed(16..))));
        assert_eq!(style_at(ColourDepth::Sixteen).fg, Some(Color::Red));
        assert_eq!((style_at(ColourDepth::None).fg, style_at(ColourDepth::None).bg), (None, None));
        assert!(style_at(ColourDepth::None).add_modifier.contains(Modifier::BOLD | Modifier::REVERSED));
    }

    #[test]
    fn keeps_readable_backgrounds_and_reverses_others() {
        let theme = load_theme("dark", ColourDepth::True);
        let style_with = |foreground, background| {
            theme.readable_style(Style::new(), Style { fg: foreground, bg: background, ..Style::new() })
        };
        let (white, navy) = (Some(Color::Rgb(255, 255, 255)), Some(Color::Rgb(0, 0, 90)));
        assert_eq!(style_with(white, navy).bg, Some(Color::Rgb(0, 0, 90)));
        let hidden = style_with(navy, navy);
        assert!(hidden.add_modifier.contains(Modifier::REVERSED) && hidden.bg.is_none());
        assert!(style_with(None, Some(Color::Indexed(1))).add_modifier.contains(Modifier::REVERSED));
    }
}
