//! Colours of one theme, and those of the same roles in another.

use super::output_colours::exact_rgb;
use super::{ROLES, Theme};
use ratatui::style::{Color, Style};
use std::collections::HashMap;

/// A colour, and the one that stands for it.
pub type ReplacedColours = HashMap<[u8; 3], [u8; 3]>;

impl Theme {
    /// Adds the colours of this theme with those of the same roles in another one: first those of texts, then those of backgrounds. A
    /// colour that is known keeps its replacement, and so does one of several roles that of the first. Colours of the terminal are left
    /// out.
    pub fn add_replacements(&self, target: &Theme, texts: &mut ReplacedColours, backgrounds: &mut ReplacedColours) {
        let (text, background) = target.default_colours();
        self.add_colours(target, |style| style.fg, text, texts);
        self.add_colours(target, |style| style.bg, background, backgrounds);
        // The thumb of a scroll bar, and reversed text, are backgrounds in the colour of a text.
        self.add_colours(target, |style| style.fg, text, backgrounds);
    }

    fn add_colours(
        &self,
        target: &Theme,
        colour_of: fn(&Style) -> Option<Color>,
        default: [u8; 3],
        replaced: &mut ReplacedColours,
    ) {
        for (from, to) in ROLES.iter().filter_map(|role| self.role(role).zip(target.role(role))) {
            let to = colour_of(&to).map_or(Some(default), exact_rgb);
            if let (Some(from), Some(to)) = (colour_of(&from).and_then(exact_rgb), to) {
                replaced.entry(from).or_insert(to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;

    #[test]
    fn the_thumb_of_a_scroll_bar_has_the_colour_of_the_other_theme() {
        let (dark, light) = (Themes::bundled().get("dark").unwrap(), Themes::bundled().get("light").unwrap());
        let (mut texts, mut backgrounds) = (ReplacedColours::new(), ReplacedColours::new());
        dark.add_replacements(&light, &mut texts, &mut backgrounds);
        for is_dragged in [false, true] {
            let thumb = |theme: &Theme| theme.scroll_bar_style(is_dragged).bg.and_then(exact_rgb).unwrap();
            assert_eq!(backgrounds.get(&thumb(&dark)), Some(&thumb(&light)));
        }
    }
}
