//! Themes read from TOML: the bundled ones and the person's own.

use super::Theme;
use super::depth::{Depth, for_depth};
use super::source::{self, Look, Source};
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;
use std::path::Path;

/// The bundled themes, as they are offered.
const BUNDLED: [(&str, &str); 5] = [
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
    ("terminal", include_str!("../../../themes/terminal.toml")),
];

/// A theme's file larger than this is not one, in bytes.
const LARGEST: u64 = 256 * 1024;

/// What is wrong with a line of a theme. The rest of the theme holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The theme's file.
    pub file: String,
    /// 1 is the first; 0 where no line is meant.
    pub line: usize,
    /// What is wrong, and what is allowed. The person reads it.
    pub message: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Every theme there is.
#[derive(Debug, Clone)]
pub struct Themes {
    /// The bundled ones first, then the person's own by name. One of their own that is named like a bundled one
    /// stands in its place.
    pub all: Vec<Theme>,
    /// What was wrong with the person's own.
    pub warnings: Vec<Warning>,
}

impl Themes {
    /// Those that come with the program.
    pub fn bundled() -> Themes {
        Themes::with(&[])
    }

    /// Those that come with the program, and these: name and TOML.
    pub fn with(own: &[(String, String)]) -> Themes {
        let mut names: Vec<&str> = BUNDLED.iter().map(|(name, _)| *name).collect();
        let mut sources: BTreeMap<&str, Source> =
            BUNDLED.iter().map(|(name, text)| (*name, source::parse(name, text))).collect();
        for (name, text) in own {
            if sources.insert(name, source::parse(&format!("{name}.toml"), text)).is_none() {
                names.push(name);
            }
        }
        let mut warnings: Vec<Warning> =
            sources.values_mut().flat_map(|source| std::mem::take(&mut source.warnings)).collect();
        let all = names.iter().map(|name| build(name, &sources, &mut warnings)).collect();
        warnings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        warnings.dedup();
        Themes { all, warnings }
    }

    /// Those that come with the program, and the `*.toml` files of a folder, if it is there. Reads the disk.
    pub fn with_folder(folder: &Path) -> Themes {
        let mut own = Vec::new();
        let mut unread = Vec::new();
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = file.path();
            let (Some(name), Some("toml")) = (
                path.file_stem().and_then(|name| name.to_str()),
                path.extension().and_then(|end| end.to_str()),
            ) else {
                continue;
            };
            let text = match file.metadata() {
                Ok(about) if about.len() > LARGEST => Err("the file is too large for a theme".to_owned()),
                _ => std::fs::read_to_string(&path).map_err(|error| format!("not read: {error}")),
            };
            match text {
                Ok(text) => own.push((name.to_owned(), text)),
                Err(message) => unread.push(Warning { file: format!("{name}.toml"), line: 0, message }),
            }
        }
        own.sort();
        let mut themes = Themes::with(&own);
        themes.warnings.extend(unread);
        themes
    }

    /// Every theme made to fit the terminal: in the colours it has, and with its spare ground unless the terminal says
    /// that its own is as light as the theme wants it.
    pub fn fitted(mut self, depth: Depth, light: Option<bool>) -> Themes {
        for theme in &mut self.all {
            if theme.ground.bg.is_none() && light != Some(theme.light) {
                theme.ground = theme.ground.patch(theme.spare_ground);
            }
            *theme = for_depth(theme.clone(), depth);
        }
        self
    }

    /// The theme of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Theme> {
        self.all.iter().find(|theme| theme.name == name)
    }

    /// The theme for a setting: a name, or `auto` for `light` or `dark` as the terminal answered. A name that
    /// nothing has is taken as `auto`.
    pub fn choose(&self, name: &str, light: Option<bool>) -> Theme {
        let auto = if light == Some(true) { "light" } else { "dark" };
        self.get(name).or_else(|| self.get(auto)).cloned().unwrap_or_else(Theme::plain)
    }
}

/// Puts a theme together: the oldest ancestor first, and every role in the palette of the youngest.
fn build(name: &str, sources: &BTreeMap<&str, Source>, warnings: &mut Vec<Warning>) -> Theme {
    let file = |name: &str| format!("{name}.toml");
    let mut chain: Vec<(&str, &Source)> = Vec::new();
    let mut next = sources.get_key_value(name);
    while let Some((name, source)) = next {
        chain.push((*name, source));
        next = source.inherits.as_ref().and_then(|(parent, line)| {
            let warn = |message: String| Warning { file: file(name), line: *line, message };
            if chain.iter().any(|(seen, _)| seen == parent) {
                warnings.push(warn(format!("`{parent}` inherits from this theme; the circle is cut here")));
                return None;
            }
            let found = sources.get_key_value(parent.as_str());
            if found.is_none() {
                let names = sources.keys().copied().collect::<Vec<_>>().join(", ");
                warnings.push(warn(format!("no theme is called `{parent}`; there are {names}")));
            }
            found
        });
    }
    let mut theme = Theme { name: name.to_owned(), depth: Depth::True, ..Theme::blank() };
    let mut palette = BTreeMap::new();
    for (_, source) in chain.iter().rev() {
        theme.light = source.light.unwrap_or(theme.light);
        palette.extend(source.palette.iter().map(|(name, (colour, _))| (name.as_str(), colour.as_str())));
    }
    for (from, source) in chain.iter().rev() {
        for (role, look) in &source.roles {
            let mut warn = |message| warnings.push(Warning { file: file(from), line: look.line, message });
            let style = style(look, &palette, &mut warn);
            if let (Some(role), Some(style)) = (theme.role_mut(role), style) {
                *role = style;
            }
        }
    }
    theme
}

/// The style, or `None` where a colour of it is not one: then what was inherited stays.
fn style(look: &Look, palette: &BTreeMap<&str, &str>, warn: &mut dyn FnMut(String)) -> Option<Style> {
    let mut style = Style::new();
    if let Some(fg) = &look.fg {
        style = style.fg(colour(fg, palette, warn)?);
    }
    if let Some(bg) = &look.bg {
        style = style.bg(colour(bg, palette, warn)?);
    }
    let modifiers = [
        (look.bold, Modifier::BOLD),
        (look.italic, Modifier::ITALIC),
        (look.underline, Modifier::UNDERLINED),
        (look.dim, Modifier::DIM),
        (look.reverse, Modifier::REVERSED),
    ];
    let set = |style: Style, (on, modifier)| if on { style.add_modifier(modifier) } else { style };
    Some(modifiers.into_iter().fold(style, set))
}

/// A name of the palette, `default`, `#rgb`, `#rrggbb`, one of the sixteen by name, or a number of the 256.
fn colour(name: &str, palette: &BTreeMap<&str, &str>, warn: &mut dyn FnMut(String)) -> Option<Color> {
    let written = palette.get(name).copied().unwrap_or(name);
    let long: String = match written.strip_prefix('#') {
        Some(digits) if digits.chars().count() == 3 => {
            digits.chars().fold("#".to_owned(), |all, digit| all + &format!("{digit}{digit}"))
        }
        _ => written.to_owned(),
    };
    match long.parse() {
        _ if long == "default" => Some(Color::Reset),
        Ok(colour) => Some(colour),
        Err(_) => {
            let names = palette.keys().copied().collect::<Vec<_>>().join(", ");
            let of_palette =
                if names.is_empty() { String::new() } else { format!(", of the palette {names}") };
            warn(format!(
                "`{written}` is no colour; allowed are #rrggbb, #rgb, default, 0 to 255, names such as red or \
                 bright-blue{of_palette}"
            ));
            None
        }
    }
}
