//! Loads themes from TOML: the bundled ones and the user's own.

use super::Theme;
use super::colour_mapping::adapt_to_depth;
use super::depth::ColourDepth;
use super::theme_source::{self, RoleSource, ThemeSource, ThemeWarning};
use crate::config::Screen;
use ratatui::style::{Color, Style};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Bundled themes, in the order they are offered.
pub(super) const BUNDLED_THEMES: [(&str, &str); 5] = [
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
    ("terminal", include_str!("../../../themes/terminal.toml")),
];

/// Maximum size of a theme file in bytes.
const MAX_FILE_SIZE: u64 = 256 * 1024;

/// The bundled themes and the user's own. A theme is built when it is asked for: most sessions use one.
#[derive(Debug, Clone)]
pub struct Themes {
    /// The user's own, by name. One with the name of a bundled theme replaces it.
    own: BTreeMap<String, ThemeSource>,
    /// Problems in the user's own themes.
    pub warnings: Vec<ThemeWarning>,
    terminal: Option<TerminalColours>,
}

/// Colours of the terminal to which themes are adapted.
#[derive(Debug, Clone, Copy)]
struct TerminalColours {
    depth: ColourDepth,
    /// What the terminal reports about its own background; `None` if it reports nothing.
    is_light: Option<bool>,
}

impl Themes {
    /// Returns the bundled themes.
    pub fn bundled() -> Themes {
        Themes::with_themes(&[])
    }

    /// Returns the bundled themes and the user's, each of which is given as its name and its TOML text.
    pub fn with_themes(user_themes: &[(String, String)]) -> Themes {
        let parse =
            |(name, text): &(String, String)| (name.clone(), theme_source::parse_theme(&format!("{name}.toml"), text));
        let mut themes = Themes { own: user_themes.iter().map(parse).collect(), warnings: Vec::new(), terminal: None };
        if !themes.own.is_empty() {
            // A bundled theme may inherit from one of the user's.
            let mut warnings: Vec<ThemeWarning> =
                themes.own.values_mut().flat_map(|source| std::mem::take(&mut source.warnings)).collect();
            for name in themes.names() {
                themes.build_theme(name, &mut warnings);
            }
            warnings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
            warnings.dedup();
            themes.warnings = warnings;
        }
        themes
    }

    /// Returns the names of all themes: the bundled ones in the order they are offered, then the user's by name.
    pub fn names(&self) -> Vec<&str> {
        let own = self.own.keys().map(String::as_str).filter(|name| bundled_text(name).is_none());
        BUNDLED_THEMES.iter().map(|(name, _)| *name).chain(own).collect()
    }

    /// Builds all themes, in the order of [`Self::names`].
    pub fn all(&self) -> Vec<Theme> {
        self.names().into_iter().filter_map(|name| self.get(name)).collect()
    }

    /// Returns the bundled themes and those in the `*.toml` files of a folder, if it exists. Reads the disk.
    pub fn with_folder(folder: &Path) -> Themes {
        let mut user_themes = Vec::new();
        let mut read_warnings = Vec::new();
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = file.path();
            let (Some(name), Some("toml")) = (
                path.file_stem().and_then(|name| name.to_str()),
                path.extension().and_then(|extension| extension.to_str()),
            ) else {
                continue;
            };
            // The metadata of the file that a link leads to.
            let text = match std::fs::metadata(&path) {
                Ok(metadata) if !metadata.is_file() => Err("cannot read theme: not a file".to_owned()),
                Ok(metadata) if metadata.len() > MAX_FILE_SIZE => {
                    Err("cannot read theme: the file is larger than 256 KiB".to_owned())
                }
                _ => std::fs::read_to_string(&path).map_err(|error| format!("cannot read theme: {error}")),
            };
            match text {
                Ok(text) => user_themes.push((name.to_owned(), text)),
                // Line 0 means the whole file.
                Err(message) => read_warnings.push(ThemeWarning::new(format!("{name}.toml"), 0, message)),
            }
        }
        user_themes.sort();
        let mut themes = Themes::with_themes(&user_themes);
        themes.warnings.extend(read_warnings);
        themes
    }

    /// Adapts all themes to the terminal's colours. `is_light` is what the terminal reports about its own background;
    /// `None` if it reports nothing. A theme that sets no background gets its fallback background unless the terminal's
    /// own is light or dark as the theme needs.
    pub fn adapted_to_terminal(mut self, depth: ColourDepth, is_light: Option<bool>) -> Themes {
        self.terminal = Some(TerminalColours { depth, is_light });
        self
    }

    /// Builds the theme with this name, if any.
    pub fn get(&self, name: &str) -> Option<Theme> {
        let mut theme = self.has(name).then(|| self.build_theme(name, &mut Vec::new()))?;
        let Some(TerminalColours { depth, is_light }) = self.terminal else { return Some(theme) };
        if theme.background.bg.is_none() && is_light != Some(theme.is_light) {
            theme.background = theme.background.patch(theme.fallback_background);
        }
        Some(adapt_to_depth(theme, depth))
    }

    /// Returns the theme of the settings, and a notice if there is no theme of that name.
    pub fn choose_configured(&self, screen: &Screen, is_light: Option<bool>) -> (Theme, Option<String>) {
        if screen.theme == "auto" {
            return (self.choose_theme(screen.auto_theme(is_light), is_light), None);
        }
        let problem = (!self.has(&screen.theme))
            .then(|| format!("Unknown theme {:?}. Available themes: auto, {}.", screen.theme, self.names().join(", ")));
        (self.choose_theme(&screen.theme, is_light), problem)
    }

    /// Returns the theme for a setting. See [`Self::resolve_name`].
    pub fn choose_theme(&self, name: &str, is_light: Option<bool>) -> Theme {
        self.get(self.resolve_name(name, is_light)).unwrap_or_else(Theme::without_colours)
    }

    /// Returns the name of the theme for a setting: a name, or `auto` for `light` or `dark` as the terminal reported. An
    /// unknown name is treated as `auto`.
    pub fn resolve_name<'a>(&self, name: &'a str, is_light: Option<bool>) -> &'a str {
        match (self.has(name), is_light) {
            (true, _) => name,
            (false, Some(true)) => "light",
            (false, _) => "dark",
        }
    }

    /// Returns whether there is a theme with this name.
    pub fn has(&self, name: &str) -> bool {
        self.own.contains_key(name) || bundled_text(name).is_some()
    }

    fn source(&self, name: &str) -> Option<Cow<'_, ThemeSource>> {
        let parse_bundled = || Some(Cow::Owned(theme_source::parse_theme(name, bundled_text(name)?)));
        self.own.get(name).map(Cow::Borrowed).or_else(parse_bundled)
    }

    /// Builds a theme from its ancestors, oldest first, and its own source. A palette entry of a descendant also applies
    /// to the roles it inherits.
    fn build_theme(&self, name: &str, warnings: &mut Vec<ThemeWarning>) -> Theme {
        let file_name = |name: &str| format!("{name}.toml");
        let mut chain: Vec<(String, Cow<'_, ThemeSource>)> = Vec::new();
        let mut next = self.source(name).map(|source| (name.to_owned(), source));
        while let Some((name, source)) = next {
            let (file, inherits) = (file_name(&name), source.inherits.clone());
            chain.push((name, source));
            next = inherits.and_then(|(parent, line)| {
                let new_warning = |message: String| ThemeWarning::new(file, line, message);
                if chain.iter().any(|(ancestor, _)| *ancestor == parent) {
                    warnings.push(new_warning(format!(
                        "`{parent}` inherits from this theme; ignoring this circular `inherits`"
                    )));
                    return None;
                }
                let parent_source = self.source(&parent);
                if parent_source.is_none() {
                    let mut names = self.names();
                    names.sort_unstable();
                    let names = names.join(", ");
                    warnings.push(new_warning(format!("unknown theme `{parent}`. Use one of: {names}")));
                }
                parent_source.map(|source| (parent, source))
            });
        }
        let mut theme = Theme { name: name.to_owned(), ..Theme::default() };
        let mut palette = BTreeMap::new();
        for (_, source) in chain.iter().rev() {
            theme.is_light = source.is_light.unwrap_or(theme.is_light);
            palette.extend(source.palette.iter().map(|(name, colour)| (name.as_str(), colour.as_str())));
        }
        for (theme_name, source) in chain.iter().rev() {
            for (role, role_source) in &source.roles {
                let mut warn =
                    |message| warnings.push(ThemeWarning::new(file_name(theme_name), role_source.line, message));
                let style = resolve_style(role_source, &palette, &mut warn);
                if let (Some(role), Some(style)) = (theme.role_mut(role), style) {
                    *role = style;
                }
            }
        }
        theme
    }
}

/// Returns the TOML text of a bundled theme.
fn bundled_text(name: &str) -> Option<&'static str> {
    BUNDLED_THEMES.iter().find(|(bundled, _)| *bundled == name).map(|(_, text)| *text)
}

/// Returns the style; `None` if one of its colours is invalid, which keeps the inherited style.
fn resolve_style(
    role_source: &RoleSource,
    palette: &BTreeMap<&str, &str>,
    warn: &mut dyn FnMut(String),
) -> Option<Style> {
    let mut style = Style::new().add_modifier(role_source.modifiers);
    if let Some(fg) = &role_source.fg {
        style = style.fg(parse_colour(fg, palette, warn)?);
    }
    if let Some(bg) = &role_source.bg {
        style = style.bg(parse_colour(bg, palette, warn)?);
    }
    Some(style)
}

/// Parses a colour: a palette name, `default`, `#rgb`, `#rrggbb`, the name of one of the terminal's sixteen colours, or
/// a number up to 255.
fn parse_colour(name: &str, palette: &BTreeMap<&str, &str>, warn: &mut dyn FnMut(String)) -> Option<Color> {
    let value = palette.get(name).copied().unwrap_or(name);
    let expanded: String = match value.strip_prefix('#') {
        Some(digits) if digits.chars().count() == 3 => {
            digits.chars().fold("#".to_owned(), |text, digit| text + &format!("{digit}{digit}"))
        }
        _ => value.to_owned(),
    };
    match expanded.parse() {
        _ if expanded == "default" => Some(Color::Reset),
        Ok(colour) => Some(colour),
        Err(_) => {
            let names = palette.keys().copied().collect::<Vec<_>>().join(", ");
            let palette_hint = if names.is_empty() { String::new() } else { format!(", or from the palette: {names}") };
            warn(format!(
                "`{value}` is not a colour; allowed are #rrggbb, #rgb, default, 0 to 255, names such as red or \
                 bright-blue{palette_hint}"
            ));
            None
        }
    }
}
