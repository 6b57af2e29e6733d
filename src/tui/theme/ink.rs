//! The colours that a command gave its output, in those of the theme and as readable as these.

use super::depth::{nearest, shown};
use super::{Depth, Theme};
use ratatui::style::{Color, Modifier, Style};

/// A colour as a command asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tint {
    /// None.
    #[default]
    Own,
    /// One of the terminal's sixteen or of the palette's others, by number.
    Numbered(u8),
    /// This one.
    Exact([u8; 3]),
}

/// How a command wants its letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ink {
    /// Their colour.
    pub letters: Tint,
    /// What they stand on.
    pub ground: Tint,
    /// Strong.
    pub bold: bool,
    /// Faint.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// Underlined.
    pub underlined: bool,
    /// Letters and ground change places.
    pub reversed: bool,
}

/// As every role of a bundled theme.
const READABLE: f64 = 4.5;
/// Steps on the way to a colour that can be read.
const STEPS: u16 = 10;
/// The grounds that themes without one of their own are made for.
const DARK: [u8; 3] = [0x16, 0x18, 0x1c];
const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];

impl Theme {
    /// How letters of this ink look where `base` is the look of those without any. A ground that letters cannot be read
    /// on gives way: its colour shows as the ground of reversed letters.
    pub fn ink(&self, base: Style, ink: &Ink) -> Style {
        let mut style = base;
        let modifiers = [
            (ink.bold, Modifier::BOLD),
            (ink.italic, Modifier::ITALIC),
            (ink.underlined, Modifier::UNDERLINED),
            (ink.dim && self.depth == Depth::None, Modifier::DIM),
        ];
        for (_, modifier) in modifiers.iter().filter(|(on, _)| *on) {
            style = style.add_modifier(*modifier);
        }
        let (letters, ground) = match ink.reversed {
            true => (ink.ground, ink.letters),
            false => (ink.letters, ink.ground),
        };
        if let (Some(letters), Some(ground)) = (self.exact(letters), self.exact(ground))
            && contrast(letters, ground) >= READABLE
        {
            return style.fg(self.fitting(letters)).bg(self.fitting(ground));
        }
        if ink.reversed || ground != Tint::Own {
            style = style.add_modifier(Modifier::REVERSED);
            return self.tint(ground).map_or(style, |colour| style.fg(colour));
        }
        match self.tint(letters) {
            Some(colour) => style.fg(colour),
            None if ink.dim => style.patch(self.dim),
            None => style,
        }
    }

    /// A colour that can be read on the theme's ground; nothing where the usual one of the letters stands.
    fn tint(&self, tint: Tint) -> Option<Color> {
        let exact = match tint {
            Tint::Own => return None,
            Tint::Numbered(number @ 0..16) => return self.sixteen(number),
            Tint::Numbered(number) => shown(number),
            Tint::Exact(colour) => colour,
        };
        // On a ground nobody knows only the theme's own colours are sure to be read.
        let Some(ground) = self.known_ground().filter(|_| self.depth != Depth::None) else {
            return self.sixteen(sixteenth(exact));
        };
        match self.depth {
            Depth::True | Depth::Palette => Some(self.readable(exact, ground)),
            Depth::Sixteen | Depth::None => self.sixteen(sixteenth(exact)),
        }
    }

    /// What stands for one of the terminal's sixteen: the role that means the same.
    fn sixteen(&self, number: u8) -> Option<Color> {
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

    /// The colour itself, where it has one and the terminal can show it.
    fn exact(&self, tint: Tint) -> Option<[u8; 3]> {
        let shows = matches!(self.depth, Depth::True | Depth::Palette);
        match tint {
            Tint::Own | Tint::Numbered(0..16) => None,
            Tint::Numbered(number) => Some(shown(number)),
            Tint::Exact(colour) => Some(colour),
        }
        .filter(|_| shows)
    }

    fn fitting(&self, [red, green, blue]: [u8; 3]) -> Color {
        let colour = Color::Rgb(red, green, blue);
        if self.depth == Depth::True { colour } else { nearest(colour) }
    }

    /// The colour as the terminal shows it, or as little lighter or darker as it takes to be read.
    fn readable(&self, colour: [u8; 3], ground: [u8; 3]) -> Color {
        let towards: u16 = if luminance(ground) < 0.18 { 255 } else { 0 };
        let step = |step: u16| {
            let mixed = colour.map(|part| (u16::from(part) * (STEPS - step) + towards * step) / STEPS);
            self.fitting(mixed.map(|part| u8::try_from(part).unwrap_or(u8::MAX)))
        };
        let readable = |colour: &Color| match *colour {
            Color::Rgb(red, green, blue) => contrast([red, green, blue], ground) >= READABLE,
            Color::Indexed(index) => contrast(shown(index), ground) >= READABLE,
            _ => false,
        };
        (0..STEPS).map(step).find(readable).unwrap_or_else(|| step(STEPS))
    }

    fn known_ground(&self) -> Option<[u8; 3]> {
        match self.ground.bg {
            Some(Color::Rgb(red, green, blue)) => Some([red, green, blue]),
            Some(Color::Indexed(index @ 16..)) => Some(shown(index)),
            Some(_) => None,
            None => self.spare_ground.bg.map(|_| if self.light { LIGHT } else { DARK }),
        }
    }
}

/// Which of the terminal's first eight a colour comes near.
fn sixteenth(colour: [u8; 3]) -> u8 {
    let (most, least) = (colour.into_iter().max().unwrap_or(0), colour.into_iter().min().unwrap_or(0));
    if most - least < 40 {
        return if most < 128 { 0 } else { 7 };
    }
    let middle = least + (most - least) / 2;
    let has = |at: usize| u8::from(colour[at] > middle) << at;
    has(0) | has(1) | has(2)
}

/// How light a colour is to the eye, from 0 to 1.
pub(super) fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// As the guidelines for readable pages count it: 1 is the same colour, 21 black on white.
pub(super) fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::super::{Themes, for_depth};
    use super::*;

    fn theme(name: &str, depth: Depth) -> Theme {
        for_depth(Themes::bundled().choose(name, None), depth)
    }

    fn letters(tint: Tint) -> Ink {
        Ink { letters: tint, ..Ink::default() }
    }

    #[test]
    fn the_sixteen_are_the_themes_own() {
        for name in ["dark", "light", "colour-blind", "high-contrast", "terminal"] {
            let theme = theme(name, Depth::True);
            let look = |number| theme.ink(theme.text, &letters(Tint::Numbered(number))).fg;
            assert_eq!((look(1), look(9), look(2)), (theme.danger.fg, theme.danger.fg, theme.success.fg));
        }
    }

    #[test]
    fn every_colour_can_be_read_in_every_theme() {
        let parts = [0u8, 60, 128, 200, 255];
        let all = parts.into_iter().flat_map(|red| {
            parts.into_iter().flat_map(move |green| parts.into_iter().map(move |blue| [red, green, blue]))
        });
        let colours: Vec<Tint> = all.map(Tint::Exact).chain((16..=255).map(Tint::Numbered)).collect();
        for (name, depth) in [("dark", Depth::True), ("light", Depth::True), ("light", Depth::Palette)] {
            let theme = theme(name, depth);
            let ground = theme.known_ground().expect("it is known");
            for tint in &colours {
                let style = theme.ink(theme.text, &letters(*tint));
                let colour = match style.fg {
                    Some(Color::Rgb(red, green, blue)) => [red, green, blue],
                    Some(Color::Indexed(index)) => shown(index),
                    other => panic!("{other:?}"),
                };
                let found = contrast(colour, ground);
                assert!(found >= READABLE, "{tint:?} is {found:.2}:1 in {name}");
            }
        }
    }

    #[test]
    fn every_depth_has_only_its_own_colours() {
        let ink = Ink { ground: Tint::Exact([200, 30, 30]), bold: true, ..letters(Tint::Exact([9, 9, 9])) };
        let shown = |depth| theme("dark", depth).ink(Style::new(), &ink);
        assert!(matches!(shown(Depth::Palette).fg, Some(Color::Indexed(16..))));
        assert_eq!(shown(Depth::Sixteen).fg, Some(Color::Red));
        assert_eq!((shown(Depth::None).fg, shown(Depth::None).bg), (None, None));
        assert!(shown(Depth::None).add_modifier.contains(Modifier::BOLD | Modifier::REVERSED));
    }

    #[test]
    fn letters_on_a_ground_are_kept_where_they_can_be_read_and_reversed_where_not() {
        let theme = theme("dark", Depth::True);
        let on = |letters, ground| theme.ink(Style::new(), &Ink { letters, ground, ..Ink::default() });
        let (white, navy) = (Tint::Exact([255; 3]), Tint::Exact([0, 0, 90]));
        assert_eq!(on(white, navy).bg, Some(Color::Rgb(0, 0, 90)));
        let hidden = on(navy, navy);
        assert!(hidden.add_modifier.contains(Modifier::REVERSED) && hidden.bg.is_none());
        assert!(on(Tint::Own, Tint::Numbered(1)).add_modifier.contains(Modifier::REVERSED));
    }
}
