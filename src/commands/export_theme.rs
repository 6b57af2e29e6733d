//! Draws a recording in the colours of another theme.

use crate::cli::bail_usage;
use crate::recording::cast::hex_colour;
use crate::recording::cast_reader::Recording;
use crate::store::Places;
use crate::tui::theme::{ColourDepth, Theme, Themes};
use anyhow::Result;

/// A theme in whose colours a recording is drawn.
pub(super) struct RecolouringTheme {
    target: Theme,
    /// All themes as they are in a terminal with a background of their kind, and in another one.
    sources: Vec<Theme>,
}

impl RecolouringTheme {
    /// Finds a theme by its name.
    ///
    /// # Errors
    /// A `UsageError` that lists the themes, if there is none of this name.
    pub(super) fn find(name: &str) -> Result<Self> {
        let themes = Themes::with_folder(&Places::find(std::env::var_os("AYE_HOME"))?.themes());
        let adapted = |is_light| themes.clone().adapted_to_terminal(ColourDepth::True, is_light);
        let Some(target) = adapted(None).get(name) else {
            let names = themes.names().join(", ");
            bail_usage!("Cannot use the theme {name:?}: it does not exist. Use one of {names}.");
        };
        let sources =
            [None, Some(false), Some(true)].into_iter().flat_map(|is_light| adapted(is_light).all()).collect();
        Ok(Self { target, sources })
    }

    /// Replaces the default colours and the 16 colours of the terminal. If the default colours of the recording are those of a theme of
    /// aye, its other colours are replaced by those of the same roles.
    pub(super) fn apply_to(&self, recording: &mut Recording) {
        let colours = &mut recording.theme;
        let recorded = (colours.text.clone(), colours.background.clone());
        let is_source = |theme: &&Theme| {
            let (text, background) = theme.default_colours();
            recording.has_theme && recorded == (hex_colour(text), hex_colour(background))
        };
        let defaults = self.target.default_colours();
        for source in self.sources.iter().filter(is_source) {
            let (texts, backgrounds) = (&mut colours.replaced_text, &mut colours.replaced_backgrounds);
            source.add_replacements(&self.target, texts, backgrounds);
        }
        (colours.text, colours.background) = (hex_colour(defaults.0), hex_colour(defaults.1));
        for (colour, replacement) in colours.palette.iter_mut().zip(self.target.terminal_palette()) {
            if let Some(replacement) = replacement {
                *colour = hex_colour(replacement);
            }
        }
    }
}
